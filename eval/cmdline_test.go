package eval

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"safeshell/script"
)

// What is said at once of an option that is not there, the words say one by one.
func TestMayHaveIsEachOption(t *testing.T) {
	words := strings.Fields("-r -rn -f -fu -abc -x=1 --force --force=1 --for --no-pager --include=*.go -- - --x -name -exec a b/c 'q' \"$v\" -$v --$v -r$v --in$v *.go -9 -é --=x")
	names := strings.Fields("-r -n -f -u -x -9 -a --force --force-with-lease --no-pager --include --in --x -name -exec -delete x -é")
	programs := strings.Fields("git rm grep find go tar curl docker cp nosuch java")
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 4000 {
		line := []string{programs[rnd.IntN(len(programs))]}
		for range rnd.IntN(5) {
			line = append(line, words[rnd.IntN(len(words))])
		}
		a := script.Parse(strings.Join(line, " "), script.Options{Dialect: script.Bash})
		if len(a.Commands) == 0 {
			continue
		}
		var c, all cmdline
		c.read(a.Commands[0].Argv)
		all.read(a.Commands[0].Argv)
		all.seenOptions, all.shortSeen, all.longHeads = true, allBytes, allBytes
		for _, n := range names {
			values := func(c *cmdline) (out []string) {
				c.eachOption(n, func(v string, given, known bool) bool { out = append(out, v); return true })
				return out
			}
			if x, y := values(&c), values(&all); !slices.Equal(x, y) {
				t.Errorf("%q, %s: %q, looking at each word %q", line, n, x, y)
			}
		}
	}
}

func TestSortEntries(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for range 2000 {
		var e []entry
		for range rnd.IntN(5) { // runs
			ord := 0
			for range rnd.IntN(30) {
				ord += rnd.IntN(3)
				e = append(e, entry{ord: ord, off: len(e)})
			}
		}
		want := slices.Clone(e)
		slices.SortStableFunc(want, func(a, b entry) int { return a.ord - b.ord })
		if sortEntries(e); !slices.Equal(e, want) {
			t.Fatalf("%v, not %v", e, want)
		}
	}
}
