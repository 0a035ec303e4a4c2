package script

import (
	"strings"
	"testing"
)

const line60 = `cd src && npm run build && git add -A && git status -s -b .`

func BenchmarkParse60(b *testing.B) {
	o := Options{Dialect: Bash, Dir: "/home/u/p"}
	b.ReportAllocs()
	for b.Loop() {
		Parse(line60, o)
	}
}

func BenchmarkParse60AnyDialect(b *testing.B) {
	o := Options{Dir: "/home/u/p"}
	b.ReportAllocs()
	for b.Loop() {
		Parse(line60+` "$X"`, o)
	}
}

func BenchmarkParse2K(b *testing.B) {
	var s strings.Builder
	for s.Len() < 2048 {
		s.WriteString("D=$(mktemp -d); for f in a b; do cp \"$f\" \"$D/$f\"; done | tee log; if test -d x; then cd x; fi\n")
	}
	o := Options{Dialect: Bash, Dir: "/home/u/p"}
	b.ReportAllocs()
	for b.Loop() {
		Parse(s.String(), o)
	}
}

func BenchmarkParse100K(b *testing.B) {
	text := "cat > out.txt <<'END'\n" + strings.Repeat("some (text) of a file, with $x and `y` { }\n", 100<<10/43) + "END\n"
	o := Options{Dialect: Bash, Dir: "/home/u/p"}
	b.ReportAllocs()
	for b.Loop() {
		Parse(text, o)
	}
}

func BenchmarkParse100KCommands(b *testing.B) {
	text := strings.Repeat(line60+"\n", 100<<10/(len(line60)+1))
	o := Options{Dialect: Bash, Dir: "/home/u/p"}
	b.ReportAllocs()
	for b.Loop() {
		Parse(text, o)
	}
}

func BenchmarkFromArgvPlain(b *testing.B) {
	argv := []string{"git", "-C", "sub", "commit", "-m", "a message"}
	o := Options{Dir: "/home/u/p"}
	b.ReportAllocs()
	for b.Loop() {
		FromArgv(argv, o)
	}
}

func BenchmarkFromArgvRm(b *testing.B) {
	argv := []string{"rm", "-rf", "build", "dist"}
	o := Options{Dir: "/home/u/p"}
	b.ReportAllocs()
	for b.Loop() {
		FromArgv(argv, o)
	}
}

func BenchmarkFromArgvBashC(b *testing.B) {
	argv := []string{"bash", "-lc", line60}
	o := Options{Dir: "/home/u/p"}
	b.ReportAllocs()
	for b.Loop() {
		FromArgv(argv, o)
	}
}
