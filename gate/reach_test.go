package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"safeshell/eval"
	"safeshell/script"
)

// reached is a world whose shims are made, or can be.
func reached(t *testing.T, made bool, env ...string) *world {
	w := newWorld(t, env...)
	w.write(w.paths.Rules, "rules: []\n")
	w.write(filepath.Join(w.dir, "notes"), "nobody has this\n")
	if made {
		if err := os.MkdirAll(w.paths.Shims, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/bin/true", filepath.Join(w.paths.Shims, "rm")); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// An rm is left to the shim only where it is certain to be met; where PATH does
// not lead there, the shims are put in front by those who can.
func TestShimIsReached(t *testing.T) {
	for _, c := range []struct {
		name string
		made bool   // the shims
		path string // in front of the caller's PATH
		env  string
		same bool // the shell has the hook's PATH
		req  Request
		want string // run, path (the shims are put in front), ask
	}{
		{"nothing is set up", false, "", "", true, Request{Layer: Hook}, "ask"},
		{"only the links", true, "", "", true, Request{Layer: Hook}, "path"},
		{"PATH", true, "SHIMS:", "", true, Request{Layer: Hook}, "run"},
		{"PATH, with a slash", true, "/nowhere:SHIMS/:", "", true, Request{Layer: Hook}, "run"},
		{"PATH, another rm first", true, "/usr/bin:SHIMS:", "", true, Request{Layer: Hook}, "path"},
		{"PATH, a directory of the moment first", true, ".:SHIMS:", "", true, Request{Layer: Hook}, "path"},
		{"PATH, of a shell that has another", true, "SHIMS:", "", false, Request{Layer: Hook}, "path"},
		{"PATH, and a file that bash reads first", true, "SHIMS:", "BASH_ENV=/x", true, Request{Layer: Hook}, "ask"},
		{"the wrapper puts them there", true, "", "", false, Request{Layer: Wrapper}, "run"},
		{"check tells what the hook does", true, "", "", false, Request{Layer: Check}, "path"},
		{"PATH without the links", false, "SHIMS:", "", true, Request{Layer: Hook}, "ask"},
		{"a shim's own PATH", true, "SHIMS:", "", false, Request{Layer: Shim, Argv: []string{"bash", "-c", "rm -rf notes"}}, "run"},
		{"a shim, called by its path", true, "", "", false, Request{Layer: Shim, Argv: []string{"bash", "-c", "rm -rf notes"}}, "ask"},
	} {
		w := reached(t, c.made, c.env)
		w.env[1] = "PATH=" + strings.ReplaceAll(c.path, "SHIMS", w.paths.Shims) + "/usr/bin:/bin"
		req := c.req
		req.Dir, req.Context, req.Agent, req.SamePath = w.dir, eval.AI, "tester", c.same
		if req.Argv == nil {
			req.Line, req.Dialect = "bash -c 'rm -rf notes'", script.Bash
		}
		v := w.gate().Judge(t.Context(), req)
		got := "run"
		switch {
		case v.Action == eval.RequireApproval:
			got = "ask"
		case v.Line == "PATH="+w.paths.Shims+":$PATH; "+req.Line:
			got = "path"
		case v.Line != "":
			got = v.Line
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, got, c.want, v.Message)
		}
	}
}

// The hook makes a shim that is missing.
func TestHookMakesShim(t *testing.T) {
	w := reached(t, false)
	g := New(Env{Environ: w.env, Paths: w.paths, Binary: "/bin/true"})
	req := w.line("rm -rf notes")
	req.Layer = Check
	if v := g.Judge(t.Context(), req); v.Line == "" {
		t.Errorf("check: %+v", v.Action)
	}
	link := filepath.Join(w.paths.Shims, "rm")
	if _, err := os.Lstat(link); err == nil {
		t.Error("check has made a link")
	}
	req.Layer = Hook
	g.Judge(t.Context(), req)
	if to, err := os.Readlink(link); err != nil || to != "/bin/true" {
		t.Errorf("%q, %v", to, err)
	}
}

// What start-up files make of PATH: the block puts the shims first, anything
// behind it may put something else there.
func TestFileKeeps(t *testing.T) {
	const block = "# >>> safeshell >>>\n# about\nif [ -r x ]; then\n  \\. x\nfi\n# <<< safeshell <<<\n"
	for text, want := range map[string][2]bool{ // before: not kept, kept
		"":                                   {false, true},
		"# a comment\n\n":                    {false, true},
		"export EDITOR=vi\n":                 {false, false},
		"PATH=/x:$PATH\n" + block:            {true, true},
		block + "# fine\n":                   {true, true},
		block + ". ~/.cargo/env\n":           {false, false},
		"[ -n x ] || return\n" + block:       {false, false},
		"# >>> safeshell >>>\nnever closed":  {false, false},
		debianZshenv + "\"/bin\"\nfi\n":      {false, true},
		debianZshenv + "\"/bin\"\nfi\nx=1\n": {false, false},
	} {
		for i, before := range []bool{false, true} {
			if got := fileKeeps(text, before); got != want[i] {
				t.Errorf("%q, before %v: %v", text, before, got)
			}
		}
	}
}

// A login shell keeps the shims where the last file that it reads puts them there.
func TestStartKeepsPath(t *testing.T) {
	const block = "# >>> safeshell >>>\n\\. x\n# <<< safeshell <<<\n"
	w := reached(t, true)
	home := w.paths.User
	g := w.gate()
	for _, c := range []struct {
		file, text, shell  string
		login, interactive bool
		want               bool
	}{
		{".none", "", "bash", false, false, true},
		{".zshenv", "", "zsh", false, false, true},
		{".zshenv", "path=(/bin $path)\n", "zsh", false, false, false},
		{".zshenv", block, "zsh", false, false, true},
		{".profile", block, "bash", true, false, true},
		{".profile", block, "sh", true, false, true},
		{".bash_profile", "PATH=/bin\n", "bash", true, false, false}, // it hides .profile
		{".bash_profile", "PATH=/bin\n" + block, "bash", true, false, true},
		{".bashrc", "PATH=/bin\n", "bash", false, true, false},
		{".bashrc", block, "bash", false, true, true},
		{".kshrc", block, "ksh", false, true, false},
	} {
		w.write(filepath.Join(home, c.file), c.text)
		if got := g.StartKeepsPath(c.shell, c.login, c.interactive); got != c.want {
			t.Errorf("%s with %q in %s: %v", c.shell, c.text, c.file, got)
		}
	}
}
