package eval

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// What a name stands for after an ln of the same text is what the system says
// when the ln has run.
func TestLinksOfTheText(t *testing.T) {
	needs1(t, "bash")
	for _, c := range []struct{ links, name string }{
		{"ln -s ../other x", "x/f"},
		{"ln -s ../other x", "./x/sub/../f"},
		{"ln -sfn ../../other src/x", "src/x/f"},
		{"ln -s ../other/f x", "x"},
		{"ln -s $HOME/other .", "other/f"},
		{"ln -s ~/other/f", "f"},
		{"ln -s ~/other src", "src/other/f"},
		{"ln -s ~/other src/", "src/other/f"},
		{"ln -s ~/other ~/proj src", "src/other/f"},
		{"ln -st src ~/other", "src/other/f"},
		{"ln -s --target-directory=src ~/other", "src/other/f"},
		{"mkdir new; ln -s ~/other new", "new/other/f"},
		{"mkdir -p new/a; ln -s ~/other new/a/b", "new/a/b/f"},
		{"ln -sT ~/other y", "y/f"},
		{"ln -s ~/other a; ln -s a b", "b/f"},
		{"ln -s ~/other a; ln -s \"$PWD/a\" src/b", "src/b/f"},
		{"ln -s ~/other one; ln -s one/sub two", "two/g"},
		{"cd src && ln -s ~/other here", "here/f"},
		{"ln -s ~/other here; cd here", "f"},
		{"ln -s ~/other here; cd here/sub", "../f"},
		{"mkdir k; ln -s ~/other k/a; mv k/a b", "b/f"},
	} {
		w := newWorld(t)
		other := filepath.Join(w.home, "other")
		w.mkdir(filepath.Join(w.proj, "src"))
		w.write(filepath.Join(other, "f"), "work\n")
		w.write(filepath.Join(other, "sub", "g"), "work\n")
		r, _ := w.rules()
		a := w.parse(c.links + "; cat " + c.name)
		v := newView(r, &a, len(a.Commands)-1)
		var got []string
		for i := range v.targets() {
			x := &v.accesses[i]
			v.resolve(x)
			for _, p := range x.real {
				got = append(got, p.String())
			}
		}
		cmd := exec.Command("bash", "-c", c.links+" && cat "+c.name+" >/dev/null && realpath "+c.name)
		cmd.Dir, cmd.Env = w.proj, append(os.Environ(), "HOME="+w.home, "PWD="+w.proj)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s; %s: %v", c.links, c.name, err)
		}
		want := string(out[:len(out)-1])
		if !slices.Contains(got, want) {
			t.Errorf("%s; %s: %q, the system says %s", c.links, c.name, got, want)
		}
	}
}
