package script

import (
	"safeshell/command"
	"slices"
	"strings"
)

// carries names the programs that carrier looks into.
func carries(name string) bool {
	switch name {
	case "xargs", "gxargs", "parallel", "find", "gfind", "bfs", "fd", "fdfind", "zargs",
		"su", "flock", "script", "tmux", "byobu", "byobu-tmux", "tmate", "screen", "byobu-screen", "at", "batch", "crontab", "busybox", "toybox", "shx", "expect",
		"tar", "gtar", "bsdtar", "rg", "rsync", "make", "gmake", "colormake", "ssh", "autossh", "mosh", "sshpass", "scp", "sftp",
		"docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc", "crictl", "lxc", "incus", "multipass",
		"limactl", "lima", "vagrant", "adb", "distrobox", "toolbox", "ansible", "pdsh", "gcloud", "heroku", "machinectl",
		"gh", "coder", "devpod", "tailscale", "tsh", "doctl",
		"git", "npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun", "mise", "asdf", "rbenv", "pyenv", "nodenv", "direnv", "nix",
		"nix-shell", "poetry", "pipenv", "pdm", "uv", "uvx", "pipx", "hatch", "rye", "conda", "mamba", "micromamba", "bundle",
		"rustup", "devbox", "perf", "emacs", "emacsclient", "cargo", "nodemon", "concurrently", "hyperfine", "i3-msg", "swaymsg", "hyprctl", "vim", "vi", "nvim", "ex",
		"doppler", "bazel", "bazelisk", "fly", "flyctl", "aws", "cf", "et",
		"capsh", "flatpak", "snap", "start-stop-daemon", "lldb", "rr", "gdbserver", "cgdb", "just", "start-server-and-test", "server-test", "start-test", "mvn", "mvnw",
		"guix", "devenv", "tox", "nvm", "fnm", "volta", "nx", "pueue", "meta", "gita", "salt-call",
		"gdb", "sqlite3", "psql", "mysql", "mariadb", "sed", "gsed", "safeshell", "pwsh", "powershell":
		return true
	}
	return strings.HasPrefix(name, "git-")
}

// carrier follows programs that run other programs in ways of their own.
func (a *analyzer) carrier(k *call, i int, name string) bool {
	switch name {
	case "xargs", "gxargs":
		a.xargs(k, i)
	case "parallel":
		a.parallel(k, i)
	case "find", "gfind", "bfs":
		a.find(k, i, name)
	case "fd", "fdfind":
		a.fd(k, i, name)
	case "zargs":
		a.zargs(k, i)
	case "su":
		k.c.sink.lose()
		inner := *k
		inner.noEnv = true
		a.su(&inner, k, name)
	case "flock":
		a.flock(k, i)
	case "script":
		a.scriptCmd(k, i)
	case "tmux", "byobu", "byobu-tmux", "tmate":
		a.tmux(k, i)
	case "screen", "byobu-screen":
		a.screen(k, i)
	case "at", "batch":
		a.at1(k, name)
	case "crontab":
		a.crontab(k)
	case "busybox", "toybox", "shx":
		a.applet(k, i, name)
	case "git":
		a.git(k, i)
	case "ssh", "autossh", "mosh":
		a.ssh(k, i, name)
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose":
		a.docker(k, i, name)
	case "make", "gmake", "colormake":
		a.make(k, name)
	case "sed", "gsed":
		a.output(k, name)
		a.writes(k, name)
		a.sed(k, i, name)
	default:
		return a.moreCarriers(k, i, name)
	}
	return true
}

func (a *analyzer) moreCarriers(k *call, i int, name string) bool {
	switch name {
	case "tar", "gtar", "bsdtar", "rg", "rsync", "scp", "sftp", "expect", "pwsh", "powershell", "nodemon", "cargo", "emacs", "emacsclient":
		k.c.sink.lose()
		a.optionCode(k, name)
	case "vim", "vi", "nvim", "ex", "gdb", "sqlite3", "psql", "mysql", "mariadb":
		k.c.sink.lose()
		a.escapes(k, name)
		if name == "gdb" {
			a.launcher(k, i, name)
		}
	case "doppler", "bazel", "bazelisk", "fly", "flyctl", "aws", "cf", "et":
		k.c.sink.lose()
		a.optionCommands(k, i, name)
	case "capsh", "flatpak", "snap", "start-stop-daemon", "lldb", "rr", "gdbserver", "cgdb", "just", "start-server-and-test", "server-test", "start-test", "mvn", "mvnw":
		a.launcher(k, i, name)
	case "concurrently", "hyperfine", "i3-msg", "swaymsg", "hyprctl":
		k.c.sink.lose()
		a.operandCode(k, name)
	case "kubectl", "oc", "crictl", "lxc", "incus", "multipass", "limactl", "lima", "vagrant", "adb", "distrobox", "toolbox",
		"ansible", "pdsh", "gcloud", "heroku", "machinectl", "gh", "coder", "devpod", "tailscale", "tsh", "doctl":
		k.c.sink.lose()
		a.remote(k, i, name)
	case "sshpass":
		_, at, _ := scan(k.argv, 1, command.Of("sshpass"))
		a.tailAt(k, i, at, name)
	default:
		if at, code, ok := runnerTail(name, k.argv); ok {
			k.c.sink.lose()
			if code != nil {
				a.codeWord(*code, POSIX, a.child(k), k.inner(name), "the code given to "+name)
			}
			if at > 0 {
				a.packageAt(k, i, at, name)
			}
			return name != "bun"
		}
		return false
	}
	return true
}

// tailAt runs the words from at on, if there are any.
func (a *analyzer) tailAt(k *call, i, at int, via string) {
	if at <= 0 || at >= len(k.argv) {
		return
	}
	t := k.after(i, at, via)
	t.outside = true
	a.run(t)
}

// packageAt is tailAt for runners of packages, which may be given with a version.
func (a *analyzer) packageAt(k *call, i, at int, via string) {
	if at < len(k.argv) {
		if t, ok := k.argv[at].Text(); ok {
			if j := strings.LastIndexByte(t, '@'); j > 0 && !strings.Contains(t, ":") {
				k = &call{argv: slices.Clone(k.argv), assigns: k.assigns, redirs: k.redirs, dir: k.dir, st: k.st, c: k.c, span: k.span, fed: k.fed, noEnv: k.noEnv, outside: k.outside}
				k.argv[at] = Lit(t[:j])
				k.argv[at].Span = Span{}
				inner := k.after(i, at, via)
				inner.tail, inner.outside = 0, true
				a.run(inner)
				return
			}
		}
	}
	a.tailAt(k, i, at, via)
}

// su follows su and runuser without -u: -c code, for another user.
func (a *analyzer) su(inner, k *call, name string) {
	var codes []Word
	d := POSIX
	args := k.argv[1:]
	for j := 0; j < len(args); j++ {
		t, ok := args[j].Text()
		if !ok || len(t) < 2 || t[0] != '-' {
			if len(args[j].Parts) > 0 && args[j].Parts[0].Kind == Literal && strings.HasPrefix(args[j].Parts[0].Text, "--command=") {
				codes = append(codes, trimWord(args[j], len("--command=")))
			}
			continue
		}
		switch {
		case t == "--command" || t == "--session-command" || t[1] != '-' && t[len(t)-1] == 'c':
			if j++; j < len(args) {
				codes = append(codes, args[j])
			}
		case strings.HasPrefix(t, "--command="), strings.HasPrefix(t, "--session-command="):
			_, v, _ := strings.Cut(t, "=")
			codes = append(codes, Lit(v))
		case strings.HasPrefix(t, "-c"):
			codes = append(codes, Lit(t[2:]))
		case t == "-s" || t == "--shell":
			if j++; j < len(args) {
				if s, _ := args[j].Text(); shellDialect(base(s)) != "" {
					d = shellDialect(base(s))
				}
			}
		case t == "-g" || t == "-G" || t == "-w" || t == "--group" || t == "--supp-group":
			j++
		}
	}
	c := k.inner(name)
	inner.noEnv = true
	if len(codes) == 0 {
		a.ownShell(inner, name)
		return
	}
	st := a.child(inner)
	if hasWord(args, "-") || hasFlag(args, 'l') || hasWord(args, "--login") {
		st.dir = noDir()
	}
	for _, w := range codes {
		a.codeWord(w, d, st, c, "the code given to "+name)
	}
}

// flock runs a command, or code after -c, with a lock held.
func (a *analyzer) flock(k *call, i int) {
	_, at, _ := scan(k.argv, 1, command.Of("flock"))
	at++ // the file
	if at >= len(k.argv) {
		return
	}
	if t, _ := k.argv[at].Text(); (t == "-c" || t == "--command") && at+1 < len(k.argv) {
		a.codeWord(k.argv[at+1], POSIX, a.child(k), k.inner("flock"), "the code given to flock")
		return
	}
	a.tailAt(k, i, at, "flock")
}

// scriptCmd runs -c code, or (BSD) the words after the file.
func (a *analyzer) scriptCmd(k *call, i int) {
	k.c.sink.lose()
	opts, at, _ := scan(k.argv, 1, command.Of("script"))
	for _, o := range opts {
		if (o.name == "-c" || o.name == "--command") && o.value != nil {
			a.codeWord(*o.value, POSIX, a.child(k), k.inner("script"), "the code given to script")
		}
	}
	for j := at; j+1 < len(k.argv); j++ { // options may follow the file
		if t, _ := k.argv[j].Text(); t == "-c" || t == "--command" || len(t) > 2 && t[0] == '-' && t[1] != '-' && t[len(t)-1] == 'c' {
			a.codeWord(k.argv[j+1], POSIX, a.child(k), k.inner("script"), "the code given to script")
			return
		}
	}
	if at+1 < len(k.argv) {
		a.tailAt(k, i, at+1, "script")
	}
}

// applet follows busybox rm x: the applet is the command.
func (a *analyzer) applet(k *call, i int, name string) {
	if len(k.argv) < 2 {
		return
	}
	if t, _ := k.argv[1].Text(); strings.HasPrefix(t, "-") {
		return
	}
	a.tailAt(k, i, 1, name)
}

// at1 follows at and batch, which read code.
func (a *analyzer) at1(k *call, name string) {
	k.c.sink.lose()
	for j := 1; j < len(k.argv); j++ {
		switch t, _ := k.argv[j].Text(); t {
		case "-f":
			if j+1 < len(k.argv) {
				a.runFile(k.argv[j+1], k, k.inner(name), POSIX, a.child(k))
				return
			}
		case "-l", "-d", "-r", "-c", "-q":
			if t != "-q" {
				return
			}
		}
	}
	if k.c.stdin != nil {
		a.codeWord(*k.c.stdin, POSIX, a.child(k), k.inner(name), "the input of "+name)
	}
}

// crontab lists the commands of a table that it reads from a known input.
func (a *analyzer) crontab(k *call) {
	k.c.sink.lose()
	if k.c.stdin == nil || !hasWord(k.argv[1:], "-") && len(k.argv) > 1 {
		return
	}
	t, ok := k.c.stdin.Text()
	if !ok {
		return
	}
	for line := range strings.Lines(t) {
		line = strings.TrimSpace(line)
		f := strings.Fields(line)
		skip := 5
		if strings.HasPrefix(line, "@") {
			skip = 1
		}
		if line == "" || line[0] == '#' || len(f) <= skip || strings.Contains(f[0], "=") {
			continue
		}
		for range skip {
			line = strings.TrimLeft(line, " \t")
			line = line[strings.IndexAny(line, " \t"):]
		}
		code, _, _ := strings.Cut(line, "%")
		c := k.inner("crontab")
		c.stdin, c.fedBy, c.sink = nil, nil, nil
		a.codeWord(Lit(strings.TrimSpace(code)), POSIX, &state{dir: noDir(), noEnv: true, paramsLost: true}, c, "a line of the crontab")
	}
}

// zargs follows zsh's zargs -- args -- command.
func (a *analyzer) zargs(k *call, i int) {
	k.c.sink.lose()
	var at []int
	for j := 1; j < len(k.argv); j++ {
		if t, ok := k.argv[j].Text(); ok && t == "--" {
			at = append(at, j)
		}
	}
	if len(at) == 0 {
		return
	}
	last := at[len(at)-1]
	if last+1 >= len(k.argv) {
		return
	}
	t := k.after(i, last+1, "zargs")
	t.tail = 0
	p := operand("xargs")
	p.Split = true
	t.argv = append(slices.Clip(t.argv), Word{Parts: []Part{p}})
	a.run(t)
}
