package eval

import (
	"fmt"
	"slices"
	"strings"

	"safeshell/command"
	"safeshell/script"
)

// match says how surely a rule matches, conditions aside, and notes why.
func (v *view) match(r *rule, h *hit) certainty {
	result := sure
	if r.directory.set() {
		switch {
		case v.dir == "":
			result = maybe
		case !r.directory.match(v.dir):
			return never
		default:
			h.why = append(h.why, "directory "+v.dir)
		}
	}
	if len(r.match) > 0 {
		best := never
		for i := range r.match {
			var why []string
			c := v.clause(&r.match[i], false, &why)
			if c > best {
				best = c
				h.why = append(h.why[:len(h.why):len(h.why)], why...)
			}
			if best == sure {
				break
			}
		}
		result = min(result, best)
	}
	if result == never {
		return never
	}
	for i := range r.unless {
		if v.clause(&r.unless[i], true, nil) == sure {
			return never
		}
	}
	if len(h.why) == 0 && v.line.name != "" {
		h.why = append(h.why, "command "+v.line.name)
	}
	return result
}

// clause evaluates one match or unless mapping: the least certain of its keys.
// In an exception the path keys must hold for every file that they could be
// about, in a match for one.
func (v *view) clause(c *clause, except bool, why *[]string) certainty {
	if !v.spend(len(v.line.words) / 16) {
		return never
	}
	note := func(format string, args ...any) {
		if why != nil {
			*why = append(*why, fmt.Sprintf(format, args...))
		}
	}
	result := sure
	skip := 0
	if v.line.spec.Is(command.Subcommands) {
		skip = 1
	}
	if c.subcommand != nil {
		n, ok := v.line.subcommand(c.subcommand)
		if !ok && v.line.sub == "config" && v.line.name == "git" && v.readsConfig() {
			// git config KEY is the older spelling of git config get KEY.
			n, ok = 1, slices.ContainsFunc(c.subcommand, func(w []string) bool { return len(w) == 2 && w[0] == "config" && w[1] == "get" })
		}
		switch {
		case ok:
			skip = n
			note("subcommand %s", v.subcommandText(n))
		case v.line.unknownSub:
			result = maybe
		default:
			return never
		}
	}
	if c.flags != nil {
		found := ""
		for _, f := range c.flags {
			if v.line.flag(f) {
				found = f
				break
			}
		}
		if found == "" {
			return never
		}
		note("option %s", found)
	}
	if c.options != nil && !v.options(c, note) {
		return never
	}
	if c.args.set() {
		found := false
		for _, w := range v.words(1) {
			if s := v.textOf(w); v.finds(c.args, s) {
				found = true
				note("argument %s", clip(s))
				break
			}
		}
		if !found {
			return never
		}
	}
	if c.operand.set() || c.operands != unset {
		count, found := 0, ""
		matched := false
		v.line.operands(skip, func(i int) bool {
			count++
			s := v.textOf(v.line.words[i])
			if c.operand.set() && !matched && v.finds(c.operand, s) {
				matched, found = true, s
			}
			return true
		})
		switch {
		case c.operand.set() && !matched,
			c.operands == yes && count == 0, c.operands == no && count > 0:
			return never
		}
		if matched {
			note("operand %s", clip(found))
		}
	}
	if c.word.set() {
		found := ""
		v.line.operands(0, func(i int) bool {
			if s := v.textOf(v.line.words[i]); v.finds(c.word, s) {
				found = s
			}
			return found == ""
		})
		if found == "" {
			return never
		}
		note("word %s", clip(found))
	}
	if c.via != nil && !v.isVia(c.via) {
		return never
	}
	if c.remote != unset && (c.remote == yes) != (v.c.Remote != "") {
		return never
	}
	if c.assigns != nil && !v.assigns(c.assigns, note) {
		return never
	}
	if c.unknown != nil && !v.unknown(c.unknown, skip) {
		return never
	}
	if c.pipesTo != nil {
		name := v.neighbour(c.pipesTo, true)
		if name == "" {
			return never
		}
		note("output goes to %s", name)
	}
	if c.givesTo != nil {
		name := v.givesTo(c.givesTo)
		if name == "" {
			return never
		}
		note("output becomes operands of %s", name)
	}
	if c.fedBy != nil {
		name := v.neighbour(c.fedBy, false)
		if name == "" {
			return never
		}
		note("input comes from %s", name)
	}
	if c.program.set() && (len(v.c.Argv) == 0 || !v.finds(c.program, v.textOf(v.c.Argv[0]))) {
		return never
	}
	if c.mode != nil && !v.setsMode(c.mode, note) {
		return never
	}
	if c.is != nil && !v.is(c.is, note) {
		return never
	}
	if (c.mounts != nil || c.branch.set() || c.existingBranch != unset || c.usesTargets()) && !v.rightContext() {
		return never
	}
	if c.mounts != nil {
		k := v.mounts(c.mounts, note)
		if result = min(result, k); k == never {
			return never
		}
	}
	if c.input.set() {
		s, ok := v.input()
		if !ok || !v.finds(c.input, s) {
			return never
		}
		note("its input")
	}
	if c.variables.set() {
		name := v.showsVariable(c.variables)
		if name == "" {
			return never
		}
		note("the value of $%s", name)
	}
	if c.sql != nil {
		stmt := v.sqlStatement(c.sql)
		if stmt == "" {
			return never
		}
		note("SQL %s", stmt)
	}
	if c.code != nil && !v.runsCode(c.code, note) {
		return never
	}
	if c.branch.set() {
		switch name, k := v.branch(); {
		case k == never, k == sure && !c.branch.match(name), k == sure && v.unbornBranch(name):
			return never
		case k == maybe:
			result = maybe
		default:
			note("branch %s", name)
		}
	}
	if c.existingBranch != unset && (c.existingBranch == yes) != v.overwritesBranch() {
		return never
	}
	if c.usesTargets() {
		result = min(result, v.matchTargets(c, except, skip, note))
	}
	return result
}

func (v *view) words(from int) []script.Word {
	if len(v.line.words) <= from {
		return nil
	}
	return v.line.words[from:]
}

// textOf is a word's text, as written when it is not known.
func (v *view) textOf(w script.Word) string {
	if s, ok := w.Text(); ok {
		return s
	}
	return shown(v.a.Text, w, v.c.Nested)
}

// clip shortens a text for messages, in bytes.
func clip(s string) string {
	const limit = 120
	s = quote(s)
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "..."
	}
	return s
}

// shortened bounds what is said of a file, in bytes: a name in it may be as
// long as the file.
func shortened(s string) string {
	const limit = 600
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit/2], "") + " ... " + strings.ToValidUTF8(s[len(s)-limit/3:], "")
	}
	return s
}

func (v *view) subcommandText(n int) string {
	var b strings.Builder
	if v.line.subAt == 0 && v.line.sub != "" && v.line.spec.Is(command.Subcommands) {
		b.WriteString(v.line.sub)
		n--
	}
	v.line.operands(0, func(i int) bool {
		if n == 0 {
			return false
		}
		n--
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(v.textOf(v.line.words[i]))
		return true
	})
	return b.String()
}

func (v *view) options(c *clause, note func(string, ...any)) bool {
	for _, o := range c.options {
		found := false
		v.line.eachOption(o.name, func(value string, given, known bool) bool {
			if given && known && v.finds(o.value, value) {
				found = true
				note("option %s %s", o.name, clip(value))
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// isVia says that one of the programs is around the command. "find" names any
// use of find, "find -exec" that one.
func (v *view) isVia(names []string) bool {
	for _, via := range v.c.Via {
		program, _, _ := strings.Cut(via, " ")
		for _, n := range names {
			if n == via || n == baseName(program) {
				return true
			}
		}
	}
	return false
}

// assigns looks for NAME or NAME=VALUE in front of the command, in env around
// it, and in exports before it.
func (v *view) assigns(want []string, note func(string, ...any)) bool {
	given := func(name, value string, known bool) bool {
		if !wanted(want, name, value, known) {
			return false
		}
		note("%s is set", name)
		return true
	}
	for _, a := range v.c.Assigns {
		s, ok := a.Value.Text()
		if given(a.Name, s, ok) {
			return true
		}
	}
	inWords := func(c *script.Command) bool {
		for _, w := range c.Argv[1:] {
			s, _ := leading(w)
			if name, value, ok := strings.Cut(s, "="); ok && given(name, value, w.Known()) {
				return true
			}
		}
		return false
	}
	for k := v.c.TailOf; k >= 0 && k < len(v.a.Commands); k = v.a.Commands[k].TailOf {
		outer := &v.a.Commands[k]
		if !v.spend(1 + len(outer.Argv)/8) {
			break
		}
		if len(outer.Argv) > 0 {
			if s, _ := outer.Argv[0].Text(); baseName(s) == "env" || baseName(s) == "sudo" {
				if inWords(outer) {
					return true
				}
			}
		}
		if k <= outer.TailOf {
			break // a damaged chain
		}
	}
	set := v.exportedBefore(want, func(c *script.Command) (name string) {
		for _, w := range c.Argv[1:] {
			s, _ := leading(w)
			if n, value, ok := strings.Cut(s, "="); ok && wanted(want, n, value, w.Known()) {
				return n
			}
		}
		return ""
	})
	if set != "" {
		note("%s is set", set)
	}
	return set != ""
}

// wanted says that NAME, or NAME=VALUE, or NAM*, is among what a rule asks for.
func wanted(want []string, name, value string, known bool) bool {
	for _, w := range want {
		n, val, hasValue := strings.Cut(w, "=")
		prefix, isPrefix := strings.CutSuffix(n, "*")
		if (n == name || isPrefix && strings.HasPrefix(name, prefix)) && (!hasValue || known && val == value) {
			return true
		}
	}
	return false
}

func (v *view) unknown(kinds []string, skip int) bool {
	for _, k := range kinds {
		found := false
		switch k {
		case "subcommand":
			found = v.line.unknownSub
		case "operand":
			v.line.operands(skip, func(i int) bool {
				found = found || !v.line.words[i].Known()
				return !found
			})
		case "option":
			for i, kind := range v.line.kinds {
				found = found || kind == argOption && !v.line.words[i].Known()
			}
		case "path":
			for i := range v.targets() {
				found = found || !v.accesses[i].word.Known()
			}
		}
		if found {
			return true
		}
	}
	return false
}
