package script

import "strings"

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
			if opt == "--rsync-path" {
				if v, ok := value(); ok {
					c, _ := k.away(name, "remote")
					a.codeWord(v, Bash, awayState(), c, "the command given to "+name)
				}
			}
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
		case "emacs", "emacsclient":
			if opt == "--eval" || opt == "-eval" || opt == "--execute" || opt == "-execute" || opt == "-e" && name == "emacsclient" {
				if v, ok := value(); ok && (!v.Known() || containsAny(wordName(v), "shell", "process", "delete", "call", "rename", "write")) {
					a.unknown("Lisp code is not analysed", k.c.src, k.span)
				}
			}
		case "pwsh", "powershell":
			o := strings.ToLower(opt)
			if len(o) > 1 && o[0] == '/' {
				o = "-" + o[1:] // as Windows writes options
			}
			switch {
			case len(o) > 1 && strings.HasPrefix("-command", o):
				// All that follows is the code, joined by blanks.
				if plain, ok := plainCode(k.argv[j+1:]); ok {
					code(Lit(plain))
				} else {
					a.unknown("PowerShell code is not analysed", k.c.src, k.span)
				}
				return
			case len(o) > 1 && strings.HasPrefix("-encodedcommand", o), o == "-ec":
				a.unknown("PowerShell code is not analysed", k.c.src, k.span)
			case len(o) > 1 && strings.HasPrefix("-file", o):
				return
			case o[0] != '-' && name == "powershell" && !valueOfPowerShell(k.argv, j):
				if plain, ok := plainCode(k.argv[j:]); ok {
					code(Lit(plain))
				} else {
					a.unknown("PowerShell code is not analysed", k.c.src, k.span)
				}
				return
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
			if name == "hyperfine" {
				switch t {
				case "-p", "-s", "-c":
					t = "--prepare"
				}
			}
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
			if (t == "-c" || t == "--cmd" || len(t) > 2 && t[0] == '-' && strings.Trim(t[1:], "esEnRZX") == "c" && strings.HasSuffix(t, "c")) && j+1 < len(k.argv) {
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
