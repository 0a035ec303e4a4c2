package script

import "strings"

// powershell analyses a PowerShell command line as far as its words are certain
// without that language's grammar: plain words, joined by operators that mean
// the same in every shell. For all else it says what it is, beside what bash
// would see in it.
func (a *analyzer) powershell(text string) {
	plain, why := plainPowerShell(text)
	if why != "" {
		a.unknownAt("it is a PowerShell command line: "+why, Span{0, len(text)})
		plain = text
	}
	a.text = plain
	a.at = Span{0, len(plain)}
	a.code(source{text: plain, budget: a.budget}, Bash, a.start(), &ctx{})
}

// plainPowerShell returns the text as a POSIX shell would write it, or why that
// cannot be done.
func plainPowerShell(text string) (plain, why string) {
	var b strings.Builder
	for rest := text; ; {
		i := strings.IndexAny(rest, ";|&\n")
		seg := rest
		if i >= 0 {
			seg = rest[:i]
		}
		words := strings.Fields(seg)
		for n, w := range words {
			if n > 0 {
				b.WriteByte(' ')
			}
			if why := notPlain(w); why != "" {
				return "", why
			}
			w = strings.ReplaceAll(w, `\`, "/")
			if n == 0 {
				var why string
				if w, why = powershellCommand(w); why != "" {
					return "", why
				}
			}
			b.WriteString(w)
		}
		if i < 0 {
			return b.String(), ""
		}
		op := rest[i : i+1]
		if two := rest[i:min(i+2, len(rest))]; two == "&&" || two == "||" {
			op = two
		} else if op == "&" {
			return "", "& is its call operator"
		}
		b.WriteString(op)
		rest = rest[i+len(op):]
	}
}

// plainCode is the code that pwsh is given in these words, as a POSIX shell would
// write it, if it is plain enough for that.
func plainCode(words []Word) (plain string, ok bool) {
	var b strings.Builder
	for i, w := range words {
		t, known := w.Text()
		if !known {
			return "", false
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t)
	}
	plain, why := plainPowerShell(b.String())
	return plain, why == ""
}

// valueOfPowerShell says that a word is the value of the option before it.
func valueOfPowerShell(argv []Word, j int) bool {
	t, ok := argv[j-1].Text()
	if !ok || len(t) < 3 || t[0] != '-' && t[0] != '/' {
		return false
	}
	t = strings.ToLower(t[1:])
	for _, option := range []string{"executionpolicy", "version", "windowstyle", "inputformat", "outputformat", "workingdirectory", "configurationname", "psconsolefile", "settingsfile", "custompipename"} {
		if strings.HasPrefix(option, t) || t == "ep" || t == "ex" || t == "wd" {
			return true
		}
	}
	return false
}

// notPlain says why a word may mean something else than its letters.
func notPlain(w string) string {
	for i := 0; i < len(w); i++ {
		c := w[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(`_-./\:=+`, c) >= 0 {
			continue
		}
		return "safeshell does not know what " + w + " means there"
	}
	return ""
}

// powershellCommand returns the program that a command word stands for. What
// only shows something keeps its name, as the rules know nothing of it.
func powershellCommand(w string) (name, why string) {
	l := strings.ToLower(w)
	switch l {
	case "get-content", "gc", "type":
		return "cat", ""
	case "set-location", "sl", "chdir", "push-location", "pushd":
		return "cd", ""
	case "get-childitem", "gci", "dir":
		return "ls", ""
	case ".", "iex", "icm", "ihy", "iwr", "irm", "saps", "start", "spps", "del", "erase", "rd", "ri", "rmdir", "rp", "rni", "ren",
		"sc", "si", "sp", "sv", "set", "ni", "mi", "move", "mp", "cpi", "copy", "cpp", "clc", "cli", "clp", "clv", "sal", "nal", "ipmo",
		"nsn", "sajb", "rjb", "rcjb", "sasv", "spsv", "kill", "foreach", "where", "ac", "epcsv", "epsn", "etsn", "sls", "fhx", "rvpa", "ii":
		return "", w + " is a command of its own"
	}
	verb, noun, cmdlet := strings.Cut(l, "-")
	if !cmdlet || strings.ContainsAny(l, "/.") || noun == "" {
		return w, ""
	}
	switch verb {
	case "remove", "clear", "set", "move", "copy", "rename", "new", "add", "invoke", "start", "stop", "restart", "suspend", "resume", "out",
		"export", "import", "install", "uninstall", "update", "save", "publish", "register", "unregister", "enable", "disable", "expand",
		"compress", "foreach", "enter", "exit", "send", "receive", "connect", "disconnect", "mount", "dismount", "format", "initialize",
		"reset", "restore", "checkpoint", "grant", "revoke", "block", "unblock", "protect", "unprotect", "convert", "tee", "use", "wait", "pop", "undo":
		switch l {
		case "out-string", "out-host", "out-null", "format-table", "format-list", "format-wide":
			return w, ""
		}
		return "", w + " is a command of its own"
	case "select":
		if l == "select-string" {
			return "", w + " is a command of its own"
		}
	}
	return w, ""
}
