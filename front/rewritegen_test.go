package front

import (
	"strings"

	"pgregory.net/rapid"
)

// lineGen builds command lines around rm. Every command in them is a recorder
// or a carrier of the lab.
type lineGen struct {
	t     *rapid.T
	left  int
	depth int
	bin   string
	calls bool // inside a function: it calls no other
}

func (g *lineGen) n(n int) int             { return rapid.IntRange(0, n-1).Draw(g.t, "n") }
func (g *lineGen) pick(s ...string) string { return s[g.n(len(s))] }

func (g *lineGen) text() string {
	n := 1 + g.n(4)
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(g.pick("; ", "\n", " ;\n", "\n\n  ", " &\nwait\n", "\n# then\n"))
		}
		b.WriteString(g.stmt())
	}
	b.WriteString(g.pick("", "", "\n", "\n# rm -rf x\n"))
	return b.String()
}

func (g *lineGen) body() string {
	s := g.stmt()
	if g.n(3) == 0 {
		s += "; " + g.stmt()
	}
	return s
}

// rm is the word that is redirected.
func (g *lineGen) rm() string {
	return g.pick("rm", "rm", "rm", "rm", `"rm"`, "'rm'", `\rm`, `r\m`, "r''m", g.bin+"/rm", `"$BIN"/rm`, "$'rm'", "rm \\\n ")
}

func (g *lineGen) arg() string {
	return g.pick("a.o", "'b c.o'", `"b c.o"`, "-f", "-rf", "*.o", "sub", `"$X"`, "${X:-d e}", `"${Y}"`, `"$(ls sub)"`,
		"`ls`", "ä€.txt", "'日本 語'", `"it's"`, `'say "x"'`, `\*`, `a\ b`, "{a,b}.o", "fail", "a#x", "'#'", `$'a\tb'`, `"a;b"`,
		"$((1+2))", `"$(rm inner; ls -q)"`, "$(rm in1 in2 >o)", "é́", "~/x", "🗑", "''", "-i", "--force", "[ab].o", `"\$HOME"`, "a=b", "rm")
}

func (g *lineGen) args() string {
	var b strings.Builder
	for range 1 + g.n(3) {
		b.WriteString(g.pick(" ", " ", "  ", "\t", " \\\n  "))
		b.WriteString(g.arg())
	}
	return b.String()
}

func (g *lineGen) redirect() string {
	if g.n(5) != 0 {
		return ""
	}
	return " " + g.pick(">out", "2>/dev/null", "2>&1", ">>out 2>&1", "<list", "&>/dev/null", "<<<'rm x'", `<<<"$(rm hs)"`)
}

// rmCall is one rm, perhaps behind a carrier.
func (g *lineGen) rmCall() string {
	rm := g.rm() + g.args()
	switch g.n(20) {
	case 0:
		return "sudo " + g.pick("", "-u me ", "-n -- ", "-- ", "A=1 ") + rm
	case 1:
		return "env " + g.pick("", "A=1 ", "A=1 B='x y' ", "-- ") + rm
	case 2:
		return g.pick("nohup ", "nice ", "nice -n 5 ", "timeout 5 ", "sudo env A=1 ") + rm
	case 3:
		return "ls | xargs " + g.pick("", "-r ", "-n1 ", "-I{} ", "-0 ", "-P 1 ") + g.rm() + g.args() + g.pick("", " {}")
	case 4, 5:
		return "find . -name '*.o' -exec " + g.pick("", "sudo ", "env A=1 ") + g.rm() + g.args() + " {} " + g.pick(`\;`, "+", `';'`, `\; -exec ls {} \;`, `\; -exec rm -f {} \;`)
	case 6:
		return g.pick("command ", "command -- ", "! ", "time ") + rm
	case 7:
		return g.pick("A=1 ", "A='x y' B=$X ", "X=z ") + rm
	case 8:
		return g.pick(">out ", "2>/dev/null ") + rm
	case 9:
		return rm + g.pick(" | ls", " | rec", " 2>&1 | ls x", " |& ls")
	case 10:
		return "ls y | " + rm
	}
	return rm
}

func (g *lineGen) simple() string {
	if g.n(3) == 0 {
		return g.pick("ls", "git", "make", "mv", "rec", "echo", `printf '%s\n'`, "true", "cd sub; ls", "git rm", "'my rm'", "export X=", "X=", "read -r X <list; ls") + g.args() + g.redirect()
	}
	return g.rmCall() + g.redirect()
}

// stmt is one statement.
func (g *lineGen) stmt() string {
	g.left--
	if g.depth++; g.depth > 5 || g.left < 0 {
		g.depth--
		return g.simple()
	}
	defer func() { g.depth-- }()
	switch g.n(26) {
	case 0:
		return "(" + g.body() + "\n)"
	case 1:
		return "( " + g.body() + "\n)" + g.redirect()
	case 2:
		return "{ " + g.body() + "\n}" + g.redirect()
	case 3:
		return "if " + g.stmt() + "\nthen " + g.body() + g.pick("", "\nelse "+g.body(), "\nelif ls q; then "+g.body()) + "\nfi"
	case 4:
		return "for f in " + g.pick("a b", "*.o", "'x y' z") + "; do " + g.body() + "\nrm " + g.pick(`"$f"`, "$f", "-f -- $f") + "; done"
	case 5:
		return "ls | while read -r f; do " + g.body() + "\nrm \"$f\"; done"
	case 6:
		return "case " + g.pick("a", `"$X"`) + " in a|b) " + g.body() + "\n;; (*) " + g.body() + "\n;; esac"
	case 7:
		if !g.calls {
			g.calls = true
			defer func() { g.calls = false }()
			name := g.pick("f1", "f2", "clean_up")
			return g.pick(name+"() { ", "function "+name+" { ", name+" () { ") + g.body() + "\n" + `rm "$@"; ` + "}\n" + name + g.args()
		}
	case 8:
		return "rec <<EOF; " + g.simple() + "\nrm text $X\n" + g.pick("", "$(rm heredoc)\n", "`rm old`\n", "\"$(rm 'q e' x)\"\n") + "EOF"
	case 9:
		return "ls <<'EOF'\nrm \"text' $(rm no)\nEOF\n" + g.simple()
	case 10:
		return "ls <<-\tEOF && " + g.simple() + "\n\trm x $(rm tabbed)\n\tEOF"
	case 11:
		return g.simple() + g.pick(" && ", " || ", " | ", "; ", " &\nwait\n") + g.simple()
	case 12:
		return "while " + g.stmt() + "\ndo " + g.body() + "\nbreak; done"
	case 13:
		return `echo "$(` + g.body() + "\n)\" \"`rm bq`\""
	case 14:
		return "X=$(" + g.body() + "\n)"
	case 15:
		return "[[ -n x ]] && " + g.stmt()
	case 16:
		return "(( 1 )) && " + g.stmt()
	case 17:
		return "ls <(" + g.simple() + "\n)"
	case 18:
		return "# rm in a comment\n" + g.stmt()
	case 19:
		return g.pick("bash -c 'rm x'", `eval "rm x"`, "C=rm; $C y", "for c in rm ls; do $c z; done", "{rm,-f,x}", "D='rm -f'; $D q", "alias rm=ls; rm x", `rm() { ls "$@"; }; rm x`,
			"unset -f rm; rm x", "trap 'rm t' EXIT; ls", "$(echo rm) x", "`rm z; echo rm` x", "ls; #rm x\n")
	}
	return g.simple()
}
