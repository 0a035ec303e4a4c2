package eval

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/script"
)

// benchLines are what agents type all day: about 60 characters, about 12 words.
var benchLines = []struct{ name, line string }{
	{"git-commit", "git commit -m 'a message of nine words that nobody reads' --author=me"},
	{"git-add", "git add main.go front.go eval.go path.go go.mod go.sum a.md b.md c.md"},
	{"cat", "cat one two three four five six seven eight nine ten eleven"},
	{"grep", "grep -rn --include=*.go parseOptions cli eval gate script shims spool"},
	{"ls", "ls -la cli config docs eval front gate monitor script shims spool"},
	{"cp", "cp -p main.go front.go eval.go path.go go.mod go.sum a.md b.md out/"},
	{"npm", "npm run build -- --mode production --out-dir dist --watch false -q"},
	{"go-test", "go test ./eval ./script ./spool -run TestCorpus -count 1 -v -short"},
	{"pipeline", "cat main.go | grep -v '^//' | sort -u | head -n 20 | wc -l"},
	{"docker", "docker run --rm -it -v ./src:/src -w /src -e CI=1 golang:1.26 go test"},
	{"sed", "sed -n -e 10,20p -e /func/p main.go front.go eval.go path.go view.go"},
	{"mkdir", "mkdir -p src/a src/b src/c test/a test/b test/c docs/a docs/b docs/c"},
}

// BenchmarkLine is the whole judgement of a line, parsing included, in a process
// that has judged before: all packs on, and no rule stops it. cpu-us/op is
// processor time, which other work on the machine disturbs less than the clock;
// parse-us/op is that of parsing alone.
func BenchmarkLine(b *testing.B) {
	for _, l := range benchLines {
		b.Run(l.name, func(b *testing.B) {
			w := newWorld(b)
			r, _ := w.rules()
			parse := func() script.Analysis {
				return script.Parse(l.line, script.Options{Dialect: script.Bash, Dir: w.proj, Lookup: w.lookup})
			}
			b.ReportAllocs()
			start := processorTime(b)
			for b.Loop() {
				a := parse()
				for i := range a.Commands {
					if d := r.Judge(&a, i); d.Action > Redirect {
						b.Fatal(d.Rule)
					}
				}
			}
			b.ReportMetric(float64((processorTime(b)-start).Nanoseconds())/1000/float64(b.N), "cpu-us/op")
			start = processorTime(b)
			for range b.N {
				parse()
			}
			b.ReportMetric(float64((processorTime(b)-start).Nanoseconds())/1000/float64(b.N), "parse-us/op")
		})
	}
}

// processorTime is what this process has used so far.
func processorTime(b testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Skip(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
