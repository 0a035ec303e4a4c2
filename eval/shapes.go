package eval

import (
	"strings"

	"safeshell/command"
	"safeshell/script"
)

// is evaluates the named shapes.
//
//	fork_bomb      a function that pipes itself into itself
//	network_shell  a shell whose streams are a network connection
//	bare_shell     a shell or interpreter that reads commands from nowhere known
//	temporary_path PATH gets a temporary or relative directory in front
//	redefined      the command is a function of the text that hides a program
//	without_shims  PATH is set to directories that are not safeshell's
//	unknown_use    the program is none of which it is known what it does with
//	               its operands
//	in_own_files   the working directory is one of safeshell's
//	names_monitor  a pattern for processes (pkill, pgrep, grep) fits the monitor
func (v *view) is(shapes []string, note func(string, ...any)) bool {
	for _, s := range shapes {
		found := false
		switch s {
		case "fork_bomb":
			found = v.forkBomb()
		case "network_shell":
			found = v.networkShell()
		case "bare_shell":
			found = v.bareShell()
		case "without_shims":
			found = v.withoutShims()
		case "temporary_path":
			found = v.temporaryPath()
		case "redefined":
			found = v.redefined()
		case "unknown_use":
			found = v.unknownUse()
		case "in_own_files":
			found = v.dir == v.r.o.Paths.Home || below(v.dir, v.r.o.Paths.Home)
		case "names_monitor":
			found = v.namesMonitor()
		}
		if found {
			note("%s", strings.ReplaceAll(s, "_", " "))
			return true
		}
	}
	return false
}

// namesMonitor says that a pattern for processes fits the monitor's: its name,
// or its whole command line where that is what is searched.
func (v *view) namesMonitor() bool {
	what := "safeshell"
	if v.line.flag("-f") || v.line.flag("--full") || v.line.name == "grep" || v.line.name == "egrep" || v.line.name == "rg" {
		what = "safeshell watch"
	}
	for _, w := range v.operandList(0) {
		text, ok := w.Text()
		if !ok || text == "" {
			continue
		}
		if p, err := newPattern(text); err == nil && p.match(what) {
			return true
		}
		break // grep's others are files
	}
	return false
}

// shapeNeeds is what a command must have for a shape.
func shapeNeeds(shape string) needs {
	switch shape {
	case "fork_bomb":
		return needFunction | needPipe
	case "redefined":
		return needFunction
	case "network_shell":
		return needRedirect
	case "without_shims", "temporary_path":
		return needAssign
	}
	return 0
}

// onlyRead are programs of which nothing is recorded because they change nothing.
const onlyRead = "ls find exa eza lsd tree stat file du df wc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum cmp test [ [[ realpath readlink basename dirname namei cd pushd popd which type command echo printf print yamllint jsonlint yajsv ajv check-jsonschema xmllint shellcheck getfacl lsattr getfattr tokei cloc delta difft grep egrep fgrep zgrep rg ag ack fd fdfind awk gawk mawk sed cut jq yq perl ruby python python3 node php bash sh dash zsh ksh source . safeshell safeshell-wrapper git export set unset alias for case read local declare typeset readonly mountpoint findmnt lsof fuser inotifywait watch time test true false : locate cat bat less more head tail dd gh docker podman kubectl ssh claude codex gemini"

// unknownUse says that the program is not known, and runs no other one.
func (v *view) unknownUse() bool {
	if v.line.name == "" || command.Has(onlyRead, v.line.name) {
		return false
	}
	if len(v.tailsOf(v.i)) > 0 {
		return false
	}
	probe := newView(v.r, v.a, v.i)
	probe.accessed = true
	probe.programAccess()
	return len(probe.accesses) == 0
}

// forkBomb looks for NAME() { NAME | NAME & } in the text.
func (v *view) forkBomb() bool {
	if !v.c.Function || len(v.c.FeedsTo) == 0 || len(v.c.Argv) == 0 {
		return false
	}
	name, ok := v.c.Argv[0].Text()
	if !ok || name == "" {
		return false
	}
	twice := false
	for _, k := range v.c.FeedsTo {
		if k >= 0 && k < len(v.a.Commands) && v.a.Commands[k].Function && len(v.a.Commands[k].Argv) > 0 {
			s, _ := v.a.Commands[k].Argv[0].Text()
			twice = twice || s == name
		}
	}
	if !twice {
		return false
	}
	// The call must stand in the function's own body.
	text := strings.Map(func(r rune) rune {
		if r == ' ' || r == '\t' || r == '\n' {
			return -1
		}
		return r
	}, v.a.Text)
	_, body, found := strings.Cut(text, name+"(){")
	if !found {
		if _, body, found = strings.Cut(text, "function"+name+"{"); !found {
			return false
		}
	}
	at := strings.Index(body, name+"|"+name)
	end := strings.IndexByte(body, '}')
	return at >= 0 && (end < 0 || at < end)
}

func (v *view) networkShell() bool {
	if !isShell(v.line.name) {
		return false
	}
	for _, r := range v.c.Redirects {
		if s, _ := leading(r.Target); strings.HasPrefix(s, "/dev/tcp/") || strings.HasPrefix(s, "/dev/udp/") {
			return true
		}
	}
	return false
}

func (v *view) bareShell() bool {
	if (v.line.name == "." || v.line.name == "source") && len(v.c.Argv) > 1 {
		return isStdin(v.c.Argv[1]) && len(v.c.FedBy) == 0 && v.c.Stdin == nil && len(v.c.Redirects) == 0
	}
	if !isShell(v.line.name) && !strings.HasPrefix(v.line.name, "python") {
		return false
	}
	if len(v.c.FedBy) > 0 || v.c.Stdin != nil || v.line.flag("-c") {
		return false
	}
	ops := v.operandList(0)
	if len(ops) > 0 && isShell(v.line.name) {
		if s, _ := ops[0].Text(); strings.HasPrefix(s, "/dev/fd/") || strings.HasPrefix(s, "/proc/self/fd/") {
			return true
		}
	}
	for _, r := range v.c.Redirects {
		switch {
		case r.Op == "<" && len(ops) == 0 && isShell(v.line.name) && v.isScratch(v.pathOf(r.Target, v.dir)):
			return true // a file that somebody has just put there
		case strings.HasPrefix(r.Op, "<"):
			return false
		}
	}
	if !isShell(v.line.name) {
		// python alone is a console that an agent leaves at once; python - waits.
		return len(ops) > 0 && isStdin(ops[0]) && !v.line.flag("-m")
	}
	if v.line.flag("-s") {
		return true
	}
	return len(ops) == 0 || isStdin(ops[0])
}

// pathValues calls f with each value that the command gives to PATH.
func (v *view) pathValues(f func(script.Word)) {
	for _, a := range v.c.Assigns {
		if a.Name == "PATH" {
			f(a.Value)
		}
	}
	switch v.line.name {
	case "export", "declare", "typeset", "env":
		for _, w := range v.words(1) {
			if s, _ := leading(w); strings.HasPrefix(s, "PATH=") {
				f(cutWord(w, len("PATH=")))
			}
		}
	}
}

// temporaryPath says that programs would be looked for in a temporary or
// relative directory before the usual ones.
func (v *view) temporaryPath() bool {
	found := false
	v.pathValues(func(w script.Word) {
		s, _ := leading(w)
		dirs := strings.Split(s, ":")
		for i, d := range dirs {
			if !v.spend(1) || i == len(dirs)-1 && !w.Known() && d == "" {
				break // what follows is not known: mostly $PATH
			}
			if d == "" || d[0] != '/' && len(w.Parts) > 0 && w.Parts[0].Kind == script.Literal || v.isScratch(exactPath(d)) && d[0] == '/' {
				found = true
			}
			if strings.HasPrefix(d, "/usr/") || d == "/bin" {
				break
			}
		}
	})
	return found
}

// redefined says that the command is a function which the text itself defines
// in place of a program that rules look after.
func (v *view) redefined() bool {
	if !v.c.Function || len(v.c.Argv) == 0 {
		return false
	}
	switch s, _ := v.c.Argv[0].Text(); s {
	case "rm", "git", "sudo", "cd", "mv", "cp", "dd", "chmod", "chown", "kill", "docker", "kubectl", "terraform", "find", "source", "eval", "safeshell", "trash":
		return true
	}
	return false
}

// withoutShims says that PATH is replaced by a value that has neither the old
// PATH nor the shims in it.
func (v *view) withoutShims() bool {
	shims := v.r.o.Paths.Shims
	if shims == "" || !strings.Contains(v.r.getenv("PATH"), shims) {
		return false // they are not in PATH as it is
	}
	drops := func(w script.Word) bool {
		for _, p := range w.Parts {
			if p.Kind == script.Variable && p.Name == "PATH" {
				return false
			}
		}
		s, known := w.Text()
		if known {
			return s != "" && !strings.Contains(s, shims) && !strings.Contains(s, ".safeshell/shims") && !strings.Contains(s, "$PATH")
		}
		for _, p := range w.Parts {
			if strings.Contains(p.Text, ".safeshell/shims") || p.Kind == script.Output && strings.Contains(p.Name, "PATH") && !strings.Contains(p.Name, "safeshell") {
				return false
			}
		}
		return true
	}
	found := false
	v.pathValues(func(w script.Word) { found = found || drops(w) })
	return found
}

// mounts evaluates the key mounts: a directory of the machine that a container
// gets (docker run -v, --mount) is, or holds, one of the paths.
func (v *view) mounts(list []string, note func(string, ...any)) certainty {
	best := never
	check := func(w script.Word) {
		p := v.pathOf(w, v.dir)
		if s, ok := p.exact(); ok {
			p = exactPath(v.r.realPath(s, true))
		}
		p.findHome(v.r.o.Paths.User)
		for _, s := range list {
			if k := p.covers(v.r.rulePath(s), v.dir); k > best {
				best = k
				note("mounts %s", clip(v.textOf(w)))
			}
		}
	}
	v.optionWords(func(w script.Word) {
		if s := upTo(w, ':'); isHostPath(s) {
			check(s)
		}
	}, "-v", "--volume")
	v.optionWords(func(w script.Word) {
		s, _ := w.Text()
		for _, field := range strings.Split(s, ",") {
			for _, key := range [...]string{"source=", "src="} {
				if path, ok := strings.CutPrefix(field, key); ok && strings.HasPrefix(path, "/") {
					check(script.Lit(path))
				}
			}
		}
	}, "--mount")
	return best
}

// isHostPath tells a directory from the name of a volume.
func isHostPath(w script.Word) bool {
	s, known := leading(w)
	return !known && s == "" || strings.HasPrefix(s, "/") || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "~")
}

// upTo is the part of a word before the first literal sep.
func upTo(w script.Word, sep byte) script.Word {
	out := script.Word{Span: w.Span}
	for _, p := range w.Parts {
		if p.Kind == script.Literal {
			if i := strings.IndexByte(p.Text, sep); i >= 0 {
				p.Text = p.Text[:i]
				if p.Text != "" {
					out.Parts = append(out.Parts, p)
				}
				return out
			}
		}
		out.Parts = append(out.Parts, p)
	}
	return out
}
