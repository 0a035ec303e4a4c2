package script

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// sameNodes compares what quickStmts makes of a text with what the parser makes of
// it in each dialect: positions and all. taken says that the text was one for
// quickStmts.
func sameNodes(t *testing.T, text string) (taken bool) {
	t.Helper()
	got, ok := quickStmts(text)
	if !ok {
		return false
	}
	for _, d := range []Dialect{Bash, POSIX, Zsh} {
		f, err := new(source).parseFile(text, d)
		if err != nil {
			t.Fatalf("%s: %q does not parse: %v", d, text, err)
		}
		if !reflect.DeepEqual(got, f.Stmts) {
			var quick, full strings.Builder
			syntax.DebugPrint(&quick, &syntax.File{Stmts: got})
			syntax.DebugPrint(&full, f)
			t.Fatalf("%s: %q is read as\n%s\nby the parser as\n%s", d, text, &quick, &full)
		}
	}
	return true
}

// quickPieces are put together at random: every byte that is special to a shell,
// keywords, and what may look like one.
var quickPieces = strings.Fields(`a b.go -x --y=z -rf src/x . .. / ~ ~/a x=1 a+=1 =x == e=f @ @test % ^ , : + * ** *.go ? a? ! [ ] [[ ]] { } {} {a,b} ( ) () ; ;; & && || | |& & > < >> 2> << <<< >| &> # #x $ $x ${x} $(x) $'a' $"a" \ \a \\ ' ' '' 'a' 'a b' '|' '$x' " " "" "a" "a b" "$x" "\"" "!" a'b'c a"b"c 'a'"b" "a"'b'c ` + "` `a` é \xff \xf4\x8f\xb8\x80" +
	` if then elif else fi while until for foreach do done case esac in end select repeat function let declare local export readonly typeset nameref integer float time coproc always noglob nocorrect eval command builtin exec cd git rm echo test 1 12 0x1 <1-2> a[1] a[1]=2 +( ?( *( @( !(`)

func TestQuickIsTheParser(t *testing.T) {
	taken := 0
	for _, line := range oracleLines {
		if sameNodes(t, line) {
			taken++
		}
	}
	for _, line := range []string{
		"ls", " ls", "ls ", "\tls\t-l ", "a|b", "a |b| c", "a&&b", "a && b|c && d", "a 'b' \"c\" d'e'\"f\"g ''", "'a' b", "\"a\" \"\"", "a '|' b | c", "a=b", "a b=c", "a 'b", "a |", "| a", "a && ", "a & b", "a || b", "a |& b", "a && && b",
		"if a", "a if", "a | if b", "'if' a", "i'f' a", "time a", "a | time b", "export a=b", "export", "ls *.go", "ls a?", "find . -name '*.go'", "~/a b", "~ =ls =", "a ^b c", "a: b", "%1 a", "@ a", "+ a", "- a", ". a", ": a", "a\nb", "a\rb", "", " ", "''", `""`,
	} {
		sameNodes(t, line)
	}
	for _, line := range []string{"ls", "git commit -m 'a b'", "cat a.go | grep -v '^//' | sort -u && wc -l", `echo "a b" ''`} {
		if _, ok := quickStmts(line); !ok {
			t.Errorf("%q is left to the parser", line)
		}
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 40000 {
		var b strings.Builder
		for range 1 + random.IntN(6) {
			b.WriteString(quickPieces[random.IntN(len(quickPieces))])
			b.WriteString([]string{" ", " ", " ", "", "  ", "\t", "|", "&&"}[random.IntN(8)])
		}
		if sameNodes(t, b.String()) {
			taken++
		}
	}
	if taken < 1000 {
		t.Errorf("only %d texts were taken", taken)
	}
}

func FuzzQuick(f *testing.F) {
	for _, line := range oracleLines {
		f.Add(line)
	}
	f.Add("cat a.go | grep -v '^//' && wc -l \"a b\"")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= maxQuick {
			sameNodes(t, text)
		}
	})
}
