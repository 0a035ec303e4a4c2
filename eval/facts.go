package eval

import (
	"slices"
	"strings"

	"safeshell/command"
	"safeshell/gitrepo"
	"safeshell/script"
)

// textFacts is what commands of one text have to know of the others, found out
// once for all of them: a text of twenty thousand commands is not to be walked
// twenty thousand times.
type textFacts struct {
	of *script.Command // the first command: which text it is

	links     []madeLink
	linksDone bool

	named     map[string][]int // commands by base name, of those that are asked for
	switches  []branchSwitch
	switched  bool
	inner     map[int][]int // commands by the one whose tail they are
	giving    map[int][]int // commands by the one that their output is among the words of
	emptied   map[script.Span]bool
	redirects map[script.Span][]int // commands by the redirections that they have
	exporters map[*string]export    // by the first of the wanted names
	dirs      []string              // of each command, the last before it that is known
}

// facts returns those of the text at hand.
func (v *view) facts() *textFacts {
	if f := &v.r.text; f.of == &v.a.Commands[0] {
		return f
	}
	v.r.text = textFacts{of: &v.a.Commands[0]}
	return &v.r.text
}

// Programs whose earlier commands in a text matter to later ones.
const (
	exportNames = "export declare typeset set"
	linkNames   = "ln gln mv gmv link cp gcp"
	branchNames = "git hub git-checkout git-switch git-symbolic-ref"
	readerNames = "read mapfile readarray"
	otherNames  = "mkdir"
)

// commandsNamed returns the commands of the text that have one of the names, by
// their place.
func (v *view) commandsNamed(names string) []int {
	f := v.facts()
	if f.named == nil {
		f.named = map[string][]int{}
		for i := range v.a.Commands {
			argv := v.a.Commands[i].Argv
			if len(argv) < 2 {
				continue
			}
			name := commandWord(argv[0])
			for _, group := range [...]string{exportNames, linkNames, branchNames, readerNames, otherNames} {
				if command.Has(group, name) {
					f.named[group] = append(f.named[group], i)
				}
			}
		}
		v.spend(len(v.a.Commands) / 16)
	}
	return f.named[names]
}

// earlierNamed are the commandsNamed before this one.
func (v *view) earlierNamed(names string) []int {
	list := v.commandsNamed(names)
	n, _ := slices.BinarySearch(list, v.i)
	return list[:n]
}

// tailsOf returns the commands whose words are the last ones of command k.
func (v *view) tailsOf(k int) []int {
	f := v.facts()
	if f.inner == nil {
		f.inner = map[int][]int{}
		for i := range v.a.Commands {
			if t := v.a.Commands[i].TailOf; t >= 0 && t != i {
				f.inner[t] = append(f.inner[t], i)
			}
		}
		v.spend(len(v.a.Commands) / 16)
	}
	return f.inner[k]
}

// givers returns the commands whose output stands among the words of this one.
func (v *view) givers() []int {
	f := v.facts()
	if f.giving == nil {
		f.giving = map[int][]int{}
		for i := range v.a.Commands {
			for _, g := range v.a.Commands[i].GivesTo {
				f.giving[g] = append(f.giving[g], i)
			}
			v.spend(len(v.a.Commands[i].GivesTo))
		}
	}
	n, _ := slices.BinarySearch(f.giving[v.i], v.i)
	return f.giving[v.i][:n]
}

// redirectedBy returns the commands that have a redirection: those of a compound
// command share it.
func (v *view) redirectedBy(s script.Span) []int {
	f := v.facts()
	if f.redirects == nil {
		f.redirects = map[script.Span][]int{}
		for i := range v.a.Commands {
			for _, r := range v.a.Commands[i].Redirects {
				f.redirects[r.Span] = append(f.redirects[r.Span], i)
			}
			v.spend(len(v.a.Commands[i].Redirects))
		}
	}
	return f.redirects[s]
}

// knownDir returns the directory of the command, or, where that is not known,
// the last one in the text that was.
func (v *view) knownDir() string {
	if v.dir != "" {
		return v.dir
	}
	f := v.facts()
	if f.dirs == nil {
		f.dirs = make([]string, len(v.a.Commands))
		last := ""
		for i := range f.dirs {
			if d, ok := v.a.Commands[i].Dir.Text(); ok && strings.HasPrefix(d, "/") {
				last = d
			}
			f.dirs[i] = last
		}
		v.spend(len(f.dirs) / 16)
	}
	return f.dirs[v.i]
}

// export is the first command that sets one of the names that a rule asks for.
type export struct {
	by   int // len(Commands) where none does
	name string
}

// exportedBefore returns the name, among those wanted, that a command before this
// one sets; given says whether a word of a command does.
func (v *view) exportedBefore(want []string, given func(c *script.Command) string) string {
	if v.i == 0 {
		return ""
	}
	f := v.facts()
	e, ok := f.exporters[&want[0]]
	if !ok {
		e.by = len(v.a.Commands)
		for _, k := range v.commandsNamed(exportNames) {
			if !v.spend(1 + len(v.a.Commands[k].Argv)/8) {
				break
			}
			if s, _ := v.a.Commands[k].Argv[0].Text(); !command.Has(exportNames, s) {
				continue // by a path: no builtin
			}
			if e.name = given(&v.a.Commands[k]); e.name != "" {
				e.by = k
				break
			}
		}
		if f.exporters == nil {
			f.exporters = map[*string]export{}
		}
		f.exporters[&want[0]] = e
	}
	if e.by < v.i {
		return e.name
	}
	return ""
}

// branchSwitch is a command that changes the branch that is checked out.
type branchSwitch struct {
	by, via int
	place   gitrepo.Repo
	k       certainty
	name    string
}

// switchesBefore returns what the commands before this one do to the branch, in
// order.
func (v *view) switchesBefore() []branchSwitch {
	f := v.facts()
	if !f.switched {
		f.switched = true
		for _, i := range v.commandsNamed(branchNames) {
			c := &v.a.Commands[i]
			if len(c.Argv) < 3 || !v.spend(4) {
				continue
			}
			x := newView(v.r, v.a, i)
			if x.line.name != "git" || !command.Has("checkout switch symbolic-ref", x.line.sub) {
				continue
			}
			if name, changed := x.switchesTo(); changed {
				place, k := x.gitPlaceOf()
				f.switches = append(f.switches, branchSwitch{i, len(c.Via), place, k, name})
			}
		}
	}
	n, _ := slices.BinarySearchFunc(f.switches, v.i, func(s branchSwitch, i int) int { return s.by - i })
	return f.switches[:n]
}
