package spool

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// GC removes what nobody can act upon any more: retired requests, used and
// unused late answers and passes after 10 minutes, and the litter of killed
// processes after a minute. Requests of dead processes are retired. It is safe
// beside anything else, also other GCs. now is the wall clock, by which files
// are dated; it may jump, at the worst a late answer is lost.
//
// Only names that this package makes are touched, and nothing is removed with
// its content unseen. The error is the first of those that left something
// behind.
func (s *Spool) GC(now time.Time) error {
	c := collector{s: s, now: now}
	c.each("req", c.abandoned)
	c.each("tmp", c.staged)
	c.each("done", c.retired)
	c.each("grant", func(name string, dir bool) {
		if !dir && isHash(name) && c.old(s.keep, "grant", name) {
			c.remove("grant", name)
		}
	})
	c.each("pass", c.passes)
	return c.err
}

type collector struct {
	s   *Spool
	now time.Time
	err error
}

// each calls f for the entries of a directory. dir is false for a symbolic
// link to one: nothing behind such a link is ours to remove.
func (c *collector) each(dir string, f func(name string, dir bool)) {
	entries, err := os.ReadDir(c.s.path(dir))
	c.note(err)
	for _, e := range entries {
		f(e.Name(), e.IsDir())
	}
}

// note keeps the first error, apart from those that only say that another
// process was faster.
func (c *collector) note(err error) {
	if err != nil && c.err == nil && !errors.Is(err, fs.ErrNotExist) {
		c.err = err
	}
}

func (c *collector) remove(elem ...string) { c.note(os.Remove(c.s.path(elem...))) }

// removeDir removes an empty directory; one that is in use stays.
func (c *collector) removeDir(elem ...string) {
	err := unix.Rmdir(c.s.path(elem...))
	if err != unix.ENOTEMPTY && err != unix.EEXIST {
		c.note(err)
	}
}

// old reports whether the last change lies at least age away. A date in the
// future is as good: the clock was set back, and waiting for it helps nobody.
func (c *collector) old(age time.Duration, elem ...string) bool {
	fi, err := os.Lstat(c.s.path(elem...))
	return err == nil && c.now.Sub(fi.ModTime()).Abs() >= age
}

// free reports whether nobody alive owns the file; a missing one is free.
func (c *collector) free(elem ...string) bool {
	f, err := os.OpenFile(c.s.path(elem...), readOnly, 0)
	if err != nil {
		return !starved(err)
	}
	defer f.Close()
	return !held(f)
}

// abandoned retires what a dead process left in req/.
func (c *collector) abandoned(id string, dir bool) {
	if !dir || !ValidID(id) {
		return
	}
	f, err := os.OpenFile(c.s.path("req", id, "request"), readOnly, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && c.old(c.s.keepStaged, "req", id) {
			c.note(os.Rename(c.s.path("req", id), c.s.path("done", id)))
		}
		return
	}
	defer f.Close()
	if !held(f) {
		c.s.retireDead(id, f)
	}
}

func (c *collector) staged(name string, dir bool) {
	if !c.old(c.s.keepStaged, "tmp", name) {
		return
	}
	switch {
	case dir && ValidID(name):
		if !c.free("tmp", name, "request") {
			return
		}
		// Under another name first: its owner, if one lives after all, can only
		// publish it whole or not at all.
		taken := newID(c.now)
		if err := os.Rename(c.s.path("tmp", name), c.s.path("tmp", taken)); err != nil {
			c.note(err)
			return
		}
		c.remove("tmp", taken, "request")
		c.remove("tmp", taken, wakeName)
		c.removeDir("tmp", taken)
	case !dir && len(name) > 2 && name[1] == '-' && ValidID(name[2:]):
		if c.free("tmp", name) {
			c.remove("tmp", name)
		}
	}
}

func (c *collector) retired(name string, dir bool) {
	if !c.old(c.s.keep, "done", name) {
		return
	}
	if dir && ValidID(name) {
		if !c.free("done", name, "request") {
			return // its owner has not read the decision yet
		}
		// The answer goes before the mark of its use: without the mark it
		// would be offered again.
		for _, file := range []string{"late", "request", "decision", "used", wakeName} {
			c.remove("done", name, file)
		}
		c.removeDir("done", name)
		return
	}
	for _, kind := range []string{".grant", ".pass"} {
		if id, ok := strings.CutSuffix(name, kind); ok && !dir && ValidID(id) {
			c.remove("done", name)
		}
	}
}

func (c *collector) passes(key string, dir bool) {
	if !dir || !isHash(key) {
		return
	}
	c.each("pass/"+key, func(id string, dir bool) {
		if dir || !ValidID(id) {
			return
		}
		p, err := c.s.readPass(c.s.path("pass", key, id))
		if err == nil && !c.s.fresh(p.BootID, p.BootNS, p.TTL) || c.old(c.s.keep, "pass", key, id) {
			c.remove("pass", key, id)
		}
	})
	if c.old(c.s.keepStaged, "pass", key) {
		c.removeDir("pass", key)
	}
}
