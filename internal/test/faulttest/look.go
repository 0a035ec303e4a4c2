package faulttest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Within reports whether path is dir or below it.
func Within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// Picture is what is below dir, and dir itself: for each path, as if dir were
// at as, what is there (mode, content, target of a link).
func Picture(dir, as string) map[string]string {
	m := map[string]string{}
	_ = filepath.Walk(dir, func(p string, fi os.FileInfo, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be looked at is not in the picture
		}
		what := fi.Mode().String()
		switch {
		case fi.Mode()&os.ModeSymlink != 0:
			l, _ := os.Readlink(p)
			what += " -> " + l
		case fi.Mode().IsRegular():
			b, _ := os.ReadFile(p)
			what += fmt.Sprintf(" %d %x", len(b), sha256.Sum256(b))
		}
		m[as+strings.TrimPrefix(p, dir)] = what
		return nil
	})
	return m
}

// What an operation does.
const (
	Put     = "put"
	Restore = "restore"
	Purge   = "purge"
	Empty   = "empty"
)

// newer is what a file that stands in the way of a restore holds.
const newer = "newer"

// Tree is what an operation works on: what must not be lost.
type Tree struct {
	Op   string
	Dir  string            // the work directory
	Was  map[string]string // Picture of Dir before all
	Tops []string          // the things in it that go as one
	// Moved is where a top is to be restored to; nil: where it was.
	Moved func(top string) string
	Newer string // the file that is in the way of a restore, if one is
	// NoFlag: the file system has no RENAME_NOREPLACE, so that an empty file or
	// directory can stand where another is to go.
	NoFlag bool

	failed bool // a purge that said so
}

// Item is one thing that is listed in a trash.
type Item struct {
	Name, Path, Problem string
	Data                string // where it is
}

// Destroys reports whether the operation deletes for good.
func (tr *Tree) Destroys() bool { return tr.Op == Purge || tr.Op == Empty }

// To is where path, a part of a top, is after a restore.
func (tr *Tree) To(path string) string {
	if tr.Moved != nil {
		for _, top := range tr.Tops {
			if Within(path, top) {
				return tr.Moved(top) + strings.TrimPrefix(path, top)
			}
		}
	}
	return path
}

// In reports whether path is part of a top.
func (tr *Tree) In(path string) bool {
	return slices.ContainsFunc(tr.Tops, func(top string) bool { return Within(path, top) })
}

// Whole says what is wrong when a run has ended with res and items are listed:
// everything is in its place or in the trash, nothing is half there, and a
// success was one.
func (tr *Tree) Whole(items []Item, res Result, say func(string, ...any)) {
	placed := Picture(tr.Dir, tr.Dir)
	trashed := map[string][]string{}
	listed := map[string]bool{}
	for _, it := range items {
		if it.Problem != "" && it.Name != "orphan" {
			say("%s: %s", it.Name, it.Problem)
		}
		listed[it.Path] = true
		for p, what := range Picture(it.Data, it.Path) {
			trashed[p] = append(trashed[p], what)
		}
	}
	for p, what := range tr.Was {
		if !tr.In(p) {
			continue // a directory that was removed on purpose
		}
		to := tr.To(p)
		inPlace, inTrash := placed[to] == what, slices.Contains(trashed[p], what)
		if !inPlace && !inTrash && !tr.Destroys() {
			say("lost: %s", p)
		}
		if tr.NoFlag && res.Killed && inTrash && placed[to] == "drwx------" {
			continue // a directory's placeholder
		}
		if was, ok := placed[to]; ok && was != what && to != tr.Newer {
			say("in place, but changed: %s: %s, was %s", p, was, what)
		}
	}
	for _, top := range tr.Tops {
		tr.top(top, placed, trashed, listed[top], res, say)
	}
	if tr.Newer != "" {
		what := fmt.Sprintf("-rw-r--r-- %d %x", len(newer), sha256.Sum256([]byte(newer)))
		if placed[tr.Newer] != what && !slices.Contains(trashed[tr.Newer], what) {
			say("the file that was in the way is lost")
		}
	}
}

// top looks at one thing that goes as one.
func (tr *Tree) top(top string, placed map[string]string, trashed map[string][]string, listed bool, res Result, say func(string, ...any)) {
	inPlace, inTrash, of := 0, 0, 0
	for p := range tr.Was {
		if !Within(p, top) {
			continue
		}
		of++
		if _, ok := placed[tr.To(p)]; ok {
			inPlace++
		}
		if len(trashed[p]) > 0 {
			inTrash++
		}
	}
	// A purge that fails goes on; what it could not delete stays listed.
	if res.Code == 1 && tr.Destroys() {
		tr.failed = true
	}
	// Without the flag an empty placeholder may be listed beside the whole.
	if listed && inTrash < of && !tr.failed && (!tr.NoFlag || inPlace < of) {
		say("half in the trash: %s (%d of %d)", top, inTrash, of)
	}
	if tr.Op == Restore && inPlace > 0 && inPlace < of && !(tr.NoFlag && inPlace == 1 && inTrash == of) {
		say("half restored: %s (%d of %d)", top, inPlace, of)
	}
	if res.Killed || res.Code != 0 {
		return
	}
	switch {
	case tr.Op == Put && (inPlace > 0 || inTrash < of):
		say("success, but not in the trash: %s", top)
	case tr.Op == Restore && (inPlace < of || listed && tr.Newer == ""):
		say("success, but not restored: %s", top)
	case tr.Destroys() && (listed || inPlace > 0):
		say("success, but not deleted: %s", top)
	}
}

// Litter says what is left in a trash directory beside what is listed; own are
// the names that belong in it.
func Litter(trash string, own []string, say func(string, ...any)) {
	names := func(d, suffix string) []string {
		es, _ := os.ReadDir(filepath.Join(trash, d))
		var ns []string
		for _, e := range es {
			if n := strings.TrimSuffix(e.Name(), suffix); n != "orphan" {
				ns = append(ns, n)
			}
		}
		slices.Sort(ns)
		return ns
	}
	files, infos := names("files", ""), names("info", ".trashinfo")
	if !slices.Equal(files, infos) {
		say("files %q, info %q", files, infos)
	}
	for _, n := range names("", "") {
		if n != "files" && n != "info" && !slices.Contains(own, n) {
			say("left in the trash: %s", n)
		}
	}
}

// LeftBeside says what is left of restores in a work directory.
func LeftBeside(dir string, say func(string, ...any)) {
	for p := range Picture(dir, dir) {
		if strings.Contains(filepath.Base(p), "safeshell") || strings.Contains(filepath.Base(p), "partial") {
			say("left: %s", p)
		}
	}
}

// Ended says what is wrong with how a run ended; lines is how many it may say
// when it fails.
func Ended(res Result, codes []int, lines int, say func(string, ...any)) {
	if res.Hung {
		say("it hung")
	}
	if strings.Contains(res.Stderr, "panic") || strings.Contains(res.Stderr, "goroutine ") {
		say("it panicked")
	}
	if res.Killed {
		return
	}
	if !slices.Contains(codes, res.Code) {
		say("exit status %d", res.Code)
	}
	if res.Code != 0 && strings.TrimSpace(res.Stderr) == "" {
		say("it failed without a word")
	}
	if n := strings.Count(res.Stderr, "\n"); n > lines {
		say("%d lines for an error", n)
	}
}
