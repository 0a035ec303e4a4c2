package script

import (
	"slices"
	"strings"
)

// What is known of how names lead to programs: whether a command that a text runs
// is looked up in the PATH that the text was given. All that safeshell leaves to a
// shim rests on it, so a program counts as handing PATH on only if it stands in
// handsOn or is dealt with in pathLost; of any other it is not known.

// Shims asks the analysis for Command.Astray.
type Shims struct {
	// Dir comes first in the PATH that the text is given; a text that puts it there
	// itself loses nothing.
	Dir string
	// Starts reports whether a shell of this name leaves PATH as it is given until
	// its first command: which start-up files it reads, and what they say.
	Starts func(shell string, login, interactive bool) bool
}

// handsOn are programs that start others by name, from the environment that they
// were given, before whose PATH they put nothing that could hold a program of the
// same name.
const handsOn = " nohup gnohup nice gnice ionice time gtime timeout gtimeout stdbuf gstdbuf setsid chrt taskset numactl " +
	"ltrace eatmydata chronic prlimit fakeroot xvfb-run unbuffer rlwrap faketime catchsegv valgrind softlimit setlock " +
	"env genv strace command builtin exec noglob nocorrect - repeat coproc zargs sched emulate " +
	"xargs gxargs find gfind bfs fd fdfind sed gsed git make gmake watch hyperfine tini dumb-init " +
	"parallel flock script entr cross-env cross-env-shell perf unshare setarch linux32 linux64 "

// viaShell are those that hand text to the shell that $SHELL names.
const viaShell = " parallel flock script entr "

func among(list, name string) bool { return name != "" && strings.Contains(list, " "+name+" ") }

// otherHome are those that give what they run the home of a user of their choice.
// (What sudo and doas remove is in root's trash, as for trash-cli.)
const otherHome = " su runuser setpriv gosu su-exec setuidgid s6-setuidgid chpst pkexec run0 systemd-run machinectl "

// plainShells have no rm of their own and read no start-up file without being
// told to, but for zsh, which Shims.Starts is asked about.
const plainShells = " sh dash bash rbash posh yash ksh ksh93 mksh zsh rzsh "

// astray says why the name of a command may lead elsewhere than to the first
// program of that name in the PATH that the text was given; "" where it cannot.
func (a *analyzer) astray(k *call) string {
	if a.o.Shims == nil || len(k.argv) == 0 {
		return ""
	}
	name, _ := k.argv[0].Text()
	st := k.st
	switch {
	case k.c.astray != "":
		return k.c.astray
	case k.noEnv || st.noEnv:
		return "it runs in another environment"
	case st.foreign != "":
		return st.foreign
	case st.lost:
		return "code that is not known may have changed PATH before"
	case !k.outside && st.hashed[name] != "":
		return "the shell was told to run " + st.hashed[name] + " for " + name
	}
	for _, as := range k.assigns {
		if as.Name == "PATH" && !a.shimsFirst(as.Value) {
			return "it is given a PATH of its own"
		}
	}
	for _, n := range [...]string{"PATH", "path"} {
		v, set := st.vars[n]
		if set && (n == "PATH" || k.c.src != nil && k.c.src.lang == Zsh) && !(v.kind == isScalar && a.shimsFirst(Word{Parts: v.parts})) {
			return "PATH is set in the text"
		}
	}
	return ""
}

// swayed names a variable that leads what is put in the trash elsewhere.
func (a *analyzer) swayed(k *call) string {
	if a.o.Shims == nil || len(k.argv) == 0 {
		return ""
	}
	if k.c.swayed != "" {
		return k.c.swayed
	}
	for _, n := range [...]string{"HOME", "XDG_DATA_HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		scratch := n != "HOME" && n != "XDG_DATA_HOME"
		if v, ok := k.st.vars[n]; ok && !(scratch && (v.kind == isUnset || a.isScratch(v.parts))) {
			return n
		}
		for _, as := range k.assigns {
			if as.Name == n && !(scratch && a.isScratch(as.Value.Parts)) {
				return n
			}
		}
	}
	return ""
}

// isScratch reports whether a path is one for scratch files whatever it is called,
// and nobody lives there.
func (a *analyzer) isScratch(parts []Part) bool {
	if len(parts) == 0 || parts[0].Kind == TempPath {
		return true
	}
	under := func(s, dir string) bool { return strings.HasPrefix(s+"/", dir) }
	home := ""
	if a.o.Lookup != nil {
		home, _ = a.o.Lookup("HOME")
	}
	for _, dir := range [...]string{"/tmp/", "/var/tmp/"} {
		if parts[0].Kind == Literal && under(parts[0].Text, dir) && !under(home, dir) {
			return true
		}
	}
	return false
}

// shimsFirst reports whether a value of PATH begins with the shims.
func (a *analyzer) shimsFirst(w Word) bool {
	if len(w.Parts) == 0 || w.Parts[0].Kind != Literal {
		return false
	}
	rest, ok := strings.CutPrefix(w.Parts[0].Text, a.o.Shims.Dir)
	return ok && (rest == "" && len(w.Parts) == 1 || strings.HasPrefix(rest, ":"))
}

// pass notes in c, which surrounds what k itself runs, how k changes the environment.
func (k *call) pass(c *ctx) {
	if c.o == nil || c.o.Shims == nil || len(k.argv) == 0 {
		return
	}
	if c.astray == "" {
		c.astray = "there is too much in it"
		if k.st.budget.Spend(len(k.argv) / 4) {
			c.astray = pathLost(k, c.o.Shims)
		}
	}
	if t, _ := k.argv[0].Text(); among(otherHome, base(t)) {
		c.swayed = "HOME"
	}
}

// pathLost says why what k runs may not get the PATH that k was given.
func pathLost(k *call, s *Shims) string {
	name := ""
	if len(k.argv) > 0 {
		t, _ := k.argv[0].Text()
		name = base(t)
	}
	args := k.argv[min(1, len(k.argv)):]
	switch {
	case shellDialect(name) != "":
		return s.shellLost(k, name, args)
	case interpreterOf(name) != "":
		return interpLost(name, args)
	case !among(handsOn, name):
		return "what PATH " + name + " gives to it is not known"
	case among(viaShell, name):
		sh, ok := k.variable("SHELL")
		if ok && (!among(plainShells, base(sh)) || !s.starts(base(sh), false, false)) {
			return name + " runs it in " + sh + ", whose start-up files may change PATH"
		}
	}
	for _, w := range args {
		t, _ := w.Text()
		switch {
		case name == "command" && strings.HasPrefix(t, "-") && strings.Contains(t, "p"):
			return "command -p has a PATH of its own"
		case name == "exec" && strings.HasPrefix(t, "-") && strings.ContainsAny(t, "cl"):
			return "exec " + t + " changes the environment, or starts a login shell"
		case (name == "env" || name == "genv") && (strings.HasPrefix(t, "-S") || strings.HasPrefix(t, "--split") || strings.HasPrefix(t, "-P") || strings.HasPrefix(t, "-vS")):
			return "env " + clip(t) + " is not looked into for PATH"
		case name == "strace" && (strings.HasPrefix(t, "-E") || strings.HasPrefix(t, "--env")):
			return "strace sets its environment"
		case name == "git" && strings.HasPrefix(t, "--exec-path="):
			return "git puts its exec-path before PATH"
		case (name == "make" || name == "gmake") && (strings.HasPrefix(t, "PATH") || strings.HasPrefix(t, "SHELL")):
			return "make is given another PATH or shell"
		}
		if name != "make" && name != "gmake" && name != "git" && !strings.HasPrefix(t, "-") {
			break // its own options end here
		}
	}
	return ""
}

func (s *Shims) starts(shell string, login, interactive bool) bool {
	return s.Starts != nil && s.Starts(shell, login, interactive)
}

// shellLost looks at how a shell is started.
func (s *Shims) shellLost(k *call, name string, args []Word) string {
	login, interactive := strings.HasPrefix(name, "-"), false
	shell := strings.TrimPrefix(name, "-")
	if !among(plainShells, shell) {
		return shell + " may have commands of its own, or read start-up files"
	}
	for _, w := range args {
		t, ok := w.Text()
		if !ok || len(t) < 2 || t[0] != '-' && t[0] != '+' {
			break
		}
		switch {
		case t == "--login":
			login = true
		case strings.HasPrefix(t, "--"):
			interactive = interactive || t == "--rcfile" || t == "--init-file"
		default:
			login = login || strings.Contains(t, "l")
			interactive = interactive || strings.Contains(t, "i")
		}
	}
	for _, n := range [...]string{"BASH_ENV", "ENV", "ZDOTDIR"} {
		if _, set := k.variable(n); set || slices.ContainsFunc(k.assigns, func(as Assign) bool { return as.Name == n }) {
			if zsh := strings.HasSuffix(shell, "zsh"); zsh == (n == "ZDOTDIR") {
				return shell + " reads the file that " + n + " names, which may change PATH"
			}
		}
	}
	if (login || interactive || strings.HasSuffix(shell, "zsh")) && !s.starts(shell, login, interactive) {
		return "start-up files of " + shell + " may change PATH"
	}
	return ""
}

// interpLost looks for code that changes the environment of what it starts.
func interpLost(name string, args []Word) string {
	switch interpreterOf(name) {
	case langPython, langJS, langPerl, langRuby, langPHP, langAwk:
	default:
		return "what PATH " + name + " gives to it is not known"
	}
	for _, w := range args {
		for _, p := range w.Parts {
			if why := codeLost(p.Text); why != "" {
				return why
			}
		}
	}
	return ""
}

// codeLost finds the words by which code in other languages, and makefiles, set
// the environment of what they start.
func codeLost(code string) string {
	if strings.Contains(code, "PATH") || strings.Contains(code, "ENV") || strings.Contains(code, "env") || strings.Contains(code, "execve") || strings.Contains(code, "execle") || strings.Contains(code, "SHELL") {
		return "the code around it may change PATH"
	}
	return ""
}

// variable is the value of a variable as k's environment has it.
func (k *call) variable(name string) (string, bool) {
	if v, ok := k.st.vars[name]; ok {
		t, known := Word{Parts: v.parts}.Text()
		if v.kind == isUnset {
			return "", false
		}
		if v.kind != isScalar || !known {
			return "", true
		}
		return t, t != ""
	}
	if k.c.o == nil || k.c.o.Lookup == nil {
		return "", false
	}
	t, ok := k.c.o.Lookup(name)
	return t, ok && t != ""
}
