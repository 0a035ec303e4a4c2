package initscript

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"safeshell/config"
)

// Kinds of a Change.
const (
	Create = "create" // the file is new
	Append = "append" // the block goes to its end
	Insert = "insert" // the block goes to its top
	Update = "update" // the block is renewed or moved
	Remove = "remove" // the block is taken out
	Delete = "delete" // the file was made for the block and goes with it
	Skip   = "skip"   // the file cannot be changed; Note says why and what to do
	None   = "none"   // nothing to do
)

// Change is what is, or would be, done to one start-up file.
type Change struct {
	File   string // as the shell knows it; links are followed when writing
	Kind   string
	Note   string // for people; may be empty
	Backup string // copy of the file as it was; empty when there was none to keep
}

// Plan returns what Apply would do, and does nothing.
func Plan(e Env, p Params) ([]Change, error) {
	return setup(e, p, false)
}

// Apply writes the static files and then the blocks that source them, each
// start-up file atomically and after a backup under SAFESHELL_HOME/backup. It
// is safe to repeat. A file that cannot be changed is a Change of Kind Skip;
// the error joins what failed beside that, after all files were tried.
func Apply(e Env, p Params) ([]Change, error) {
	if err := checkHomes(p); err != nil {
		return nil, err
	}
	if _, err := WriteStatic(p); err != nil {
		return nil, err
	}
	return setup(e, p, true)
}

func checkHomes(p Params) error {
	if err := p.check(); err != nil {
		return err
	}
	if err := recordNewer(p); err != nil {
		return err
	}
	if !filepath.IsAbs(p.UserHome) {
		return fmt.Errorf("the home directory must be an absolute path, not %q; set HOME", p.UserHome)
	}
	return nil
}

func setup(e Env, p Params, write bool) ([]Change, error) {
	if err := checkHomes(p); err != nil {
		return nil, err
	}
	var out []Change
	var errs []error
	files := recorded(p)
	for _, t := range targets(e, p) {
		c, err := t.apply(p, write)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.path, err))
			c = Change{File: t.path, Kind: Skip, Note: err.Error()}
		}
		out = append(out, c)
		if c.Kind != Skip {
			files = append(files, t.path)
		}
	}
	if write {
		errs = append(errs, record(p, files))
	}
	return out, errors.Join(errs...)
}

// apply sets one file up. An error is a failure to write; what stands in the
// way from the start is a Change of Kind Skip.
func (t target) apply(p Params, write bool) (Change, error) {
	skip := func(err error) (Change, error) {
		return Change{File: t.path, Kind: Skip, Note: fmt.Sprintf("%v; else add by hand: %s", err, t.byHand(p))}, nil
	}
	f, err := load(t.path)
	if err != nil {
		return skip(err)
	}
	var fresh flags
	if f.info == nil {
		fresh = flags{created: true, dirs: missingDirs(f.path)}
	}
	text, done, err := set(f.text, t, p, fresh)
	if err != nil {
		return skip(err)
	}
	c := Change{File: t.path, Kind: done.kind, Note: done.note}
	if done.kind == None {
		return c, nil
	}
	if f.info == nil {
		c.Kind, c.Note = Create, ""
	} else if f.path != t.path {
		c.Note = strings.TrimPrefix(c.Note+"; in "+f.path+", where the link leads", "; ")
	}
	if err := f.writable(); err != nil {
		return skip(err)
	}
	if !write {
		return c, nil
	}
	if c.Backup, err = backup(p, f); err != nil {
		return c, err
	}
	return c, f.store(text)
}

// byHand is the line that does for a file what its block would.
func (t target) byHand(p Params) string {
	path := fromHome(t.source, p, t.shell)
	switch t.shell {
	case "fish":
		return "test -r " + path + "; and source " + path
	case "pwsh":
		return "if (Test-Path -LiteralPath " + path + " -PathType Leaf) { . " + path + " }"
	}
	return "[ -r " + path + " ] && . " + path
}

// Undo takes the blocks out of all start-up files, so that each is byte for
// byte what it was but for what others changed; it deletes files and
// directories that were made for a block and hold nothing else, and the static
// files. Backups stay, and so do the gates, which open shells may use.
func Undo(e Env, p Params) ([]Change, error) { return takeOut(e, p, true) }

// PlanUndo returns what Undo would do, and does nothing.
func PlanUndo(e Env, p Params) ([]Change, error) { return takeOut(e, p, false) }

func takeOut(e Env, p Params, write bool) ([]Change, error) {
	if err := checkHomes(p); err != nil {
		return nil, err
	}
	var out []Change
	var errs []error
	for _, path := range removable(e, p) {
		c, err := undo(path, p, write)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
			c = Change{File: path, Kind: Skip, Note: err.Error()}
		}
		if c.Kind != None {
			out = append(out, c)
		}
	}
	if write && !slices.ContainsFunc(out, func(c Change) bool { return c.Kind == Skip }) {
		errs = append(errs, removeStatic(p), removeIfThere(recordFile(p)))
	}
	return out, errors.Join(errs...)
}

func undo(path string, p Params, write bool) (Change, error) {
	c := Change{File: path, Kind: None}
	skip := func(why error, do string) (Change, error) {
		c.Kind, c.Note = Skip, fmt.Sprintf("%v; %s", why, do)
		return c, nil
	}
	f, err := load(path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return skip(err, "if a block of safeshell is in it, take it out by hand: "+config.Edit(path))
		}
		return c, nil //nolint:nilerr // a directory, a pipe, a loop of links: no block can be in it
	}
	if !bytes.Contains(f.text, []byte(beginMark)) {
		return c, nil
	}
	in, err := blocks(f.text)
	if err != nil {
		return skip(err, "take the block out by hand: "+config.Edit(path))
	}
	if len(in) == 0 {
		return c, nil // the marker is part of other text
	}
	rest, was := without(f.text, in)
	if err := f.writable(); err != nil {
		do := fmt.Sprintf("take lines %d and following out by hand, to %q: %s", in[0].line, endMark, config.Edit(f.path))
		if f.info.Mode()&0o200 == 0 && owned(f.info) {
			do = "first: chmod u+w " + quoteSh(f.path)
		}
		return skip(err, do)
	}
	if f.path != path {
		c.Note = "in " + f.path + ", where the link leads"
	}
	if len(rest) == 0 && was.created {
		c.Kind = Delete
		if !write {
			return c, nil
		}
		if err := os.Remove(f.path); err != nil {
			return c, err
		}
		// Only those that Apply made, and only when they are empty.
		dir := filepath.Dir(f.path)
		for range was.dirs {
			if os.Remove(dir) != nil {
				break
			}
			dir = filepath.Dir(dir)
		}
		return c, nil //nolint:nilerr // a directory with other files in it stays
	}
	c.Kind = Remove
	if !write {
		return c, nil
	}
	if _, err := os.Stat(p.Home); err == nil { // not made for that
		if c.Backup, err = backup(p, f); err != nil {
			return c, err
		}
	}
	return c, f.store(rest)
}

// backup copies a file as it is to SAFESHELL_HOME/backup, under a name of its
// content, so that no copy ever replaces another.
func backup(p Params, f file) (string, error) {
	if f.info == nil || len(f.text) == 0 {
		return "", nil
	}
	dir := filepath.Join(p.Home, "backup")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(f.path+"\x00"), f.text...))
	path := filepath.Join(dir, fmt.Sprintf("%s.%x", baseName(f.path), sum[:6]))
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, f.text) {
		return path, nil
	}
	if err := replaceFile(path, f.text, nil); err != nil {
		return "", fmt.Errorf("no backup could be made: %w", err)
	}
	return path, os.Chmod(path, 0o600)
}

// recordFile lists the start-up files with a block, a quoted path on each
// line, for an undo in an environment (ZDOTDIR, XDG_CONFIG_HOME) that differs.
// Its first line says its format; lines that are no quoted path are passed over.
func recordFile(p Params) string { return filepath.Join(p.Home, "startup-files") }

const recordHead = "# safeshell start-up files, format "

const recordFormat = 1

// recordNewer says that a newer safeshell has written the record.
func recordNewer(p Params) error {
	text, _ := os.ReadFile(recordFile(p))
	first, _, _ := strings.Cut(string(text), "\n")
	if n, err := strconv.Atoi(strings.TrimPrefix(first, recordHead)); err == nil && n > recordFormat {
		return fmt.Errorf("%s is of format %d, this safeshell knows %d: update safeshell, then run the command again", recordFile(p), n, recordFormat)
	}
	return nil
}

func recorded(p Params) []string {
	text, _ := os.ReadFile(recordFile(p))
	var out []string
	for line := range strings.Lines(string(text)) {
		if path, err := strconv.Unquote(strings.TrimSpace(line)); err == nil && filepath.IsAbs(path) {
			out = append(out, path)
		}
	}
	return out
}

func record(p Params, paths []string) error {
	slices.Sort(paths)
	var text strings.Builder
	fmt.Fprintf(&text, "%s%d\n", recordHead, recordFormat)
	for _, path := range slices.Compact(paths) {
		text.WriteString(strconv.Quote(path) + "\n")
	}
	if have, err := os.ReadFile(recordFile(p)); err == nil && string(have) == text.String() {
		return nil
	}
	return replaceFile(recordFile(p), []byte(text.String()), nil)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
