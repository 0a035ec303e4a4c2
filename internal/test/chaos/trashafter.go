package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"safeshell/internal/test/faulttest"
	"safeshell/trash"
)

// after says what is wrong with what a command left: as it is, and, of each state
// of the files once, with what the next commands of the real program make of it.
func (w *trashWorld) after(res faulttest.Result) (bad []string, err error) {
	say := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	lines := len(w.tree.Tops) + 2
	if res.Code == 126 {
		lines = 12 // stopped, in the words for that
	}
	faulttest.Ended(res, []int{0, 1, 126}, lines, say)
	w.tree.Whole(w.items(), res, say)
	w.claims(res, say)
	if !w.first() && len(bad) == 0 {
		return nil, nil
	}
	if err := w.sweep(say); err != nil {
		return bad, err
	}
	w.tree.Whole(w.items(), faulttest.Result{Killed: true}, say)
	faulttest.Litter(w.trash, []string{".safeshell.lock", ".safeshell.evicted", "directorysizes"}, say)
	faulttest.LeftBeside(w.work, say)
	if w.tree.Destroys() {
		return bad, w.thenEmpty(say)
	}
	if err := w.thenRestore(say); err != nil {
		return bad, err
	}
	return bad, w.thenRemove(say)
}

// random are the parts of names in the trash that differ from run to run, and
// times those of information files.
var (
	random = regexp.MustCompile(`(partial-|restoring-|directorysizes-|\.)[0-9a-z]{8}\b`)
	times  = regexp.MustCompile(`(?m)^(DeletionDate|X-SafeShell-Group)=.+$`)
)

// first reports whether what is in the trash and the work directory is seen for
// the first time: what the next commands make of it need be tried once.
func (w *trashWorld) first() bool {
	var lines []string
	for _, dir := range []string{w.work, w.trash} {
		for p, what := range faulttest.Picture(dir, dir) {
			if b, err := os.ReadFile(p); err == nil && filepath.Dir(p) == filepath.Join(w.trash, "info") {
				what = times.ReplaceAllString(string(b), "$1")
			} else if err == nil && strings.Contains(p, "restoring-") {
				what = random.ReplaceAllString(string(b), "$1")
			} else if filepath.Base(p) == "directorysizes" {
				what = "sizes"
			}
			lines = append(lines, random.ReplaceAllString(p, "$1")+" "+what)
		}
	}
	slices.Sort(lines)
	key := strings.Join(lines, "\n")
	if w.seen[key] {
		return false
	}
	w.seen[key] = true
	w.r.count("states that the next commands found", 1)
	return true
}

// items are those listed in the scratch trash.
func (w *trashWorld) items() (out []faulttest.Item) {
	items, _ := trash.List(w.env())
	for _, it := range items {
		out = append(out, faulttest.Item{Name: it.Name, Path: it.Path, Problem: it.Problem, Data: it.DataPath()})
	}
	return out
}

func (w *trashWorld) env() trash.Env {
	return trash.Env{Home: filepath.Join(w.dir, "home"), Dir: w.work, UID: os.Geteuid(), Only: w.trash}
}

// told are messages that say where a file is.
var told = regexp.MustCompile(`cannot remove '([^']+)'|it is back at ([^,\n]+),|the trash has a copy of it: (\S+)`)

// claims: each line that says what became of a file tells the truth.
func (w *trashWorld) claims(res faulttest.Result, say func(string, ...any)) {
	for line := range strings.Lines(res.Stdout) {
		line = strings.TrimSuffix(line, "\n")
		for _, what := range []string{"restored ", "deleted ", "removed directory ", "removed "} {
			path, ok := strings.CutPrefix(line, what)
			if !ok {
				continue
			}
			path = strings.Trim(path, "'")
			if !filepath.IsAbs(path) {
				path = filepath.Join(w.work, path)
			}
			if _, err := os.Lstat(path); (err == nil) != (what == "restored ") {
				say("it said: %s", line)
			}
			break
		}
	}
	for _, m := range told.FindAllStringSubmatch(res.Stderr, -1) {
		path := m[1] + m[2] + m[3]
		if !filepath.IsAbs(path) {
			path = filepath.Join(w.work, path)
		}
		if _, was := w.tree.Was[path]; m[1] != "" && !was {
			continue
		}
		if _, err := os.Lstat(path); err != nil {
			say("it said: %s", m[0])
		}
	}
}

// sweep has the real program clean up, when all that was left is old.
func (w *trashWorld) sweep(say func(string, ...any)) error {
	if _, err := os.Lstat(filepath.Join(w.trash, "info")); err != nil {
		return nil // a trash that is not there, or was not made whole, is none
	}
	if _, err := os.Lstat(filepath.Join(w.trash, "files")); err != nil {
		return nil
	}
	infos, err := filepath.Glob(filepath.Join(w.trash, "info/*"))
	old := time.Now().Add(-2 * time.Hour)
	for _, info := range infos {
		data := filepath.Join(w.trash, "files", strings.TrimSuffix(filepath.Base(info), ".trashinfo"))
		if _, lerr := os.Lstat(data); errors.Is(lerr, fs.ErrNotExist) {
			err = errors.Join(err, os.Chtimes(info, old, old))
		}
	}
	return errors.Join(err, w.must(say, "purge", "--yes", "--older", "1000d"))
}

// thenRestore restores what is not in its place, and demands it as it was.
func (w *trashWorld) thenRestore(say func(string, ...any)) error {
	items, _ := trash.List(w.env())
	ids := []string{}
	for _, top := range w.tree.Tops {
		was := w.part(w.tree.Was, top)
		there := w.part(faulttest.Picture(w.work, w.work), top)
		if maps.Equal(there, was) {
			continue
		}
		// What is in the way is moved away first, as restore says: a newer file, or
		// what an rm that copied could not remove of the source.
		if err := os.RemoveAll(top); err != nil {
			return err
		}
		whole := slices.IndexFunc(items, func(it trash.Item) bool {
			return it.Path == top && maps.Equal(faulttest.Picture(it.DataPath(), top), was)
		})
		if whole >= 0 {
			ids = append(ids, items[whole].ID)
			continue
		}
		for _, it := range items { // taken piece by piece
			if faulttest.Within(it.Path, top) {
				ids = append(ids, it.ID)
			}
		}
	}
	if len(ids) > 0 {
		if err := w.must(say, append([]string{"restore", "--parents"}, ids...)...); err != nil {
			return err
		}
	}
	w.inPlace(say)
	return nil
}

// thenRemove: rm and restore work as if nothing had been.
func (w *trashWorld) thenRemove(say func(string, ...any)) error {
	if err := w.must(say, append([]string{"rm", "-rf"}, w.tree.Tops...)...); err != nil {
		return err
	}
	put := w.tree
	put.Op, put.Newer = faulttest.Put, ""
	put.Whole(w.items(), faulttest.Result{}, say)
	if err := w.must(say, "restore", "--last"); err != nil {
		return err
	}
	w.inPlace(say)
	return nil
}

// thenEmpty empties the trash, and goes on with new files.
func (w *trashWorld) thenEmpty(say func(string, ...any)) error {
	if err := w.must(say, "empty", "--yes"); err != nil {
		return err
	}
	if items := w.items(); len(items) > 0 {
		say("a second purge left %d items", len(items))
	}
	faulttest.Litter(w.trash, []string{".safeshell.lock", ".safeshell.evicted", "directorysizes"}, say)
	if err := os.RemoveAll(w.work); err != nil {
		return err
	}
	if err := w.plant(); err != nil {
		return err
	}
	return w.thenRemove(say)
}

// inPlace: all is where and as it was.
func (w *trashWorld) inPlace(say func(string, ...any)) {
	now := faulttest.Picture(w.work, w.work)
	for _, top := range w.tree.Tops {
		if !maps.Equal(w.part(now, top), w.part(w.tree.Was, top)) {
			say("restored, but not as it was: %s", top)
		}
	}
}

// part is what a picture has of top.
func (w *trashWorld) part(picture map[string]string, top string) map[string]string {
	m := map[string]string{}
	for p, what := range picture {
		if faulttest.Within(p, top) {
			m[p] = what
		}
	}
	return m
}
