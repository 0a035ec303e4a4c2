package eval

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"safeshell/script"
)

// TestFindFiles holds what is said of find's expressions against the real find:
// with -print in the place of the action, no file is printed that was ruled out.
func TestFindFiles(t *testing.T) {
	find, err := exec.LookPath("find")
	if err != nil {
		t.Skip("find is not installed")
	}
	w := newWorld(t)
	r, _ := w.rules()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.c": "x", "a.o": "x", "b.o": "", "sub/a.c": "", "sub/c.o": "x", "sub/deep/b.c": "x", "build/a.o": "x", "build/x.c": "", "none/": ""} {
		p := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(p), 0o755)
		if strings.HasSuffix(name, "/") {
			os.MkdirAll(p, 0o755)
		} else if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(7, 7))
	pick := func(s ...string) string { return s[random.IntN(len(s))] }
	var expr func(depth int) string
	primary := func() string {
		return pick("-name '*.o'", "-name a.c", "-iname 'B*'", "-name '*'", "-name build", "-type f", "-type d", "-empty", "-path './sub/*'", "-size -1", "-newermt 2001-01-01", "-true", "-false", "-regex '.*c'", "-path ./build -prune", "-mindepth 1", "-exec true {} \\;", "-exec false {} \\;", "-exec true {} +", "ACT", "ACT", "ACT")
	}
	expr = func(depth int) string {
		if depth == 0 {
			return primary()
		}
		switch random.IntN(7) {
		case 0:
			return expr(depth-1) + pick(" -o ", " -or ") + expr(depth-1)
		case 1:
			return pick("! ", "-not ") + expr(depth-1)
		case 2:
			return `\( ` + expr(depth-1) + ` \)`
		case 3:
			return expr(depth-1) + " , " + expr(depth-1)
		case 4:
			return expr(depth-1) + pick(" -a ", " -and ") + expr(depth-1)
		default:
			return expr(depth-1) + " " + expr(depth-1)
		}
	}
	n, narrowed := 0, 0
	for range 300 {
		e := expr(1 + random.IntN(3))
		if strings.Count(e, "ACT") > 3 {
			continue
		}
		real := strings.ReplaceAll(e, "ACT", "-fprint /dev/fd/3")
		if !strings.Contains(e, "ACT") {
			real = `\( ` + e + ` \) -fprint /dev/fd/3`
		}
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", find+" . "+real+" >/dev/null")
		cmd.Dir, cmd.ExtraFiles = dir, []*os.File{out}
		if msg, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(msg), "find: ") {
			continue // -exec false {} + and the like
		} else if strings.Contains(string(msg), "find: ") {
			t.Fatalf("find %s: %s", e, msg)
		}
		printed, err := os.ReadFile(out.Name())
		out.Close()
		if err != nil {
			t.Fatal(err)
		}
		a := script.Parse("find . "+strings.ReplaceAll(e, "ACT", "-delete"), script.Options{Dialect: script.Bash, Dir: dir})
		v := newView(r, &a, 0)
		set, ok := v.findFiles(func(s string) bool { return s == "-delete" })
		if !ok {
			t.Errorf("find . %s: not read", e)
			continue
		}
		n++
		if !set.any {
			narrowed++
		}
		for f := range strings.FieldsSeq(string(printed)) {
			fits := set.any
			for _, name := range set.names {
				m, _ := path.Match(strings.ToLower(name), strings.ToLower(path.Base(f)))
				fits = fits || m
			}
			if set.none || !fits {
				t.Errorf("find . %s: reaches %s, ruled out by %+v", e, f, set)
			}
			if fi, err := os.Stat(filepath.Join(dir, f)); err != nil || set.empty && fi.Mode().IsRegular() && fi.Size() > 0 {
				t.Errorf("find . %s: reaches %s, said to be empty", e, f)
			}
		}
	}
	if narrowed < n/10 || n < 150 {
		t.Errorf("%d expressions, %d of them narrow: too few", n, narrowed)
	}
}

func TestFindFilesUnknown(t *testing.T) {
	w := newWorld(t)
	r, _ := w.rules()
	for _, e := range []string{"-frobnicate x -delete", `\( -name x -delete`, "-name", "-exec rm {}", `-delete \)`, "-name x -delete -o"} {
		a := script.Parse("find . "+e, script.Options{Dialect: script.Bash, Dir: w.proj})
		if set, ok := newView(r, &a, 0).findFiles(func(s string) bool { return s == "-delete" }); ok {
			t.Errorf("find . %s: read as %+v", e, set)
		}
	}
}
