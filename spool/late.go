package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A late answer is registered twice. done/<id>/late is
// the answer, made by link and never freed while the id can be acted upon;
// grant/<key> is a second name of the same file, by which the next try finds
// it. Taking it renames grant/<key> and then links done/<id>/used. So two
// monitors cannot answer twice, a monitor killed between the two links loses
// nothing (the second is made good by the next scan), and even a name that was
// made twice is used once.

// answerLate records an answer to a request that gave up; dir is where it lies.
func (s *Spool) answerLate(dir string, r Request, sha string, gaveUp Decision, c Choice, reason, by string) (Decision, error) {
	if !s.fresh(gaveUp.BootID, gaveUp.BootNS, s.keep) {
		return Decision{}, fmt.Errorf("%w: it gave up more than %s ago", ErrGone, s.keep)
	}
	if d, err := s.readLate(s.path("grant", r.KeySHA)); err == nil && d.ID != r.ID && s.fresh(d.BootID, d.BootNS, s.keep) {
		return d, decidedBy(d) // for an earlier try of the same command
	}
	d := s.decision(r, sha, c, reason, by)
	d.Late, d.Key, d.BootID, d.BootNS = true, r.KeySHA, s.bootID(), int64(s.boot())
	data, err := encode(d)
	if err != nil {
		return Decision{}, err
	}
	for _, dir := range []string{dir, s.path("done", r.ID)} { // it may be retired just now
		if err = s.linkNew(data, dir+"/late"); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		first, err := s.readLate(s.path("done", r.ID, "late"))
		if err != nil {
			return Decision{}, ErrDecided
		}
		return first, decidedBy(first)
	case errors.Is(err, fs.ErrNotExist):
		return Decision{}, fmt.Errorf("%w: the command that asked has ended", ErrGone)
	case err != nil:
		return Decision{}, s.withHint(fmt.Errorf("nothing is decided: %w", err))
	}
	s.offerLate(d)
	return d, nil
}

// offerLate makes the late answer d findable by its key. Failure is not final:
// every scan tries again.
func (s *Spool) offerLate(d Decision) {
	name := s.path("grant", d.Key)
	for range 2 {
		err := os.Link(s.path("done", d.ID, "late"), name)
		if errors.Is(err, fs.ErrNotExist) { // about to be retired
			err = os.Link(s.path("req", d.ID, "late"), name)
		}
		if !errors.Is(err, fs.ErrExist) {
			return
		}
		old, err := s.readLate(name)
		if err == nil && s.fresh(old.BootID, old.BootNS, s.keep) {
			return
		}
		_ = os.Rename(name, s.path("done", newID(s.wall())+".grant"))
	}
}

// readLate reads a late answer, under any of its names: late, grant/<key> or
// what it became when taken, and for a moment the staged one.
func (s *Spool) readLate(path string) (Decision, error) {
	data, err := readStrict(path, s.uid, 4, maxRecord)
	if err != nil {
		return Decision{}, err
	}
	d, err := decodeDecision(data)
	if err == nil && (!d.Late || !isHash(d.Key)) {
		err = errors.New("not a late answer")
	}
	return d, err
}

// TakeLateAnswer returns the answer that a human gave to an earlier try of
// exactly this command after it had given up, at most 10 minutes ago. It can
// be taken once. A denial is remembered in the same way. Anything in doubt is
// not returned: ask as usual. The key's UID is the caller's in any case.
func (s *Spool) TakeLateAnswer(key Key) (Decision, bool) {
	key.UID = s.uid
	return s.takeLate(key.Hash())
}

func (s *Spool) takeLate(key string) (Decision, bool) {
	taken := s.path("done", newID(s.wall())+".grant")
	if os.Rename(s.path("grant", key), taken) != nil {
		return Decision{}, false
	}
	d, err := s.readLate(taken)
	if err != nil || d.Key != key || !s.fresh(d.BootID, d.BootNS, s.keep) {
		return Decision{}, false
	}
	if os.Link(taken, s.path("done", d.ID, "used")) != nil {
		return Decision{}, false
	}
	d.By = ByLate
	return d, true
}
