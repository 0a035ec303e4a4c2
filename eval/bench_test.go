package eval

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"safeshell/script"
)

// manyRules are n rules for other commands than those that are judged.
func manyRules(n int) string {
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range n {
		fmt.Fprintf(&b, "- {name: r%d, commands: [c%d], action: deny, message: m}\n", i, i)
	}
	return b.String()
}

// BenchmarkJudge is one command that no rule stops, all packs on, in a process
// that has judged before.
func BenchmarkJudge(b *testing.B) {
	for _, line := range []string{
		"git status",
		"git commit -m 'twelve words of a message that nobody will ever read' --author=me",
		"cat one two three four five six seven eight nine ten eleven",
		"go test ./...",
		"rm -rf build",
	} {
		b.Run(strings.Fields(line)[0], func(b *testing.B) {
			w := newWorld(b)
			r, _ := w.rules()
			a := script.Parse(line, script.Options{Dialect: script.Bash, Dir: w.proj})
			b.ReportAllocs()
			for b.Loop() {
				r.Judge(&a, 0)
			}
		})
	}
}

// BenchmarkOpen is what a shim pays: opening the rules and judging one
// command, with n rules of the user for other commands.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{0, 10, 100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			if n > 0 {
				w.user(manyRules(n))
				time.Sleep(racyWindow) // a file just written is looked at twice
			}
			o := Options{Paths: w.paths, Environ: w.env}
			r, problems := Open(o) // compiles
			if len(problems) > 0 {
				b.Fatal(problems[0])
			}
			r.Close()
			a := script.FromArgv([]string{"git", "status", "--short"}, script.Options{Dir: w.proj})
			b.ReportAllocs()
			for b.Loop() {
				r, _ := Open(o)
				r.Judge(&a, 0)
				r.Close()
			}
		})
	}
}

// BenchmarkCondition is a decision that needs bash.
func BenchmarkCondition(b *testing.B) {
	w := newWorld(b)
	w.user(seedRules)
	o := Options{Paths: w.paths, Environ: w.env}
	a := script.FromArgv([]string{"cat", "README.md"}, script.Options{Dir: w.proj})
	for b.Loop() {
		r, _ := Open(o)
		r.Judge(&a, 0)
		r.Close()
	}
}
