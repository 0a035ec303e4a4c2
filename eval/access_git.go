package eval

import (
	"strings"

	"safeshell/script"
)

// gitTouch adds files relative to where git runs.
func (v *view) gitTouch(kind accessKind, ws []script.Word) {
	if len(ws) == 0 {
		return
	}
	place, _ := v.gitPlaceOf()
	elsewhere := v.worksElsewhere(place)
	if elsewhere {
		ws = []script.Word{{Parts: []script.Part{{Kind: script.Operand}}}}
	}
	fresh := !elsewhere && place.Dir == "" && v.inFresh()
	staged := kind == accDiscard && v.fromCommit()
	for _, w := range ws {
		t := target{kind: kind, word: w, recursive: true, dir: place.Dir, staged: staged}
		if fresh {
			t.word = v.c.Dir // whatever it is, it is in there
		}
		if s, ok := w.Text(); ok && (strings.HasPrefix(s, ":") || strings.ContainsAny(s, "*?[")) {
			// A pathspec with a pattern: as good as everything.
			t.word = script.Lit(".")
			if place.Top != "" {
				t.word = script.Lit(place.Top)
			}
		}
		v.accesses = append(v.accesses, t)
	}
}

// gitAccess is what git does to files by its operands.
func (v *view) gitAccess() {
	l := &v.line
	v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "--output", "--output-directory", "--separate-git-dir")
	switch l.sub {
	case "archive", "format-patch":
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-o")
	case "init":
		v.touchAll(accChange, v.operandList(1), false)
	case "clone", "bundle", "worktree", "submodule":
		if ops := v.operandList(1); len(ops) > 1 { // git clone URL DIR, git bundle create FILE
			v.touch(accChange, ops[1], false)
		}
	case "clean":
		if l.flag("-n") || l.flag("--dry-run") || !(l.flag("-f") || l.flag("--force")) {
			return
		}
		ops := v.operandList(1)
		if len(ops) == 0 {
			ops = []script.Word{script.Lit(".")}
		}
		v.gitTouch(accDelete, ops)
	case "checkout", "restore", "checkout-index", "rm":
		v.gitTouch(accDiscard, v.discarded())
	case "reset":
		if l.flag("--hard") || l.flag("--merge") {
			// The whole working tree, and the branch, which may be that of a
			// repository elsewhere.
			place, _ := v.gitPlaceOf()
			ws := []script.Word{script.Lit(".")}
			if place.Top != "" {
				ws = []script.Word{script.Lit(place.Top), script.Lit(place.Common)}
			}
			v.gitTouch(accDiscard, ws)
		}
	case "config":
		if !v.readsConfig() {
			v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-f", "--file")
		}
	case "hash-object":
		v.touchAll(accRead, v.operandList(1), false)
	case "diff":
		if l.flag("--no-index") {
			v.touchAll(accRead, v.operandList(1), false)
		}
	}
}

// readsConfig says that git config only shows.
func (v *view) readsConfig() bool {
	l := &v.line
	for _, f := range []string{"--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch", "--get-color"} {
		if l.flag(f) {
			return true
		}
	}
	ops := v.operandList(1)
	if len(ops) == 0 {
		return true
	}
	s, _ := ops[0].Text()
	return s == "get" || s == "list" || len(ops) == 1 && strings.Contains(s, ".") && !l.flag("--unset") && !l.flag("--unset-all")
}

// fromCommit says that git checkout or git restore takes files from a commit,
// so that staged changes go as well.
func (v *view) fromCommit() bool {
	l := &v.line
	switch l.sub {
	case "restore":
		return l.flag("-s") || l.flag("--source") || l.flag("-S") || l.flag("--staged")
	case "rm":
		return true
	case "checkout":
		if l.flag("-f") || l.flag("--force") {
			return true
		}
		n := len(v.operandList(1))
		for i, k := range l.kinds {
			if k == argEnd {
				return n > len(l.words)-i-1
			}
		}
		return n > len(v.discarded())
	}
	return false
}
