package eval

import (
	"testing"

	"safeshell/script"
)

// Commands that no rule stops compile no regexp, start no process and read no
// YAML: what they read of the rules is little.
func TestHotPath(t *testing.T) {
	w := newWorld(t)
	w.user(manyRules(500))
	if r, problems := w.rules(); len(problems) > 0 {
		t.Fatal(problems)
	} else {
		r.Close()
	}
	w.env = []string{"PATH=/nonexistent"} // no bash, no git to be found
	for _, argv := range [][]string{
		{"git", "status"}, {"git", "push", "origin", "topic"}, {"git", "commit", "--amend"}, {"git", "log", "--oneline"}, {"ls", "-la"}, {"go", "test", "./..."}, {"npm", "run", "build"},
		{"npm", "install"}, {"docker", "ps"}, {"docker", "compose", "up", "-d"}, {"kubectl", "get", "pods"}, {"make", "-j8"}, {"find", ".", "-name", "*.go"},
		{"grep", "-rn", "x", "."}, {"sed", "-n", "1p", "README.md"}, {"mkdir", "-p", "a/b"}, {"cp", "a", "b"}, {"chmod", "+x", "a"}, {"curl", "-sS", "https://example.com"}, {"python3", "x.py"}, {"terraform", "plan"},
	} {
		r, problems := w.rules()
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		a := script.FromArgv(argv, script.Options{Dir: w.proj})
		for i := range a.Commands {
			if d := r.Judge(&a, i); d.Action != Allow && d.Rule != "block-commit-protected" {
				t.Errorf("%q: %v by %s", argv, d.Action, d.Rule)
			}
		}
		compiled, decoded := 0, 0
		blobs := []*blob{r.builtin}
		for _, s := range r.global {
			blobs = append(blobs, s.blob)
		}
		for _, b := range blobs {
			for _, x := range b.decoded {
				decoded++
				compiled += x.compiled()
			}
		}
		if compiled > 0 {
			t.Errorf("%q: %d regexps were compiled", argv, compiled)
		}
		if decoded > 40 {
			t.Errorf("%q: %d rules were read", argv, decoded)
		}
	}
}

// compiled counts the rule's regexps that have been needed so far.
func (r *rule) compiled() (n int) {
	ps := []pattern{r.directory}
	for _, cs := range [][]clause{r.match, r.unless} {
		for i := range cs {
			for _, f := range cs[i].patterns() {
				ps = append(ps, *f.to)
			}
			for _, o := range cs[i].options {
				ps = append(ps, o.value)
			}
		}
	}
	for _, p := range ps {
		if p.lazy != nil && p.lazy.re != nil {
			n++
		}
	}
	return n
}
