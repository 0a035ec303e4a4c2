package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/agents"
	"safeshell/front"
	"safeshell/initscript"
	"safeshell/permit"
	"safeshell/script"
	"safeshell/shims"
	"safeshell/spool"
	"safeshell/trash"
)

type uninstallCmd struct {
	Purge bool `help:"Delete ~/.safeshell, too, and for good what safeshell put into the trash."`
	Yes   bool `help:"Do not ask." short:"y"`
}

// parting is one uninstall: what is there, and what went wrong.
type parting struct {
	a       *app
	purge   bool
	home    string // where ~/.safeshell leads; "" where it is no directory
	link    bool   // it is a symbolic link
	reset   func() // undoes what enter did
	hooks   []agents.Removal
	files   []initscript.Change
	parts   []string // of ~/.safeshell, to go
	extra   []string // completions
	waiting []spool.Pending
	watched bool
	items   []trash.Item
	wrong   []finding
}

func (c *uninstallCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	if err := a.mustBeHuman("removing safeshell"); err != nil {
		return err
	}
	u := &parting{a: a, purge: c.Purge, reset: func() {}}
	u.enter()
	u.look()
	list := u.list()
	if len(list) == 0 && len(u.wrong) == 0 {
		if err := a.printf("nothing to do: safeshell is set up nowhere here\n"); err != nil {
			return err
		}
		u.after(false)
		return nil
	}
	a.note("This goes:")
	for _, l := range list {
		a.note("  %s", l)
	}
	if !c.Yes {
		if err := a.confirm("Remove it?"); err != nil {
			u.reset()
			return err
		}
	}
	u.refuse()
	u.takeOut()
	u.removeParts()
	if u.purge {
		u.purgeTrash()
	}
	u.closing()
	for _, f := range u.wrong {
		a.note("safeshell: %s\n      -> %s", f.text, f.fix)
	}
	if len(u.wrong) == 0 {
		if err := a.printf("safeshell is taken out\n"); err != nil {
			return err
		}
	}
	u.after(true)
	if len(u.wrong) == 0 {
		return nil
	}
	purge := ""
	if u.purge {
		purge = " --purge"
	}
	return fmt.Errorf("not all of it could be taken out; mend what is named, then run again: %s uninstall%s", a.ownName(), purge)
}

func (u *parting) fail(fix, format string, args ...any) {
	u.wrong = append(u.wrong, finding{"fail", fmt.Sprintf(format, args...), fix})
}

// ownName is how this binary is called when the shims are gone.
func (a *app) ownName() string {
	if p := a.inPath("safeshell"); p != "" && sameFile(p, self()) {
		return "safeshell"
	}
	return shellWord(self())
}

// inPath finds a program of PATH that is no shim.
func (a *app) inPath(name string) string {
	for _, d := range filepath.SplitList(a.getenv("PATH")) {
		p := filepath.Join(d, name)
		if fi, err := os.Stat(p); err == nil && filepath.IsAbs(d) && filepath.Clean(d) != a.paths.Shims && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}

// enter finds ~/.safeshell, and gives itself access to it.
func (u *parting) enter() {
	a, home := u.a, u.a.paths.Home
	fi, err := os.Lstat(home)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			u.fail(mend(err, "ls -ld "+shellWord(home)), "%v", err)
		}
		return
	}
	if u.link = fi.Mode()&os.ModeSymlink != 0; u.link {
		if home, err = filepath.EvalSymlinks(home); err != nil {
			return // leads nowhere: nothing is behind it
		}
		fi, err = os.Stat(home)
	}
	switch {
	case err != nil:
		u.fail(mend(err, "ls -ld "+shellWord(home)), "%v", err)
	case home == "/" || strings.HasPrefix(a.paths.User+"/", home+"/"):
		u.fail("unset SAFESHELL_HOME", "SAFESHELL_HOME (%s) is or holds your home directory, and nothing in it is deleted", home)
	case !fi.IsDir():
		u.fail("ls -l "+shellWord(home), "%s is no directory, and not safeshell's", home)
	case unix.Access(home, unix.R_OK|unix.W_OK|unix.X_OK) == nil && fi.Mode()&0o700 == 0o700:
		u.home = home
	default:
		if err := os.Chmod(home, fi.Mode().Perm()|0o700); err != nil {
			u.fail(mend(err, "ls -ld "+shellWord(home)), "%v", err)
			return
		}
		u.home, u.reset = home, func() { _ = os.Chmod(home, fi.Mode().Perm()) }
	}
}

// made are the parts of ~/.safeshell that safeshell makes anew when it is set up;
// the user's are the others.
var made = []string{"shims", "shell", "bin", "cache", "run", "agents", "startup-files", "path-seen", "shims.lock", "version"}

var users = []string{"config.yaml", "rules.yaml", "spool", "trust", "grants", "log", "backup", "retries", "permits"}

// goes says whether an entry of ~/.safeshell is to be deleted.
func (u *parting) goes(name string) bool {
	return slices.Contains(made, name) || strings.HasPrefix(name, "env.") || strings.HasPrefix(name, "gate.") ||
		u.purge && (filepath.Base(u.home) == ".safeshell" || slices.Contains(users, name))
}

// look finds what is there, and changes nothing.
func (u *parting) look() {
	a := u.a
	u.hooks = agents.Removals(a.agentsEnv(), a.hookBinary())
	var err error
	if u.files, err = initscript.PlanUndo(a.initEnv(), a.initParams()); err != nil {
		u.fail("ls -ld "+shellWord(a.paths.User), "the start-up files: %v", err)
	}
	if u.home != "" {
		u.parts = slices.DeleteFunc(names(u.home), func(n string) bool { return !u.goes(n) })
	}
	if slices.Equal(u.parts, []string{"cache"}) { // what still runs makes it anew
		_ = trash.Destroy(filepath.Join(u.home, "cache"), os.Geteuid())
		u.parts = nil
	}
	for _, p := range a.completionFiles() {
		if text, err := os.ReadFile(p); err == nil && bytes.Contains(text[:min(len(text), 300)], []byte("completion for safeshell")) {
			u.extra = append(u.extra, p)
		}
	}
	if _, err := os.Lstat(a.paths.Spool); err == nil && u.home != "" {
		if s, err := spool.Open(a.paths.Spool); err == nil {
			u.watched = s.MonitorAlive()
			all, _ := s.Pending()
			u.waiting = slices.DeleteFunc(all, func(p spool.Pending) bool { return p.Late })
		}
	}
	if u.purge {
		items, errs := trash.List(a.trashEnv())
		for _, err := range errs {
			a.note("safeshell: %v", err) // one that is not used holds nothing of ours
		}
		u.items = slices.DeleteFunc(items, func(it trash.Item) bool { return !it.Ours() })
		trash.Sizes(a.trashEnv(), u.items)
	}
}

// completionFiles are where people save what `safeshell completion` prints.
func (a *app) completionFiles() []string {
	dir := func(name, otherwise string) string {
		if d := a.getenv(name); filepath.IsAbs(d) {
			return d
		}
		return filepath.Join(a.paths.User, otherwise)
	}
	data, conf := dir("XDG_DATA_HOME", ".local/share"), dir("XDG_CONFIG_HOME", ".config")
	out := []string{
		filepath.Join(dir("BASH_COMPLETION_USER_DIR", ".local/share/bash-completion"), "completions/safeshell"),
		filepath.Join(data, "bash-completion/completions/safeshell"),
		filepath.Join(conf, "fish/completions/safeshell.fish"),
		filepath.Join(data, "zsh/site-functions/_safeshell"),
	}
	for _, d := range []string{".zfunc", ".zfunctions", ".zsh/completions", ".zsh/completion", ".zsh/functions", ".oh-my-zsh/completions", ".oh-my-zsh/custom/completions"} {
		out = append(out, filepath.Join(a.paths.User, d, "_safeshell"))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// list is what goes, a line each.
func (u *parting) list() (out []string) {
	add := func(what, format string, args ...any) {
		out = append(out, fmt.Sprintf("%-8s %s", what, fmt.Sprintf(format, args...)))
	}
	for _, p := range u.waiting {
		add("refuse", "%s, which waits for an answer", visible(requestText(p.Request)))
	}
	for _, h := range u.hooks {
		for _, f := range h.Files {
			if f.Change == agents.Removed {
				add("delete", "%s: the hook of %s", f.Path, h.Agent.Name)
			} else {
				add("edit", "%s: the hook of %s goes", f.Path, h.Agent.Name)
			}
		}
		for _, err := range h.Errs {
			add("skip", "%s: %v", h.Agent.Name, err)
		}
	}
	for _, f := range u.files {
		if f.Kind == initscript.Remove {
			add("edit", "%s: safeshell's block goes%s", f.File, paren(f.Note))
		} else {
			add(f.Kind, "%s%s", f.File, paren(f.Note))
		}
	}
	for _, p := range u.extra {
		add("delete", "%s", p)
	}
	switch {
	case u.purge && u.home != "":
		files, size := measure(u.home, u.parts)
		add("delete", "%s: %d files, %s: %s", u.a.paths.Home, files, bytesText(size), visible(strings.Join(u.parts, " ")))
	case len(u.parts) > 0:
		add("delete", "in %s: %s", u.a.paths.Home, visible(strings.Join(u.parts, " ")))
	case u.purge && u.link:
		add("delete", "the link %s, which leads nowhere", u.a.paths.Home)
	}
	if len(u.items) > 0 {
		var size int64
		for _, it := range u.items {
			size += max(it.Size, 0)
		}
		add("delete", "for good, from the trash, what safeshell put there: %s, %s", itemCount(len(u.items)), bytesText(size))
		for i, it := range u.items {
			if i == 20 {
				out = append(out, fmt.Sprintf("           and %d more; all: safeshell trash list --size", len(u.items)-i))
				break
			}
			out = append(out, fmt.Sprintf("           %8s  %s", bytesText(max(it.Size, 0)), visible(cmp.Or(it.Path, it.Name))))
		}
	}
	return out
}

func names(dir string) (out []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// measure counts what is in a directory, or below it, under names.
func measure(dir string, names []string) (files int, size int64) {
	for _, name := range names {
		_ = filepath.WalkDir(filepath.Join(dir, name), func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // what cannot be read is not counted
			}
			files++
			if fi, err := d.Info(); err == nil {
				size += fi.Size()
			}
			return nil
		})
	}
	return files, size
}

// refuse answers what waits, and lets it end.
func (u *parting) refuse() {
	a := u.a
	if len(u.waiting) == 0 {
		return
	}
	s, err := a.spool()
	if err != nil {
		u.fail(mend(err, "safeshell pending"), "what waits could not be refused: %v", err)
		return
	}
	for _, p := range u.waiting {
		_, err := s.Answer(p.ID, spool.Refuse, "safeshell is being removed", spool.ByCLI)
		if err != nil && !errors.Is(err, spool.ErrDecided) && !errors.Is(err, spool.ErrGone) {
			u.fail(a.ownName()+" deny "+p.ID, "%s still waits: %v", requestText(p.Request), err)
			continue
		}
		_ = a.g.Journal(spool.Entry{Kind: spool.KindAnswer, ID: p.ID, Action: answered(spool.Refuse), Choice: spool.Refuse, Rule: p.Rule, // it is refused either way
			Command: requestText(p.Request), Dir: p.Dir, Layer: p.Layer, Context: p.Context, Agent: p.Agent, Session: p.Session, By: spool.ByCLI, Reason: "safeshell is being removed"})
		for range 100 { // it reads the answer before anything is deleted
			if _, err := os.Lstat(filepath.Join(a.paths.Spool, "req", p.ID)); err != nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// takeOut edits what is other programs'.
func (u *parting) takeOut() {
	a := u.a
	for _, h := range u.hooks {
		_, err := h.Do()
		for _, err := range split(err) {
			why, do, _ := cutLast(err.Error(), "; nothing was changed: ")
			if why == do {
				do = "mend it, then: " + a.ownName() + " agents uninstall " + h.Agent.Name
			}
			u.fail(do, "%s: %s", h.Agent.Name, why)
		}
	}
	done, err := initscript.Undo(a.initEnv(), a.initParams())
	for _, d := range done {
		if d.Kind == initscript.Skip {
			why, do, _ := cutLast(d.Note, "; ")
			u.fail(do, "%s: %s", d.File, why)
		}
	}
	if err != nil && !slices.ContainsFunc(done, func(d initscript.Change) bool { return d.Kind == initscript.Skip }) {
		u.fail("ls -ld "+shellWord(a.paths.User), "the start-up files: %v", err)
	}
	for _, p := range u.extra {
		if err := os.Remove(p); err != nil {
			u.fail("/bin/rm "+shellWord(p), "%v", err)
		}
	}
}

// split undoes errors.Join.
func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range joined.Unwrap() {
			out = append(out, split(e)...)
		}
		return out
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, s, false
	}
	return s[:i], s[i+len(sep):], true
}

// removeParts deletes what safeshell has made below ~/.safeshell, or all of it.
// Nothing goes that a second run needs to finish the first.
func (u *parting) removeParts() {
	a, home := u.a, u.home
	if home == "" {
		if u.purge && u.link {
			if err := os.Remove(a.paths.Home); err != nil {
				u.fail("/bin/rm "+shellWord(a.paths.Home), "%v", err)
			}
		}
		return
	}
	keep := map[string]bool{}
	if len(u.wrong) > 0 {
		keep["agents"], keep["startup-files"], keep["backup"] = true, true, true
	}
	permit.CleanRuns(home)
	if left := names(filepath.Join(home, "run")); len(left) > 0 {
		keep["run"] = true
		u.fail("wait for it, or end it", "a script of `safeshell run` is running")
	}
	if err := trash.Destroy(filepath.Join(home, "bin", "copy"), os.Geteuid()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		u.fail("/bin/rm -r "+shellWord(filepath.Join(home, "bin", "copy")), "%v", err)
	}
	for _, dir := range []string{"shims", "shell", "bin"} {
		foreign, err := shims.Remove(filepath.Join(home, dir), shims.Link(home))
		if err != nil {
			u.fail(mend(err, "/bin/rm -r "+shellWord(filepath.Join(home, dir))), "%v", err)
		}
		if len(foreign) > 0 && !(u.purge && filepath.Base(home) == ".safeshell") {
			a.note("not safeshell's, and left alone: %s", script.Quote(foreign))
			keep[dir] = true
		}
	}
	for _, name := range names(home) {
		if !u.goes(name) || keep[name] {
			continue
		}
		if err := trash.Destroy(filepath.Join(home, name), os.Geteuid()); err != nil {
			u.fail("/bin/rm -r "+shellWord(filepath.Join(home, name)), "%v", err)
		}
	}
	if !u.purge {
		return
	}
	if spoolDir := a.paths.Spool; filepath.Dir(spoolDir) != a.paths.Home && fileExists(filepath.Join(spoolDir, "VERSION")) {
		if err := trash.Destroy(spoolDir, os.Geteuid()); err != nil {
			u.fail("/bin/rm -r "+shellWord(spoolDir), "%v", err)
		}
	}
	left := names(home)
	if others := slices.DeleteFunc(slices.Clone(left), u.goes); len(others) > 0 {
		a.note("not safeshell's, and left alone in %s: %s", home, strings.Join(others, " "))
	}
	if len(left) == 0 {
		if err := os.Remove(home); err != nil {
			u.fail("/bin/rmdir "+shellWord(home), "%v", err)
		} else if u.link {
			_ = os.Remove(a.paths.Home)
		}
	}
}

// closing is said of a monitor that runs; one that makes ~/.safeshell anew is in
// the way.
func (u *parting) closing() {
	if !u.watched {
		return
	}
	for range 20 {
		if u.purge && fileExists(u.a.paths.Home) {
			u.fail("close it (q)", "a monitor is running, and has made %s anew", u.a.paths.Home)
			return
		}
		if !u.purge {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	u.a.note("A monitor is running: close it (q); nothing comes to it any more.")
}

func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (u *parting) purgeTrash() {
	for _, o := range trash.Purge(u.a.trashEnv(), u.items) {
		if o.Err != nil {
			u.fail("/bin/rm -r "+shellWord(o.Item.DataPath()), "%v", o.Err)
		}
	}
	trash.Leave(u.a.trashEnv())
}

// after says what is left for the person.
func (u *parting) after(taken bool) {
	a := u.a
	var running []string
	for _, h := range u.hooks {
		running = append(running, h.Agent.Name)
	}
	if len(running) > 0 {
		a.note("Agents that are running keep the hooks that they started with, which no longer work: restart %s.", strings.Join(running, ", "))
	}
	if left := names(a.paths.Home); len(left) > 0 && u.home != "" && !u.purge {
		a.note("In %s stay: %s. To delete them, and what safeshell put into the trash: %s uninstall --purge", a.paths.Home, strings.Join(left, " "), a.ownName())
	}
	for _, f := range initscript.ByHand(a.initEnv(), a.initParams()) {
		a.note("%s:%d %s: %s", f.File, f.Line, f.Message, f.Fix)
	}
	if taken && slices.Contains(filepath.SplitList(a.getenv("PATH")), a.paths.Shims) {
		shell := cmp.Or(initscript.Known(front.ParentName()), initscript.Known(a.getenv("SHELL")), "sh")
		a.note("This shell, and others that are open, still look for programs in the shims, and keep safeshell's functions: exec %s", shell)
	}
	for _, p := range a.programs() {
		a.note("The program itself, %s: %s", p, a.removal(p))
	}
}
