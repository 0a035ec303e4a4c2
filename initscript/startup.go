package initscript

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Env is what the set-up needs to know of the system.
type Env struct {
	// Environ is the environment, NAME=value; the last of a name counts.
	Environ []string
	// Has says whether a shell (bash, zsh, fish) is installed.
	Has func(shell string) bool
	// ZDotDir returns the ZDOTDIR that zsh has after .zshenv, or "". It is
	// asked only when the environment has none. nil: nobody is asked.
	ZDotDir func() string
}

// System returns the Env of this machine for an environment. Shells are looked
// for in PATH and the usual places; p.Binary under a shell's name is none.
func System(environ []string, p Params) Env {
	e := Env{Environ: environ}
	e.Has = func(shell string) bool { return e.find(shell, p) != "" }
	e.ZDotDir = func() string {
		zsh := e.find("zsh", p)
		if zsh == "" {
			return ""
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		c := exec.CommandContext(ctx, zsh, "-c", `\builtin print -rn -- "<${ZDOTDIR-}>"`)
		c.Env, c.WaitDelay = environ, time.Second
		out, err := c.Output()
		// The user's .zshenv may print too: ours is the last.
		s, ok := strings.CutSuffix(string(out), ">")
		i := strings.LastIndexByte(s, '<')
		if err != nil || !ok || i < 0 {
			return ""
		}
		return s[i+1:]
	}
	return e
}

func (e Env) get(name string) string {
	for _, kv := range slices.Backward(e.Environ) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// find returns the first executable of that name that is not safeshell itself
// (SAFESHELL_HOME/shell holds links to it that are called bash and zsh).
func (e Env) find(name string, p Params) string {
	self, _ := os.Stat(p.Binary)
	dirs := append(filepath.SplitList(e.get("PATH")), "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin", "/run/current-system/sw/bin")
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && !(self != nil && os.SameFile(self, info)) {
			return path
		}
	}
	return ""
}

// place says where in a start-up file the block goes.
type place int

const (
	// atEnd: after all that the file itself does to PATH.
	atEnd place = iota
	// atTop: above a guard that leaves when the shell is not interactive.
	atTop
)

// target is a start-up file that gets a block.
type target struct {
	path   string
	shell  string // whose script it sources
	guard  string // the variable that tells that this shell reads the file
	place  place
	source string // the static file
}

// targets lists the start-up files to set up, in the order that people are
// shown them.
func targets(e Env, p Params) []target {
	var out []target
	home := p.UserHome
	in := func(dir string, names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return exists(filepath.Join(dir, n)) })
	}
	if e.Has("bash") || in(home, ".bashrc", ".bash_profile", ".bash_login") {
		out = append(out, target{path: filepath.Join(home, ".bashrc"), shell: "bash", guard: "BASH_VERSION", place: atTop})
		// bash reads the first of these only. None is created: it would hide
		// those that come after it. .profile, the last, is below.
		for _, n := range []string{".bash_profile", ".bash_login"} {
			if in(home, n) {
				out = append(out, target{path: filepath.Join(home, n), shell: "bash", guard: "BASH_VERSION"})
				break
			}
		}
	}
	// Read by sh, by graphical logins, and by bash when it has none of its own.
	out = append(out, target{path: filepath.Join(home, ".profile"), shell: "sh"})
	zdir := zdotdir(e, p)
	if e.Has("zsh") || in(home, zshFiles...) || in(zdir, zshFiles...) {
		// Before ZDOTDIR is set, .zshenv is read from the home directory.
		if zdir != home && in(home, ".zshenv") {
			out = append(out, target{path: filepath.Join(home, ".zshenv"), shell: "sh"})
		}
		out = append(out,
			target{path: filepath.Join(zdir, ".zshenv"), shell: "sh"},
			target{path: filepath.Join(zdir, ".zprofile"), shell: "sh"},
			target{path: filepath.Join(zdir, ".zshrc"), shell: "zsh", guard: "ZSH_VERSION"})
	}
	if fish := fishDir(e, p); e.Has("fish") || exists(fish) {
		out = append(out, target{path: filepath.Join(fish, "conf.d", "00-safeshell.fish"), shell: "fish"})
	}
	if e.Has("pwsh") {
		out = append(out, target{path: pwshProfile(e, p), shell: "pwsh"})
	}
	out = merged(out)
	for i := range out {
		out[i].source = EnvFile(out[i].shell, p)
	}
	return out
}

// merged leaves one target for several names of one file (links between
// start-up files); where its readers differ, it gets what every shell can read.
func merged(in []target) []target {
	var out []target
	at := map[string]int{}
	for _, t := range in {
		real, err := filepath.EvalSymlinks(t.path)
		if i, ok := at[real]; err == nil && ok {
			o := &out[i]
			if o.shell != t.shell {
				o.shell, o.guard = "sh", ""
			}
			o.place = max(o.place, t.place)
			continue
		}
		if err == nil {
			at[real] = len(out)
		}
		out = append(out, t)
	}
	return out
}

var zshFiles = []string{".zshenv", ".zprofile", ".zshrc", ".zlogin"}

// removable lists every file that a block may have been written to, also in
// an environment that has changed since.
func removable(e Env, p Params) []string {
	home, zdir := p.UserHome, zdotdir(e, p)
	var out []string
	for _, n := range []string{".bashrc", ".bash_profile", ".bash_login", ".profile"} {
		out = append(out, filepath.Join(home, n))
	}
	for _, dir := range []string{home, zdir} {
		for _, n := range zshFiles {
			out = append(out, filepath.Join(dir, n))
		}
	}
	for _, dir := range []string{fishDir(e, p), filepath.Join(home, ".config", "fish")} {
		out = append(out, filepath.Join(dir, "conf.d", "00-safeshell.fish"))
	}
	out = append(out, pwshProfile(e, p))
	out = append(out, recorded(p)...)
	slices.Sort(out)
	return slices.Compact(out)
}

// zdotdir is the directory of zsh's start-up files.
func zdotdir(e Env, p Params) string {
	// VS Code starts zsh with a ZDOTDIR of its own and says whose it replaced.
	dir := e.get("USER_ZDOTDIR")
	if dir == "" {
		dir = e.get("ZDOTDIR")
	}
	if dir == "" && e.ZDotDir != nil {
		dir = e.ZDotDir()
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || !filepath.IsAbs(dir) {
		return p.UserHome
	}
	return filepath.Clean(dir)
}

func fishDir(e Env, p Params) string { return filepath.Join(configDir(e, p), "fish") }

// pwshProfile is $PROFILE.CurrentUserAllHosts.
func pwshProfile(e Env, p Params) string {
	return filepath.Join(configDir(e, p), "powershell", "profile.ps1")
}

func configDir(e Env, p Params) string {
	if dir := e.get("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.UserHome, ".config")
}

// exists is true also for a link that leads nowhere.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

const (
	beginMark = "# >>> safeshell >>>"
	endMark   = "# <<< safeshell <<<"
	about     = `# Written by "safeshell init"; "safeshell init --undo" takes it out again.`
	undoMark  = "# undo:"
)

// block is the text of a target's block. flags are for undo.
func (t target) block(p Params, f flags) string {
	var b strings.Builder
	b.WriteString(beginMark + "\n" + about + "\n" + f.lines())
	path := fromHome(t.source, p, t.shell)
	if t.shell == "pwsh" {
		return b.String() + t.byHand(p) + "\n" + endMark + "\n"
	}
	home, shims := fromHome(p.Home, p, t.shell), fromHome(p.shims(), p, t.shell)
	if t.shell == "fish" {
		b.WriteString("if test -r " + path + "\n    source " + path + "\nelse if test -d " + home + "; and not test -x " + home + "\n" +
			"    set -gx PATH " + shims + "\n    echo " + quoteFish(closed) + " " + home + " " + shims + " >&2\nend\n" + endMark + "\n")
		return b.String()
	}
	when := "[ -r " + path + " ]"
	if t.guard != "" {
		when = "[ -n \"${" + t.guard + "-}\" ] && " + when
	}
	// Only where a person or an agent gives commands: a desktop's session goes on.
	b.WriteString("if " + when + "; then\n  \\. " + path + "\nelif [ -d " + home + " ] && ! [ -x " + home + " ] && [ \"${PATH-}\" != " + shims + " ]; then\n" +
		"  case $-${ZSH_EXECUTION_STRING+c} in\n  *[ic]*)\n    PATH=" + shims + "\n    \\export PATH\n    \\echo " + quoteSh(closed) + " " + home + " " + shims + " >&2\n    ;;\n  esac\nfi\n")
	if strings.HasSuffix(t.path, "profile") {
		// Read by login shells alone: what nobody would be told of is said there. A
		// machine without safeshell, with which the file is shared, says nothing.
		bin := fromHome(filepath.Join(p.Home, "bin", "safeshell"), p, t.shell)
		b.WriteString("if [ -d " + home + " ] && ! [ -x " + bin + " ] && [ \"${PATH-}\" != " + shims + " ]; then\n" +
			"  \\echo 'safeshell: nothing is judged here: '" + bin + "' cannot be run; /bin/chmod u+rwx '" + home + "', or install safeshell again and run: safeshell init (to have it out: safeshell uninstall)' >&2\nfi\n")
	}
	b.WriteString(endMark + "\n")
	return b.String()
}

// fromHome quotes a path for a start-up file; one below the home directory is
// written with $HOME, so that files shared between machines fit each.
func fromHome(path string, p Params, shell string) string {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(filepath.Clean(p.UserHome), "/")+"/")
	ok = ok && filepath.IsAbs(p.UserHome) && filepath.Clean(p.UserHome) != "/"
	switch {
	case shell == "pwsh" && ok && octal(rest) == rest:
		return `"$HOME/` + rest + `"`
	case shell == "pwsh":
		return quotePwsh(path)
	case ok && shell == "fish" && octal(rest) == rest:
		return `"$HOME/` + rest + `"`
	case ok && shell == "fish":
		return `"$HOME"/` + quoteFish(rest)
	case shell == "fish":
		return quoteFish(path)
	case ok && octal(rest) == rest:
		return `"${HOME-}/` + rest + `"`
	case ok:
		return `"${HOME-}"/` + quoteSh(rest)
	}
	return quoteSh(path)
}
