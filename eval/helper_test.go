package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"safeshell/config"
	"safeshell/script"
)

// world is a scratch home with a project in it.
type world struct {
	t     testing.TB
	root  string
	home  string
	proj  string
	paths config.Paths
	env   []string
	who   Context
	open  func(*Options)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: root, home: filepath.Join(root, "home"), who: AI}
	w.proj = filepath.Join(w.home, "proj")
	w.mkdir(w.proj)
	w.mkdir(filepath.Join(w.home, ".safeshell"))
	w.paths, err = config.Locate(func(n string) string {
		if n == "HOME" {
			return w.home
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	w.paths.System = filepath.Join(root, "etc", "rules.yaml")
	w.env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	return w
}

func (w *world) mkdir(dir string) {
	w.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
}

// write makes a file; a relative name is in the project.
func (w *world) write(name, text string) string {
	w.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(w.proj, name)
	}
	w.mkdir(filepath.Dir(name))
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return name
}

// user writes the user's rules.
func (w *world) user(text string) { w.t.Helper(); w.write(w.paths.Rules, text) }

func (w *world) rules() (*Rules, []Problem) {
	o := Options{Paths: w.paths, Environ: w.env, Context: func() Context { return w.who }}
	if w.open != nil {
		w.open(&o)
	}
	r, problems := Open(o)
	w.t.Cleanup(r.Close)
	return r, problems
}

// parse analyses a line in the project.
func (w *world) parse(line string) script.Analysis {
	return script.Parse(line, script.Options{Dialect: script.Bash, Dir: w.proj, Lookup: w.lookup})
}

func (w *world) lookup(name string) (string, bool) {
	for _, e := range w.env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// judge returns the strictest decision on a line.
func (w *world) judge(line string) Decision {
	w.t.Helper()
	r, problems := w.rules()
	for _, p := range problems {
		if p.Fatal {
			w.t.Fatalf("rules: %v", p)
		}
	}
	return w.judgeWith(r, line)
}

func (w *world) judgeWith(r *Rules, line string) Decision {
	a := w.parse(line)
	return strictest(r, &a)
}

func strictest(r *Rules, a *script.Analysis) Decision {
	var worst Decision
	for i := range a.Commands {
		d := r.Judge(a, i)
		if d.Action > worst.Action || worst.Rule == "" {
			d.Notes = append(worst.Notes, d.Notes...)
			d.Problems = append(worst.Problems, d.Problems...)
			worst = d
		} else {
			worst.Notes = append(worst.Notes, d.Notes...)
			worst.Problems = append(worst.Problems, d.Problems...)
		}
	}
	if d := r.JudgeUnknown(a); d.Action > worst.Action {
		worst = d
	}
	return worst
}

// argv judges an argv as a shim sees it.
func (w *world) argv(args ...string) Decision {
	w.t.Helper()
	r, _ := w.rules()
	a := script.FromArgv(args, script.Options{Dir: w.proj, Lookup: w.lookup})
	return strictest(r, &a)
}
