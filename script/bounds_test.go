package script

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// most is how much one text may allocate to be analysed, in bytes: garbage for
// the most part. Without bounds these texts take hours, or all memory.
const most = 1 << 30

func bounded(t *testing.T, name string, analyse func() Analysis) {
	t.Helper()
	if testing.Short() {
		t.Skip("without the race detector only: make test")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	analyse()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > most {
		t.Errorf("%s: %d MB allocated", name, n>>20)
	}
}

// TestInterpreterCodeIsBounded: code whose every token looks at all the others
// is given up, and said to be unknown.
func TestInterpreterCodeIsBounded(t *testing.T) {
	const n = 60_000
	r := strings.Repeat
	for _, lang := range []string{"python3 -c", "perl -e", "ruby -e", "node -e", "php -r", "awk", "lua -e"} {
		argv := strings.Fields(lang)
		for name, code := range map[string]string{
			"names":       r("a ", n),
			"calls":       r("a(", n),
			"calls, shut": r("a(", n/2) + r(")", n/2),
			"brackets":    "x = " + r("(", n) + r(")", n),
			"operands":    "x = " + r("a+(", n/2) + r(")", n/2),
			"assigned":    r("a=", n),
			"assignments": numbered("v%d = (", n/4),
			"members":     r("a.", n) + "rm()",
			"chain":       r("a.b().", n/4) + "rm()",
			"pipes":       r("print a|", n/2),
			"lists":       "system(" + r("[", n) + r("]", n) + ")",
			"strings":     r("'a' ", n),
			"backquotes":  r("`a` ", n/4),
			"commas":      "system(" + r("a,", n) + "a)",
			"paths":       "open(" + r("a/", n) + "a, 'w')",
			"ends":        r("} ", n) + r("; ", n),
		} {
			bounded(t, lang+", "+name, func() Analysis {
				return FromArgv(append(argv[:len(argv):len(argv)], code), Options{})
			})
		}
	}
}

// TestShellTextIsBounded: the same of shell code. a=$a$a doubles what is not
// known of a, so that 24 of them took all memory.
func TestShellTextIsBounded(t *testing.T) {
	const n = 30_000
	r := strings.Repeat
	for name, code := range map[string]string{
		"doubled": "a=$x;" + r("a=$a$a;", n), "doubled, known": "a=x;" + r("a=$a$a;", n), "doubled, quoted": r(`a="$a$a";`, n) + `rm "$a"`,
		"appended": r("a+=x;", n) + "rm $a", "appended, unknown": r("a+=$x;", n) + "rm $a", "array": r("a+=(x);", n) + "rm ${a[@]}",
		"words": "echo " + r("a ", n), "commands": r("a;", n), "pipes": r("a|", n) + "a", "and": r("a && ", n) + "a",
		"substitutions": r("$(", n) + r(")", n), "backquotes": r("`a` ", n), "quoted": "echo " + r(`"$a" `, n), "defaults": r("${a:-", n) + r("}", n),
		"functions": r("f(){ f; };", n/4) + "f", "eval": r("eval ", n) + "ls", "heredocs": r("cat <<A\nx\nA\n", n/4),
		"braces": "echo " + r("{a,b}", n/100), "braces in braces": "echo " + r("{a,", n) + r("}", n),
		"if": r("if a;then ", n) + r("fi;", n), "loops": r("for i in a b c;do ", n/10) + "rm $i;" + r("done;", n/10), "while": r("while a;do ", n/10) + r("done;", n/10),
		"case": "case $x in " + r("a) rm x;;", n) + " esac", "xargs": r("xargs ", n) + "rm", "sudo": r("sudo ", n) + "rm x", "env": r("env a=b ", n) + "rm", "bash -c": r("bash -c ", n) + "ls",
		"find": "find . " + r(`-exec rm {} \; `, n), "find, parentheses": "find . " + r(`\( `, n) + " -delete", "find, not": "find . " + r("! ", n) + " -delete",
		"redirects": "a " + r(">x ", n), "globs": "rm " + r("* ", n), "aliases": r("alias a=b;", n) + "a", "cd": r("cd x;", n) + "rm y", "cd ..": r("cd ..;", n) + "rm y",
		"sed": "sed '" + r("s/a/b/e;", n) + "' x", "awk": "awk '" + r(`{system("rm x")}`, n) + "'", "arithmetic": "echo $((" + r("1+", n) + "1))",
		"printf": r("printf 'a' | sh;", n/10), "variables": numbered("v%d=$v%d;", n) + "rm $v5", "git": "git " + r("-c a=b ", n) + "status", "sql": "psql -c '" + r("drop table x;", n) + "'",
		"source": r("source ./x;", n), "trap": r("trap 'rm x' EXIT;", n), "shift": "set -- " + r("a ", n) + "; " + r("shift;", n) + " rm $1", "rm $(...)": "rm " + r("$(echo x) ", n/10),
		"quotes": r(`'a'"b"`, n), "dollars": r("$a", n), "comments": r("#a\n", n), "not": r("! ", n) + "ls", "time": r("time ", n) + "ls", "continued": r("\\\n", n) + "ls", "process substitution": "cat " + r("<(a) ", n),
	} {
		bounded(t, name, func() Analysis { return Parse(code, Options{Dialect: Bash, Dir: "/x"}) })
	}
}

// numbered repeats a format with the numbers from 1 on and, where it has a
// second verb, the one before.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		if strings.Count(format, "%d") == 2 {
			fmt.Fprintf(&b, format, i+1, i)
		} else {
			fmt.Fprintf(&b, format, i+1)
		}
	}
	return b.String()
}
