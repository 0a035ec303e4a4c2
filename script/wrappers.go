package script

import (
	"safeshell/command"
	"slices"
	"strings"
)

// option is one option that was read.
type option struct {
	name  string // -x or --long
	value *Word
	at    int // index of the word
}

// scan reads options from word at on; it returns them and the index of the
// first operand. unsure is set when a word there is not known.
func scan(argv []Word, at int, spec *command.Spec) (opts []option, next int, unsure bool) {
	for at < len(argv) {
		t, ok := argv[at].Text()
		if !ok {
			p := argv[at].Parts[0]
			if p.Kind == Literal && strings.HasPrefix(p.Text, "-") && len(p.Text) > 1 {
				// --flag=$X
				at++
				continue
			}
			return opts, at, true
		}
		if len(t) < 2 || t[0] != '-' {
			if t == "-" && command.Has(spec.Names, "env") {
				opts = append(opts, option{"-i", nil, at})
				at++
				continue
			}
			return opts, at, false
		}
		if t == "--" {
			return opts, at + 1, false
		}
		at++
		if spec.Is(command.Any) || spec.Is(command.Numbers) && (t[1] >= '0' && t[1] <= '9' || len(t) > 2 && t[1] == '-' && t[2] >= '0' && t[2] <= '9') {
			continue
		}
		if strings.HasPrefix(t, "--") || spec.Is(command.OneDash) {
			name, val, has := strings.Cut(t, "=")
			o := option{name: name, at: at - 1}
			if has {
				v := Lit(val)
				o.value = &v
			} else if longTakes(spec.Options, &name) {
				o.name = name
				if at < len(argv) {
					o.value = &argv[at]
				}
				at++
			}
			opts = append(opts, o)
			continue
		}
		opts, at = scanShort(opts, argv, at, t, spec.Options)
	}
	return opts, min(at, len(argv)), false
}

// longTakes reports whether a long option, perhaps abbreviated, takes the next
// word; it completes the name.
func longTakes(takes string, name *string) bool {
	if command.Has(takes, *name) {
		return true
	}
	if len(*name) > 3 && strings.HasPrefix(*name, "--") {
		for o := range strings.FieldsSeq(takes) {
			if strings.HasPrefix(o, *name) {
				*name = o
				return true
			}
		}
	}
	return false
}

// scanShort reads a cluster of short options.
func scanShort(opts []option, argv []Word, at int, t, takes string) ([]option, int) {
	for j := 1; j < len(t); j++ {
		o := option{name: "-" + t[j:j+1], at: at - 1}
		next := command.Has(takes, o.name)
		if next || command.Has(takes, o.name+"?") {
			if j+1 < len(t) {
				v := Lit(t[j+1:])
				o.value = &v
			} else if next {
				if at < len(argv) {
					o.value = &argv[at]
				}
				at++
			}
			return append(opts, o), at
		}
		opts = append(opts, o)
	}
	return opts, at
}

// value returns the last value given for any of the names.
func optValue(opts []option, names ...string) *Word {
	for _, o := range slices.Backward(opts) {
		if slices.Contains(names, o.name) && o.value != nil {
			return o.value
		}
	}
	return nil
}

func hasOpt(opts []option, names ...string) bool {
	return slices.ContainsFunc(opts, func(o option) bool { return slices.Contains(names, o.name) })
}

// wrap follows a program that runs its operands.
func (a *analyzer) wrap(k *call, i int, name string, spec *command.Spec) {
	runs := spec.Runs
	if runs.How&command.AfterDashes != 0 {
		a.afterDashes(k, i, name)
		return
	}
	opts, at, unsure := scan(k.argv, 1, spec)
	if wrapperStops(name, opts) {
		k.c.sink.lose()
		return
	}
	inner := *k
	inner.dir, inner.noEnv = k.dir, k.noEnv || runs.How&command.NewEnv != 0
	inner.assigns = slices.Clone(k.assigns)
	if name == "env" || name == "genv" {
		if a.envOptions(k, i, &inner, opts, at) {
			return
		}
	}
	if d := optValue(opts, "-D", "--chdir"); d != nil && (name == "sudo" || name == "sudo-rs") {
		inner.dir = under(k.dir, *d)
	}
	if name == "runuser" {
		a.runuser(&inner, k, i, opts, at)
		return
	}
	if name == "chroot" || name == "nsenter" && hasOpt(opts, "-a", "-m", "--all", "--mount", "-r", "-w") {
		inner.dir = noDir()
	}
	at = min(at+runs.Skip, max(at, len(k.argv)))
	if runs.How&command.Assigns != 0 {
		at = a.readAssigns(&inner, at)
	}
	if at >= len(k.argv) {
		if runs.How&command.OwnShell != 0 || hasOpt(opts, "-s", "-i") {
			a.ownShell(&inner, name)
		}
		k.c.sink.lose()
		return
	}
	if unsure && mayBeMany(k.argv[at]) && len(k.argv) > at+1 {
		a.unknown("what "+name+" runs is not known: "+clip(wordName(k.argv[at])), k.c.src, k.span)
		a.guessTail(k, i, name, at+1)
		k.c.sink.lose()
		return
	}
	if runs.How&command.ShellLine != 0 && !hasOpt(opts, "-x", "--exec") || name == "entr" && hasOpt(opts, "-s") {
		c := k.inner(name)
		c.sink, c.stdin, c.fedBy = nil, nil, nil
		k.c.sink.lose()
		a.codeWord(join(k.argv[at:]), POSIX, a.child(&inner), c, "the line given to "+name)
		return
	}
	t := inner.after(i, at, name)
	t.assigns, t.outside = inner.assigns, true
	if runs.How&command.Feeds != 0 {
		t.c.stdin, t.c.fedBy = nil, nil
	}
	a.run(t)
}

// wrapperStops reports options with which a wrapper runs nothing.
func wrapperStops(name string, opts []option) bool {
	switch name {
	case "sudo", "sudo-rs":
		return hasOpt(opts, "-l", "-v", "-K", "-V", "-e", "--list", "--validate", "--remove-timestamp", "--version", "--help", "--edit")
	case "chrt", "taskset":
		return hasOpt(opts, "-p", "--pid")
	case "ionice":
		return hasOpt(opts, "-p", "-P", "-u")
	}
	return hasOpt(opts, "--version", "--help")
}

// readAssigns takes NAME=value words.
func (a *analyzer) readAssigns(k *call, at int) int {
	for at < len(k.argv) && a.step() {
		p := k.argv[at].Parts
		if len(p) == 0 || p[0].Kind != Literal {
			break
		}
		name, val, ok := strings.Cut(p[0].Text, "=")
		if !ok || name == "" || strings.ContainsAny(name, "/ ") {
			break
		}
		v := Word{Parts: merge(append([]Part{{Text: val}}, p[1:]...))}
		k.assigns = append(k.assigns, Assign{name, v})
		a.assigned(name, v, k.st.clone(), k.c)
		at++
	}
	return at
}

// envOptions handles env's own options; true when -S took everything.
func (a *analyzer) envOptions(k *call, i int, inner *call, opts []option, at int) bool {
	if hasOpt(opts, "-i", "--ignore-environment") {
		inner.noEnv = true
		inner.assigns = nil
	}
	if d := optValue(opts, "-C", "--chdir"); d != nil {
		inner.dir = under(k.dir, *d)
	}
	for _, o := range opts {
		if (o.name == "-u" || o.name == "--unset") && o.value != nil {
			if n, ok := o.value.Text(); ok {
				st := inner.st.clone()
				st.set(n, value{kind: isUnset, exported: true})
				inner.st = st
				inner.assigns = slices.DeleteFunc(inner.assigns, func(as Assign) bool { return as.Name == n })
			}
		}
	}
	s := optValue(opts, "-S", "--split-string")
	if s == nil {
		return false
	}
	t, ok := s.Text()
	words, okSplit := splitEnvS(t)
	if !ok || !okSplit {
		a.unknown("what env -S runs is not known", k.c.src, k.span)
		return true
	}
	next := inner.after(i, len(k.argv), "env")
	next.argv = append([]Word{Lit("env")}, append(words, k.argv[at:]...)...)
	next.assigns, next.outside, next.tail, next.span = inner.assigns, true, 0, k.span
	a.envAgain(next)
	return true
}

// envAgain follows the words of env -S, which env reads as its own arguments.
func (a *analyzer) envAgain(k *call) {
	opts, at, _ := scan(k.argv, 1, command.Of("env"))
	inner := *k
	inner.assigns = slices.Clone(k.assigns)
	if a.nest >= maxCode {
		a.exhaust("too much code inside code to analyse")
		return
	}
	a.nest++
	defer func() { a.nest-- }()
	if a.envOptions(k, len(a.cmds)-1, &inner, opts, at) {
		return
	}
	at = a.readAssigns(&inner, at)
	if at >= len(k.argv) {
		return
	}
	inner.argv = k.argv[at:]
	a.run(&inner)
}

// splitEnvS splits as env -S does.
func splitEnvS(s string) (out []Word, ok bool) {
	var b strings.Builder
	has := false
	flush := func() {
		if has {
			out = append(out, Lit(b.String()))
			b.Reset()
			has = false
		}
	}
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'):
			flush()
		case quote == 0 && (c == '"' || c == '\''):
			quote, has = c, true
		case quote == c:
			quote = 0
		case c == '#' && !has && quote == 0:
			return out, true
		case c == '$' && quote != '\'':
			return nil, false
		case c == '\\' && quote != '\'' && i+1 < len(s):
			i++
			has = true
			switch s[i] {
			case '_':
				if quote == 0 {
					flush()
				} else {
					b.WriteByte(' ')
				}
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'c':
				flush()
				return out, true
			default:
				b.WriteByte(s[i])
			}
		case c == '\\' && quote == '\'' && i+1 < len(s) && (s[i+1] == '\\' || s[i+1] == '\''):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
			has = true
		}
	}
	flush()
	return out, quote == 0
}

// ownShell follows sudo -s and the like: a shell that reads standard input.
func (a *analyzer) ownShell(k *call, name string) {
	if k.c.stdin == nil {
		return
	}
	c := k.inner(name)
	c.stdin, c.fedBy = nil, nil
	a.codeWord(*k.c.stdin, POSIX, a.child(k), c, "the input of "+name)
}

// runuser follows runuser -u user command, and its su form.
func (a *analyzer) runuser(inner, k *call, i int, opts []option, at int) {
	if hasOpt(opts, "-u", "--user") {
		if at < len(k.argv) {
			t := inner.after(i, at, "runuser")
			t.outside = true
			a.run(t)
		}
		return
	}
	a.su(inner, k, "runuser")
}

// afterDashes follows programs whose command comes after --.
func (a *analyzer) afterDashes(k *call, i int, name string) {
	for at := 1; at < len(k.argv); at++ {
		if t, ok := k.argv[at].Text(); ok && t == "--" {
			if at+1 < len(k.argv) {
				t := k.after(i, at+1, name)
				t.outside = true
				a.run(t)
			}
			return
		}
	}
	a.output(k, name)
	if !knownProgram(name) {
		a.guessTail(k, i, name, 1)
	}
}

// launcherOf returns the stanza of a program that runs its operands; nil for others.
func launcherOf(name string) *command.Spec {
	if strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") {
		name = "ld.so" // the loader runs the program that it is given
	}
	if s := command.Of(name); s.Runs != nil && s.Runs.How&command.Package == 0 {
		return s
	}
	return nil
}
