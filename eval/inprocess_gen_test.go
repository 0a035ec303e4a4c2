package eval

import (
	"math/rand"
	"strings"
)

// conditionGen writes conditions inside the subset and around it.
type conditionGen struct{ *rand.Rand }

func (g conditionGen) pick(list ...string) string { return list[g.Intn(len(list))] }

func (g conditionGen) condition(depth int) string {
	if depth > 0 {
		switch g.Intn(14) {
		case 0:
			return g.condition(depth-1) + " && " + g.condition(depth-1)
		case 1:
			return g.condition(depth-1) + " || " + g.condition(depth-1)
		case 2:
			return "! " + g.simple()
		case 3:
			return g.pick("{ ", "{ ") + g.condition(depth-1) + "; }"
		case 4:
			return "( " + g.condition(depth-1) + " )"
		case 5:
			return g.condition(depth-1) + g.pick("; ", "\n") + g.condition(depth-1)
		case 6:
			return "if " + g.condition(depth-1) + "; then " + g.condition(depth-1) + g.pick("; fi", "; else "+g.condition(0)+"; fi", "; elif "+g.condition(0)+"; then false; fi")
		case 7:
			return "case " + g.word() + " in " + g.glob() + ") " + g.simple() + ";; " + g.pick("", "*) false;; ", g.glob()+"|"+g.glob()+") ;; ") + "esac"
		case 8:
			return "x=" + g.pick(g.word(), `$(`+g.producer()+`)`) + g.pick("; ", " && ") + g.pick(`[ "$x" = main ]`, `[[ $x == *it* ]]`, `echo "$x" | `+g.grep(), `[ -n "$x" ]`)
		}
	}
	return g.simple()
}

func (g conditionGen) simple() string {
	switch g.Intn(12) {
	case 0, 1, 2, 3, 4:
		return g.producer() + " | " + g.grep()
	case 5:
		return g.grep() + g.pick(" <<< ", "<<<") + g.word()
	case 6:
		return g.pick("[ ", "test ") + "\x00"
	case 7, 8:
		return "[[ " + g.extended(1) + " ]]"
	case 9:
		return g.producer() + g.pick(" >/dev/null", " 2>/dev/null", " >/dev/null 2>&1", " &>/dev/null", " 2>&1 | "+g.grep(), " 1>&2")
	case 10:
		return g.producer() + " | { " + g.grep() + "; } " + g.pick("", "| "+g.grep())
	}
	return g.pick("true", "false", ":", "pwd | "+g.grep(), g.grep()+" file.txt", g.grep()+" empty file.txt", "true | false", "! true", "false | true")
}

// finish fills in what simple leaves open.
func (g conditionGen) finish(s string) string {
	for strings.Contains(s, "[ \x00") || strings.Contains(s, "test \x00") {
		i := strings.IndexByte(s, 0)
		e := g.test()
		if strings.HasSuffix(s[:i], "[ ") {
			e += " ]"
		}
		s = s[:i] + e + s[i+1:]
	}
	return s
}

func (g conditionGen) producer() string {
	switch g.Intn(9) {
	case 0:
		return g.pick("git branch --show-current", "git rev-parse --abbrev-ref HEAD", "git rev-parse --show-toplevel", "git rev-parse --is-inside-work-tree") + g.pick("", "", " 2>/dev/null")
	case 1:
		return "printf " + g.pick(`'%s'`, `'%s\n'`, `"%s\n"`, `%s`, `'a%%b\t%s\\'`, `'%s-%s\n'`, `'%d'`, `'x\n'`, `"$CMD"`, `'%5s'`, `-- '%s'`) + " " + g.words()
	case 2:
		return "echo " + g.pick("-n ", "-e ", "-E ", "-ne ", "-en ", "-x ", "-- ", "-", "") + g.words()
	case 3:
		return "pwd" + g.pick("", " -P", " -L")
	case 4:
		return "echo " + g.words() + " | grep " + g.pick("", "-v ", "-i ", "-E ") + g.quote(g.regexp(1, true))
	}
	return "echo " + g.word()
}

func (g conditionGen) words() string {
	var b strings.Builder
	for range 1 + g.Intn(3) {
		b.WriteString(g.word() + " ")
	}
	return b.String()
}

func (g conditionGen) word() string {
	switch g.Intn(20) {
	case 0, 1, 2, 3:
		return `"$CMD"`
	case 4, 5:
		return `'$CMD'`
	case 6:
		return `"$ARGS"`
	case 7:
		return g.pick("$CMD", "$ARGS", "${CMD}", "a$CMD", "$ARGS'b'", `""$ARGS`)
	case 8:
		return g.pick(`"${EMPTY:-dflt}"`, `"${PLAIN:-y}"`, `${UNSET_X:-y}`, `"${UNSET_X-main}"`, `"${EMPTY-a}"`, `"${PLAIN:+z}"`, `${PLAIN+q}`, `"${UNSET_X:-$PLAIN}"`, `"${#CMD}"`, `${CMD,,}`, `"${ARGS^^}"`)
	case 9:
		return g.pick(`"$PLAIN"`, "$PLAIN", "$EMPTY", `"$EMPTY"`, "$TWO", `"$TWO"`, "$STAR", `"$STAR"`, "$WORDS", "x$WORDS", "$lower", `"$UNSET_X"`, "$UNSET_X")
	case 10:
		return g.pick(`"$PWD"`, `'$PWD/x'`, `"${PWD##*/}"`, `"${PWD%/*}"`, `"${ARGS#*-}"`, `"${ARGS%%m*}"`, `"${CMD#git}"`, `"$HOME"`)
	case 11:
		return `"$(` + g.producer() + `)"`
	case 12:
		return g.pick("'a b'", `"a\"b\$c\\d"`, `a\ b`, `\*`, `"*"`, "*", "~", "{a,b}", "a{b", `'\n'`, `\\n`, "a'b'\"c\"", "-n", "é", "''", `$'a\nb'`, "[", "x=y", "a#b", `\é`, "a^b", "!", `"it's"`)
	case 13:
		return `$(` + g.producer() + `)`
	}
	return g.pick("'git commit'", "main", "'x y'", "'-n'", "'ab ba'", `'foo.bar foo_bar foo'`, "'émain'", "'a\nb\n\nc'")
}

func (g conditionGen) test() string {
	switch g.Intn(8) {
	case 0:
		return g.pick("-n ", "-z ", "! -n ", "! ", "") + g.word()
	case 1:
		return g.pick("-e ", "-f ", "-d ", "-r ", "-w ", "-x ", "-s ", "-L ", "-h ", "! -e ") + g.pick("file.txt", "empty", "sub", "link", "broken", "gone", ".git", `"$PWD"`, `"$HOME/x"`, "/", "/etc/passwd", "''", `"$ARGS"`, "file.txt/", "sub/", "./sub/../file.txt", "/dev/null")
	case 2:
		return g.pick(`"${#CMD}"`, "3", "0", "-1", "08", "''", " 3", `"$PLAIN"`) + g.pick(" -eq ", " -ne ", " -lt ", " -ge ", " -gt ", " -le ") + g.pick("3", "0", `"${#ARGS}"`, "10", "a", "-0")
	case 3:
		return g.pick("! ", "") + g.word() + g.pick(` \< `, ` '>' `) + g.word()
	case 4:
		return g.pick("", "a", "! a = b", "a = b -o c", "a -a b", "! ! a", "'(' a ')'", "-f", "! = a", "= = =", "-n = -n", "a =", "-z -a x")
	}
	return g.pick("! ", "", "", "") + g.word() + g.pick(" = ", " != ", " == ") + g.word()
}

func (g conditionGen) extended(depth int) string {
	if depth > 0 {
		switch g.Intn(8) {
		case 0:
			return g.extended(0) + " && " + g.extended(0)
		case 1:
			return g.extended(0) + " || " + g.extended(0)
		case 2:
			return "! " + g.extended(0)
		case 3:
			return "( " + g.extended(0) + " )"
		}
	}
	switch g.Intn(8) {
	case 0:
		return g.pick("-n ", "-z ", "") + g.word()
	case 1:
		return g.pick("-e ", "-f ", "-d ", "-s ", "-L ") + g.pick("file.txt", "sub", "link", "broken", "gone", ".git", "$PWD", `"$PWD/sub"`)
	case 2, 3:
		return g.word() + " =~ " + g.bashRegexp()
	case 4:
		return g.word() + g.pick(" < ", " > ") + g.word()
	case 5:
		return g.pick("3", "0", "010", `"$PLAIN"`) + g.pick(" -eq ", " -lt ", " -ge ") + g.pick("3", "8", "x")
	}
	return g.word() + g.pick(" == ", " = ", " != ") + g.glob()
}

func (g conditionGen) glob() string {
	var b strings.Builder
	for range 1 + g.Intn(4) {
		b.WriteString(g.pick("*", "*", "*", "?", "[a-z]", "[!a]", "[^g]", "[[:space:]]", "[]x]", "[0-9]", "git", "commit", "main", "-m", "'a b'", `"$PLAIN"`, "$PLAIN", `\*`, "é", "it", "o", "x", `"*"`, "$STAR", "$CMD", "[a", "{a,b}", "@(a|b)", "+(x)", "[é]", "~", `"$EMPTY"`))
	}
	return b.String()
}

func (g conditionGen) bashRegexp() string {
	if g.Intn(4) == 0 {
		return g.pick(`"$PLAIN"`, `$PLAIN`, `^git"."`, `"git commit"`, `^'$CMD'$`, `$CMD`, `^$`, `git\ commit`, `(^|\ )-m`, `\bgit\b`, `^g.t\s`, `[[:space:]]-m`, `a{2}`, `[a-z]+\.x`, `(a|b|)`, `$STAR`, `^(main|master)$`, `\.ssh`, `\-m`, `[^ ]+$`)
	}
	r := g.regexp(2, true)
	if strings.ContainsAny(r, " \n'\"&;<>`#") || strings.Contains(r, "$(") {
		return "^git"
	}
	return r
}

func (g conditionGen) quote(s string) string {
	if g.Intn(4) == 0 && !strings.ContainsAny(s, "$`\"\\!") {
		return `"` + s + `"`
	}
	return singleQuote(s)
}

func (g conditionGen) grep() string {
	opts := g.pick("-q", "-q", "-q", "-q", "-qE", "-qE", "-qE", "-qE", "-qE", "-Eq", "-E", "--quiet", "-qs", "-c", "-qP", "-qF", "-qF", "-qG")
	for range g.Intn(3) {
		opts += g.pick(" -i", " -v", " -w", " -x", " -F", " -E", " --ignore-case", " -s", "", "", "")
	}
	extended := strings.Contains(opts, "E") && !strings.Contains(opts, "F")
	p := g.quote(g.regexp(2, extended))
	switch g.Intn(12) {
	case 0:
		p = "-e " + p
	case 1:
		p = "-e " + p + " -e " + g.quote(g.regexp(1, extended))
	case 2:
		p = "-- " + p
	case 3:
		return "grep " + p + " " + opts
	case 4:
		p = g.pick(`"$PLAIN"`, `"$CMD"`, `"$ARGS"`, "$PLAIN", `"$EMPTY"`, "git", `'.'`, `''`, `'^$'`, "'a\nb'", `\.ssh`, `git\ commit`, `"\.ssh"`, `"^git"`)
	case 5:
		p = g.quote(g.pick(`^git\s+commit`, `\.ssh`, `^(main|master|develop)$`, `(^|[[:space:]])-(f|-force)([[:space:]]|$)`, `\bcommit\b`, `\<git\>`, `rm\s+(-[a-z]*\s+)*/`,
			`push.*--force`, `[^a-z]m`, `é`, `[é]`, `.`, `^.{3} `, `\w+ \w+`, `\W`, `\S+$`, `["'"'"']`, `\$\(`, `a|b|c`, `^git (commit|push)`, `--force(-with-lease)?\b`, `[A-Z]`, `^[[:alnum:]_-]+$`, `node_modules`, `\\`, `k`, `S`, `i`))
	}
	return "grep " + opts + " " + p
}

// regexp writes an expression, mostly in the syntax asked for.
func (g conditionGen) regexp(depth int, extended bool) string {
	op := func(s string) string {
		if extended {
			return s
		}
		return `\` + s
	}
	var b strings.Builder
	if g.Intn(3) == 0 {
		b.WriteByte('^')
	}
	for range 1 + g.Intn(4) {
		switch g.Intn(16) {
		case 0:
			b.WriteString(g.pick(".", ".*", "[a-z]", "[^a]", "[[:space:]]", "[^[:alnum:]_]", "[0-9]", "[]m]", "[a-]", "[.]", "[é]", "[A-z]", "[[.a.]]", "[a", "[^é]", `[\.]`, "[[:upper:]]", "[:alpha:]"))
		case 1:
			b.WriteString(g.pick(`\s`, `\w`, `\W`, `\S`, `\b`, `\<`, `\>`, `\.`, `\-`, `\/`, `\B`, `\d`, `\1`, `\n`, `\"`, `\ `, `\*`, `\\`, `\{`, "\\`"))
		case 2:
			if depth > 0 {
				b.WriteString(op("(") + g.regexp(depth-1, extended) + op("|") + g.regexp(depth-1, extended) + op(")"))
			}
		case 3:
			if depth > 0 {
				b.WriteString(op("(") + g.regexp(depth-1, extended) + op(")"))
			}
		case 4:
			b.WriteString(g.pick("|", "+", "{", "^", "$", "}", "(", ")", "*", `\|`, "?"))
		case 5:
			b.WriteString(g.pick("é", "—", "ü", "\xff", "\xc3", "🎉", "\n"))
		case 6:
			b.WriteString(g.pick("K", "S", "I", "k", "s", "i"))
		default:
			b.WriteString(g.pick("git", "commit", " ", "-", "m", "a", "b", "o", "x", "main", "foo", "t c", "'", "/", "it"))
		}
		switch g.Intn(8) {
		case 0:
			b.WriteString("*")
		case 1:
			b.WriteString(g.pick(op("+"), op("?"), op("{")+"2"+op("}"), op("{")+"1,"+op("}"), op("{")+"0,2"+op("}"), op("{")+",2"+op("}")))
		}
	}
	if g.Intn(4) == 0 {
		b.WriteByte('$')
	}
	return b.String()
}
