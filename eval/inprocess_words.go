package eval

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// fields expands the words of a command: quotes, parameters, command
// substitutions, splitting. Whatever could be a brace expansion, a tilde or a
// glob is left to bash.
func (x *inShell) fields(words []*syntax.Word) []string {
	var f fieldList
	for _, w := range words {
		x.field(w, &f)
		f.end()
		if x.left {
			return nil
		}
	}
	return f.done
}

type fieldList struct {
	done []string
	cur  strings.Builder
	open bool // a field has begun, perhaps an empty one
}

func (f *fieldList) add(s string) {
	f.cur.WriteString(s)
	f.open = true
}

func (f *fieldList) end() {
	if f.open {
		f.done = append(f.done, f.cur.String())
		f.cur.Reset()
		f.open = false
	}
}

func (x *inShell) field(w *syntax.Word, f *fieldList) {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if p.Value == "[" && len(w.Parts) == 1 {
				f.add("[") // the command
				continue
			}
			if unescaped(p.Value, "*?[{~") {
				x.leave()
				return
			}
			f.add(unescape(p.Value, false))
		case *syntax.ParamExp:
			x.split(x.param(p, false), f)
		case *syntax.CmdSubst:
			x.split(x.output(p), f)
		default:
			f.add(x.quoted(p))
		}
		if x.left {
			return
		}
	}
}

// split splits an expansion at blanks, as bash does with its default IFS.
func (x *inShell) split(s string, f *fieldList) {
	if strings.ContainsAny(s, `*?[\`) {
		x.leave()
		return
	}
	for s != "" {
		i := strings.IndexAny(s, " \t\n")
		switch {
		case i < 0:
			f.add(s)
			return
		case i > 0:
			f.add(s[:i])
		}
		f.end()
		s = s[i+1:]
	}
}

// unescaped says that s has one of the characters without a backslash before.
func unescaped(s, chars string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if strings.IndexByte(chars, s[i]) >= 0 {
			return true
		}
	}
	return false
}

// quoted expands a quoted part.
func (x *inShell) quoted(p syntax.WordPart) string {
	switch p := p.(type) {
	case *syntax.SglQuoted:
		return p.Value
	case *syntax.DblQuoted:
		var b strings.Builder
		for _, q := range p.Parts {
			switch q := q.(type) {
			case *syntax.Lit:
				b.WriteString(unescape(q.Value, true))
			case *syntax.ParamExp:
				b.WriteString(x.param(q, true))
			case *syntax.CmdSubst:
				b.WriteString(x.output(q))
			default:
				x.leave()
			}
			if x.left {
				return ""
			}
		}
		return b.String()
	}
	x.leave()
	return ""
}

// joined expands a word where bash does not split or glob: in [[ ]], case,
// assignments and here-strings.
func (x *inShell) joined(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if unescaped(p.Value, "~") {
				x.leave()
			}
			b.WriteString(unescape(p.Value, false))
		case *syntax.ParamExp:
			b.WriteString(x.param(p, true))
		case *syntax.CmdSubst:
			b.WriteString(x.output(p))
		default:
			b.WriteString(x.quoted(p))
		}
		if x.left {
			return ""
		}
	}
	return b.String()
}

// output runs a command substitution.
func (x *inShell) output(c *syntax.CmdSubst) string {
	var out strings.Builder
	x.subst = x.apart(func() int { return x.list(c.Stmts, inIO{in: &inInput{used: true}, out: &out}) })
	return strings.TrimRight(out.String(), "\n")
}

// param expands a parameter. An unquoted default must be plain text.
func (x *inShell) param(p *syntax.ParamExp, quoted bool) string {
	if p.Param == nil || p.Flags != nil || p.Excl || p.Width || p.IsSet || p.NestedParam != nil || p.Index != nil ||
		p.Modifiers != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 ||
		p.Split != syntax.OptUnset || p.GlobSubst != syntax.OptUnset || p.RcExpand != syntax.OptUnset {
		x.leave()
		return ""
	}
	value, set := x.lookup(p.Param.Value)
	if !x.spend(len(value)) {
		return ""
	}
	if p.Length {
		if p.Exp != nil || !isASCII(value) {
			x.leave()
		}
		return strconv.Itoa(len(value))
	}
	if p.Exp == nil {
		return value
	}
	other := func() string {
		if p.Exp.Word == nil {
			return ""
		}
		if l := p.Exp.Word.Lit(); plainWord(l) {
			return l
		}
		if len(p.Exp.Word.Parts) == 1 && quoted {
			if inner, ok := p.Exp.Word.Parts[0].(*syntax.ParamExp); ok {
				return x.param(inner, true)
			}
		}
		x.leave()
		return ""
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset:
		if !set {
			return other()
		}
		return value
	case syntax.DefaultUnsetOrNull:
		if value == "" {
			return other()
		}
		return value
	case syntax.AlternateUnset:
		if set {
			return other()
		}
		return ""
	case syntax.AlternateUnsetOrNull:
		if value != "" {
			return other()
		}
		return ""
	case syntax.LowerAll, syntax.UpperAll:
		if p.Exp.Word != nil || !isASCII(value) || x.m.loc.dotless {
			break
		}
		if p.Exp.Op == syntax.LowerAll {
			return strings.ToLower(value)
		}
		return strings.ToUpper(value)
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		if p.Exp.Word != nil {
			if s, ok := removed(value, p.Exp.Op, p.Exp.Word.Lit()); ok {
				return s
			}
		}
	}
	x.leave()
	return ""
}

// removed knows ${x#a}, ${x#*a}, ${x%a} and ${x%a*}, also doubled.
func removed(s string, op syntax.ParExpOperator, pattern string) (string, bool) {
	prefix := op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix
	star := false
	if prefix {
		pattern, star = strings.CutPrefix(pattern, "*")
	} else {
		pattern, star = strings.CutSuffix(pattern, "*")
	}
	if pattern == "" || !plainWord(pattern) {
		return "", false
	}
	if !star {
		if prefix {
			return strings.TrimPrefix(s, pattern), true
		}
		return strings.TrimSuffix(s, pattern), true
	}
	i := strings.Index(s, pattern)
	if op == syntax.RemLargePrefix || op == syntax.RemSmallSuffix {
		i = strings.LastIndex(s, pattern)
	}
	switch {
	case i < 0:
		return s, true
	case prefix:
		return s[i+len(pattern):], true
	}
	return s[:i], true
}

// plainWord says that a literal means itself everywhere.
func plainWord(s string) bool {
	for i := range len(s) {
		if !isWordByte(s[i]) && strings.IndexByte("/.-,:@%+", s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// bashNames are variables that bash sets or changes itself, or that its judge
// does not pass on. Names that begin with BASH, COMP and READLINE count too.
const bashNames = " _ CDPATH COLUMNS COPROC DIRSTACK ENV EPOCHREALTIME EPOCHSECONDS EUID EXECIGNORE FCEDIT FIGNORE FUNCNAME FUNCNEST" +
	" GLOBIGNORE GREP_OPTIONS GROUPS HISTCMD HISTCONTROL HISTFILE HISTFILESIZE HISTIGNORE HISTSIZE HISTTIMEFORMAT HOSTFILE HOSTNAME" +
	" HOSTTYPE IFS IGNOREEOF INPUTRC INSIDE_EMACS LINENO LINES MACHTYPE MAIL MAILCHECK MAILPATH MAPFILE OLDPWD OPTARG OPTERR OPTIND" +
	" OSTYPE PATH PIPESTATUS POSIXLY_CORRECT PPID PROMPT_COMMAND PROMPT_DIRTRIM PS0 PS1 PS2 PS3 PS4 RANDOM REPLY SECONDS SHELLOPTS" +
	" SHLVL SRANDOM TIMEFORMAT TMOUT UID GIT_OPTIONAL_LOCKS histchars auto_resume "

// lookup returns a variable of the condition.
func (x *inShell) lookup(name string) (value string, set bool) {
	switch name {
	case "CMD":
		if args := x.args(); args != "" {
			return x.v.name + " " + args, true
		}
		return x.v.name, true
	case "ARGS":
		return x.args(), true
	case "PWD":
		return x.dir(), true
	}
	if value, set = x.vars[name]; set {
		return value, true
	}
	if name == "" || !isWordByte(name[0]) || name[0] >= '0' && name[0] <= '9' || x.m.twice[name] ||
		strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "COMP") || strings.HasPrefix(name, "READLINE") ||
		strings.Contains(bashNames, " "+name+" ") {
		x.leave()
		return "", false
	}
	value, set = x.m.environ[name]
	if !plainValue(value) || !set && (name == "HOME" || name == "TERM" || name == "SHELL") { // bash sets them
		x.leave()
	}
	return value, set
}

// args is $ARGS: bash drops newlines at the end when it reads it.
func (x *inShell) args() string { return strings.TrimRight(x.v.args, "\n") }
