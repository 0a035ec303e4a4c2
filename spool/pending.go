package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Pending returns the requests that wait, oldest first, and after them those
// that gave up in the last 10 minutes and can still be answered for their next
// try (Late, with the decision by which they gave up). Of several tries of one
// command only the last is among them.
//
// Requests whose process died are retired on the way, and incomplete or
// foreign entries skipped.
func (s *Spool) Pending() ([]Pending, error) {
	live, newest, err := s.live()
	if err != nil {
		return nil, err
	}
	late, err := s.late(newest)
	return append(live, late...), err
}

// live lists req/; newest is the last id of each key.
func (s *Spool) live() (live []Pending, newest map[string]string, err error) {
	names, err := s.ids("req")
	if err != nil {
		return nil, nil, err
	}
	newest = make(map[string]string)
	var newer []string
	for _, id := range names {
		r, f, err := s.liveOne(id)
		if errors.Is(err, ErrNewer) && s.waits(id) {
			newer = append(newer, id)
		}
		if err != nil {
			continue
		}
		newest[r.KeySHA] = id
		if f != nil {
			f.Close()
			live = append(live, Pending{Request: r})
		}
	}
	s.newer.Store(&newer)
	return live, newest, nil
}

// Newer are the requests that the last Pending has met and that only a newer
// safeshell can show: their commands wait, and run out of time unanswered.
func (s *Spool) Newer() []string {
	if ids := s.newer.Load(); ids != nil {
		return *ids
	}
	return nil
}

// waits tells whether a request's owner lives, whatever is in it.
func (s *Spool) waits(id string) bool {
	f, err := os.OpenFile(s.path("req", id, "request"), readOnly, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return held(f)
}

// liveOne reads one request; f is nil if it is decided.
func (s *Spool) liveOne(id string) (r Request, f *os.File, err error) {
	dir := s.path("req", id)
	r, _, f, err = s.openRequest(dir)
	if err != nil {
		return r, nil, err
	}
	// The owner's lock first: an owner that decides, retires and unlocks
	// between the two looks must not be taken for one that waits.
	alive := held(f)
	_, err = os.Lstat(dir + "/decision")
	if errors.Is(err, fs.ErrNotExist) && alive {
		return r, f, nil
	}
	if !alive {
		s.retireDead(id, f)
		err = ErrGone
	}
	f.Close()
	return r, nil, err
}

// late lists what can still be answered in done/, and offers again the answers
// whose monitor was killed before it could.
func (s *Spool) late(newest map[string]string) ([]Pending, error) {
	names, err := s.ids("done")
	if err != nil {
		return nil, err
	}
	var late []Pending
	for _, p := range s.ended(names) {
		id := p.ID
		newest[p.KeySHA] = max(newest[p.KeySHA], id)
		if p.Decision.Again && s.fresh(p.Decision.BootID, p.Decision.BootNS, s.keep) {
			p.Late = true
			late = append(late, p)
		}
	}
	return slices.DeleteFunc(late, func(p Pending) bool {
		answer, err := s.readLate(s.path("done", p.ID, "late"))
		if err == nil {
			if s.fresh(answer.BootID, answer.BootNS, s.keep) && s.absent("done", p.ID, "used") && s.absent("grant", p.KeySHA) {
				s.offerLate(answer)
			}
			return true
		}
		return newest[p.KeySHA] != p.ID
	}), nil
}

// ended returns the entries of done/ that have a decision. Their records never
// change, and a busy spool holds thousands, so each is read once.
func (s *Spool) ended(names []string) []Pending {
	s.endedMu.Lock()
	defer s.endedMu.Unlock()
	seen := make(map[string]*Pending, len(names))
	out := make([]Pending, 0, len(names))
	for _, id := range names {
		p, known := s.endedSeen[id]
		if !known {
			switch read, err := s.retired(id); {
			case err == nil && read.Decision.Again:
				p = &read
			case err == nil: // nobody can answer it: its key is enough
				p = &Pending{Request: Request{ID: id, KeySHA: read.KeySHA}, Decision: &Decision{}}
			case !errors.Is(err, fs.ErrNotExist): // it may be read another time
				continue
			}
		}
		seen[id] = p
		if p != nil {
			out = append(out, *p)
		}
	}
	s.endedSeen = seen
	return out
}

// retired reads an entry of done/ that has a decision.
func (s *Spool) retired(id string) (Pending, error) {
	dir := s.path("done", id)
	r, _, f, err := s.openRequest(dir)
	if err != nil {
		return Pending{}, err
	}
	f.Close()
	d, err := s.readDecision(dir)
	return Pending{Request: r, Decision: &d}, err
}

// History returns the requests decided in the last 10 minutes or so, newest
// first, each with its decision: the late answer if there is one.
func (s *Spool) History() ([]Pending, error) {
	names, err := s.ids("done")
	if err != nil {
		return nil, err
	}
	slices.Reverse(names)
	var out []Pending
	for _, id := range names {
		p, err := s.retired(id)
		if err != nil {
			continue
		}
		if d, err := s.readLate(s.path("done", id, "late")); err == nil {
			p.Decision = &d
		}
		out = append(out, p)
	}
	return out, nil
}

// Lookup finds what Pending lists by its id, or by four or more characters of
// either end of it if they fit one request only.
func (s *Spool) Lookup(id string) (Pending, error) {
	all, err := s.Pending()
	if err != nil {
		return Pending{}, err
	}
	var found []Pending
	for _, p := range all {
		if p.ID == id || len(id) >= 4 && (strings.HasPrefix(p.ID, id) || strings.HasSuffix(p.ID, id)) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Pending{}, fmt.Errorf("%w: nothing that waits has the id %q; see: safeshell pending", ErrGone, clip(id))
	}
	return Pending{}, fmt.Errorf("%d requests that wait fit %q; give more of the id, see: safeshell pending", len(found), clip(id))
}

// ids lists the valid ids in a directory of the spool, oldest first.
func (s *Spool) ids(dir string) ([]string, error) {
	entries, err := os.ReadDir(s.path(dir))
	if err != nil {
		return nil, fmt.Errorf("%w; run: safeshell doctor", err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && ValidID(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

func (s *Spool) absent(elem ...string) bool {
	_, err := os.Lstat(s.path(elem...))
	return errors.Is(err, fs.ErrNotExist)
}
