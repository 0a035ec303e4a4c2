package shims

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"safeshell/gate"
)

// carriers are commands that run others while they drop or bypass PATH, so
// that the shims below them would not be met: they get shims of their own.
var carriers = []string{"busybox", "chroot", "doas", "env", "pkexec", "runuser", "su", "sudo", "systemd-run", "toybox"}

// notPrograms are words that rules may name but that no PATH lookup ever meets.
var notPrograms = map[string]bool{
	".": true, ":": true, "alias": true, "bg": true, "bind": true, "break": true,
	"builtin": true, "caller": true, "cd": true, "command": true, "compgen": true,
	"complete": true, "continue": true, "declare": true, "dirs": true, "disown": true,
	"enable": true, "eval": true, "exec": true, "exit": true, "export": true,
	"fc": true, "fg": true, "getopts": true, "hash": true, "history": true,
	"jobs": true, "let": true, "local": true, "logout": true, "mapfile": true,
	"popd": true, "pushd": true, "readarray": true, "readonly": true, "return": true,
	"set": true, "shift": true, "shopt": true, "source": true, "suspend": true,
	"times": true, "trap": true, "type": true, "typeset": true, "ulimit": true,
	"umask": true, "unalias": true, "unset": true, "wait": true,
}

// Wanted is what the shims directory should hold.
type Wanted struct {
	// Always are commands named by the user's own rules: they get a shim even
	// when they are not installed.
	Always []string
	// Installed are commands of the built-in packs and carriers: they get one
	// only when the real command is in PATH, so that `command -v docker` keeps
	// telling the truth.
	Installed []string
}

// Changes is what Refresh did.
type Changes struct {
	Created, Removed, Unchanged []string
	// Foreign are names that a file or link of somebody else holds; it is left
	// alone and the command is not guarded by a shim.
	Foreign []string
}

// Link is what all shims in a safeshell's home lead to: a link to the binary, which
// alone is made anew when that moves.
func Link(home string) string { return filepath.Join(home, "bin", "safeshell") }

// Refresh makes the links in dir match want: one link to target for each
// command. It never touches what is not its own, and removes links of its own
// that are not wanted. Errors name the file.
func Refresh(dir, target string, want Wanted, getenv func(string) (string, bool)) (Changes, error) {
	var ch Changes
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ch, err
	}
	lock := flock.New(filepath.Join(filepath.Dir(dir), "shims.lock"))
	deadline := time.Now().Add(10 * time.Second)
	for {
		ok, err := lock.TryLock()
		if err != nil {
			return ch, fmt.Errorf("locking %s: %w", lock.Path(), err)
		}
		if ok {
			break
		}
		if time.Now().After(deadline) {
			return ch, fmt.Errorf("another `safeshell refresh` has held %s for 10 s; try again when it is done", lock.Path())
		}
		time.Sleep(20 * time.Millisecond)
	}
	defer lock.Unlock()

	f := newFinder(getenv)
	lines, _ := seenLines(f.path, dir, nil)
	names := map[string]bool{"safeshell": true, "safeshell-wrapper": true, gate.ProbeName: true}
	for _, n := range want.Always {
		if Linkable(n) {
			names[n] = true
		}
	}
	for _, n := range append(append([]string{}, want.Installed...), carriers...) {
		if !Linkable(n) || names[n] {
			continue
		}
		if exe, _ := f.find(n, ""); exe != "" {
			names[n] = true
		}
	}

	entries, err := os.ReadDir(dir)
	if err != nil {
		return ch, err
	}
	for _, e := range entries {
		n := e.Name()
		p := filepath.Join(dir, n)
		own, current := ownLink(p, target)
		switch {
		case !own:
			if names[n] {
				ch.Foreign = append(ch.Foreign, n)
				delete(names, n)
			}
		case names[n] && current:
			ch.Unchanged = append(ch.Unchanged, n)
			delete(names, n)
		case names[n]:
			// An own link to an older place of the binary: replaced below.
		default:
			if err := os.Remove(p); err != nil && !errors.Is(err, os.ErrNotExist) {
				return ch, err
			}
			ch.Removed = append(ch.Removed, n)
		}
	}
	for n := range names {
		if err := link(target, filepath.Join(dir, n)); err != nil {
			return ch, err
		}
		ch.Created = append(ch.Created, n)
	}
	sort.Strings(ch.Created)
	writeSeen(dir, lines, nil) // what was taken away here, another PATH may lead to
	return ch, nil
}

// Remove takes the links of safeshell's own out of a directory of links, and the
// directory with them when it is empty; foreign is what stays in it.
func Remove(dir, target string) (foreign []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		if own, _ := ownLink(p, target); !own {
			foreign = append(foreign, p)
		} else if e := os.Remove(p); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	if err == nil && len(foreign) == 0 {
		err = os.Remove(dir)
	}
	return foreign, err
}

// RefreshShells makes the links for tools that insist on a shell of a name.
func RefreshShells(dir, target string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, n := range []string{"bash", "zsh", "sh"} {
		p := filepath.Join(dir, n)
		own, current := ownLink(p, target)
		if current {
			continue
		}
		if _, err := os.Lstat(p); err == nil && !own {
			return fmt.Errorf("%s is not safeshell's; move it away and run `safeshell refresh` again", p)
		}
		if err := link(target, p); err != nil {
			return err
		}
	}
	return nil
}

// link makes or replaces a link in one step.
func link(target, p string) error {
	tmp := fmt.Sprintf("%s.new%d", p, os.Getpid())
	if err := os.Symlink(target, tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, p); err != nil {
		os.Remove(tmp)
		return err
	}
	return nil
}

// ownLink reports whether p is a link to safeshell (own), and to target itself
// (current). A link whose binary is gone is own when it led to a safeshell.
func ownLink(p, target string) (own, current bool) {
	to, err := os.Readlink(p)
	if err != nil {
		return false, false
	}
	if to == target {
		return true, true
	}
	if strings.HasPrefix(filepath.Base(to), "safeshell") {
		return true, false
	}
	a, errA := os.Stat(p)
	b, errB := os.Stat(target)
	return errA == nil && errB == nil && os.SameFile(a, b), false
}

// Linkable reports whether a rule's command can be met by a PATH lookup.
func Linkable(name string) bool {
	return name != "" && !strings.ContainsAny(name, "/\x00") && !strings.HasPrefix(name, ".") &&
		!strings.HasPrefix(name, "safeshell") && !notPrograms[name] && len(name) < 200
}

// Shadowed tells what PATH really gives for the commands that have a shim in
// dir: the names for which something else comes first, and that thing's path.
func Shadowed(dir, path string) map[string]string {
	out := map[string]string{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		for _, d := range filepath.SplitList(path) {
			p := filepath.Join(d, e.Name())
			fi, err := os.Stat(p)
			if err != nil || fi.IsDir() || fi.Mode()&0o111 == 0 {
				continue
			}
			if own, err := os.Stat(filepath.Join(dir, e.Name())); err != nil || !os.SameFile(fi, own) {
				out[e.Name()] = p
			}
			break
		}
	}
	return out
}

// Which returns the real command behind a shim, "" when there is none.
func Which(name string, getenv func(string) (string, bool)) string {
	exe, _ := newFinder(getenv).find(name, "")
	return exe
}
