package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// DefaultPassTTL is how long a pass lives when PutPass is given no time.
const DefaultPassTTL = 60 * time.Second

// pass is the record of one permission that a layer gives the layer below.
type pass struct {
	V      int           `json:"v"`
	Key    string        `json:"key"`
	Exe    string        `json:"exe,omitempty"`
	Rule   string        `json:"rule"`
	BootID string        `json:"boot_id"`
	BootNS int64         `json:"boot_ns"`
	TTL    time.Duration `json:"ttl_ns"`
	End    bool          `json:"end"`
}

// passKey is the name of a pass. It leaves the executable out: a hook passes
// text, in which the command is not resolved yet.
func (s *Spool) passKey(k Key) string {
	k.UID, k.Exe = s.uid, ""
	return k.Hash()
}

// PutPass lets the next try of the command through the layers below, once,
// because a human has just allowed it under rule. It lives for ttl (default
// 60 s, at most 10 min) by the clock since boot. Passes for the same command
// add up: a line that runs it twice takes two.
//
// The pass is bound to session, directory and exact command. If key.Exe is
// known it is bound to that too; else the executable is free, as its name was
// resolved by nobody when the human looked.
func (s *Spool) PutPass(key Key, rule string, ttl time.Duration) error {
	if ttl <= 0 {
		ttl = DefaultPassTTL
	}
	if s.bootID() == "" {
		return fmt.Errorf("%w: this system names no boot, so a pass could outlive it", ErrUnusable)
	}
	name := s.passKey(key)
	data, err := encode(pass{
		V: 1, Key: name, Exe: key.Exe, Rule: rule, TTL: min(ttl, s.keep),
		BootID: s.bootID(), BootNS: int64(s.boot()), End: true,
	})
	if err != nil {
		return err
	}
	for range 3 { // gc may take the empty directory, or the spool be made anew
		if err = os.Mkdir(s.path("pass", name), 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			err = s.linkNew(data, s.path("pass", name, newID(s.wall())))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err := s.layout(); err != nil {
			return fmt.Errorf("%w: %w", ErrUnusable, err)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnusable, s.withHint(err))
	}
	return nil
}

// TakePass takes a pass for exactly this command, if there is one, and returns
// the rule that was asked about. Each pass is taken once. Passes in doubt are
// used up and not accepted.
func (s *Spool) TakePass(key Key) (rule string, ok bool) {
	name := s.passKey(key)
	entries, err := os.ReadDir(s.path("pass", name))
	if err != nil {
		return "", false
	}
	for _, e := range entries {
		if !ValidID(e.Name()) {
			continue
		}
		taken := s.path("done", e.Name()+".pass")
		if os.Rename(s.path("pass", name, e.Name()), taken) != nil {
			continue
		}
		p, err := s.readPass(taken)
		if err == nil && p.Key == name && (p.Exe == "" || p.Exe == key.Exe) && s.fresh(p.BootID, p.BootNS, p.TTL) {
			return p.Rule, true
		}
	}
	return "", false
}

// readPass allows for the staged name beside the real one.
func (s *Spool) readPass(path string) (pass, error) {
	data, err := readStrict(path, s.uid, 2, maxRecord)
	if err != nil {
		return pass{}, err
	}
	return decodePass(data)
}

func decodePass(data []byte) (pass, error) {
	var p pass
	if err := json.Unmarshal(data, &p); err != nil {
		return pass{}, err
	}
	switch {
	case p.V != recordVersion:
		return pass{}, ofVersion(p.V)
	case !p.End:
		return pass{}, errNoEnd
	case p.TTL <= 0 || p.TTL > Keep:
		return pass{}, errors.New("pass without a life span")
	}
	return p, nil
}
