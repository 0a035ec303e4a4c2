package script

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// prefix evaluates FOO=1 in front of a command.
func (a *analyzer) prefix(list []*syntax.Assign, st *state, c *ctx) []Assign {
	out := make([]Assign, 0, len(list))
	for _, as := range list {
		if as.Name == nil {
			continue
		}
		if as.Index != nil {
			a.arith(as.Index, st, c)
		}
		w := a.single(as.Value, st, c, true)
		a.assigned(as.Name.Value, w, st, c)
		if as.Append {
			old := a.lookup(as.Name.Value, st)
			if old.kind == isScalar {
				w.Parts = merge(append(slices.Clone(old.parts), w.Parts...))
			} else {
				w.Parts = merge(append([]Part{{Kind: Variable, Name: as.Name.Value}}, w.Parts...))
			}
		}
		out = append(out, Assign{as.Name.Value, w})
	}
	return out
}

// assignments walks a command that is nothing but assignments.
func (a *analyzer) assignments(list []*syntax.Assign, k *call) outcome {
	k.keyword = true
	before := len(a.cmds)
	for _, as := range list {
		if as.Name == nil {
			continue
		}
		w := a.assign(as, k.st, k.c, value{})
		k.assigns = append(k.assigns, Assign{as.Name.Value, w})
	}
	from := len(a.cmds)
	a.emit(k)
	return outcome{sure: from == before}
}

// assign performs one assignment and returns its value as a word. attr are
// attributes that come with it (export).
func (a *analyzer) assign(as *syntax.Assign, st *state, c *ctx, attr value) Word {
	name := as.Name.Value
	if as.Array != nil {
		w := a.assignArray(as, name, st, c, attr)
		return w
	}
	w := a.single(as.Value, st, c, true)
	a.assigned(name, w, st, c)
	if as.Index != nil {
		a.arith(as.Index, st, c)
		if c.src.lang == Zsh && (name == "functions" || name == "aliases" || name == "galiases" || name == "saliases") {
			a.unknown("a function or alias is defined through "+name, c.src, a.at)
		}
		v := attr
		v.kind = isUnknown
		st.set(name, v)
		return w
	}
	v := attr
	v.kind, v.parts = isScalar, w.Parts
	if as.Append {
		switch old := a.lookup(name, st); old.kind {
		case isScalar:
			v.parts = a.joined(old.parts, w.Parts)
		case isUnset:
		default:
			v.kind, v.parts = isUnknown, nil
		}
	}
	if old, ok := st.vars[st.deref(name)]; ok && old.integer || attr.integer {
		// Assigned text is arithmetic.
		if t, known := w.Text(); known {
			a.arithText(t, st, c)
		}
	}
	st.set(name, v)
	return w
}

// joined is one value after another; its length is paid for, so that a text of
// many += costs what it is long.
func (a *analyzer) joined(ps, more []Part) []Part {
	out := merge(append(slices.Clone(ps), more...))
	n := len(out)
	for i, p := range out {
		if len(p.Text) > maxValue {
			a.exhaust("a value is too long to analyse")
			out[i] = Part{Kind: Variable, Name: "...", Split: true}
		}
		n += len(p.Text) / 256
	}
	a.spend(n / 4)
	return out
}

func (a *analyzer) assignArray(as *syntax.Assign, name string, st *state, c *ctx, attr value) Word {
	v := attr
	v.kind = isArray
	if as.Append {
		switch old := a.lookup(name, st); old.kind {
		case isArray:
			v.arr = slices.Clone(old.arr)
			a.spend(len(v.arr))
		case isUnset:
		default:
			v.kind = isUnknown
		}
	}
	for _, el := range as.Array.Elems {
		if el.Index != nil {
			a.arith(el.Index, st, c)
			a.single(el.Value, st, c, true)
			v.kind = isUnknown
			continue
		}
		for _, f := range a.fields([]*syntax.Word{el.Value}, st, c) {
			if mayBeMany(f) {
				v.kind = isUnknown
			}
			v.arr = append(v.arr, f)
		}
	}
	shown := Word{}
	a.spend(len(v.arr) / 2) // copied below
	for i, f := range v.arr {
		if i > 0 {
			shown.Parts = append(shown.Parts, Part{Text: " "})
		}
		shown.Parts = append(shown.Parts, f.Parts...)
	}
	shown.Parts = merge(shown.Parts)
	if v.kind != isArray || len(v.arr) > maxFields {
		v.kind = isUnknown
		if len(v.arr) > 0 && len(v.arr) < 64 {
			for _, f := range v.arr {
				if t, ok := f.Text(); ok {
					v.alt = append(v.alt, t)
				}
			}
		}
		v.arr = nil
	}
	st.set(name, v)
	return shown
}
