package script

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// gen builds harmless shell text. Files are only written below $SCR, an
// absolute path, so that it does not matter where a cd leads.
type gen struct {
	t     *rapid.T
	depth int
	left  int // statements
	loops int // for loops around this
	level int // functions that may be called here: 2 f and g, 1 f, 0 none
}

func (g *gen) n(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "n") }

func (g *gen) pick(s ...string) string { return s[g.n(len(s))] }

func (g *gen) name() string { return g.pick("X", "Y", "Z") }

func (g *gen) lit() string {
	return g.pick("a", "b", "f1.txt", "x/y", "-n", "a-b", "1", "=", "a=b", "%s", "rec", "d1", "sub")
}

// piece is a part of a word.
func (g *gen) piece() string {
	switch g.n(26) {
	case 0, 1, 2, 3:
		return g.lit()
	case 4:
		return "'" + g.pick("q r", "$X", "*", "\\", "a\"b", "") + "'"
	case 5:
		return `"` + g.pick("q r", `\$X`, "*", `\\`, `a'b`, "", `\"`, `\a`) + `"`
	case 6:
		return `\` + g.pick("a", " ", "$", "*", `\`, "'", `"`, "~")
	case 7, 8:
		return "$" + g.name()
	case 9, 10:
		return `"$` + g.name() + `"`
	case 11:
		return "${" + g.name() + g.pick("", ":-d", "-d e", ":+alt", "+alt", "%b", "%%/*", "#a", "##*/", "/a/z", "//a/z", ":1", ":0:1", "^", ",,", ":=n") + "}"
	case 12:
		return `"${` + g.name() + g.pick("", ":-d", "-d e", ":+alt", "%b", "#a", "/a/z", ":1") + `}"`
	case 13:
		return "$(" + g.simpleOut() + ")"
	case 14:
		return `"$(` + g.simpleOut() + `)"`
	case 15:
		return "`" + g.pick("echo a b", "echo x", "printf %s y") + "`"
	case 16:
		return g.pick("{a,b}", "{1..3}", "{a,b}{c,d}", "{a,{b,c}}", "{x}", "{}", "{a..c}", "{,a}", "a{b")
	case 17:
		return g.pick("*.txt", "f?.txt", "[fg]*", "no*match", "d*")
	case 18:
		return g.pick("~", "~/a", "$HOME", `"$HOME"/b`)
	case 19:
		return g.pick("$((1+2))", "$((${#X}+1))", "$((2*3))")
	case 20:
		return g.pick(`$'a\tb'`, `$'\x41'`, `$'q\'r'`, `$'\101'`)
	case 21:
		return g.pick("$1", `"$1"`, "$@", `"$@"`, "$*", `"$*"`, "$#", "$2")
	case 22:
		return g.pick("$UNSET", `"$UNSET"`, "$ENVX", `"$ENVX"`)
	case 23:
		return g.pick("${#X}", "$PWD", `"$PWD"`, "${PWD##*/}")
	case 24:
		return g.pick("${A[@]}", `"${A[@]}"`, "${A[1]}", `"${A[*]}"`, "${#A[@]}", "$A")
	}
	return "$(rec " + g.lit() + ")"
}

func (g *gen) simpleOut() string {
	switch g.n(4) {
	case 0:
		return "echo " + g.word()
	case 1:
		return "printf '%s\\n' " + g.word()
	case 2:
		return "pwd"
	}
	return `cd "$R/d1"; echo ` + g.word()
}

func (g *gen) word() string {
	if g.depth++; g.depth > 12 {
		g.depth--
		return g.lit()
	}
	defer func() { g.depth-- }()
	s := g.piece()
	for g.n(4) == 0 {
		s += g.piece()
	}
	return s
}

func (g *gen) words() string {
	n := g.n(4)
	var out []string
	for range n {
		out = append(out, g.word())
	}
	return strings.Join(out, " ")
}

func (g *gen) body() string {
	n := 1 + g.n(2)
	var out []string
	for range n {
		out = append(out, g.stmt())
	}
	return strings.Join(out, "; ")
}

// stmt is one statement.
func (g *gen) stmt() string {
	g.left--
	if g.depth++; g.depth > 10 || g.left < 0 {
		g.depth--
		return g.pick("rec", "ra") + " " + g.lit()
	}
	defer func() { g.depth-- }()
	switch g.n(40) {
	case 0, 1, 2, 3, 4, 5:
		return g.pick("rec", "ra", "rc", `"rec"`, `r\ec`, "r''a", "command rec", "$(echo ra)") + " " + g.words()
	case 6, 7, 8, 9:
		return g.name() + g.pick("=", "=", "=", "+=") + g.word()
	case 10, 11:
		return "cd " + g.pick(`"$R/d1"`, `"$R/d2"`, `"$R"/d1/sub`, "..", "-", "~", `"$X"`, "$Y", ".", "d1", "$R")
	case 12:
		return g.stmt() + g.pick(" && ", " || ") + g.stmt()
	case 13:
		return "! " + g.pick("rec a", "false", `cd "$R/d1"`)
	case 14:
		return "(" + g.body() + ")"
	case 15:
		return "{ " + g.body() + "; }"
	case 16:
		return "if " + g.stmt() + "; then " + g.body() + g.pick("; fi", "; else "+g.body()+"; fi")
	case 17, 18:
		if g.loops > 1 {
			return "rec " + g.words()
		}
		g.loops++
		defer func() { g.loops-- }()
		return "for " + g.name() + " in " + g.words() + "; do " + g.body() + "; done"
	case 19:
		return "while read " + g.name() + "; do " + g.body() + "; done <<" + g.pick("E", "'E'") + "\n" + g.pick("one\ntwo words", "$X\nb", "a") + "\nE\n:"
	case 20:
		return "case " + g.word() + " in " + g.pick("a", "*", "f*", "$X") + ") " + g.body() + ";; *) " + g.body() + ";; esac"
	case 21, 22:
		// Bodies call only functions of a lower level, and no piece of a word
		// gives a name with a Q: nothing can recurse.
		level := g.level
		if level == 0 {
			return "rec " + g.words()
		}
		f := "Qf"
		if g.level = 0; level > 1 && g.n(2) == 0 {
			f, g.level = g.pick("Qg", "Qr"), 1
		}
		body := g.body()
		g.level = level
		return f + "() { " + body + "; }; " + f + " " + g.words()
	case 23:
		if g.level == 0 {
			return "ra " + g.words()
		}
		return g.pick("Qf", "Qf", []string{"Qf", "Qg"}[g.level-1]) + " " + g.words()
	case 24, 25:
		return "eval " + g.pick(g.words(), Quote([]string{g.stmt()}), `"`+g.pick("rec $X", "X=v", "cd $R/d1", `rec \$X`)+`"`, g.word())
	case 26:
		return "trap " + Quote([]string{g.stmt()}) + " EXIT"
	case 27:
		return "set -- " + g.words()
	case 28:
		return "shift 2>/dev/null"
	case 29:
		return "read " + g.name() + g.pick("", " "+g.name()) + " <<< " + g.word()
	case 30:
		return "printf -v " + g.name() + " " + g.pick("%s", "%s-%s", "x%sy") + " " + g.words()
	case 31:
		return g.pick("export ", "declare ", "local ", "typeset ", "readonly R", "export ") + g.name() + "=" + g.word()
	case 32:
		return "unset " + g.pick("X", "Y", "-v Z", "-f Qf", "A")
	case 33:
		return "echo " + g.word() + " | " + g.pick("while read X; do "+g.body()+"; done", "{ read Y; "+g.stmt()+"; }", "rec b", "{ "+g.body()+"; }")
	case 34:
		return g.stmt() + " | " + g.stmt()
	case 35:
		return g.pick(`pushd "$R/d1" >/dev/null`, `pushd "$R"/d2 >/dev/null`, "popd >/dev/null", "pushd >/dev/null")
	case 36:
		return g.pick("IFS=:", "IFS=", "unset IFS", "X=a:b:c", "IFS=' '")
	case 37:
		return "A=(" + g.words() + ")"
	case 38:
		return g.pick("printf '%s\\n' ", "echo ") + Quote([]string{g.pick("rec fromfile $1", "X=sourced", "cd $R/d1")}) + ` > "$SCR/s1"; . "$SCR/s1"`
	}
	return g.pick("X=1 rec $X", "true", "false", ":", "X=v Y=$X", "rec $X > \"$SCR/o\"", "((X=2))", "let Y=3", "[ -d d1 ] && cd $R/d1", "exit", "return", "rec a & wait", "rec <<< \"$X\"")
}

func (g *gen) text() string {
	n := 1 + g.n(5)
	var out []string
	for range n {
		out = append(out, g.stmt())
	}
	return strings.Join(out, g.pick("; ", "\n", " ; "))
}

// posixText reports whether dash can run a text to its end. Expansions that it
// does not know stop it when it meets them, also inside eval.
func posixText(text string) bool {
	for _, s := range []string{"[@]", "[*]", "[1]", ":0:1", ":1}", "^}", ",,}", "//a", "/a/z", "${!"} {
		if strings.Contains(text, s) {
			return false
		}
	}
	_, err := new(source).parseFile(text, POSIX)
	return err == nil
}

// TestOracleRandom compares random harmless texts with what the shells do.
func TestOracleRandom(t *testing.T) {
	l := newLab(t)
	checks := "700"
	if testing.Short() {
		checks = "150"
	}
	if s := os.Getenv("ORACLE_CHECKS"); s != "" {
		checks = s
	}
	f := flag.Lookup("rapid.checks")
	old := f.Value.String()
	defer f.Value.Set(old)
	must(t, f.Value.Set(checks))
	// The same texts in each run, unless a seed is asked for: a finding of chance
	// belongs into a hunt (go test -run OracleRandom -rapid.seed=N), not into CI.
	if seed := flag.Lookup("rapid.seed"); seed.Value.String() == "0" {
		defer seed.Value.Set("0")
		must(t, seed.Value.Set("20261121"))
	}
	var ran, unknown atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		g := &gen{t: rt, left: 14, level: 2}
		text := g.text()
		var wg sync.WaitGroup
		errs := make([]error, 3)
		for i, d := range []Dialect{Bash, POSIX, Zsh} {
			if l.shell[d] == "" {
				continue
			}
			if d == POSIX && !posixText(text) {
				continue // not a text for dash: it stops somewhere in it
			}
			wg.Go(func() {
				u, err := l.check(d, text)
				ran.Add(1)
				if u {
					unknown.Add(1)
				}
				if err != nil {
					errs[i] = fmt.Errorf("%s: %w", d, err)
				}
			})
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				rt.Fatalf("%s\n%v", text, err)
			}
		}
	})
	t.Logf("%d runs, %d with something unknown", ran.Load(), unknown.Load())
	if unknown.Load()*2 > ran.Load() {
		t.Errorf("%d of %d analyses say that they do not know", unknown.Load(), ran.Load())
	}
}
