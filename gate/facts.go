package gate

import (
	"slices"

	"safeshell/script"
)

// textFacts are what one judgement finds out about its text and the world, once: a
// text of thousands of commands asks for it with each.
type textFacts struct {
	shims map[string]string // by name; see shimFor
	leads map[string]bool

	of     *script.Command        // the first command of the text that the rest is about
	words  map[script.Span]string // the words that their text always stands for
	starts []script.Span          // of commands, in order
}

// read looks at all commands of a text.
func (f *textFacts) read(a *script.Analysis) {
	if f.of == &a.Commands[0] {
		return
	}
	f.of, f.words, f.starts = &a.Commands[0], map[script.Span]string{}, nil
	several := map[script.Span]bool{}
	for i := range a.Commands {
		c := &a.Commands[i]
		if c.Nested {
			continue
		}
		if c.Span.End > c.Span.Start {
			f.starts = append(f.starts, c.Span)
		}
		var last script.Span
		for k, w := range c.Argv {
			t, ok := w.Text()
			old, seen := f.words[w.Span]
			if !ok || seen && old != t || k > 0 && w.Span == last {
				several[w.Span] = true
			}
			f.words[w.Span], last = t, w.Span
		}
	}
	for s := range several {
		delete(f.words, s)
	}
	slices.SortFunc(f.starts, func(x, y script.Span) int { return x.Start - y.Start })
}

// oneWord reports whether the text of w is that word wherever it is read, and
// nothing else: not several words ({rm,-f}, $X), not one per turn of a loop, and
// no command inside it ($(rm x; echo rm)).
func (f *textFacts) oneWord(a *script.Analysis, w script.Word) bool {
	name, ok := w.Text()
	if !ok {
		return false
	}
	f.read(a)
	if t, ok := f.words[w.Span]; !ok || t != name {
		return false
	}
	i, _ := slices.BinarySearchFunc(f.starts, w.Span.Start, func(s script.Span, at int) int { return s.Start - at })
	for ; i < len(f.starts) && f.starts[i].Start < w.Span.End; i++ {
		if f.starts[i].End <= w.Span.End && f.starts[i] != w.Span {
			return false
		}
	}
	return true
}
