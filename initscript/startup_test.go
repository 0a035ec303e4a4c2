package initscript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// systemd is the Env of the tests: these shells, no question to zsh.
func testEnv(environ []string, shells ...string) Env {
	return Env{Environ: environ, Has: func(s string) bool { return hasWord(strings.Join(shells, " "), s) }}
}

// TestStartupFiles is the table of the files that each way to start a shell
// reads (user files only). "bash -lic" and the like read no more than listed.
func TestStartupFiles(t *testing.T) {
	s := newSandbox(t, "plain")
	home := s.p.UserHome
	log := filepath.Join(s.root, "read")
	for _, f := range []string{".bash_profile", ".bash_login", ".profile", ".bashrc", ".zshenv", ".zprofile", ".zshrc", ".zlogin", ".config/fish/conf.d/a.fish", ".config/fish/config.fish"} {
		s.write(filepath.Join(home, f), "echo "+filepath.Base(f)+" >>"+log+"\n")
	}
	s.write(home+"/ENV", "echo ENV >>"+log+"\n")
	s.write(home+"/BASH_ENV", "echo BASH_ENV >>"+log+"\n")
	s.write(home+"/script", ":\n")
	for _, c := range []struct{ command, want string }{
		{"bash -c :", "BASH_ENV"}, {"bash " + home + "/script", "BASH_ENV"}, {"bash -lc :", ".bash_profile BASH_ENV"},
		{"bash -ic :", ".bashrc"}, {"bash -lic :", ".bash_profile"},
		{"bash --posix -c :", ""}, {"bash --posix -lc :", ""}, {"bash -p -c :", ""}, {"bash --norc -ic :", ""},
		{"bash --posix -ic :", "ENV"}, {"dash -ic :", "ENV"}, {"dash -c :", ""}, {"dash -lc :", ".profile"},
		{"zsh -c :", ".zshenv"}, {"zsh " + home + "/script", ".zshenv"}, {"zsh -lc :", ".zshenv .zprofile .zlogin"}, {"zsh -ic :", ".zshenv .zshrc"},
		{"zsh -lic :", ".zshenv .zprofile .zshrc .zlogin"}, {"zsh -f", ""},
		{"fish -c :", "a.fish config.fish"}, {"fish -lc :", "a.fish config.fish"}, {"fish -N -c :", ""},
	} {
		_ = os.Remove(log)
		argv := strings.Fields(c.command)
		if !has(argv[0]) {
			t.Log(argv[0] + " is not installed")
			continue
		}
		s.run(s.env("ENV="+home+"/ENV", "BASH_ENV="+home+"/BASH_ENV"), "", argv...)
		b, _ := os.ReadFile(log)
		if got := strings.Join(strings.Fields(string(b)), " "); got != c.want {
			t.Errorf("%s reads %q, want %q", c.command, got, c.want)
		}
	}
}

const debianBashrc = `# ~/.bashrc: executed by bash(1) for non-login shells.
case $- in
    *i*) ;;
      *) return;;
esac
PATH=/rc:$PATH
`

const debianProfile = `if [ -n "$BASH_VERSION" ]; then
    if [ -f "$HOME/.bashrc" ]; then
	. "$HOME/.bashrc"
    fi
fi
PATH="$HOME/bin:$PATH"
`

// TestLoginSaysNothingJudges: where safeshell is set up and cannot be run, each
// login shell says so and what to do; where it is not set up, it is silent.
func TestLoginSaysNothingJudges(t *testing.T) {
	for _, file := range []string{".profile", ".bash_profile"} {
		s := newSandbox(t, "it's")
		s.write(s.p.UserHome+"/"+file, ":\n")
		_, err := Apply(testEnv(nil, "bash"), s.p)
		must(t, err)
		ask := func() string { return s.run(s.env(), "", "bash", "-lc", "true").err }
		if said := ask(); said != "" {
			t.Errorf("%s, sound: %s", file, said)
		}
		must(t, os.Remove(s.p.Binary))
		want := "cannot be run; /bin/chmod u+rwx " + s.p.Home + ", or install safeshell again and run: safeshell init (to have it out: safeshell uninstall)\n"
		if said := ask(); !strings.HasPrefix(said, "safeshell: nothing is judged here: ") || !strings.HasSuffix(said, want) {
			t.Errorf("%s, no binary: %s", file, said)
		}
		must(t, os.RemoveAll(s.p.Home))
		if said := ask(); said != "" {
			t.Errorf("%s, not set up: %s", file, said)
		}
	}
}

// TestReach applies the set-up to a usual home and asks each way to start a
// shell where the shims are, from an environment that has none and from one
// that has them.
func TestReach(t *testing.T) {
	s := newSandbox(t, "plain")
	s.write(s.p.UserHome+"/.bashrc", debianBashrc)
	s.write(s.p.UserHome+"/.profile", debianProfile)
	_, err := Apply(testEnv(nil, "bash", "zsh", "fish"), s.p)
	must(t, err)
	const first, later, absent = "first", "later", "absent"
	for _, c := range []struct{ command, bare, inherited string }{
		{"bash -c", absent, first}, {"bash -lc", first, first}, {"bash -ic", later, later}, {"bash -lic", first, first},
		{"bash --posix -c", absent, first}, {"bash -p -c", absent, first}, {"dash -c", absent, first}, {"dash -lc", first, first}, {"dash -ic", absent, first},
		{"zsh -c", first, first}, {"zsh -lc", first, first}, {"zsh -ic", first, first}, {"zsh -lic", first, first}, {"zsh -f -c", absent, first},
		{"fish -c", first, first}, {"fish -lc", first, first}, {"fish -N -c", absent, first},
	} {
		argv := strings.Fields(c.command)
		if !has(argv[0]) {
			continue
		}
		for _, inherited := range []bool{false, true} {
			path, want := "/usr/bin:/bin", c.bare
			if inherited {
				path, want = s.p.shims()+":/usr/bin:/bin", c.inherited
			}
			r := s.run(s.env("PATH="+path), "", append(argv, `printf '%s' "$PATH"`)...)
			got := later
			if strings.HasPrefix(r.out, s.p.shims()+":") {
				got = first
			} else if !strings.Contains(r.out, s.p.shims()) {
				got = absent
			}
			if got != want {
				t.Errorf("%s, PATH=%s: shims %s, want %s: %s", c.command, path, got, want, r.out)
			}
			if noise := r.err; noise != "" && !strings.Contains(c.command, "i") {
				t.Errorf("%s: %s", c.command, noise)
			}
		}
	}
	// scp and rsync: sshd starts bash with a socket as standard input, and it
	// reads .bashrc; one byte of output breaks the protocol.
	r := s.run(append(s.env("SSH_CLIENT=::1 1 1", "SSH2_CLIENT=x"), "SHLVL="), "", "bash", "-c", `printf '%s' "${PATH%%:*}"`)
	if r.out != "/usr/bin" && r.out != s.p.shims() || r.err != "" {
		t.Errorf("ssh: %+v", r)
	}
	r = s.run(s.env(), "", "env", "-u", "SHLVL", "SSH_CLIENT=::1 1 1", "bash", "-c", `printf '%s' "${PATH%%:*}"`)
	if r.out != s.p.shims() || r.err != "" {
		t.Errorf("ssh: %+v", r)
	}
	// The dash that is told to read .bashrc at its start.
	r = s.run(s.env("ENV="+s.p.UserHome+"/.bashrc"), "", "dash", "-ic", `echo fine`)
	if r.out != "fine\n" || strings.Contains(r.err, "yntax") {
		t.Errorf("dash: %+v", r)
	}
}

// TestRemovedLogin: without SAFESHELL_HOME every start is as before.
func TestRemovedLogin(t *testing.T) {
	s := newSandbox(t, "plain", "cd", "source")
	_, err := Apply(testEnv(nil, "bash", "zsh", "fish"), s.p)
	must(t, err)
	must(t, os.RemoveAll(filepath.Dir(s.p.Home)))
	for _, command := range []string{"bash -lc", "bash -ic", "dash -lc", "zsh -lc", "zsh -lic", "fish -c", "bash -elc", "dash -elc", "zsh -euc"} {
		argv := strings.Fields(command)
		if !has(argv[0]) {
			continue
		}
		r := s.run(s.env(), "", append(argv, `cd /; echo $PATH`)...)
		if strings.Contains(r.out, "safeshell") || strings.Contains(r.err, "safeshell") || r.code != 0 || r.out == "" {
			t.Errorf("%s: %+v", command, r)
		}
	}
}

// names are the files of the targets, relative to the home directory.
func names(s sandbox, e Env) string {
	var out []string
	for _, t := range targets(e, s.p) {
		rel, err := filepath.Rel(s.p.UserHome, t.path)
		must(s.t, err)
		out = append(out, rel)
	}
	return strings.Join(out, " ")
}

func TestTargets(t *testing.T) {
	zsh := " .zshenv .zprofile .zshrc"
	for name, c := range map[string]struct {
		files, env, shells []string
		want               string
	}{
		"nothing":              {nil, nil, nil, ".profile"},
		"bash, empty":          {nil, nil, []string{"bash"}, ".bashrc .profile"},
		"bash_profile":         {[]string{".bash_profile", ".bash_login", ".profile"}, nil, []string{"bash"}, ".bashrc .bash_profile .profile"},
		"bash_login":           {[]string{".bash_login"}, nil, []string{"bash"}, ".bashrc .bash_login .profile"},
		"bashrc, no bash":      {[]string{".bashrc"}, nil, nil, ".bashrc .profile"},
		"zsh":                  {nil, nil, []string{"zsh"}, ".profile" + zsh},
		"zshrc, no zsh":        {[]string{".zshrc"}, nil, nil, ".profile" + zsh},
		"zdotdir":              {[]string{"z/.zshrc"}, []string{"ZDOTDIR=@/z"}, []string{"zsh"}, ".profile z/.zshenv z/.zprofile z/.zshrc"},
		"zdotdir, home zshenv": {[]string{"z/.zshrc", ".zshenv"}, []string{"ZDOTDIR=@/z"}, []string{"zsh"}, ".profile .zshenv z/.zshenv z/.zprofile z/.zshrc"},
		"zdotdir gone":         {nil, []string{"ZDOTDIR=@/gone"}, []string{"zsh"}, ".profile" + zsh},
		"zdotdir relative":     {nil, []string{"ZDOTDIR=."}, []string{"zsh"}, ".profile" + zsh},
		"editor's zdotdir":     {[]string{"vs/.zshrc", "z/.zshrc"}, []string{"ZDOTDIR=@/vs", "USER_ZDOTDIR=@/z"}, []string{"zsh"}, ".profile z/.zshenv z/.zprofile z/.zshrc"},
		"fish":                 {nil, nil, []string{"fish"}, ".profile .config/fish/conf.d/00-safeshell.fish"},
		"fish directory":       {[]string{".config/fish/config.fish"}, nil, nil, ".profile .config/fish/conf.d/00-safeshell.fish"},
		"fish, XDG":            {nil, []string{"XDG_CONFIG_HOME=@/x"}, []string{"fish"}, ".profile x/fish/conf.d/00-safeshell.fish"},
	} {
		s := newSandbox(t, "plain")
		for _, f := range c.files {
			s.write(filepath.Join(s.p.UserHome, f), "")
		}
		var environ []string
		for _, kv := range c.env {
			environ = append(environ, strings.Replace(kv, "@", s.p.UserHome, 1))
		}
		if got := names(s, testEnv(environ, c.shells...)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestSystem asks the real zsh for its ZDOTDIR, and takes links to safeshell
// for no shell.
func TestSystem(t *testing.T) {
	need(t, "zsh")
	s := newSandbox(t, "plain")
	s.write(s.p.UserHome+"/.zshenv", "echo noise; print -n '<more>'; ZDOTDIR=\"$HOME/z dir\"\n")
	s.write(s.p.UserHome+"/z dir/.zshrc", "")
	e := System(s.env(), s.p)
	if got, want := names(s, e), ".zshenv z dir/.zshenv z dir/.zprofile z dir/.zshrc"; !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	dir := filepath.Join(s.root, "links")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.Symlink(s.p.Binary, dir+"/bash"))
	if got := (Env{Environ: []string{"PATH=" + dir + ":."}}).find("bash", s.p); strings.HasPrefix(got, dir) {
		t.Errorf("safeshell's link is a bash: %s", got)
	}
}
