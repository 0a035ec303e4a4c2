package eval

import (
	"strings"
	"testing"

	"safeshell/script"
)

// What the index rules out, no entry may fit: every list of the built-in packs
// and some odd ones, against paths that fit and paths that nearly do.
func TestPathIndexMissesNothing(t *testing.T) {
	w := newWorld(t)
	r, _ := w.rules()
	rules, err := r.builtin.all()
	if err != nil {
		t.Fatal(err)
	}
	lists := [][]string{{"~"}, {"/"}, {"."}, {"*"}, {"/*"}, {"~/*/x"}, {"a?", "!ab"}, {"[ab]c", "x/y"}, {"*.pem", "id_*", `\*`}, {"a/b/c", "/tmp"}}
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
	paths := []string{w.home, "/", "/tmp", "/tmp/x", w.proj, w.proj + "/a/b/c/d", w.proj + "/x.pem", w.proj + "/ab", w.proj + "/bc", w.home + "/q/x", "/etc/passwd", "/home/other/.ssh/id_rsa"}
	for _, l := range lists {
		for _, s := range l {
			s = strings.TrimPrefix(s, "!")
			s = sample(s)
			switch {
			case strings.HasPrefix(s, "~"):
				paths = append(paths, w.home+s[1:], w.home+s[1:]+"/below")
			case strings.HasPrefix(s, "/"):
				paths = append(paths, s, s+"/below")
			default:
				paths = append(paths, w.proj+"/"+s, w.home+"/"+s+"/below", "/"+s)
			}
		}
	}
	a := script.Parse("cat a b c", script.Options{Dialect: script.Bash, Dir: w.proj})
	v := newView(r, &a, 0)
	if len(v.targets()) < indexFrom {
		t.Fatal("the command has too few targets for an index")
	}
	ruledOut := 0
	for _, s := range paths {
		for _, worked := range []bool{true, false} {
			p := exactPath(s)
			if worked {
				p.findHome(r.o.Paths.User)
			}
			for _, l := range lists {
				if v.mayFit(&p, l, 0) {
					continue
				}
				ruledOut++
				if k := v.pathInList(&p, l, nil, 0); k != never {
					t.Errorf("%s fits %q, which the index rules out", s, l)
				}
			}
		}
	}
	if ruledOut < len(paths) {
		t.Errorf("the index rules out %d of %d pairs only", ruledOut, 2*len(paths)*len(lists))
	}
}
