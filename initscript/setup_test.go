package initscript

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// snapshot is every file, link and directory below the home directory but for
// SAFESHELL_HOME, with mode and content.
func snapshot(t *testing.T, s sandbox) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(s.p.UserHome, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == s.p.Home {
			return fs.SkipDir
		}
		info, err := d.Info()
		must(t, err)
		what := fmt.Sprintf("%v ", info.Mode())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			must(t, err)
			what += to
		case info.Mode().IsRegular():
			what += read(t, path)
		}
		out[path] = what
		return nil
	}))
	return out
}

func same(t *testing.T, before, after map[string]string) {
	t.Helper()
	for path, what := range before {
		if after[path] != what {
			t.Errorf("%s\nwas %q\nis  %q", path, what, after[path])
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			t.Errorf("%s is new", path)
		}
	}
}

// dotfiles are homes as people have them. A content that begins with -> is a
// link, with "dir" a directory; mode in front of a | is octal.
var dotfiles = map[string]map[string]string{
	"empty":                   {},
	"debian":                  {".bashrc": debianBashrc, ".profile": debianProfile, ".bash_logout": "clear\n"},
	"no final newline":        {".bashrc": "alias ll='ls -l'", ".profile": "export A=1", ".zshrc": "bindkey -e", ".zshenv": "x=1", ".bash_profile": ". ~/.bashrc"},
	"only newlines":           {".bashrc": "\n", ".profile": "\n\n\n", ".zshrc": "\n"},
	"empty files":             {".bashrc": "", ".profile": "", ".zshrc": "", ".zshenv": "", ".zprofile": "", ".bash_profile": "", ".config/fish/config.fish": ""},
	"crlf":                    {".bashrc": "alias a=b\r\n# end\r\n", ".profile": "export A=1\r\nexport B=2", ".zshrc": "x=1\r\n"},
	"ends in CR":              {".bashrc": "a=1\r", ".profile": "a=1\r"},
	"bash_profile":            {".bash_profile": "[[ -f ~/.bashrc ]] && . ~/.bashrc\nexport PATH=~/bin:$PATH\n", ".bashrc": "[ -z \"$PS1\" ] && return\n", ".profile": "# hidden\n"},
	"bash_login":              {".bash_login": "umask 022\n", ".profile": "x=1\n"},
	"all three":               {".bash_profile": "a=1\n", ".bash_login": "b=1\n", ".profile": "c=1\n"},
	"shebang":                 {".bashrc": "#!/bin/bash\n[[ $- != *i* ]] && return\n", ".profile": "#!/bin/sh\nA=1\n"},
	"shebang alone":           {".bashrc": "#!/bin/bash", ".profile": "#!/bin/sh"},
	"bom":                     {".bashrc": "\ufeff# hi\n", ".profile": "\ufeffA=1\n"},
	"oh-my-zsh":               {".zshrc": "export ZSH=\"$HOME/.oh-my-zsh\"\nZSH_THEME=\"robbyrussell\"\nplugins=(git)\nsource $ZSH/oh-my-zsh.sh\n", ".zprofile": "eval \"$(/opt/homebrew/bin/brew shellenv)\"\n"},
	"zsh returns":             {".zshrc": "[[ $TERM == dumb ]] && unsetopt zle && PS1='$ ' && return\nf() { return 1 }\n", ".zshenv": "[[ -o interactive ]] || return 0\n"},
	"zsh odd syntax":          {".zshrc": "for x (a b) print $x\nif [[ a == b ]] { print }\nalias -g G='| grep'\n=ls ${(j:,:)path}\n"},
	"exec at the end":         {".bash_profile": ". ~/.bashrc\nif [ \"$(tty)\" = /dev/tty1 ]; then\n  exec sway\nfi\n", ".zprofile": "[ -z \"$DISPLAY\" ] && exec startx\n", ".bashrc": "[ -n \"$PS1\" ] && exec fish\n"},
	"backslash at the end":    {".profile": "export A=1 \\\n", ".zshenv": "export PATH=/x:\\\n", ".zshrc": "echo \\"},
	"conda":                   {".bashrc": "# >>> conda initialize >>>\n# !! Contents within this block are managed by 'conda init' !!\n__conda_setup=\"$('/opt/conda/bin/conda' 'shell.bash' 'hook' 2> /dev/null)\"\nif [ $? -eq 0 ]; then\n    eval \"$__conda_setup\"\nfi\nunset __conda_setup\n# <<< conda initialize <<<\n"},
	"nvm, pyenv, rustup":      {".bashrc": "export NVM_DIR=\"$HOME/.nvm\"\n[ -s \"$NVM_DIR/nvm.sh\" ] && \\. \"$NVM_DIR/nvm.sh\"\neval \"$(pyenv init -)\"\n. \"$HOME/.cargo/env\"\n", ".profile": ". \"$HOME/.cargo/env\"\n", ".zshenv": ". \"$HOME/.cargo/env\"\n"},
	"link to a repository":    {"dotfiles/bashrc": "x=1\n", "dotfiles/zshrc": "y=1", ".bashrc": "->dotfiles/bashrc", ".zshrc": "->dotfiles/zshrc", "dotfiles/fish/config.fish": "", ".config/fish": "->../dotfiles/fish"},
	"absolute link":           {"d/profile": "x=1\n", ".profile": "->@/d/profile", ".bash_profile": "->.profile"},
	"links to one file":       {".profile": "A=1\n", ".bash_profile": "->.profile", ".zprofile": "->.profile", ".zshenv": "->.profile", ".bashrc": "->.profile", ".zshrc": "->.bashrc"},
	"link chain":              {"one": "A=1", "two": "->one", ".bashrc": "->two"},
	"dangling link":           {".bashrc": "->gone/bashrc", ".profile": "A=1\n"},
	"link loop":               {".bashrc": "->.zshrc", ".zshrc": "->.bashrc"},
	"link to /dev/null":       {".bash_profile": "->/dev/null", ".bashrc": "A=1\n"},
	"directory":               {".bashrc": "dir", ".profile": "A=1\n"},
	"read-only":               {".bashrc": "0444|A=1\n", ".profile": "0400|B=1\n", ".zshrc": "C=1\n"},
	"modes":                   {".bashrc": "0600|A=1\n", ".profile": "0755|B=1\n", ".zshrc": "0640|C=1\n", ".zshenv": "0664|"},
	"config is a file":        {".config": "not a directory\n"},
	"fish":                    {".config/fish/config.fish": "set -g fish_greeting\nfish_add_path ~/bin\n", ".config/fish/conf.d/other.fish": "true\n"},
	"fish without conf.d":     {".config/fish/config.fish": "true\n"},
	"config without fish":     {".config/other/x": "1\n"},
	"binary":                  {".bashrc": "A=1\x00\xff\xfeB\n", ".profile": "A=1\n"},
	"latin-1":                 {".bashrc": "# gr\xfc\xdfe\nalias gr\xfcn=ls\n", ".profile": "A='\xe9'"},
	"broken syntax":           {".bashrc": "if true; then\n", ".profile": "echo 'unclosed\n", ".zshrc": "case x in\n"},
	"heredoc":                 {".profile": "cat >/dev/null <<EOF\nreturn\nexit\nEOF\nA=1\n", ".bash_profile": "f() {\n return 1\n}\n(exit 3)\nA=$(exit 4)\n"},
	"guard inside":            {".bashrc": "if [[ $- == *i* ]]; then\n  PS1='$ '\nfi\n"},
	"mentions the markers":    {".bashrc": "# a line with # >>> safeshell >>> in it\necho '# <<< safeshell <<<' >/dev/null\n"},
	"long":                    {".bashrc": strings.Repeat("alias x='y z'  # comment\n", 20000)},
	"space and quotes in dir": {"my files/it's.sh": "A=1\n", ".bashrc": "->my files/it's.sh"},
}

// build makes a home of the list above.
func build(t *testing.T, s sandbox, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(s.p.UserHome, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		mode := fs.FileMode(0o644)
		if m, rest, ok := strings.Cut(text, "|"); ok && len(m) == 4 && m[0] == '0' {
			_, err := fmt.Sscanf(m, "%o", &mode)
			must(t, err)
			text = rest
		}
		switch to, link := strings.CutPrefix(text, "->"); {
		case link:
			must(t, os.Symlink(strings.Replace(to, "@", s.p.UserHome, 1), path))
		case text == "dir":
			must(t, os.Mkdir(path, 0o755))
		default:
			must(t, os.WriteFile(path, []byte(text), mode))
			must(t, os.Chmod(path, mode))
		}
	}
}

func TestApplyUndo(t *testing.T) {
	for name, files := range dotfiles {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t, "plain", "cd")
			build(t, s, files)
			e := testEnv(nil, "bash", "zsh", "fish")
			before := snapshot(t, s)

			planned, err := Plan(e, s.p)
			must(t, err)
			same(t, before, snapshot(t, s))
			applied, err := Apply(e, s.p)
			must(t, err)
			if len(planned) != len(applied) {
				t.Fatalf("planned %+v, applied %+v", planned, applied)
			}
			for i := range applied {
				backup := applied[i].Backup
				applied[i].Backup = ""
				if applied[i] != planned[i] {
					t.Errorf("planned %+v, applied %+v", planned[i], applied[i])
				}
				if backup != "" && !strings.HasSuffix(before[realPath(t, applied[i].File)], read(t, backup)) {
					t.Errorf("%s is no backup of %s", backup, applied[i].File)
				}
				skipped := applied[i].Kind == Skip
				if f, err := load(applied[i].File); err == nil && !skipped {
					if n := bytes.Count(f.text, []byte("\n"+beginMark+"\n")) + bytes.Count(f.text[:min(len(f.text), len(beginMark)+1)], []byte(beginMark+"\n")); n != 1 {
						t.Errorf("%s: %d blocks:\n%s", applied[i].File, n, f.text)
					}
				}
			}
			set := snapshot(t, s)

			again, err := Apply(e, s.p)
			must(t, err)
			for _, c := range again {
				if c.Kind != None && c.Kind != Skip {
					t.Errorf("applied again: %+v", c)
				}
			}
			same(t, set, snapshot(t, s))
			for _, f := range Check(Env{Environ: []string{"PATH=" + s.p.shims()}, Has: e.Has}, s.p) {
				skipped := slices.ContainsFunc(applied, func(c Change) bool { return c.Kind == Skip && c.File == f.File })
				if (f.Level == Warn || f.Level == Fail) != skipped {
					t.Errorf("checked: %+v (skipped: %v)", f, skipped)
				}
			}

			_, err = Undo(e, s.p)
			must(t, err)
			same(t, before, snapshot(t, s))
			if undone, err := Undo(e, s.p); err != nil || len(undone) != 0 {
				t.Errorf("undone twice: %+v %v", undone, err)
			}
			left, err := os.ReadDir(s.p.Home)
			must(t, err)
			for _, l := range left {
				if l.Name() != "backup" && l.Name() != "shims" && l.Name() != "bin" {
					t.Errorf("left in SAFESHELL_HOME: %s", l.Name())
				}
			}
		})
	}
}

func realPath(t *testing.T, path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path
	}
	return real
}

// TestEditedAround: what the user adds, changes or takes away around the block
// stays as it is.
func TestEditedAround(t *testing.T) {
	for name, c := range map[string]struct{ before, edit, want string }{
		"added after":               {"A=1\n", "%sB=2\n", "A=1\nB=2\n"},
		"added after, no newline":   {"A=1", "%sB=2\n", "A=1\nB=2\n"},
		"added before":              {"A=1\n", "Z=0\n%s", "Z=0\nA=1\n"},
		"added after without":       {"A=1", "%sB=2", "A=1\nB=2"},
		"converted to CRLF":         {"A=1", "crlf", "A=1"},
		"trailing blanks at marks":  {"A=1\n", "blanks", "A=1\n"},
		"block moved to the middle": {"A=1\nB=2\n", "middle", "A=1\nB=2\n"},
		"block twice":               {"A=1", "%[1]s%[1]s", "A=1\nA=1"},
		"block twice, text between": {"A=1\n", "%[1]sB=2\n%[1]s", "A=1\nB=2\nA=1\n"},
		"block changed inside":      {"A=1\n", "inside", "A=1\n"},
		"created, then written to":  {"", "%sB=2\n", "B=2\n"},
		"created, block taken out":  {"", "empty", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t, "plain")
			path := s.p.UserHome + "/.profile"
			if c.before != "" {
				s.write(path, c.before)
			}
			e := testEnv(nil)
			_, err := Apply(e, s.p)
			must(t, err)
			text := read(t, path)
			switch c.edit {
			case "crlf":
				text = strings.ReplaceAll(text, "\n", "\r\n")
			case "blanks":
				text = strings.NewReplacer(beginMark, beginMark+" \t", endMark, endMark+" ").Replace(text)
			case "middle":
				i := strings.Index(text, beginMark)
				text = "A=1\n" + text[i:] + "B=2\n"
			case "inside":
				text = strings.Replace(text, "if [", "echo mine\nif [", 1)
			case "empty":
				text = ""
			default:
				text = fmt.Sprintf(c.edit, text)
			}
			s.write(path, text)
			_, err = Undo(e, s.p)
			must(t, err)
			if got := read(t, path); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestRepair: Apply puts right what Check finds.
func TestRepair(t *testing.T) {
	block := func(s sandbox, name string) string {
		for _, target := range targets(testEnv(nil, "bash", "zsh"), s.p) {
			if baseName(target.path) == name {
				return target.block(s.p, flags{})
			}
		}
		return ""
	}
	for name, c := range map[string]struct {
		file, text, want, says string
	}{
		"below the guard":       {".bashrc", debianBashrc + "@", "@" + debianBashrc, "below a line that may leave"},
		"inside if":             {".bashrc", "if true; then\n@fi\n", "@if true; then\nfi\n", "inside another statement"},
		"twice":                 {".bashrc", "@A=1\n@", "@A=1\n", "2 times"},
		"old text":              {".bashrc", "A=1\n" + beginMark + "\nold\n" + endMark + "\nB=1\n", "A=1\n@B=1\n", "edited or is of another version"},
		"new bash_profile":      {".bash_profile", "A=1\n", "A=1\n@", "hides .profile"},
		"after exec":            {".zprofile", "[ x ] && exec startx\n@", "@[ x ] && exec startx\n", "below a line"},
		"where the user put it": {".bashrc", "A=1\n@B=1\n", "A=1\n@B=1\n", ""},
		"taken out":             {".zshrc", "A=1\n", "A=1\n@", "no safeshell block"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t, "plain")
			path := s.p.UserHome + "/" + c.file
			e := testEnv([]string{"PATH=" + s.p.shims()}, "bash", "zsh")
			if c.file != ".bash_profile" {
				s.write(path, "")
			}
			_, err := Apply(e, s.p)
			must(t, err)
			s.write(path, "")
			b := block(s, c.file)
			s.write(path, strings.ReplaceAll(c.text, "@", b))
			var said []string
			for _, f := range Check(e, s.p) {
				if f.Level != OK && f.File == path {
					said = append(said, f.Message)
					if f.Fix != runInit {
						t.Errorf("fix %q", f.Fix)
					}
				}
			}
			if got := strings.Join(said, "; "); (c.says == "") != (got == "") || !strings.Contains(got, c.says) {
				t.Errorf("said %q, want %q", got, c.says)
			}
			_, err = Apply(e, s.p)
			must(t, err)
			if got := read(t, path); got != strings.ReplaceAll(c.want, "@", b) {
				t.Errorf("got\n%s\nwant\n%s", got, strings.ReplaceAll(c.want, "@", b))
			}
		})
	}
}

// TestBrokenMarkers: a file whose markers do not match is not touched.
func TestBrokenMarkers(t *testing.T) {
	for _, text := range []string{beginMark + "\nA=1\n", "A=1\n" + endMark + "\n", beginMark + "\n" + beginMark + "\n" + endMark + "\n", endMark + "\n" + beginMark + "\n"} {
		s := newSandbox(t, "plain")
		path := s.p.UserHome + "/.profile"
		s.write(path, text)
		for what, do := range map[string]func(Env, Params) ([]Change, error){"apply": Apply, "undo": Undo} {
			got, err := do(testEnv(nil), s.p)
			must(t, err)
			if i := slices.IndexFunc(got, func(c Change) bool { return c.File == path }); read(t, path) != text || strings.Contains(text, beginMark) && (i < 0 || got[i].Kind != Skip || !strings.Contains(got[i].Note, "line ")) {
				t.Errorf("%s of %q: %+v", what, text, got)
			}
		}
	}
}

// TestSkipNotes: a file that cannot be changed says what to add by hand, and
// that line works.
func TestSkipNotes(t *testing.T) {
	s := newSandbox(t, "it's", "cd")
	build(t, s, map[string]string{".bashrc": "0444|A=1\n", ".profile": "dir"})
	got, err := Apply(testEnv(nil, "bash"), s.p)
	must(t, err)
	for _, c := range got {
		_, line, ok := strings.Cut(c.Note, "add by hand: ")
		if c.Kind != Skip || !ok {
			t.Fatalf("%+v", c)
		}
		r := s.run(s.env(), "", "bash", "-c", line+"; printf '%s' \"${PATH%%:*}\"")
		if r.out != s.p.shims() {
			t.Errorf("%s: %+v", line, r)
		}
	}
}

// TestHardLinkAndOwner: a hard link stays one, mode and owner are kept.
func TestHardLinkAndOwner(t *testing.T) {
	s := newSandbox(t, "plain")
	path, other := s.p.UserHome+"/.profile", s.root+"/other"
	s.write(path, "A=1\n")
	must(t, os.Link(path, other))
	if os.Geteuid() == 0 {
		s.write(s.p.UserHome+"/.bashrc", "B=1\n")
		must(t, os.Chown(s.p.UserHome+"/.bashrc", 1234, 1235))
	}
	_, err := Apply(testEnv(nil, "bash"), s.p)
	must(t, err)
	if read(t, other) != read(t, path) || !strings.Contains(read(t, other), beginMark) {
		t.Error("the hard link was cut")
	}
	if os.Geteuid() == 0 {
		r := s.run(s.env(), "", "stat", "-c", "%u %g %a", s.p.UserHome+"/.bashrc")
		if r.out != "1234 1235 644\n" || !strings.Contains(read(t, s.p.UserHome+"/.bashrc"), beginMark) {
			t.Errorf("owner %s", r.out)
		}
	}
	_, err = Undo(testEnv(nil, "bash"), s.p)
	must(t, err)
	if read(t, other) != "A=1\n" {
		t.Errorf("%q", read(t, other))
	}
}

// TestChangedMeanwhile: a file that was written to since it was read is left.
func TestChangedMeanwhile(t *testing.T) {
	s := newSandbox(t, "plain")
	path := s.p.UserHome + "/.profile"
	s.write(path, "A=1\n")
	f, err := load(path)
	must(t, err)
	s.write(path, "A=2\n")
	if err := f.store([]byte("B\n")); err != errChanged || read(t, path) != "A=2\n" {
		t.Errorf("%v, %q", err, read(t, path))
	}
}

// TestUndoElsewhere: the record finds the files of another ZDOTDIR.
func TestUndoElsewhere(t *testing.T) {
	s := newSandbox(t, "plain")
	must(t, os.MkdirAll(s.p.UserHome+"/z\"\n", 0o755))
	before := snapshot(t, s)
	_, err := Apply(testEnv([]string{"ZDOTDIR=" + s.p.UserHome + "/z\"\n", "XDG_CONFIG_HOME=" + s.p.UserHome + "/new/x"}, "zsh", "fish"), s.p)
	must(t, err)
	if len(snapshot(t, s)) < len(before)+5 {
		t.Fatal("nothing was set up")
	}
	_, err = Undo(testEnv(nil), s.p)
	must(t, err)
	same(t, before, snapshot(t, s))
}

func TestSetupErrors(t *testing.T) {
	s := newSandbox(t, "plain")
	p := s.p
	p.UserHome = ""
	if _, err := Apply(testEnv(nil), p); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Error(err)
	}
	must(t, os.RemoveAll(s.p.Home))
	s.write(s.p.Home, "a file")
	if _, err := Apply(testEnv(nil), s.p); err == nil {
		t.Error("applied without static files")
	}
	if exists(s.p.UserHome + "/.profile") {
		t.Error("a block without its static file")
	}
}

// TestUnwritableDir: a file in a directory that takes no new files is written
// in place.
func TestUnwritableDir(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	s := newSandbox(t, "plain")
	s.write(s.p.UserHome+"/z/.zshrc", "A=1\n")
	must(t, os.Chmod(s.p.UserHome+"/z", 0o555))
	defer os.Chmod(s.p.UserHome+"/z", 0o755)
	e := testEnv([]string{"ZDOTDIR=" + s.p.UserHome + "/z"}, "zsh")
	got, err := Apply(e, s.p)
	must(t, err)
	for _, c := range got {
		if want := map[string]string{".profile": Create, ".zshrc": Append, ".zshenv": Skip, ".zprofile": Skip}[baseName(c.File)]; c.Kind != want {
			t.Errorf("%+v, want %s", c, want)
		}
	}
	_, err = Undo(e, s.p)
	must(t, err)
	if text := read(t, s.p.UserHome+"/z/.zshrc"); text != "A=1\n" {
		t.Errorf("%q", text)
	}
}

// A start-up file that cannot be read may hold the block: undo says so, and what
// the block calls stays.
func TestUndoUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	s := newSandbox(t, "plain")
	build(t, s, map[string]string{".bashrc": "A=1\n"})
	e := testEnv(nil, "bash")
	_, err := Apply(e, s.p)
	must(t, err)
	rc := filepath.Join(s.p.UserHome, ".bashrc")
	must(t, os.Chmod(rc, 0))
	t.Cleanup(func() { _ = os.Chmod(rc, 0o644) })
	undone, err := Undo(e, s.p)
	must(t, err)
	if !slices.ContainsFunc(undone, func(c Change) bool { return c.File == rc && c.Kind == Skip && c.Note != "" }) {
		t.Errorf("%+v", undone)
	}
	must(t, os.Chmod(rc, 0o644))
	if _, err := Undo(e, s.p); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(rc); err != nil || string(got) != "A=1\n" {
		t.Errorf("%q, %v", got, err)
	}
}
