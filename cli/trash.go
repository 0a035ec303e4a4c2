package cli

import (
	"bufio"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"safeshell/shims"
	"safeshell/trash"
)

type trashCmd struct {
	Put     trashPutCmd     `cmd:"" passthrough:"" help:"Move files to the trash; takes rm's options."`
	List    trashListCmd    `cmd:"" help:"List what is in the trash, newest first."`
	Restore trashRestoreCmd `cmd:"" help:"Bring files back: the last rm, or by name, path or id."`
	Purge   trashPurgeCmd   `cmd:"" help:"Delete items for good, by age or one by one."`
	Empty   trashEmptyCmd   `cmd:"" help:"Delete everything in the trash for good."`
	Clean   trashCleanCmd   `cmd:"" hidden:""`
}

// trashCleanCmd deletes what the trash has kept long enough; rm starts it.
type trashCleanCmd struct{}

func (c *trashCleanCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	a.cleanTrash()
	return nil
}

// checkTrash says how full the trash is.
func (a *app) checkTrash() (fs []finding) {
	c := a.g.Config().Trash
	for _, u := range trash.Usages(a.trashEnv(), trash.Config{KeepDays: c.KeepDays, MaxBytes: c.MaxBytes}) {
		text := fmt.Sprintf("trash %s: %s of %s, %s", u.Path, bytesText(u.Bytes), bytesText(u.Quota), itemCount(u.Items))
		if u.Items > 0 {
			text += ", the oldest of " + u.Oldest.Format(time.DateOnly)
		}
		if u.Bytes > u.Quota {
			fs = append(fs, finding{"warn", text + "; what is younger than a day is left to you", "safeshell trash list --size; then safeshell trash purge ID"})
		} else {
			fs = append(fs, finding{"ok", text, ""})
		}
	}
	return fs
}

type trashPutCmd struct {
	Args []string `arg:"" optional:"" complete:"files" help:"rm's options and operands."`
}

func (c *trashPutCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	return codeError(shims.PutInTrash(a.p, a.g, c.Args))
}

func (a *app) trashEnv() trash.Env { return shims.TrashEnv(a.p, a.g) }

// trashItems lists the trash; what cannot be read is said and passed over, and
// then failed: what follows is not about all that there is.
func (a *app) trashItems(in inTrash) (items []trash.Item, env trash.Env, failed bool, err error) {
	// Much is allocated and nearly all of it stays: a collection finds little.
	debug.SetGCPercent(400)
	env = a.trashEnv()
	env.Only = in.In
	if err := env.CheckOnly(); err != nil {
		return nil, env, true, err
	}
	items, errs := trash.List(env)
	for _, err := range errs {
		a.note("safeshell: %v", err)
		// One that is not trusted is not used, and nothing fails for that.
		no := syscall.Errno(0)
		failed = failed || errors.As(err, &no) && no != syscall.ENOENT
	}
	return items, env, failed, nil
}

// inTrash narrows a command to one trash directory.
type inTrash struct {
	In string `complete:"dirs" help:"Only this trash directory (all of yours are used else)." placeholder:"DIR" type:"path"`
}

// lines prints one line for each of many items: not each by a call of its own.
type lines struct {
	a *app
	w *bufio.Writer
}

func (a *app) lines() *lines { return &lines{a, bufio.NewWriterSize(a.out, 64<<10)} }

func (l *lines) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(l.w, format, args...)
	return l.a.printed(err)
}

// note writes to stderr, after what was printed before it.
func (l *lines) note(format string, args ...any) {
	_ = l.w.Flush() // an error comes again at the end
	l.a.note(format, args...)
}

func (l *lines) flush() error { return l.a.printed(l.w.Flush()) }

// lately narrows a command to what one session deleted, or since a time.
type lately struct {
	Session string `complete:"trash-sessions" help:"Only what this session deleted (trash list --json names it; last: that of the newest item)." placeholder:"ID"`
	Since   string `help:"Only what was deleted since: 30m, 2h, 3d, 2026-11-21, 2026-11-21T08:30." placeholder:"TIME"`
}

// narrow puts that into a selection among items, newest first.
func (l lately) narrow(s *trash.Selection, items []trash.Item, now time.Time) error {
	since, err := parseSince(l.Since, now)
	if err != nil {
		return usageError{err}
	}
	s.Session, s.Since = l.Session, since
	if l.Session == "last" && len(items) > 0 {
		s.Session = items[0].Session
	}
	for _, it := range items { // the agent's own id, without its name
		if _, id, ok := strings.Cut(it.Session, ":"); ok && id == l.Session {
			s.Session = it.Session
		}
	}
	return nil
}

func (l lately) none() bool { return l.Session == "" && l.Since == "" }

type trashListCmd struct {
	inTrash
	lately
	colored
	JSON  bool   `help:"Print one JSON object a line." name:"json"`
	Size  bool   `help:"Also the size of each (walks directories)." short:"s"`
	Under string `arg:"" optional:"" complete:"dirs" help:"Only what was in this directory." type:"path"`
}

// listedItem is what --json prints of an item.
type listedItem struct {
	ID      string     `json:"id"`
	Path    string     `json:"path"`
	PathB64 []byte     `json:"path_base64,omitempty"` // when the path is no valid UTF-8
	Deleted *time.Time `json:"deleted,omitempty"`
	Trash   string     `json:"trash"`
	Group   string     `json:"group,omitempty"`
	Session string     `json:"session,omitempty"`
	Dir     bool       `json:"dir"`
	Size    *int64     `json:"size,omitempty"`
	Problem string     `json:"problem,omitempty"`
}

func (c *trashListCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	items, env, failed, err := a.trashItems(c.inTrash)
	if err != nil {
		return err
	}
	sel := trash.Selection{Parts: true}
	if err := c.narrow(&sel, items, time.Now()); err != nil {
		return err
	}
	if c.Under != "" {
		sel.Under = []string{c.Under}
	}
	if sel.All = c.Under == ""; !sel.All || !c.lately.none() {
		under, errs := trash.Select(items, sel, time.Now())
		if len(errs) > 0 && c.Under != "" {
			a.note("nothing in the trash was in %s", visible(c.Under))
			return codeIf(failed)
		}
		items = under
	}
	if c.Size {
		trash.Sizes(env, items)
	}
	if len(items) == 0 && !c.JSON && !failed {
		if c.lately.none() {
			a.note("the trash is empty")
		} else {
			a.note("nothing in the trash is of that session or time; to see all: safeshell trash list")
		}
	}
	out, p := a.lines(), c.palette(a)
	var total int64
	for _, it := range items {
		if c.JSON {
			l := listedItem{ID: it.ID, Path: it.Path, Trash: it.DataPath(), Group: it.Group, Session: it.Session, Dir: it.IsDir, Problem: it.Problem}
			if !it.Deleted.IsZero() {
				l.Deleted = &it.Deleted
			}
			if it.Size >= 0 {
				l.Size = &it.Size
			}
			if !utf8.ValidString(it.Path) {
				l.PathB64 = []byte(it.Path)
			}
			if err := a.printed(jsonLine(out.w, l)); err != nil {
				return err
			}
			continue
		}
		when := "                   "
		if !it.Deleted.IsZero() {
			when = it.Deleted.Format("2006-01-02 15:04:05")
		}
		name := trash.Show(it.Path)
		if it.Path == "" {
			name = "? " + trash.Show(it.DataPath())
		}
		if it.IsDir {
			name = p.in(blue, name+"/")
		}
		size := ""
		if it.Size >= 0 {
			size = fmt.Sprintf("%9s  ", bytesText(it.Size))
			total += it.Size
		}
		problem := ""
		if it.Problem != "" {
			problem = p.in(red, "  ("+visible(it.Problem)+")")
		}
		if err := out.printf("%s  %s  %s%s%s\n", p.in(yellow, it.ID), p.in(faint, when), size, name, problem); err != nil {
			return err
		}
	}
	if err := out.flush(); err != nil {
		return err
	}
	switch {
	case c.JSON || len(items) == 0:
	case c.Size:
		a.note("%s, %s", itemCount(len(items)), bytesText(total))
	case len(items) > 1:
		a.note("%s", itemCount(len(items)))
	}
	return codeIf(failed)
}

// bytesText is a size for people, in powers of 1024.
func bytesText(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, i := float64(n)/1024, 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	return fmt.Sprintf("%.1f %ciB", f, units[i])
}

// which turns operands into a selection: an id, a path, or a name.
type which struct {
	What  []string `arg:"" optional:"" name:"item" complete:"trash" help:"Names, paths or ids (trash list)."`
	Group []string `complete:"trash-groups" help:"All of one rm call." placeholder:"ID" sep:"none"`
	Under []string `complete:"dirs" help:"All that was in this directory." placeholder:"DIR" sep:"none" type:"path"`
	Last  bool     `help:"All of the last rm call."`
}

func (w which) selection(items []trash.Item, dir string) trash.Selection {
	s := trash.Selection{Groups: w.Group, Under: w.Under, Last: w.Last}
	if len(w.What) == 0 {
		return s
	}
	ids, paths := map[string]bool{}, map[string]bool{}
	for i := range items {
		ids[items[i].ID], paths[items[i].Path] = true, true
	}
	for _, x := range w.What {
		abs := filepath.Clean(x)
		if !filepath.IsAbs(abs) {
			abs = filepath.Join(dir, x)
		}
		switch {
		case paths[abs] || strings.Contains(x, "/"):
			s.Paths = append(s.Paths, abs)
		case ids[x]:
			s.IDs = append(s.IDs, x)
		default:
			s.Names = append(s.Names, x)
		}
	}
	return s
}

// none reports whether nothing was named.
func (w which) none() bool {
	return len(w.What)+len(w.Group)+len(w.Under) == 0 && !w.Last
}

func (a *app) selected(items []trash.Item, s trash.Selection) ([]trash.Item, bool) {
	chosen, errs := trash.Select(items, s, time.Now())
	for _, err := range errs {
		a.note("safeshell: %v", err)
	}
	return chosen, len(errs) > 0
}

type trashRestoreCmd struct {
	inTrash
	which
	lately
	To        string `complete:"dirs" help:"Put them into this directory instead of where they were." placeholder:"DIR" type:"path"`
	Overwrite bool   `help:"Replace a file that is there meanwhile (never a directory)."`
	Parents   bool   `help:"Make missing directories above, with the modes they had." short:"p"`
}

func (c *trashRestoreCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	items, env, failed, err := a.trashItems(c.inTrash)
	if err != nil {
		return err
	}
	sel := c.selection(items, env.Dir)
	sel.Parts = true
	if err := c.narrow(&sel, items, time.Now()); err != nil {
		return err
	}
	if c.which.none() {
		switch {
		case len(items) == 0 && failed:
			return exitError(1)
		case len(items) == 0:
			return errors.New("the trash is empty")
		}
		sel.Last = c.lately.none()
	}
	chosen, wrong := a.selected(items, sel)
	if len(chosen) == 0 && !wrong {
		return errors.New("nothing in the trash is of that session or time; to see all: safeshell trash list")
	}
	failed = failed || wrong
	outs := trash.Restore(env, chosen, trash.RestoreOptions{To: c.To, Overwrite: c.Overwrite, Parents: c.Parents})
	failed, err = a.outcomes(outs, failed, "restored", func(r trash.Outcome) string { return r.Path })
	if err != nil {
		return err
	}
	return codeIf(failed)
}

// outcomes prints what became of each item, and reports whether anything failed.
func (a *app) outcomes(outs []trash.Outcome, failed bool, done string, path func(trash.Outcome) string) (bool, error) {
	out := a.lines()
	for _, r := range outs {
		if r.Err != nil {
			failed = true
			out.note("safeshell: %v", r.Err)
			continue
		}
		if err := out.printf("%s %s\n", done, trash.Show(path(r))); err != nil {
			return failed, err
		}
	}
	return failed, out.flush()
}

type trashPurgeCmd struct {
	inTrash
	which
	Older  string `help:"All that were deleted longer ago than this: 30d, 12h (default: the configured keep_days)." placeholder:"AGE"`
	DryRun bool   `help:"Say what would be deleted; delete nothing." short:"n"`
	Yes    bool   `help:"Do not ask." short:"y"`
}

func (c *trashPurgeCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	items, env, failed, err := a.trashItems(c.inTrash)
	if err != nil {
		return err
	}
	sel := c.selection(items, env.Dir)
	if c.none() {
		age := c.Older
		if age == "" {
			age = fmt.Sprintf("%dd", a.g.Config().Trash.KeepDays)
		}
		now := time.Now()
		t, err := parseSince(age, now)
		if err != nil {
			return usageError{err}
		}
		sel.Older = max(now.Sub(t), time.Nanosecond)
	} else if c.Older != "" {
		return usageError{errors.New("name items or give --older, not both")}
	}
	chosen, wrong := a.selected(items, sel)
	return a.purge(env, chosen, failed || wrong, c.DryRun, c.Yes)
}

type trashEmptyCmd struct {
	inTrash
	DryRun bool `help:"Say what would be deleted; delete nothing." short:"n"`
	Yes    bool `help:"Do not ask." short:"y"`
}

func (c *trashEmptyCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	items, env, failed, err := a.trashItems(c.inTrash)
	if err != nil {
		return err
	}
	return a.purge(env, items, failed, c.DryRun, c.Yes)
}

func itemCount(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// purge deletes items for good, after a question: an agent may not.
func (a *app) purge(env trash.Env, items []trash.Item, failed, dry, yes bool) error {
	if len(items) == 0 {
		if !failed {
			a.note("nothing to delete")
		}
		if dry {
			return codeIf(failed)
		}
		// What interrupted calls left is nobody's.
		for _, err := range trash.Sweep(env) {
			failed = true
			a.note("safeshell: %v", err)
		}
		return codeIf(failed)
	}
	if dry {
		out := a.lines()
		for _, it := range items {
			if err := out.printf("would delete %s  %s\n", it.ID, trash.Show(it.Path)); err != nil {
				return err
			}
		}
		if err := out.flush(); err != nil {
			return err
		}
		return codeIf(failed)
	}
	if caller := a.g.Caller(); caller.Agent != "" {
		if err := a.mustBeHuman("deleting from the trash for good"); err != nil {
			return err
		}
	}
	if !yes {
		if err := a.confirm(fmt.Sprintf("Delete %s for good?", itemCount(len(items)))); err != nil {
			return err
		}
	}
	failed, err := a.outcomes(trash.Purge(env, items), failed, "deleted", func(r trash.Outcome) string {
		if r.Item.Path == "" {
			return r.Item.DataPath()
		}
		return r.Item.Path
	})
	for _, e := range trash.Sweep(env) {
		failed = true
		a.note("safeshell: %v", e)
	}
	if err != nil {
		return err
	}
	return codeIf(failed)
}

func codeIf(failed bool) error {
	if failed {
		return exitError(1)
	}
	return nil
}
