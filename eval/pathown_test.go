package eval

import (
	"math/rand/v2"
	"strings"
	"testing"

	"safeshell/script"
)

// Generated lists, operands and directories: what is known of lists, of the
// working directory and of all lists together gives the answer of the entries one
// by one, also when lists become known between two questions about one target.
func TestListsAreTheirEntries(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	name := func() string {
		return pick("a", "b", "ab", "ba", ".a", ".env", "home", "proj", "x.pem", "id_a", "a b", "ü", "*", "{a}")
	}
	entry := func() string {
		glob := func() string {
			return pick(name(), name(), name(), "*", "a*", "*b", "*.pem", "?", "a?", "[ab]", "[!a]b", "?(a)", "{a,b}*", "*{a}", `\\*`, "[[:alpha:]]b", "a*b*", "..", ".")
		}
		s := glob()
		for random.IntN(3) == 0 {
			s += "/" + glob()
		}
		s = pick("", "", "", "/", "~/", "./") + s + pick("", "", "", "/")
		if random.IntN(12) == 0 {
			s = pick("~", "/", ".", "*", "/home", "~/proj")
		}
		return pick("", "", "", "", "!") + s
	}
	w := newWorld(t)
	for _, d := range []string{"a", "b", "home/proj"} {
		w.mkdir(w.proj + "/" + d)
	}
	outOf, compared := 0, 0
	for range 60 {
		r, _ := w.rules()
		var lists [][]string
		for range 12 {
			var l []string
			for range 1 + random.IntN(4) {
				l = append(l, entry())
			}
			lists = append(lists, l)
		}
		for range 12 {
			dir := pick(w.proj, w.proj, w.proj+"/a", w.home, w.root, "/", "")
			line := "cat"
			for range 6 {
				op := pick(name(), "q", "main.go")
				for random.IntN(3) == 0 {
					op += "/" + name()
				}
				line += " '" + pick("", "", "", "", "../", "./", "/", w.home+"/", w.proj+"/") + op + pick("", "", "", "/") + "'"
			}
			a := script.Parse(line, script.Options{Dialect: script.Bash, Dir: dir, Lookup: w.lookup})
			v, plain := r.borrowView(&a, 0), newView(r, &a, 0)
			full := plain.targets()
			for i := range v.targets() {
				plain.resolve(&full[i])
				full[i].path.base = 0
			}
			for range 20 {
				l := lists[random.IntN(len(lists))]
				known := r.listOf(l, random.IntN(2))
				i := random.IntN(len(v.targets()))
				quick := &v.targets()[i]
				v.resolve(quick)
				got, want := never, plain.inList(&full[i], &pathList{entries: l})
				if v.quietIn(known) && v.ruledOut(quick, known) {
					outOf++
				} else {
					got = v.inList(quick, known)
				}
				if compared++; got != want {
					t.Fatalf("operand %d of %s from %q in %q: %v, by its entries %v", i, line, dir, l, got, want)
				}
			}
			v.giveBack()
		}
	}
	if outOf < compared/100 {
		t.Errorf("all lists together answered %d of %d questions only", outOf, compared)
	}
}

// The filter of names loses none, and a pattern is found by what it matches.
func TestOwnNamesKeepsAll(t *testing.T) {
	w := newWorld(t)
	r, _ := w.rules()
	var o ownNames
	var all []string
	for _, l := range pathListsOf(t, r) {
		x := r.newPathIndex(l)
		o.add(x)
		for n := range x.names {
			all = append(all, n)
		}
		for _, g := range x.globs {
			if !strings.ContainsAny(g, "({") {
				all = append(all, sample(g))
			}
		}
	}
	for _, n := range all {
		if !o.mayBegin([]comp{{text: "zzzz"}, {text: n}}) {
			t.Errorf("%q is lost", n)
		}
	}
}
