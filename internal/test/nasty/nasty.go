// Package nasty makes shell texts that are expensive to judge: nesting,
// repetition, products of lists, call graphs, long lines of each construct of the
// shell and of each language that runs inside it. Tests hold the budget against
// them, and bench shows the worst. They are only ever judged, never run.
package nasty

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Text is one kind of text, of any size.
type Text struct {
	Name string
	// Make returns one of about n bytes.
	Make func(n int) string
}

// line repeats a piece, %d in it being its number.
func line(name, piece string) Text { return around(name, "", piece, "") }

// around is line with something before and after it.
func around(name, before, piece, after string) Text {
	return Text{name, func(n int) string {
		var b strings.Builder
		b.WriteString(before)
		numbered := strings.Contains(piece, "%d")
		for i := 0; b.Len()+len(after) < n; i++ {
			if numbered {
				b.WriteString(strings.ReplaceAll(piece, "%d", fmt.Sprint(i)))
			} else {
				b.WriteString(piece)
			}
		}
		return b.String() + after
	}}
}

// nested repeats an opening, and its closing as often.
func nested(name, open, middle, shut string) Text {
	return Text{name, func(n int) string {
		k := max(1, (n-len(middle))/(len(open)+len(shut)))
		return strings.Repeat(open, k) + middle + strings.Repeat(shut, k)
	}}
}

// doubled are functions that each call the next as often as the piece does.
func doubled(name, call string) Text {
	return Text{name, func(n int) string {
		var b strings.Builder
		i := 0
		for ; b.Len() < n; i++ {
			fmt.Fprintf(&b, "f%d() { %s; }; ", i, strings.ReplaceAll(call, "F", fmt.Sprintf("f%d", i+1)))
		}
		fmt.Fprintf(&b, "f%d() { rm x; }; f0", i)
		return b.String()
	}}
}

// product are loops in loops over ten words.
func product(name, open string) Text {
	return Text{name, func(n int) string {
		k := max(1, n/40)
		var b strings.Builder
		for i := range k {
			fmt.Fprintf(&b, open, i)
		}
		return b.String() + "rm $v0;" + strings.Repeat(" done;", k)
	}}
}

// Texts are all kinds, always in the same order.
func Texts() []Text {
	var all []Text
	for _, list := range [][]Text{lines, nestings, products, languages, arguments, mixtures} {
		all = append(all, list...)
	}
	return all
}

var lines = []Text{
	line("commands", "ls a%d; "),
	line("the same command", "ls; "),
	line("shortest commands", "a;"),
	line("lines", "grep -rn word%d src\n"),
	line("rm", "rm -rf a%d; "),
	line("rm below the home", "rm -rf ~/w/a%d; "),
	line("git", "git checkout -- a%d; "),
	line("git commit", "git commit -m m%d; "),
	line("git -C", "git -C d%d push --force; "),
	line("git alias", "git alias%d; "),
	line("git -c alias", "git -c alias.a%d='!rm x' a%d; "),
	line("cd", "cd d%d; "),
	line("cd and rm", "cd d%d && rm -r x; "),
	line("cd ..", "cd ..; rm x; "),
	line("pushd", "pushd d%d; "),
	around("words", "echo ", "w%d ", ""),
	around("operands of rm", "rm -rf ", "w%d ", ""),
	around("operands of cat", "cat ", "src/w%d ", ""),
	around("operands of shred", "shred -u ", "w%d ", ""),
	around("options", "tar ", "--exclude=w%d ", ""),
	around("globs", "rm ", "*.%d ", ""),
	around("globs of directories", "rm -rf ", "*/*/*%d ", ""),
	around("globs below the root", "cat ", "/*/*/%d* ", ""),
	line("redirections of commands", "ls > f%d; "),
	around("redirections", "ls ", ">f%d ", ""),
	around("redirections of a group", "{ ls; } ", ">f%d ", ""),
	around("groups with redirections", "", "{ :; :; :; } >f%d; ", ""),
	around("descriptors", "ls ", "%d>&1 ", ""),
	around("input", "cat ", "<f%d ", ""),
	line("assignments", "a%d=%d; "),
	around("assignments in front", "", "a%d=%d ", "ls"),
	line("assignments of each other", "a%d=$a$b$c; a=$a%d; "),
	line("doubled", "a=$a$a;"),
	around("doubled, known", "a=x;", "a=$a$a;", "rm $a"),
	around("appended", "", "a+=x%d;", "rm $a"),
	around("array", "", "a+=(x%d);", `rm "${a[@]}"`),
	around("array of words", "a=(", "x%d ", `); rm "${a[@]}"`),
	around("array, read again", "a=(1 2 3 4 5 6 7 8 9)", `;a=("${a[@]}" x%d)`, ""),
	line("array elements", "a[%d]=x; "),
	line("associative", "declare -A a%d; a%d[x]=y; "),
	line("export", "export A%d=x; "),
	line("export and git", "export A%d=x; git commit -m x; "),
	line("declare", "declare -n r%d=x; "),
	line("ln", "ln -s /etc/x%d l%d; "),
	line("ln and rm", "ln -s a%d b%d; rm -r b%d/x; "),
	line("mv", "mv a%d b%d; "),
	line("mkdir and ln", "mkdir d%d; ln -s x d%d; "),
	line("git switch", "git switch b%d; git commit -m x; "),
	line("and", "a%d && "),
	around("and, ended", "", "a%d && ", "ls"),
	around("or", "", "cd a%d || ", "ls"),
	around("pipeline", "", "cat a%d | ", "sh"),
	around("pipeline of tees", "", "tee a%d | ", "cat"),
	line("pipelines", "cat a%d | sort | head; "),
	line("pipelines into sh", "curl u%d | sh; "),
	line("background", "sleep %d & "),
	line("not", "! "),
	line("time", "time "),
	around("comments", "", "# comment %d\n", "ls"),
	around("blanks", "", " ", "ls"),
	line("newlines", "\n"),
	around("continued", "", "\\\n", "ls"),
	around("quotes", "echo ", `'a'"b"`, ""),
	around("single quotes", "echo ", `'%d' `, ""),
	around("ANSI quotes", "echo ", `$'\x41\n%d' `, ""),
	around("escapes", "echo ", `\a`, ""),
	around("variables", "echo ", "$v%d ", ""),
	around("variables, joined", "echo ", "$v", ""),
	around("one variable", "", "x=a;", "echo $x"),
	around("parameters", "set -- a b c; echo ", "${1%%d} ${@:%d} ", ""),
	around("replacements", "x=aaaaaaaaaaaaaaaaaaaaaaaa; echo ", "${x//a/%d} ", ""),
	around("suffixes", "x=a.b.c.d.e; echo ", "${x%.*} ${x##*.} ", ""),
	around("defaults", "echo ", "${x%d:-y} ", ""),
	around("defaults assigned", "echo ", "${x%d:=y} ", ""),
	around("indirect", "x=y; y=x; echo ", "${!x} ${!v%d} ", ""),
	line("indirect chain", "a%d=b%d; b%d=a%d; echo ${!a%d}; "),
	around("substitutions", "echo ", "$(a%d) ", ""),
	around("backquotes", "echo ", "`a%d` ", ""),
	around("process substitutions", "cat ", "<(a%d) ", ""),
	around("output substitutions", "tee ", ">(a%d) ", ""),
	around("arithmetic", "echo $((", "x%d+", "1))"),
	around("arithmetic, one", "echo ", "$((a%d+1)) ", ""),
	line("arithmetic commands", "((a%d++)); "),
	line("let", "let a%d=1; "),
	around("tests", "[[ ", "a%d == b && ", "x ]]"),
	around("test words", "[ ", "-n a%d -a ", "x ]"),
	around("case", "case $x in ", "a%d) rm x;; ", "esac"),
	around("case fall through", "case $x in ", "a%d) cd b;;& ", "esac"),
	around("if", "", "if a%d; then rm x; fi; ", ""),
	around("elif", "if a; then b; ", "elif a%d; then rm x; ", "fi"),
	around("if with state", "", "if a%d; then cd x; y%d=1; else z%d=2; fi; ", ""),
	around("while", "", "while read l%d; do rm $l%d; done; ", ""),
	around("for", "", "for i in a b c; do rm $i; done; ", ""),
	around("for over words", "for i in ", "w%d ", "; do rm $i; done"),
	around("select", "", "select i in a b; do rm $i; done; ", ""),
	around("C for", "", "for ((i=0;i<%d;i++)); do rm $i; done; ", ""),
	around("heredocs", "", "cat <<A%d\n$x\nA%d\n", ""),
	around("heredocs for shells", "", "bash <<A%d\nrm $x\nA%d\n", ""),
	around("a heredoc", "cat > f <<'EOF'\n", "if (x%d) { return foo(\"bar\", `baz`); } // words\n", "EOF\n"),
	around("an open heredoc", "cat > f <<EOF\n", "line %d $(date) `date`\n", "EOF\n"),
	around("a heredoc that does not end", "cat <<EOF\n", "line %d\n", ""),
	around("heredocs that do not end", "", "cat <<A%d ", ""),
	line("here-strings", "cat <<< x%d; "),
	line("eval", "eval 'rm x%d'; "),
	line("eval of values", "a%d='rm x'; eval $a%d; "),
	line("bash -c", "bash -c 'rm x%d'; "),
	line("source", ". ./s%d.sh; "),
	line("traps", "trap 'rm x%d' EXIT; "),
	line("functions", "f%d() { rm x; }; "),
	line("functions, called", "f%d() { rm $1; }; f%d a; "),
	line("function again", "f() { rm %d; }; f; "),
	line("function and others", "f() { :; }; a%d; "),
	line("aliases", "alias a%d='rm x'; "),
	line("alias, used", "alias a='b%d'; a; "),
	line("alias of aliases", "alias a%d='a%d x'; a%d; "),
	line("printf -v", "printf -v v%d x; "),
	line("printf | sh", "printf 'a%d' | sh; "),
	line("read", "read a%d <<< x; "),
	line("mapfile", "mapfile -t a%d < f; "),
	line("shift", "shift; "),
	around("set", "", "set -- $@ x%d; ", "rm $@"),
	line("getopts", "getopts a:b x%d; "),
	line("coproc", "coproc c%d { cat; }; "),
	line("exec", "exec 3> f%d; "),
	line("shopt and extglob", "shopt -s extglob; rm !(a%d|b); "),
	line("local", "f%d() { local a=1; cd x; return; }; f%d; "),
	line("unset", "unset a%d; "),
	line("hash", "hash -p /bin/rm c%d; c%d x; "),
	line("mktemp", "d%d=$(mktemp -d); rm -r $d%d; "),
	around("written and run", "", "echo 'rm x' > s%d.sh; bash s%d.sh; ", ""),
	around("written by heredoc and run", "", "cat > s%d.sh <<'E'\nrm x\nE\nsh s%d.sh\n", ""),
	around("unicode", "echo ", "é%d ", ""),
	around("invalid bytes", "echo ", "\xff\xfe%d ", ""),
	around("private runes", "echo ", "\U0010fe41%d ", ""),
	around("carriage returns", "", "ls a%d\r\n", ""),
	around("NULs", "echo ", "a\x00", ""),
	around("one word", "echo ", "abcdefgh", ""),
	around("one word with dashes", "git ", "-", ""),
	around("one path", "rm -rf a", "/b", ""),
	around("one path with ..", "rm -rf a", "/..", ""),
	around("one pattern", "rm a", "*?[a-z]", ""),
	around("one brackets", "rm ", "[", ""),
	around("one braces", "rm ", "{a", ""),
	around("one extglob", "rm ", "@(a|", ""),
	around("slashes", "rm ", "/", ""),
	around("tildes", "echo ", "~%d ", ""),
	around("equals", "echo ", "a%d=~/x ", ""),
	around("brace lists", "echo ", "{a,b}%d ", ""),
	around("brace list", "echo {", "a%d,", "b}"),
	around("brace sequences", "rm ", "{1..9}%d ", ""),
}

var nestings = []Text{
	nested("subshells", "(", "ls", ")"),
	nested("subshells, apart", "( ", "ls", " )"),
	nested("groups", "{ ", "ls;", " };"),
	nested("substitution", "$(", "ls", ")"),
	nested("substitution, quoted", `"$(`, "ls", `)"`),
	nested("substitution, echo", "echo $(", "ls", ")"),
	nested("process substitution", "cat <(", "ls", ")"),
	nested("default", "${a:-", "b", "}"),
	nested("default, quoted", `"${a:-`, "b", `}"`),
	nested("if nested", "if a;then ", "ls;", "fi;"),
	nested("if in condition", "if ", "ls;", "then a;fi;"),
	nested("else", "if a;then b;else ", "ls;", "fi;"),
	nested("while nested", "while a;do ", "ls;", "done;"),
	nested("for nested", "for i in a;do ", "rm $i;", "done;"),
	nested("case nested", "case a in b) ", "ls;;", " esac;;"),
	nested("functions nested", "f(){ ", "ls;", "};f;"),
	nested("functions, unclosed", "f()", "", ""),
	nested("arithmetic nested", "((", "1", "))"),
	nested("arithmetic parentheses", "echo $((", "1", "))"),
	around("arithmetic parentheses, one", "echo $((", "(", "1"),
	nested("arithmetic minus", "- ", "1", ""),
	around("arithmetic unary", "echo $((", "- ", "1))"),
	around("arithmetic ternary", "echo $((", "a?b:", "1))"),
	around("arithmetic index", "echo $((", "a[", "1))"),
	around("arithmetic power", "echo $((", "2**", "1))"),
	around("test not", "[[ ", "! ", "a ]]"),
	nested("test parentheses", "( ", "a", " )"),
	nested("braces nested", "{a,", "b", "}"),
	around("braces in braces", "echo ", "{a,{b,c},", "}"),
	around("braces, open", "echo ", "{a,", ""),
	nested("extglob nested", "@(a|", "b", ")"),
	around("((", "", "((", "ls"),
	around("(( and words", "", "(( a ", ""),
	around("$(", "", "$(", ""),
	around("${", "", "${a", ""),
	around("backquote escapes", "echo `echo ", `\\\\`, "`"),
	around("quotes, open", "echo ", `"$(a "`, ""),
	around("coprocs", "", "coproc ", "ls"),
	around("function words", "", "function f { ", ""),
	around("heredoc in substitution", "", "$(cat <<A\n", ""),
	around("sudo", "", "sudo ", "rm x"),
	around("env", "", "env A=%d ", "rm x"),
	around("nice", "", "nice -n 5 ", "rm x"),
	around("xargs", "", "xargs ", "rm x"),
	around("command", "", "command ", "rm x"),
	around("eval words", "", "eval ", "rm x"),
	around("bash -c words", "", "bash -c ", "ls"),
	around("find -exec words", "", `find . -exec `, "rm {} +"),
	around("timeout", "", "timeout 5 ", "rm x"),
	around("ssh", "", "ssh h ", "rm x"),
	Text{"quoted in quotes", func(n int) string {
		s := "rm x"
		for len(s) < n && len(s) < 1<<20 {
			s = "bash -c '" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
		return s
	}},
	Text{"eval in eval", func(n int) string {
		s := "rm x"
		for len(s) < n {
			s = "eval " + fmt.Sprintf("%q", s)
		}
		return s
	}},
}

var products = []Text{
	product("for in for", "for v%d in a b c d e f g h i j; do "),
	product("for in for, globs", "for v%d in *.a *.b *.c; do "),
	product("while in while", "while read v%d; do "),
	product("for and assignments", "for v%d in a b c d e; do x=$x$v0; "),
	doubled("functions that call twice", "F; F"),
	doubled("functions that call in a loop", "for i in 1 2 3; do F; done"),
	doubled("functions that call in pipes", "F | F"),
	doubled("functions that call with arguments", "F $1 a; F b $1"),
	doubled("functions that substitute", "x=$(F)$(F)"),
	doubled("functions in conditions", "if F; then F; else F; fi"),
	Text{"braces multiplied", func(n int) string { return "echo " + strings.Repeat("{1..40}", max(1, n/7)) }},
	Text{"paths of braces", func(n int) string { return "rm -rf " + strings.Repeat("{a,b,c}/", max(1, n/8)) }},
	Text{"three braces", func(n int) string {
		return strings.Repeat("rm {1..15}/{1..15}/{1..15}; ", max(1, n/28))
	}},
	Text{"braces in a loop", func(n int) string {
		return "for i in {1..60}; do " + strings.Repeat("rm {1..60}; ", max(1, n/12)) + "done"
	}},
	Text{"loops over values", func(n int) string {
		return "x='a b c d e f g h i j'; " + strings.Repeat("for i in $x; do for j in $x; do rm $i$j; done; done; ", max(1, n/54))
	}},
	Text{"eval in loops", func(n int) string {
		return "for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6 7 8 9; do " + strings.Repeat(`eval "rm $i$j"; `, max(1, n/16)) + "done; done"
	}},
	Text{"eval of doubled values", func(n int) string {
		return "x='rm a;'; " + strings.Repeat("x=$x$x; ", max(1, n/8)) + `eval "$x"`
	}},
	Text{"recursive functions", func(n int) string {
		var b strings.Builder
		k := max(1, n/60)
		for i := range k {
			fmt.Fprintf(&b, "f%d() { f%d; f%d; rm x; }; ", i, (i+1)%k, (i+7)%k)
		}
		return b.String() + "f0"
	}},
	Text{"aliases that grow", func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "alias a%d='a%d; a%d'\n", i, i+1, i+1)
		}
		return b.String() + "a0\n"
	}},
	Text{"replacements that grow", func(n int) string {
		return "x=a; " + strings.Repeat("x=${x//a/aa}; ", max(1, n/14)) + "rm $x"
	}},
	Text{"substitutions that grow", func(n int) string {
		return "x=a; " + strings.Repeat("x=$(echo $x $x); ", max(1, n/17)) + "rm $x"
	}},
	Text{"if with many states", func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "if t; then x=%d; fi; rm $x; ", i)
		}
		return b.String()
	}},
}

// in puts code between single quotes behind a command.
func in(command string, t Text) Text {
	return Text{command + ": " + t.Name, func(n int) string {
		return command + " '" + strings.ReplaceAll(t.Make(max(1, n-len(command)-3)), "'", `'\''`) + "'"
	}}
}

var languages = func() (all []Text) {
	for _, l := range []struct{ command, call string }{
		{"python3 -c", `os.remove("a%d"); `}, {"perl -e", `unlink "a%d"; `}, {"node -e", `fs.unlinkSync("a%d"); `}, {"ruby -e", `File.delete("a%d"); `},
		{"php -r", `unlink("a%d"); `}, {"awk", `BEGIN { system("rm a%d") } `}, {"lua -e", `os.remove("a%d") `}, {"osascript -e", "do shell script \"rm a%d\"\n"},
		{"deno eval", `Deno.removeSync("a%d"); `}, {"Rscript -e", `unlink("a%d"); `}, {"tclsh", "file delete a%d\n"},
	} {
		for _, t := range []Text{
			line("calls", l.call), line("names", "a%d "), line("assignments", `a%d = "x%d"; `), around("one call", "system(", `"a%d", `, ")"),
			nested("calls nested", "f(", "x", ")"), nested("brackets", "[", "x", "]"), line("strings", `"a%d" `), line("open strings", `"a `), line("members", "a.b."),
			line("comments", "# x\n"), line("braces", "} "), line("backquotes", "`a%d` "), line("operators", "+ - "), line("percent", "%w[a "), line("heredocs", "<<E\n"),
			line("interpolated", "f\"{a%d}\" \"${b}\" \"#{c}\" "), line("system", `system("rm a%d"); `), line("regular expressions", "x =~ /a(b)*/; "), line("pieces", `"a" + `),
		} {
			all = append(all, in(l.command, t))
		}
	}
	for _, l := range []struct{ command, piece string }{
		{"sed -e", "s/a%d/b/e;"}, {"sed -i -e", "s/a/b%d/w f\n"}, {"jq", ".a%d | "}, {"psql -c", "drop table t%d; "}, {"psql -c", "-- \n"}, {"sqlite3 db", "delete from t%d; "},
		{"mysql -e", "update t set a=%d; "}, {"psql -c", "select 'a%d'; "}, {"psql -c", "/* "}, {"make -f-", "a%d:\n\trm x\n"}, {"awk", "{ print > \"f%d\" } "},
		{"vim -c", ":!rm x%d|"}, {"ed", "!rm %d\n"}, {"bc <<<", "%d+"}, {"expect -c", "spawn rm a%d; "}, {"gdb -ex", "shell rm %d; "}, {"tmux", "run-shell \"rm %d\" ; "},
		{"ssh host", "rm -rf a%d; "}, {"docker exec c sh -c", "rm a%d; "}, {"su -c", "rm a%d; "}, {"pwsh -c", "Remove-Item a%d; "}, {"cmd.exe /c", "del a%d & "},
	} {
		all = append(all, in(l.command, line(strings.TrimSpace(l.piece), l.piece)))
	}
	return all
}()

var arguments = []Text{
	around("find -name", "find . ", "-name a%d -o ", "-delete"),
	around("find -exec", "find . ", `-exec rm a%d {} \; `, ""),
	around("find -exec sh", "find . ", `-exec sh -c 'rm a%d' \; `, ""),
	around("find parentheses", "find . ", `\( `, "-delete"),
	around("find not", "find . ", "! ", "-delete"),
	around("find roots", "find ", "d%d ", "-delete"),
	around("xargs replaced", "", "echo a%d | xargs -I{} rm {}; ", ""),
	around("xargs operands", "ls | xargs rm ", "a%d ", ""),
	around("parallel", "parallel rm ::: ", "a%d ", ""),
	around("git -c", "git ", "-c a.b%d=c ", "status"),
	around("git -C directories", "git ", "-C d%d ", "clean -fdx"),
	around("git pathspecs", "git checkout -- ", "a%d ", ""),
	around("git add", "git add ", "a%d ", ""),
	around("git rm", "git rm -f ", "a%d ", ""),
	around("git push", "git push origin ", "+a%d ", ""),
	around("git branch -D", "git branch -D ", "a%d ", ""),
	around("git config", "", "git config alias.a%d '!rm x'; ", ""),
	around("docker", "docker run ", "-v /a%d:/b ", "x rm y"),
	around("env -S", "env -S '", "A%d=b ", "rm x'"),
	around("tar", "tar cf x.tar ", "a%d ", ""),
	around("rsync", "rsync --delete ", "a%d ", "b"),
	around("cp", "cp ", "a%d ", "d"),
	around("mv operands", "mv ", "a%d ", "d"),
	around("chmod", "chmod 777 ", "a%d ", ""),
	around("dd", "dd ", "if=a%d ", "of=b"),
	around("tee", "tee ", "a%d ", ""),
	around("kill", "kill ", "%d ", ""),
	around("make", "make ", "A%d=b ", ""),
	around("sed files", "sed -i s/a/b/ ", "a%d ", ""),
	around("curl", "curl ", "-o a%d u ", ""),
	around("truncate", "truncate -s 0 ", "a%d ", ""),
	around("test -v", "test ", "-v 'a[$(rm x%d)]' ", ""),
	around("safeshell -c", "safeshell -c '", "rm a%d; ", "'"),
	around("safeshell exec", "", "safeshell exec -- ", "rm x"),
	around("manage.py", "", "python manage.py flush%d; ", ""),
	around("home", "cat ", "~/.ssh/id%d ", ""),
	around("absolute", "cat ", "/etc/x%d ", ""),
	around("paths in the tree", "rm -rf ", "a/b/c/d/e/f/g/h%d ", ""),
	around("paths up the tree", "rm -rf ", "../../x%d ", ""),
	around("unknown operands", "rm -rf ", "$x%d/y ", ""),
	around("operands that may be many", "rm -rf ", "$x ", ""),
}

var mixtures = []Text{
	around("heredocs in loops", "", "for i in a b c; do cat <<A%d > $i\nrm $i\nA%d\ndone\n", ""),
	nested("heredocs of shells, nested", "bash <<A\n", "rm x\n", "A\n"),
	around("an array", "a=(", "w%d ", `); rm "${a[@]}"`),
	around("an array that grows", "", "a+=(x%d); ", `rm "${a[@]}"`),
	line("an array's elements", "a[%d]=x; rm ${a[%d]}; "),
	around("an associative array", "declare -A m=(", "[k%d]=v ", `); rm "${m[@]}"`),
	nested("indexes in indexes", "${a[", "1", "]}"),
	around("long sequences", "rm ", "{1..1000000000}%d ", ""),
	around("letters", "rm ", "{a..z}", ""),
	line("a chain of functions", "f%d() { rm $1; f$((%d+1)) $1; }; f%d a; "),
	Text{"a chain of calls", func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "f%d() { f%d; }; ", i, i+1)
		}
		return b.String() + "f0"
	}},
	around("functions in loops", "f() { ", "for i in a b; do f; rm $i%d; done; ", "}; f"),
	around("perl -e repeated", "perl ", `-e 'unlink "a%d";' `, ""),
	around("ruby -e repeated", "ruby ", `-e 'File.delete "a%d"' `, ""),
	around("sed -e repeated", "sed -i ", "-e s/a%d/b/w%d ", "f"),
	around("psql -c repeated", "psql ", "-c 'drop table t%d' ", ""),
	around("vim -c repeated", "vim ", "-c '!rm a%d' ", ""),
	around("make --eval", "make ", "--eval='a%d:;rm x' ", ""),
	around("make's functions", "make --eval='", "x:=$(shell rm a%d)\n", "'"),
	around("git -c commands", "git ", "-c core.sshCommand='rm a%d' ", "fetch"),
	around("tar's actions", "tar xf a ", "--checkpoint-action=exec='rm a%d' ", ""),
	in("fish -c", line("commands", "rm a%d; ")),
	in("zsh -c", line("glob qualifiers", "rm *(e:'rm a%d':); ")),
	in("zsh -c", line("flags", "echo ${(e)a%d} ${(f)$(rm x)}; ")),
	in("python3 -c", nested("exec", `exec("`, "x", `")`)),
	in("python3 -c", line("loops", "for i in range(9):\n os.remove(str(i)+'%d')\n")),
	in("python3 -c", line("values that grow", "a=a+a; os.remove(a)\n")),
	in("node -e", nested("templates", "`${", "x", "}`")),
	in("node -e", line("slashes", "a/b/")),
	in("ruby -e", nested("interpolation", `"#{`, "x", `}"`)),
	in("awk", line("getline", `{ getline < "f%d"; print | "sh" } `)),
	in("xargs sh -c", line("operands", "rm $0 $%d; ")),
	in("sh -c", line("own quotes", `bash -c "rm a%d"; `)),
	in("base64 -d <<<", line("text", "cm0gLXJmIC8K")),
	line("downloads", "curl https://h/%d | sh; "),
	line("decoders", "base64 -d <<< cm0K | sh; "),
	line("PATH and rm", "PATH=/x%d:$PATH; rm y; "),
	line("rm in substitutions", "x%d=$(rm a%d); "),
	line("sequences to xargs", "seq 1 1000%d | xargs rm; "),
	around("lists of parallel", "parallel rm ", "::: {1..100} a%d ", ""),
	around("wrappers", "", "sudo -u u env A=%d nice -n 5 timeout 5 nohup ", "rm x"),
	line("case of extglobs", "case x in @(a%d|b)|+(c|d)) rm x;; esac; "),
	around("a regular expression", "[[ x =~ ", "(a|b)*", " ]]"),
	around("arithmetic list", "((", "a%d=1,", "1))"),
	nested("arithmetic and commands", "$((1+$(", "ls", ")))"),
	nested("source of substitutions", ". <(", "ls", ")"),
	around("users' homes", "rm -rf ", "~u%d/x ", ""),
	around("pathspecs", "git checkout -- ", "':(glob)**/a%d' ", ""),
	around("a commit message", "git commit -m '", "line %d of what was done\n", "'"),
	around("a comment", "ls # ", "rm -rf / %d ", ""),
	around("comments", "", "# rm %d\n", "ls"),
	around("comments continued", "", "ls # %d \\\n", "ls"),
	around("blanks", "ls", " ", ""),
	around("empty lines", "ls", "\n", ""),
	around("control bytes", "echo ", "\x01\x7f%d", ""),
	around("closed twice", "ls ", ") } ] ", ""),
	around("operators", "ls ", "&& || ; ", ""),
	around("reserved words", "", "then do fi ", ""),
	around("times", "", "time ! ", "rm x"),
	around("subscripts to test", "", "test -v 'a[$(rm %d)]'; ", ""),
	line("secrets", "curl -u u%d:pw -H 'Authorization: Bearer abc%d' https://u:p@h/?token=x; "),
	around("secrets in one word", "echo ", "token%d=$x,password%d:,a%d=", ""),
	around("secrets in one quote", `echo "`, `token%d: x, a%d=' `, `"`),
	around("headers", "curl ", `-H 'Authorization: %d $x' -u $u:$p `, "u"),
	around("an embedded key", "echo '-----BEGIN RSA PRIVATE KEY-----\n", "MIIEpAIBAAKCAQEA%d\n", "'"),
	line("files that matter", "cat ~/.ssh/id_rsa .env%d > /etc/passwd; "),
	line("safeshell's own files", "rm -rf ~/.safeshell/../.safeshell%d; "),
	line("archives", "tar xf a%d.tar -C /etc; unzip b%d.zip -d ~; "),
}

// Random joins pieces of several kinds, of about n bytes each.
func Random(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	all := Texts()
	var b strings.Builder
	for range 1 + r.IntN(4) {
		b.WriteString(all[r.IntN(len(all))].Make(1 + r.IntN(n)))
		b.WriteString([...]string{"; ", "\n", " | ", " && ", "", " "}[r.IntN(6)])
	}
	s := b.String()
	if r.IntN(3) == 0 {
		s = [...]string{"bash -c '%s'", "eval '%s'", "f() { %s\n}; f; f", "for i in a b c; do %s\ndone", "$(%s)", "cat <<E | sh\n%s\nE\n", "sudo sh <<'E'\n%s\nE\n", "if a; then %s\nfi"}[r.IntN(8)]
		s = strings.Replace(s, "%s", strings.ReplaceAll(b.String(), "'", `"`), 1)
	}
	return s
}
