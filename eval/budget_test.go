package eval

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"safeshell/budget"
	"safeshell/internal/test/nasty"
	"safeshell/script"
)

// cost is what judging a text as an agent's hook does has taken.
type cost struct {
	work  int
	over  string
	took  time.Duration // of the processor
	worst Decision
}

func (w *world) cost(r *Rules, text string) cost {
	begun := processorTime(w.t)
	a := script.Parse(text, script.Options{
		Dialect: script.AnyDialect, Dir: w.proj, Lookup: w.lookup, GitAliases: r.GitAliases,
		Shims: &script.Shims{Dir: w.paths.Shims, Starts: func(string, bool, bool) bool { return true }},
	})
	defer a.Budget.Done()
	var worst Decision
	for i := range a.Commands {
		worst = Stricter(worst, r.Judge(&a, i))
	}
	worst = Stricter(worst, r.JudgeUnknown(&a))
	return cost{a.Budget.Work(), a.Budget.Over(), processorTime(w.t) - begun, worst}
}

// overshoot is how many units one step may take at once past the end.
const overshoot = 20_000

// What a text costs grows no faster than its length allows: up to the budget, and
// no further. Twice the text is never more than four times the work (lists that
// each command gets whole), for plain lists it is twice.
func TestBudgetGrowth(t *testing.T) {
	w := newWorld(t)
	linear := map[string]bool{
		"words": true, "commands": true, "lines": true, "quotes": true, "single quotes": true, "escapes": true, "a heredoc": true, "an open heredoc": true,
		"one word": true, "variables": true, "and": true, "assignments": true, "if": true, "git": true, "operands of rm": true, "functions, called": true, "comments": true,
	}
	for _, x := range nasty.Texts() {
		last, length := 0, 0
		for n := 1000; n <= 16_000; n *= 2 {
			text := x.Make(n)
			r, _ := w.rules() // as a hook has them: nothing is remembered of the last text
			c := w.cost(r, text)
			if c.work > budget.Reading+budget.Ruling+overshoot {
				t.Errorf("%s, %d bytes: %d units", x.Name, n, c.work)
			}
			if c.over != "" {
				if c.worst.Action < RequireApproval {
					t.Errorf("%s, %d bytes: past the budget (%s), and %v", x.Name, n, c.over, c.worst.Action)
				}
				break
			}
			if limit := map[bool]int{true: 25, false: 45}[linear[x.Name]]; last > 0 && len(text) < 3*length && c.work > last*limit/10+2000 {
				t.Errorf("%s: %d bytes are %d units, and half of that %d", x.Name, n, c.work, last)
			}
			last, length = c.work, len(text)
		}
	}
}

// Large texts of every day are judged by what they hold.
func TestEverydayTextsFitTheBudget(t *testing.T) {
	w := newWorld(t)
	r, _ := w.rules()
	w.git(w.proj, "init", "-q", "-b", "feature")
	many := func(n int, lines ...string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(lines[i%len(lines)], "%d", fmt.Sprint(i)) + "\n")
		}
		return b.String()
	}
	code := many(3000, "func f%d(a []string) (int, error) {", "\tif len(a) > %d && a[0] != \"x\" {", "\t\treturn 0, fmt.Errorf(`%d: %s`, a)", "\t}", "\treturn len(a) << 2, nil // it's done", "}", "", "/* $HOME and `code` */")
	message := strings.Repeat("The parser reads \"lines\" of 80 bytes, as the manual says; it's cheaper.\n", 720)
	for name, text := range map[string]string{
		"a script of 1,000 lines": "#!/usr/bin/env bash\nset -euo pipefail\n" + many(1000, "# step %d", "echo \"building part %d of $total\"", "mkdir -p build/obj%d", "if [ -f src/f%d.c ]; then", "  gcc -O2 -c src/f%d.c -o build/obj%d.o", "fi",
			"for f in a b c; do cp src/$f.h build/include%d/; done", "log() { printf '%s\\n' \"$*\" >&2; }", "version=$(git describe --tags)", "grep -rn include src | sort | uniq -c"),
		"a here-document of 3,000 lines":         "cat > main.go <<'EOF'\n" + code + "EOF\n",
		"one of 3,000 lines that is expanded":    "cat > notes.txt <<EOF\n" + many(3000, "line %d of the notes for $USER, with \"quotes\" and (brackets)") + "EOF\n",
		"a commit message of 50 KB":              "git commit -q -m '" + strings.ReplaceAll(message, "'", `'\''`) + "'\n",
		"one by a here-document":                 "git commit -q -m \"$(cat <<'EOF'\n" + message + "EOF\n)\"\n",
		"a Python program of 1,000 lines":        "python3 - <<'EOF'\n" + many(1000, "def f%d(a):", "    x = a[%d] + len('it') * 2", "    print(f\"{x} of {a}\", x)", "    return {'k%d': x}") + "EOF\n",
		"a file that is written by 1,000 echoes": many(1000, "echo 'row %d, with text' >> table.csv"),
		"1,000 files that are added":             "git add " + strings.TrimSpace(strings.ReplaceAll(many(1000, "src/pkg/file%d.go"), "\n", " ")) + "\n",
	} {
		if c := w.cost(r, text); c.over != "" || c.worst.Stops() {
			t.Errorf("%s, %d bytes: %v by %s %q, %d units, over: %s", name, len(text), c.worst.Action, c.worst.Rule, c.worst.Matched, c.work, c.over)
		}
		if c := w.cost(r, text+"git push --force\n"); c.worst.Rule != "git-push-force" {
			t.Errorf("%s, and a forced push: %v by %s, over: %s", name, c.worst.Action, c.worst.Rule, c.over)
		}
	}
}

// FuzzBudget: whatever a text is made of, judging it ends within the budget, and
// past it is a question. Fuzzing makes the code several times slower, so what
// counts are the units, and a clock that only runaway work gets to.
func FuzzBudget(f *testing.F) {
	for i := range uint64(40) {
		f.Add(i, uint32(1000<<(i%8)), "")
	}
	f.Add(uint64(1), uint32(0), "for a in {1..99}; do for b in {1..99}; do rm $a$b; done; done")
	w := newWorld(f)
	r, _ := w.rules()
	f.Fuzz(func(t *testing.T, seed uint64, size uint32, text string) {
		text += nasty.Random(seed, 1+int(size)%200_000)
		var c cost
		for range 3 { // a busy machine: the best of three counts
			c = w.cost(r, text)
			if c.took < 2*time.Second {
				break
			}
		}
		switch {
		case c.took >= 2*time.Second:
			t.Errorf("%v of processor time, %d units", c.took, c.work)
		case c.work > budget.Reading+budget.Ruling+overshoot:
			t.Errorf("%d units", c.work)
		case c.over != "" && c.worst.Action < RequireApproval:
			t.Errorf("past the budget (%s), and %v", c.over, c.worst.Action)
		}
	})
}
