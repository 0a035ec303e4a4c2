package trash

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Purge deletes items for good and tells of each. It goes on after errors; an
// item that could not be deleted whole keeps its information and can be purged
// again. Nothing but the items' own data is deleted: no link is followed and
// no other filesystem entered.
func Purge(e Env, items []Item) []Outcome {
	outs := make([]Outcome, len(items))
	ss, unlocks, errs := openFor(e, items)
	defer closeAll(ss)
	stores := byPath(ss)
	for i, it := range items {
		outs[i].Item = it
		if err := errs[it.TrashDir]; err != nil {
			outs[i].Err = err
			continue
		}
		outs[i].Err = stores[it.TrashDir].purge(it, e.UID)
	}
	for _, s := range ss {
		s.updateSizes(func(map[string]dirSize) {})
	}
	for _, u := range unlocks {
		u()
	}
	return outs
}

// purge deletes one item, data before information.
func (s *store) purge(it Item, uid int) error {
	if err := s.still(it); err != nil {
		return err
	}
	if err := s.purgeData(it, uid); err != nil {
		return err
	}
	if it.orphan {
		return nil
	}
	if err := step("purged"); err != nil {
		return err
	}
	if err := s.dropInfo(it.Name); err != nil && err != unix.ENOENT {
		return &pathError{"unlink", s.path + "/info/" + it.Name + infoSuffix, err}
	}
	return nil
}

// purgeData deletes the data of an item: all of it or, when it is interrupted,
// none that is listed.
func (s *store) purgeData(it Item, uid int) error {
	data := doomed{s: s, item: it.Name, name: it.Name}
	if it.IsDir {
		if again(func() error { return unix.Unlinkat(s.files, it.Name, unix.AT_REMOVEDIR) }) == nil {
			return nil
		}
		data = s.doom(it)
	}
	r := remover{uid: uid, dev: s.dev, mnt: s.mnt, root: -1}
	if !r.remove(s.files, data.name, it.DataPath(), 0) {
		data.undo()
		return r.reason()
	}
	data.done()
	return nil
}

// reason is the first error of a removal, with how many more there were.
func (r *remover) reason() error {
	if len(r.errs) == 0 {
		return errors.New("it could not be removed")
	}
	e, more := r.errs[0], ""
	if n := len(r.errs) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
		if len(r.errs) == maxErrors {
			more = " (and many more)"
		}
	}
	why := errText(e.err)
	if e.err == unix.EXDEV {
		why = "another filesystem is mounted there"
	}
	return fmt.Errorf("cannot delete %s: %s%s", Show(e.path), why, more)
}

// Empty deletes all that is in the trash directories of the user, with what
// interrupted puts left there. Errors tell of trash directories that are not
// used and why.
func Empty(e Env) ([]Outcome, []error) {
	items, errs := List(e)
	outs := Purge(e, items)
	return outs, append(errs, Sweep(e)...)
}

// Evicted is what Evict did.
type Evicted struct {
	Expired []Outcome // kept their time: Config.KeepDays, regenerable ones 24 hours
	Quota   []Outcome // made room
	Over    int64     // bytes that are still too many; only younger items are left, and a human must choose
	Errs    []error
}

// evictEvery is how often a trash is looked at, at most.
const evictEvery = time.Hour

// EvictDue reports whether one of the trashes has not been looked at by Evict for
// an hour. Put says it of those that it has used.
func EvictDue(e Env) bool {
	ss, _ := e.stores()
	defer closeAll(ss)
	return slices.ContainsFunc(ss, func(s *store) bool { return s.evictDue(e.now()) })
}

func (s *store) evictDue(now time.Time) bool {
	fi, err := lstatAt(s.fd, stampName)
	return err != nil || now.Sub(time.Unix(fi.mtime.Unix())).Abs() > evictEvery
}

// evictDue is EvictDue for the trashes that were used; it is said once. One that
// was never looked at has nothing old, or waits an hour.
func (p *putter) evictDue() (due bool) {
	if len(p.res.Moved) == 0 {
		return false
	}
	now := p.e.now()
	for _, s := range append(slices.Collect(maps.Values(p.tops)), p.store) {
		if s != nil && s.evictDue(now) {
			due = due || exists(filepath.Join(s.path, stampName))
			s.touchStamp(now)
		}
	}
	return due
}

// Usage is how full one trash is, of what Evict counts.
type Usage struct {
	Path   string
	Items  int
	Bytes  int64
	Quota  int64
	Oldest time.Time
}

// Usages says it of all trashes of the user.
func Usages(e Env, c Config) (us []Usage) {
	items, _ := List(e)
	items = slices.DeleteFunc(items, func(it Item) bool { return !it.Ours() })
	Sizes(e, items)
	ss, _ := e.stores()
	for _, s := range ss {
		u := Usage{Path: s.path, Quota: c.quota(s)}
		for _, it := range items {
			if it.TrashDir != s.path {
				continue
			}
			u.Items++
			u.Bytes += max(it.Size, 0)
			if u.Oldest.IsZero() || it.when().Before(u.Oldest) {
				u.Oldest = it.when()
			}
		}
		us = append(us, u)
		s.close()
	}
	return us
}

// Ours says that an item is safeshell's: another program trashed the others, and
// theirs they are to expire.
func (it Item) Ours() bool { return it.Group != "" && it.micro != 0 && !it.orphan }

// stampName is the file whose time is that of the last Evict.
const stampName = ".safeshell.evicted"

func (s *store) touchStamp(now time.Time) {
	fd, err := openAt(s.fd, stampName, unix.O_WRONLY|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return
	}
	ts := unix.NsecToTimespec(now.UnixNano())
	_ = setTimes(fd, finfo{atime: ts, mtime: ts})
	unix.Close(fd)
}

// Evict keeps the trash within its time and size: it deletes what was kept long
// enough, then, while there is more than the quota allows, regenerable items
// and then the others, oldest first, but never one younger than 24 hours. Items that other programs
// trashed are theirs to expire and are neither counted nor deleted.
func Evict(e Env, c Config) Evicted {
	var ev Evicted
	items, errs := List(e)
	ev.Errs = errs
	now := e.now()
	age := func(it Item) time.Duration { return now.Sub(it.when()) }
	var old, rest []Item
	for _, it := range items {
		keep := c.keep()
		if it.Class == 2 {
			keep = minAge
		}
		switch {
		case !it.Ours():
		case age(it) > keep:
			old = append(old, it)
		default:
			rest = append(rest, it)
		}
	}
	if len(old) > 0 {
		ev.Expired = Purge(e, old)
	}
	Sizes(e, rest)
	slices.SortStableFunc(rest, func(a, b Item) int {
		return cmp.Or(cmp.Compare(b.Class, a.Class), cmp.Compare(a.micro, b.micro))
	})
	ss, _ := e.stores()
	var out []Item
	for _, s := range ss {
		over := -c.quota(s)
		for _, it := range rest {
			if it.TrashDir == s.path {
				over += max(it.Size, 0)
			}
		}
		for _, it := range rest {
			if over > 0 && it.TrashDir == s.path && age(it) > minAge {
				out = append(out, it)
				over -= max(it.Size, 0)
			}
		}
		ev.Over += max(over, 0)
		s.touchStamp(now)
		s.close()
	}
	if len(out) > 0 {
		ev.Quota = Purge(e, out)
	}
	ev.Errs = append(ev.Errs, Sweep(e)...)
	return ev
}

// Destroy deletes path with all below it, for good: it follows no link, enters no
// other filesystem, gives itself access to own directories, and goes on after errors.
func Destroy(path string, uid int) error {
	dir, err := unix.Open(filepath.Dir(path), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &pathError{"open", filepath.Dir(path), err}
	}
	defer unix.Close(dir)
	fi, err := lstatAt(dir, filepath.Base(path))
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return &pathError{"stat", path, err}
	}
	r := remover{uid: uid, dev: fi.dev, mnt: fi.mnt, root: -1}
	if !r.remove(dir, filepath.Base(path), path, 0) {
		return r.reason()
	}
	return nil
}

// Leave removes what safeshell keeps in the trashes beside the items, and a trash
// in which nothing else is left.
func Leave(e Env) {
	ss, _ := e.stores()
	defer closeAll(ss)
	for _, s := range ss {
		for _, name := range []string{stampName, lockName} {
			_ = unix.Unlinkat(s.fd, name, 0)
		}
		if fi, err := lstatAt(s.fd, sizesName); err == nil && fi.size == 0 {
			_ = unix.Unlinkat(s.fd, sizesName, 0)
		}
		if unix.Rmdir(s.path+"/files") != nil {
			continue
		}
		if unix.Rmdir(s.path+"/info") != nil { // a put that comes now makes both anew
			_ = unix.Mkdir(s.path+"/files", 0o700)
			continue
		}
		if s.top != "" {
			_ = unix.Unlinkat(s.fd, ".gitignore", 0)
		}
		_ = unix.Rmdir(s.path)
	}
}
