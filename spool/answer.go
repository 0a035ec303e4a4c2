package spool

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Answer decides the request id with c. The reason is the human's, by says
// where he answered (ByMonitor, ByCLI, ...).
//
// A nil error means that the decision is recorded, not that the command ran:
// its process may just have died. The decision has Late set if the request had
// given up before; then it serves the next try of the same command, once.
// With ErrDecided the returned decision is the one that came first; with
// ErrGone nobody waits. On any other error nothing is decided.
func (s *Spool) Answer(id string, c Choice, reason, by string) (Decision, error) {
	switch {
	case !ValidID(id):
		return Decision{}, fmt.Errorf("%q is not the id of a request; see: safeshell pending", clip(id))
	case !c.valid():
		return Decision{}, fmt.Errorf("%d is not an answer: 1 once, 2 session, 3 always, 4 deny", c)
	case by == ByRequester:
		return Decision{}, errors.New("a requester does not answer itself")
	}
	var err error
	for range 2 { // a second time only if gc took the staged file
		var d Decision
		var again bool
		d, again, err = s.answer(id, c, reason, by)
		if !again {
			return d, err
		}
		if err := s.layout(); err != nil {
			return Decision{}, err
		}
	}
	return Decision{}, s.withHint(err)
}

func (s *Spool) answer(id string, c Choice, reason, by string) (d Decision, again bool, err error) {
	dir := s.path("req", id)
	r, sha, f, err := s.openRequest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		d, err = s.answerRetired(id, c, reason, by)
		return d, false, err
	}
	if err != nil {
		return d, false, err
	}
	defer f.Close()
	target := dir + "/decision"
	if _, err := os.Lstat(target); errors.Is(err, fs.ErrNotExist) && !held(f) && s.retireDead(id, f) {
		return d, false, fmt.Errorf("%w: the command that asked has ended", ErrGone)
	}
	d = s.decision(r, sha, c, reason, by)
	data, err := encode(d)
	if err != nil {
		return d, false, err
	}
	switch err = s.linkNew(data, target); {
	case err == nil:
		s.wake(dir)
		return d, false, nil
	case errors.Is(err, fs.ErrExist):
		first, err := s.readDecision(dir)
		if errors.Is(err, fs.ErrNotExist) { // retired meanwhile
			d, err = s.answerRetired(id, c, reason, by)
			return d, false, err
		}
		if err == nil && first.Again {
			d, err = s.answerLate(dir, r, sha, first, c, reason, by)
			return d, false, err
		}
		return first, false, decidedBy(first)
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			d, err = s.answerRetired(id, c, reason, by)
			return d, false, err
		}
		return Decision{}, true, err
	}
	return Decision{}, false, s.withHint(fmt.Errorf("nothing is decided: %w", err))
}

// decision is a human's answer to r.
func (s *Spool) decision(r Request, sha string, c Choice, reason, by string) Decision {
	d := Decision{
		V: 1, ID: r.ID, Nonce: r.Nonce, ReqSHA: sha, Verdict: verdictOf(c), Choice: c,
		Reason: clip(reason), By: clip(by), At: s.wall().Round(0), End: true,
	}
	if id := s.monitorID.Load(); id != nil {
		d.MonitorID = *id
	}
	return d
}

func decidedBy(d Decision) error {
	if d.V == 0 {
		return ErrDecided
	}
	return fmt.Errorf("%w: %s, by %s", ErrDecided, d.Verdict, Visible(d.By))
}

// openRequest reads dir/request and returns it with the hash of its record and
// the open file, on which its owner's lock can be probed.
func (s *Spool) openRequest(dir string) (Request, string, *os.File, error) {
	f, err := os.OpenFile(dir+"/request", readOnly, 0)
	if err != nil {
		return Request{}, "", nil, err
	}
	data, err := readChecked(f, s.uid, 1, maxRecord)
	var r Request
	if err == nil {
		r, err = decodeRequest(data)
	}
	if err == nil && dir[max(0, len(dir)-len(r.ID)):] != r.ID {
		err = errors.New("the request carries another id")
	}
	if err != nil {
		f.Close()
		return Request{}, "", nil, fmt.Errorf("%s: %w", Visible(dir), err)
	}
	sum := sha256.Sum256(data)
	return r, hex.EncodeToString(sum[:]), f, nil
}

func (s *Spool) readDecision(dir string) (Decision, error) {
	data, err := readStrict(dir+"/decision", s.uid, 2, maxRecord)
	if err != nil {
		return Decision{}, err
	}
	return decodeDecision(data)
}

// retireDead moves a request whose owner is dead to done/. f is the open
// request with a lock that was free.
func (s *Spool) retireDead(id string, f *os.File) bool {
	dir := s.path("req", id)
	return sameFile(f, dir+"/request") && os.Rename(dir, s.path("done", id)) == nil
}

// answerRetired answers a request that is in done/ already.
func (s *Spool) answerRetired(id string, c Choice, reason, by string) (Decision, error) {
	dir := s.path("done", id)
	r, sha, f, err := s.openRequest(dir)
	if err != nil {
		return Decision{}, fmt.Errorf("%w: the command that asked has ended", ErrGone)
	}
	f.Close()
	first, err := s.readDecision(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Decision{}, fmt.Errorf("%w: the command that asked has ended", ErrGone)
	case err != nil:
		return Decision{}, ErrDecided
	case !first.Again:
		return first, decidedBy(first)
	}
	return s.answerLate(dir, r, sha, first, c, reason, by)
}

// fresh reports whether a boot stamp is of this boot and at most limit old.
func (s *Spool) fresh(bootID string, bootNS int64, limit time.Duration) bool {
	age := s.boot() - time.Duration(bootNS)
	return bootID != "" && bootID == s.bootID() && age >= 0 && age <= limit
}
