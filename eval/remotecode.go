package eval

import (
	"slices"
	"strings"

	"safeshell/command"
	"safeshell/script"
)

// isParseError says that an Unknown is about text that is no valid shell.
func isParseError(u script.Unknown) bool {
	return strings.HasPrefix(u.Reason, "the text does not parse")
}

// runsCode evaluates the key code: the command executes text that comes out of
// other commands and that nobody has seen.
//
//	fetched: from the network (curl | sh)
//	decoded: made readable only now (base64 -d | sh)
//	unseen:  the output of any other command, but for well-known generators
//	         of shell settings (ssh-agent -s) and files shown as they are (cat)
func (v *view) runsCode(kinds []string, note func(string, ...any)) bool {
	if v.runsAddress() {
		note("the program is an address")
		return slices.Contains(kinds, "fetched")
	}
	if len(v.c.FedBy) == 0 || !readsCode(v.c) {
		return false
	}
	kind, from := v.codeOrigin()
	if kind == "literal" {
		if v.readsSubstitution() {
			return false // bash <(echo ...): the analysis has read it
		}
		kind = "unseen" // but for what the analysis has read, below
	}
	if n := v.line.name; kind == "unseen" && v.c.Stdin != nil && v.c.Stdin.Known() &&
		n != "eval" && n != "source" && n != "." && !v.readsSubstitution() {
		return false // it is seen on standard input: the analysis reads it
	}
	for _, k := range kinds {
		if k == kind {
			note("the code comes from %s", from)
			return true
		}
	}
	return false
}

// runsAddress says that the package that npx and its kin run is given as an
// address; an address among its arguments is data (npx wait-on http://...).
func (v *view) runsAddress() bool {
	switch v.line.name {
	case "npx", "bunx", "pnpx", "uvx", "pipx":
	default:
		return false
	}
	program := ""
	v.line.operands(0, func(i int) bool {
		program, _ = leading(v.line.words[i])
		return program == "run"
	})
	for _, scheme := range []string{"http://", "https://", "git+", "git://"} {
		if strings.HasPrefix(program, scheme) {
			return true
		}
	}
	return false
}

// readsSubstitution says that the code is in a process substitution: <(...).
func (v *view) readsSubstitution() bool {
	for _, w := range v.words(1) {
		for _, p := range w.Parts {
			if p.Kind == script.Output && strings.HasPrefix(p.Name, "<(") {
				return true
			}
		}
	}
	return false
}

// codeOrigin classifies the commands that the input comes from.
func (v *view) codeOrigin() (kind, from string) {
	seen := map[int]bool{v.i: true}
	queue := []int{v.i}
	for len(queue) > 0 {
		k := queue[0]
		queue = queue[1:]
		for _, f := range v.a.Commands[k].FedBy {
			if f < 0 || f >= len(v.a.Commands) || seen[f] || !v.spend(2) {
				continue
			}
			seen[f] = true
			queue = append(queue, f)
			p := newView(v.r, v.a, f)
			one := p.producer()
			if rankOrigin(one) > rankOrigin(kind) {
				kind, from = one, p.line.name
				if from == "" && len(p.c.Argv) > 0 {
					from = p.textOf(p.c.Argv[0])
				}
			}
		}
	}
	return kind, from
}

func rankOrigin(kind string) int {
	switch kind {
	case "decoded":
		return 3
	case "fetched":
		return 2
	case "unseen":
		return 1
	case "literal":
		return 1
	}
	return 0
}

// producer says what kind of text a command puts out: literal for what stands
// in the line itself, empty for what is in a file of the project.
func (v *view) producer() string {
	l := &v.line
	first := func() string {
		s := ""
		l.operands(0, func(i int) bool { s, _ = l.words[i].Text(); return false })
		return s
	}
	if v.c.Remote != "" {
		return "fetched"
	}
	switch l.name {
	case "curl", "wget", "http", "https", "xh", "aria2c", "nc", "ncat", "netcat", "socat", "lynx", "w3m", "ftp", "telnet", "fetch":
		return "fetched"
	case "ssh", "gsutil", "s3cmd":
		return "fetched"
	case "aws", "gcloud", "az":
		if command.Has("s3 storage", first()) {
			return "fetched"
		}
	case "gh", "glab":
		if l.sub == "api" || l.sub == "gist" || l.sub == "release" {
			return "fetched"
		}
	case "base64", "base32", "basenc", "gbase64":
		if l.flag("-d") || l.flag("-D") || l.flag("--decode") {
			return "decoded"
		}
	case "xxd":
		if l.flag("-r") {
			return "decoded"
		}
	case "openssl":
		if l.flag("-d") {
			return "decoded"
		}
	case "uudecode", "rot13":
		return "decoded"
	case "gpg", "gpg2", "age":
		if l.flag("-d") || l.flag("--decrypt") {
			return "decoded"
		}
	case "tr", "rev":
		return "unseen"
	case "gunzip", "zcat", "gzip", "xz", "unxz", "bunzip2", "zstd", "tar", "unzip", "funzip", "bzcat", "xzcat":
		return "unseen"
	case "cat", "head", "tail", "tee", "tac", "less", "more", "pv":
		return v.passesOn()
	case "stdbuf", "envsubst", "sudo", "env", "time", "timeout", "command", "builtin", "nice":
		return "" // the command inside is judged
	case "echo", "printf":
		for _, w := range v.words(1) {
			if !w.Known() && !hasOutput(w) {
				return "unseen"
			}
		}
		return "literal"
	case "git":
		if l.sub == "show" || l.sub == "cat-file" || l.sub == "config" {
			return "" // what the repository holds
		}
	}
	if v.generator() {
		return ""
	}
	return "unseen"
}

// passesOn is the kind of text that cat and its like put out: a file of the
// project can be read beforehand, one that is not known, or is scratch, has
// not been.
func (v *view) passesOn() string {
	for _, r := range v.c.Redirects {
		if s, _ := leading(r.Target); r.Op == "<" && (strings.HasPrefix(s, "/dev/tcp/") || strings.HasPrefix(s, "/dev/udp/")) {
			return "fetched"
		}
	}
	n := 0
	kind := ""
	for _, w := range v.operandList(0) {
		n++
		if p := v.pathOf(w, v.dir); !w.Known() && !hasOutput(w) || v.isScratch(p) {
			kind = "unseen"
		}
	}
	if v.c.Stdin != nil && n == 0 || v.c.Stdin != nil && v.line.name == "tee" {
		return "literal"
	}
	if n == 0 && len(v.c.FedBy) == 0 && v.c.Stdin == nil && len(v.c.Redirects) == 0 {
		return "unseen" // whatever is typed
	}
	return kind
}

// generator recognises programs that are known to print settings for a shell.
func (v *view) generator() bool {
	l := &v.line
	second := ""
	n := 0
	l.operands(0, func(i int) bool {
		if n++; n == 2 {
			second, _ = l.words[i].Text()
		}
		return n < 2
	})
	sub := l.sub
	if sub == "" {
		l.operands(0, func(i int) bool { sub, _ = l.words[i].Text(); return false })
	}
	switch l.name {
	case "ssh-agent", "gpg-agent", "dircolors", "gdircolors", "lesspipe", "lesspipe.sh", "keychain", "resize", "tset", "dbus-launch", "register-python-argcomplete", "register-python-argcomplete3", "vcgencmd", "path_helper", "locale", "gpgconf":
		return true
	case "brew":
		return sub == "shellenv"
	case "direnv":
		return sub == "hook" || sub == "export"
	case "starship", "zoxide", "atuin", "oh-my-posh", "mcfly", "sheldon", "navi", "broot", "pyenv", "rbenv", "nodenv", "jenv", "goenv", "plenv", "phpenv", "swiftenv", "tfenv", "pkgx", "devbox", "devenv", "safeshell", "vfox", "proto", "tv":
		return command.Has("init hook shell env activate completion shellenv virtualenv-init print-bash-setup widget shell.bash generate", sub) || l.name == "pyenv"
	case "mise", "rtx", "asdf", "fnm", "volta", "opam", "luarocks", "rustup", "ghcup":
		return command.Has("activate env config hook-env exec shell path completions completion setup hook", sub)
	case "conda", "mamba", "micromamba":
		return strings.HasPrefix(sub, "shell") || second == "hook" || sub == "shell.bash"
	case "minikube", "docker-machine":
		return command.Has("docker-env podman-env env completion", sub)
	case "fzf":
		return l.flag("--bash") || l.flag("--zsh")
	case "thefuck", "just", "chezmoi":
		return l.flag("--alias") || l.flag("--completions") || sub == "completion"
	case "aws":
		return sub == "configure" && second == "export-credentials"
	case "poetry", "hatch", "pdm":
		return sub == "env" || sub == "venv" || sub == "completions"
	case "uv", "ruff":
		return strings.HasPrefix(sub, "generate-shell-completion")
	case "tmux":
		return command.Has("show-env show-environment showenv", sub)
	case "go":
		return sub == "env"
	case "perl":
		for _, w := range v.words(1) {
			if s, _ := w.Text(); strings.Contains(s, "local::lib") {
				return true
			}
		}
	}
	// tool completion bash, tool completions zsh
	return command.Has("completion completions", sub) || command.Has("completion completions", second)
}
