package script

import (
	"slices"
	"strings"
)

// carries names the programs that carrier looks into.
func carries(name string) bool {
	switch name {
	case "xargs", "gxargs", "parallel", "find", "gfind", "bfs", "fd", "fdfind", "zargs",
		"su", "flock", "script", "tmux", "screen", "at", "batch", "crontab", "busybox", "toybox", "expect",
		"tar", "gtar", "bsdtar", "rg", "rsync", "make", "gmake", "colormake", "ssh", "autossh", "mosh", "sshpass", "scp", "sftp",
		"docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc", "crictl", "lxc", "incus", "multipass",
		"limactl", "lima", "vagrant", "adb", "distrobox", "toolbox", "ansible", "pdsh", "gcloud", "heroku", "machinectl",
		"git", "npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun", "mise", "asdf", "rbenv", "pyenv", "nodenv", "direnv", "nix",
		"nix-shell", "poetry", "pipenv", "pdm", "uv", "uvx", "pipx", "hatch", "rye", "conda", "mamba", "micromamba", "bundle",
		"rustup", "devbox", "cargo", "nodemon", "concurrently", "hyperfine", "vim", "vi", "nvim", "ex",
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
	case "tmux":
		a.tmux(k, i)
	case "screen":
		a.screen(k, i)
	case "at", "batch":
		a.at1(k, name)
	case "crontab":
		a.crontab(k)
	case "busybox", "toybox":
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
		a.sed(k, name)
	default:
		return a.moreCarriers(k, i, name)
	}
	return true
}

func (a *analyzer) moreCarriers(k *call, i int, name string) bool {
	switch name {
	case "tar", "gtar", "bsdtar", "rg", "rsync", "scp", "sftp", "expect", "pwsh", "powershell", "nodemon", "cargo":
		k.c.sink.lose()
		a.optionCode(k, name)
	case "vim", "vi", "nvim", "ex", "gdb", "sqlite3", "psql", "mysql", "mariadb":
		k.c.sink.lose()
		a.escapes(k, name)
	case "concurrently", "hyperfine":
		k.c.sink.lose()
		a.operandCode(k, name)
	case "kubectl", "oc", "crictl", "lxc", "incus", "multipass", "limactl", "lima", "vagrant", "adb", "distrobox", "toolbox",
		"ansible", "pdsh", "gcloud", "heroku", "machinectl":
		k.c.sink.lose()
		a.remote(k, i, name)
	case "sshpass":
		_, at, _ := scan(k.argv, 1, &wSshpass)
		a.tailAt(k, i, at, name)
	default:
		if at, code, ok := runnerTail(name, k.argv); ok {
			k.c.sink.lose()
			if code != nil {
				a.codeWord(*code, POSIX, a.child(k), k.inner(name), "the code given to "+name)
			}
			if at > 0 {
				a.tailAt(k, i, at, strings.TrimSpace(name))
			}
			return name != "bun"
		}
		return false
	}
	return true
}

var wSshpass = wrapper{short: "p:f:d:eP:vhV"}

// tailAt runs the words from at on, if there are any.
func (a *analyzer) tailAt(k *call, i, at int, via string) {
	if at <= 0 || at >= len(k.argv) {
		return
	}
	t := k.after(i, at, via)
	t.outside = true
	a.run(t)
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

var wFlock = wrapper{short: "sxunE:w:oFvhVe", long: " --wait --timeout --conflict-exit-code "}

// flock runs a command, or code after -c, with a lock held.
func (a *analyzer) flock(k *call, i int) {
	_, at, _ := scan(k.argv, 1, &wFlock)
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

var wScript = wrapper{short: "aB:c:eE:fI:m:o:O:qt?T:hVkrpF", long: " --command --log-in --log-out --log-io --log-timing --logging-format --output-limit --echo "}

// scriptCmd runs -c code, or (BSD) the words after the file.
func (a *analyzer) scriptCmd(k *call, i int) {
	k.c.sink.lose()
	opts, at, _ := scan(k.argv, 1, &wScript)
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

// make lists what SHELL= and $(shell ...) on its command line run.
func (a *analyzer) make(k *call, name string) {
	k.c.sink.lose()
	for j, w := range k.argv[1:] {
		t, ok := w.Text()
		if !ok {
			continue
		}
		if v, is := strings.CutPrefix(t, "SHELL="); is {
			c := k.inner(name)
			c.sink = nil
			a.codeWord(Lit(v), POSIX, a.child(k), c, "the shell of make")
			continue
		}
		for rest := t; ; {
			_, after, found := strings.Cut(rest, "$(shell ")
			if !found {
				break
			}
			code, end := balanced(after)
			c := k.inner(name)
			c.sink = nil
			a.codeWord(Lit(strings.ReplaceAll(code, "$$", "$")), POSIX, a.child(k), c, "the code in make's arguments")
			rest = after[end:]
		}
		if (t == "-f" || t == "--file" || t == "--makefile") && j+2 < len(k.argv) {
			if f, _ := k.argv[j+2].Text(); (f == "-" || f == "/dev/stdin") && k.c.stdin != nil {
				a.makefile(k, *k.c.stdin, name)
			} else if content := a.fileOf(k.dir, k.argv[j+2]); len(content) > 0 {
				for _, w := range content {
					if w == nil {
						a.unknown("it runs a makefile that the same text wrote", k.c.src, k.span)
						continue
					}
					a.makefile(k, *w, name)
				}
			}
		}
	}
}

// balanced returns s up to the parenthesis that closes it.
func balanced(s string) (string, int) {
	level := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			level++
		case ')':
			if level == 0 {
				return s[:i], i + 1
			}
			level--
		}
	}
	return s, len(s)
}

// makefile lists the recipes of a makefile in the text.
func (a *analyzer) makefile(k *call, w Word, name string) {
	t, ok := w.Text()
	if !ok {
		a.unknown("it runs a makefile that is not known", k.c.src, k.span)
		return
	}
	for line := range strings.Lines(t) {
		recipe, is := strings.CutPrefix(line, "\t")
		if !is {
			if _, after, found := strings.Cut(line, ":"); found && strings.Contains(after, ";") && !strings.HasPrefix(after, "=") {
				_, recipe, _ = strings.Cut(after, ";")
			} else {
				if strings.Contains(line, "$(shell") || strings.Contains(line, "!=") {
					a.unknown("a makefile that runs commands while it is read", k.c.src, k.span)
				}
				continue
			}
		}
		recipe = strings.TrimLeft(strings.TrimSpace(recipe), "@-+ \t")
		code := strings.ReplaceAll(recipe, "$$", "\x00")
		if strings.Contains(code, "$") {
			a.unknown("a recipe with variables of make: "+clip(recipe), k.c.src, k.span)
		}
		code = strings.ReplaceAll(code, "\x00", "$")
		c := k.inner(name)
		c.sink, c.stdin, c.fedBy = nil, nil, nil
		a.codeWord(Lit(code), POSIX, a.child(k), c, "a recipe of make")
	}
}

// sed looks for GNU sed's e: the e command and the e flag of s.
func (a *analyzer) sed(k *call, name string) {
	var scripts []Word
	files := k.argv[1:]
	explicit := false
	for j := 0; j < len(files); j++ {
		t, ok := files[j].Text()
		if !ok {
			continue
		}
		switch {
		case (t == "-e" || t == "--expression" || len(t) > 2 && t[0] == '-' && t[1] != '-' && t[len(t)-1] == 'e' && strings.Trim(t[1:len(t)-1], "nrEszu") == "") && j+1 < len(files):
			scripts = append(scripts, files[j+1])
			explicit = true
			j++
		case strings.HasPrefix(t, "--expression="):
			scripts = append(scripts, Lit(t[len("--expression="):]))
			explicit = true
		case t == "-f" || t == "--file":
			explicit = true
			j++
		case t == "" || t[0] != '-':
			if !explicit {
				scripts = append(scripts, files[j])
				explicit = true
			}
		}
	}
	for _, w := range scripts {
		t, ok := w.Text()
		if !ok {
			continue
		}
		for _, code := range sedCode(t) {
			c := k.inner(name)
			c.sink, c.stdin, c.fedBy = nil, nil, nil
			if code == "" {
				a.unknown("sed runs text from its input as commands", k.c.src, k.span)
				continue
			}
			a.codeWord(Lit(code), POSIX, a.child(k), c, "the code of sed")
		}
	}
}

// sedCode returns the commands of e, and "" for the forms that run the text
// being edited.
func sedCode(s string) (out []string) {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case strings.IndexByte(" \t\n;{}0123456789,$!~+-", c) >= 0:
			i++
		case c == '/' || c == '\\' && i+1 < len(s):
			if c == '\\' {
				i++
			}
			i = sedSkip(s, i+1, s[i])
		case c == 's' || c == 'y':
			if i+1 >= len(s) {
				return out
			}
			d := s[i+1]
			mid := sedSkip(s, i+2, d)
			end := sedSkip(s, mid, d)
			flags := end
			for flags < len(s) && strings.IndexByte("gpiIemM0123456789", s[flags]) >= 0 {
				flags++
			}
			if c == 's' && end <= len(s) && strings.Contains(s[min(end, len(s)):flags], "e") {
				code := ""
				if mid <= end-1 && mid < len(s) && !strings.ContainsAny(s[mid:end-1], "\\&") {
					code = s[mid : end-1]
				}
				out = append(out, code)
			}
			i = flags
			if i < len(s) && s[i] == 'w' {
				i = lineEnd(s, i)
			}
		case c == 'e':
			end := lineEnd(s, i)
			out = append(out, strings.TrimSpace(s[i+1:end]))
			i = end
		case c == 'a' || c == 'i' || c == 'c' || c == 'r' || c == 'R' || c == 'w' || c == 'W' || c == '#' || c == ':':
			i = lineEnd(s, i)
		case c == 'b' || c == 't' || c == 'T':
			for i < len(s) && s[i] != ';' && s[i] != '\n' && s[i] != '}' {
				i++
			}
		default:
			i++
		}
	}
	return out
}

func lineEnd(s string, i int) int {
	for i < len(s) && s[i] != '\n' {
		if s[i] == '\\' {
			i++
		}
		i++
	}
	return min(i, len(s))
}

// sedSkip returns the index after the next unescaped d.
func sedSkip(s string, i int, d byte) int {
	for i < len(s) {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if n := bracket(s[i:]); n > 0 && d != '[' {
				i += n - 1
			}
		case d:
			return i + 1
		}
		i++
	}
	return len(s)
}

// optionCode looks at options whose value is a command.
func (a *analyzer) optionCode(k *call, name string) {
	code := func(w Word) {
		c := k.inner(name)
		c.sink, c.stdin, c.fedBy = nil, nil, nil
		a.codeWord(w, POSIX, a.child(k), c, "the command given to "+name)
	}
	for j := 1; j < len(k.argv); j++ {
		w := k.argv[j]
		if len(w.Parts) == 0 || w.Parts[0].Kind != Literal {
			continue
		}
		head := w.Parts[0].Text
		opt, _, has := strings.Cut(head, "=")
		value := func() (Word, bool) {
			if has && strings.HasPrefix(opt, "--") {
				return trimWord(w, len(opt)+1), true
			}
			if j+1 < len(k.argv) {
				return k.argv[j+1], true
			}
			return Word{}, false
		}
		takes := false
		switch name {
		case "tar", "gtar", "bsdtar":
			switch opt {
			case "--to-command", "--use-compress-program", "--info-script", "--new-volume-script", "--rsh-command", "--use-compress-progra", "--use-compress":
				takes = true
			case "--checkpoint-action":
				if v, ok := value(); ok && len(v.Parts) > 0 && strings.HasPrefix(v.Parts[0].Text, "exec=") {
					code(trimWord(v, 5))
				}
			case "-I", "-F":
				takes = true
			default:
				if len(opt) > 2 && opt[0] == '-' && opt[1] != '-' && strings.HasSuffix(opt, "I") {
					takes = true
				} else if strings.HasPrefix(opt, "--to-c") || strings.HasPrefix(opt, "--use-c") {
					takes = true
				}
			}
		case "rg":
			takes = opt == "--pre"
		case "rsync":
			takes = opt == "-e" || opt == "--rsh" || len(opt) > 2 && opt[0] == '-' && opt[1] != '-' && strings.HasSuffix(opt, "e")
		case "scp", "sftp":
			if opt == "-o" || strings.HasPrefix(head, "-o") {
				a.sshOption(k, w, j, name)
			}
			takes = opt == "-S"
		case "nodemon":
			takes = opt == "--exec" || opt == "-x"
		case "cargo":
			takes = opt == "-s" && len(k.argv) > 2 && wordIs(k.argv[1], "watch")
		case "expect":
			if opt == "-c" || opt == "-f" || opt == "-" {
				if v, ok := value(); ok && (opt == "-c" || len(a.fileOf(k.dir, v)) > 0) {
					a.unknown("expect code is not analysed", k.c.src, k.span)
				}
			}
		case "pwsh", "powershell":
			if o := strings.ToLower(opt); len(o) > 1 && (strings.HasPrefix("-command", o) || strings.HasPrefix("-encodedcommand", o) || o == "-ec") {
				a.unknown("PowerShell code is not analysed", k.c.src, k.span)
			}
		}
		if takes {
			if v, ok := value(); ok {
				code(v)
			}
		}
	}
	if (name == "expect" || name == "pwsh" || name == "powershell") && k.c.stdin != nil {
		a.unknown("the input of "+name+" is code that is not analysed", k.c.src, k.span)
	}
}

func wordIs(w Word, s string) bool { t, ok := w.Text(); return ok && t == s }

// operandCode looks at programs whose operands are command lines.
func (a *analyzer) operandCode(k *call, name string) {
	for j := 1; j < len(k.argv); j++ {
		t, ok := k.argv[j].Text()
		if ok && strings.HasPrefix(t, "-") {
			switch t {
			case "-n", "--names", "-c", "-p", "--prefix", "-l", "--max-processes", "-m", "-w", "--warmup", "--runs", "-r", "-M", "-N", "-P", "-L", "-D", "--export-json", "--export-markdown", "--export-csv", "-i", "--style", "-u", "-S", "--shell", "--success", "-s":
				j++
			case "--prepare", "--setup", "--cleanup", "--conclude":
				j++
				if j < len(k.argv) {
					a.codeWord(k.argv[j], POSIX, a.child(k), k.inner(name), "the command given to "+name)
				}
			}
			continue
		}
		c := k.inner(name)
		c.sink, c.stdin, c.fedBy = nil, nil, nil
		a.codeWord(k.argv[j], POSIX, a.child(k), c, "the command given to "+name)
	}
}

// escapes looks at programs whose own language has a way to the shell.
func (a *analyzer) escapes(k *call, name string) {
	var texts []Word
	for j := 1; j < len(k.argv); j++ {
		t, ok := k.argv[j].Text()
		switch name {
		case "vim", "vi", "nvim", "ex":
			if (t == "-c" || t == "--cmd") && j+1 < len(k.argv) {
				texts = append(texts, k.argv[j+1])
			} else if ok && strings.HasPrefix(t, "+") {
				texts = append(texts, Lit(t[1:]))
			}
		case "gdb":
			if (t == "-ex" || t == "-eval-command" || t == "--eval-command" || t == "--ex") && j+1 < len(k.argv) {
				texts = append(texts, k.argv[j+1])
			}
		case "psql", "mysql", "mariadb":
			if (t == "-c" || t == "-e" || t == "--command" || t == "--execute") && j+1 < len(k.argv) {
				texts = append(texts, k.argv[j+1])
			} else if _, v, found := strings.Cut(t, "="); found && (strings.HasPrefix(t, "--command=") || strings.HasPrefix(t, "--execute=")) {
				texts = append(texts, Lit(v))
			}
		case "sqlite3":
			if ok && j > 1 {
				texts = append(texts, k.argv[j])
			}
		}
	}
	if k.c.stdin != nil && name != "vim" && name != "vi" && name != "nvim" {
		texts = append(texts, *k.c.stdin)
	}
	for _, w := range texts {
		t, ok := w.Text()
		if !ok {
			continue
		}
		for line := range strings.Lines(t) {
			line = strings.TrimSpace(line)
			for _, mark := range shellEscapes(name) {
				at := -1
				if strings.HasPrefix(line, mark) {
					at = 0
				} else if mark == `\!` {
					at = strings.Index(line, mark)
				}
				if at >= 0 {
					c := k.inner(name)
					c.sink, c.stdin, c.fedBy = nil, nil, nil
					a.codeWord(Lit(strings.TrimSpace(line[at+len(mark):])), POSIX, a.child(k), c, "the command given to "+name)
					break
				}
			}
		}
	}
}

func shellEscapes(name string) []string {
	switch name {
	case "vim", "vi", "nvim", "ex":
		return []string{":silent !", "silent !", ":silent! !", "silent! !", ":!", "!", ":r !", "r !", ":r!", "r!", ":%!", "%!", ":terminal ", "terminal "}
	case "gdb":
		return []string{"shell ", "!", "make "}
	case "sqlite3":
		return []string{".shell ", ".system "}
	case "mysql", "mariadb":
		return []string{`\!`, "system "}
	}
	return []string{`\!`}
}
