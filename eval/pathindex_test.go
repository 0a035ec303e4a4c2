package eval

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"safeshell/script"
)

// pathListsOf are all lists of paths of the built-in packs, and some odd ones.
func pathListsOf(t *testing.T, r *Rules) [][]string {
	t.Helper()
	rules, err := r.builtin.all()
	if err != nil {
		t.Fatal(err)
	}
	lists := [][]string{{"~"}, {"/"}, {"."}, {"*"}, {"/*"}, {"~/*/x"}, {"a?", "!ab"}, {"[ab]c", "x/y"}, {"*.pem", "id_*", `\*`}, {"a/b/c", "/tmp"}, {"proj/a"}, {"home/proj/x"}, {"!*", "q"}, {".ssh/../x", "./y", "b/./c"}}
	for _, x := range rules {
		for _, cs := range [][]clause{x.match, x.unless} {
			for i := range cs {
				for _, f := range cs[i].lists() {
					if l := *f.to; len(l) > 0 && f.bit&(kPaths|kReads|kWrites|kDeletes|kEmpties|kRemoves) != 0 {
						lists = append(lists, l)
					}
				}
			}
		}
	}
	return lists
}

// What an index rules out, no entry may fit, and what is remembered of the
// working directory changes no answer: every list of the built-in packs and some
// odd ones, against paths that fit and paths that nearly do, seen from several
// directories.
func TestPathIndexMissesNothing(t *testing.T) {
	w := newWorld(t)
	r, _ := w.rules()
	lists := pathListsOf(t, r)
	words := []string{"~", "/", "/tmp", "/tmp/x", "x", "a/b/c/d", "x.pem", "ab", "bc", "a/x", "../q/x", "..", ".", "../..", "../proj/a", "/etc/passwd", "/home/other/.ssh/id_rsa", "id_rsa", ".ssh", "x/", "proj/a", "home/proj/x"}
	for _, l := range lists {
		for _, s := range l {
			s = sample(strings.TrimPrefix(s, "!"))
			words = append(words, s, s+"/below")
			if !strings.HasPrefix(s, "~") {
				words = append(words, strings.TrimPrefix(s, "/"), "below/"+s)
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(words), func(i, k int) { words[i], words[k] = words[k], words[i] })
	words = words[:min(len(words), 400)]
	ruledOut, pairs := 0, 0
	for _, dir := range []string{w.proj, w.home, w.home + "/.ssh", w.home + "/.config/gh", w.root, "/", "/etc", w.home + "/a/b", ""} {
		a := script.Parse("cat a b c", script.Options{Dialect: script.Bash, Dir: dir})
		v, plain := newView(r, &a, 0), newView(r, &a, 0)
		v.dir, plain.dir = dir, dir
		for _, s := range words {
			word := script.Lit(s)
			if rest, ok := strings.CutPrefix(s, "~"); ok {
				word = script.Lit(w.home + rest)
			}
			p := v.pathOf(word, dir)
			p.findHome(r.o.Paths.User)
			quick, full := target{path: p, resolved: true}, target{path: p, resolved: true}
			full.path.base = 0
			for i, l := range lists {
				pairs++
				known := r.listOf(l, indexFrom)
				want := plain.inList(&full, &pathList{entries: l})
				if got := v.inList(&quick, known); got != want {
					t.Errorf("%s from %q in list %d %.80q: %v with what is known of the list, %v without", s, dir, i, l, got, want)
				}
				if !v.mayFit(&quick.path, known) {
					ruledOut++
				}
			}
		}
	}
	if ruledOut < pairs/3 { // about half; it depends on where the scratch home lies
		t.Errorf("the index rules out %d of %d pairs only", ruledOut, pairs)
	}
}

// The short way to read an operand gives what the long one gives.
func TestPlainPathIsPathOf(t *testing.T) {
	w := newWorld(t)
	r, _ := w.rules()
	random := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", "b.go", "..", ".", "/", "/", "//", "...", ".ssh", "home", "proj", "-x", "ü", " ", "~", ""}
	taken := 0
	for range 20000 {
		text := ""
		for range random.IntN(6) {
			text += pieces[random.IntN(len(pieces))]
		}
		dir := []string{w.proj, w.home, w.root, "/", "/a//b", "/a/./b", "/a/b/", ""}[random.IntN(8)]
		a := script.Parse("cat a b c", script.Options{Dialect: script.Bash, Dir: dir})
		v := newView(r, &a, 0)
		var got tpath
		if !v.plainPath(&got, script.Lit(text), dir) {
			continue
		}
		taken++
		want := v.pathOf(script.Lit(text), dir)
		want.findHome(r.o.Paths.User)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q from %q: %+v, want %+v", text, dir, got, want)
		}
	}
	if taken < 1000 {
		t.Fatalf("only %d words were taken", taken)
	}
}
