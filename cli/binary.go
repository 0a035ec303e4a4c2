package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"safeshell/config"
	"safeshell/initscript"
	"safeshell/shims"
)

// All that shells and agents call leads to one link, ~/.safeshell/bin/safeshell,
// and that to the binary: a binary that moves is one link to be made anew. The
// link names the binary by a path that outlives an upgrade.

// passing are places that package managers give a new name with every version,
// or empty when they like: npx and its like, a project's node_modules, pnpm's
// store. What lies in npm's global directory stays.
var passing = regexp.MustCompile(`/_npx/|/dlx-|/pnpm/dlx/|/bunx-|/node_modules/`)

var npmGlobal = regexp.MustCompile(`^[^\n]*?/lib/node_modules/(@[^/]+/)?safeshell/`)

// lasting returns the path by which a link names the binary at real. copied says
// that there is none, so that the link needs a copy.
func (a *app) lasting(real string) (path string, copied bool) {
	var known []string
	if prefix, rest, ok := strings.Cut(real, "/Cellar/"); ok { // Homebrew
		if parts := strings.SplitN(rest, "/", 3); len(parts) == 3 {
			known = append(known, filepath.Join(prefix, "opt", parts[0], parts[2]))
		}
	}
	if strings.HasPrefix(real, "/nix/store/") || strings.HasPrefix(real, "/gnu/store/") {
		name := filepath.Base(real)
		for _, dir := range []string{a.paths.User + "/.nix-profile", a.paths.User + "/.local/state/nix/profile", "/etc/profiles/per-user/" + a.getenv("USER"), "/run/current-system/sw", "/nix/var/nix/profiles/default", a.paths.User + "/.guix-profile", "/run/current-system/profile"} {
			known = append(known, filepath.Join(dir, "bin", name))
		}
	}
	for _, p := range known {
		if sameFile(p, real) {
			return p, false
		}
	}
	return real, passing.MatchString(real) && !npmGlobal.MatchString(real)
}

func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// linkBinary makes the link lead to this binary.
func (a *app) linkBinary() error {
	link := shims.Link(a.paths.Home)
	if fi, err := os.Lstat(link); err == nil && fi.Mode()&os.ModeSymlink == 0 {
		return fmt.Errorf("%s is not safeshell's own link; SAFESHELL_HOME (%s) must be a directory of its own", link, a.paths.Home)
	}
	to, copied := a.lasting(self())
	if copied {
		to = filepath.Join(filepath.Dir(link), "copy", "safeshell")
		if err := copyBinary(self(), to); err != nil {
			return fmt.Errorf("%s may vanish, and cannot be copied: %w", self(), err)
		}
	}
	old, err := os.Readlink(link)
	if err == nil && old == to {
		return nil
	}
	tmp := link + ".new"
	os.Remove(tmp)
	if err := os.Symlink(to, tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, link); err != nil {
		return err
	}
	if old != "" && !sameFile(old, to) {
		a.note("safeshell: shims and hooks lead to %s from now on; before: %s", to, old)
	}
	return nil
}

// copyBinary keeps a program where no package manager takes it away.
func copyBinary(from, to string) error {
	if from == to || sameVersion(from, to) {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	tmp := to + ".new"
	out, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = os.Rename(tmp, to)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}

// sameVersion reports whether two files are one program, or copies.
func sameVersion(a, b string) bool { return sameFile(a, b) || shims.SameContent(a, b) }

// linked tells where the link leads, and whether that is this binary or a copy. gone: there
// is nothing any more.
func (a *app) linked() (to string, here, gone bool) {
	link := shims.Link(a.paths.Home)
	to, err := os.Readlink(link)
	if err != nil {
		return "", false, false
	}
	if _, err := os.Stat(link); errors.Is(err, os.ErrNotExist) {
		return to, false, true
	}
	return to, sameVersion(link, self()), false
}

// stampFile says which version has set ~/.safeshell up.
func (a *app) stampFile() string { return filepath.Join(a.paths.Home, "version") }

func (a *app) stamp() { _ = config.Replace(a.stampFile(), []byte(Version+"\n"), false) }

// asIs are the commands that find things as they are, or set them up themselves.
var asIs = []string{"init", "refresh", "uninstall", "status", "doctor", "version", "completion", "__complete"}

// upgraded is for the first command of another version: shims and what shells
// read are made anew, and so is the link where the binary that it led to is gone.
// What is left for a person is said.
func (a *app) upgraded() {
	if a.open() != nil {
		return
	}
	if _, err := os.Lstat(filepath.Join(a.paths.Shims, "safeshell-wrapper")); err != nil {
		return // not set up
	}
	to, here, gone := a.linked()
	was, _ := os.ReadFile(a.stampFile())
	old := strings.TrimSpace(string(was))
	if to == "" || here && old == Version || a.g.Caller().Agent != "" {
		return // doctor says what is not there
	}
	if !here && !gone {
		a.note("safeshell: commands are judged by %s, not by this safeshell, %s; to change that: %s init", to, self(), shellWord(self()))
		return
	}
	if err := a.makeHome(); err != nil {
		return // the command says what is wrong, or doctor
	}
	if _, err := a.refresh(); err != nil {
		return
	}
	if _, err := initscript.RefreshStatic(a.initParams()); err != nil {
		return
	}
	for _, f := range a.checkSetUp() {
		a.note("safeshell: since the upgrade from %s to %s: %s; run: %s", cmp.Or(old, "an older version"), Version, f.text, f.fix)
	}
}
