package eval

import (
	"cmp"
	"slices"

	"safeshell/command"
	"safeshell/script"
)

// neighbour returns the name of a command that the output reaches (or that the
// input comes from), directly or through others, whose name is one of names.
// Shells and interpreters count as reached only when they would run their
// input.
func (v *view) neighbour(names []string, down bool) string {
	return v.reach(func(k int) []int {
		next := v.a.Commands[k].FedBy
		if down {
			next = v.a.Commands[k].FeedsTo
		}
		for _, f := range next {
			// A wrapper hands its input to the command inside it.
			if inner := v.tailsOf(f); len(inner) > 0 {
				next = append(slices.Clip(next), inner...)
			}
		}
		return next
	}, func(k int) string { return v.neighbourNamed(k, names, down) })
}

// givesTo returns the name of a command, one of names, whose operands are what
// this one prints, directly or through others: by a substitution, by xargs, by
// a loop that reads them.
func (v *view) givesTo(names []string) string {
	given := func(k int) string {
		for _, g := range v.a.Commands[k].GivesTo {
			if g >= 0 && g < len(v.a.Commands) && g != v.i {
				if name := v.neighbourNamed(g, names, false); name != "" {
					return name
				}
			}
		}
		return ""
	}
	if name := given(v.i); name != "" {
		return name
	}
	return v.reach(func(k int) []int { return v.a.Commands[k].FeedsTo }, func(k int) string {
		return cmp.Or(v.neighbourNamed(k, names, false), given(k))
	})
}

// reach goes from this command to those that next leads to, and on from there,
// the nearest first, and returns the first name that found gives.
func (v *view) reach(next func(k int) []int, found func(k int) string) string {
	first := next(v.i)
	if len(first) == 0 {
		return ""
	}
	seen := map[int]bool{v.i: true}
	for queue := []int{v.i}; len(queue) > 0; queue = queue[1:] {
		if queue[0] != v.i {
			first = next(queue[0])
		}
		for _, k := range first {
			if k < 0 || k >= len(v.a.Commands) || seen[k] {
				continue
			}
			if !v.spend(1) {
				return ""
			}
			seen[k] = true
			queue = append(queue, k)
			if name := found(k); name != "" {
				return name
			}
		}
	}
	return ""
}

func (v *view) neighbourNamed(k int, names []string, down bool) string {
	c := &v.a.Commands[k]
	if len(c.Argv) == 0 {
		return ""
	}
	s, ok := c.Argv[0].Text()
	if !ok {
		return ""
	}
	name := baseName(s)
	canonical := canonicalName(name)
	for _, want := range names {
		if want == name || want == canonical {
			if down && !readsCode(c) {
				return ""
			}
			return name
		}
	}
	return ""
}

// readsCode says that a command would execute what it is fed: a shell or
// interpreter whose code is its input, or the output of a command put in its
// place (eval "$(x)", bash -c "$(x)", source <(x)). Programs that are neither
// simply read it, which counts for them.
func readsCode(c *script.Command) bool {
	var line cmdline
	line.read(c.Argv)
	switch {
	case isShell(line.name):
		if line.flag("-s") {
			return true
		}
	case command.Has(interpreters, line.name):
		found, fromOutput := false, false
		for _, f := range [...]string{"-c", "-e", "-E", "-p", "--eval", "--print", "-r", "-m"} {
			if command.Has(line.spec.Options, f) && !(f == "-r" && line.name != "php") && !(f == "-p" && line.name == "perl") {
				line.eachOptionWord(f, func(w script.Word) {
					found, fromOutput = true, fromOutput || hasOutput(w)
				})
			}
		}
		if found {
			return fromOutput
		}
	case line.name == "eval":
		for _, w := range c.Argv[1:] {
			if hasOutput(w) {
				return true
			}
		}
		return false
	case line.name == "source", line.name == ".":
		if len(c.Argv) < 2 {
			return false
		}
		return hasOutput(c.Argv[1]) || isStdin(c.Argv[1])
	default:
		return true
	}
	own := false
	line.operands(0, func(i int) bool {
		own = !hasOutput(line.words[i]) && !isStdin(line.words[i])
		return false
	})
	return !own
}

// hasOutput says that a word holds a command's output, or names its pipe.
func hasOutput(w script.Word) bool {
	for _, p := range w.Parts {
		if p.Kind == script.Output {
			return true
		}
	}
	return false
}

func isStdin(w script.Word) bool {
	s, _ := w.Text()
	return s == "-" || s == "/dev/stdin" || s == "/dev/fd/0" || s == "/proc/self/fd/0"
}

const interpreters = "python python2 python3 pypy pypy3 perl ruby node nodejs php lua deno bun osascript tclsh Rscript"
