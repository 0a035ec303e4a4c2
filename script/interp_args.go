package script

import (
	"safeshell/command"
	"strings"
)

// interpArgs is an interpreter's command line taken apart.
type interpArgs struct {
	code   []Word
	script *Word
	args   []Word
	stdin  bool
	module bool // python -m: no code of ours
}

// parseInterpreter finds the code in an interpreter's arguments.
func parseInterpreter(name, lang string, args []Word) (p interpArgs) {
	switch lang {
	case langJS:
		return parseJS(name, args)
	case langAwk:
		return parseAwk(args)
	}
	i := 0
	for ; i < len(args); i++ {
		t, ok := args[i].Text()
		if !ok {
			break
		}
		if t == "-" {
			p.stdin, p.args = true, args[i+1:]
			return p
		}
		if t == "--" {
			i++
			break
		}
		if len(t) < 2 || t[0] != '-' {
			break
		}
		if t[1] == '-' {
			if v, is := strings.CutPrefix(t, "--eval="); is {
				p.code = append(p.code, Lit(v))
			} else if (t == "--run" || t == "--eval" || t == "--execute") && i+1 < len(args) {
				i++
				p.code = append(p.code, args[i])
			}
			continue
		}
		i = p.cluster(name, lang, args, i, t)
		if p.module || lang == langPython && len(p.code) > 0 {
			p.args = args[min(i+1, len(args)):]
			return p
		}
	}
	rest := args[min(i, len(args)):]
	switch {
	case len(p.code) > 0:
		p.args = rest
	case len(rest) > 0:
		p.script, p.args = &rest[0], rest[1:]
	default:
		p.stdin = true
	}
	return p
}

// cluster reads one word of short options and returns the index of the last
// word that belongs to it.
func (p *interpArgs) cluster(name, lang string, args []Word, i int, t string) int {
	code, value, rest := "", "", ""
	switch lang {
	case langPython:
		code, value = "c", "WX"
	case langPerl:
		code, rest = "eE", "0lIMmFxiDCVdt"
	case langRuby:
		code, value, rest = "e", "ErICFKxTW", "0iAl"
	case langPHP:
		code, value = "rBRE", "dcfzSt"
	case langApple:
		code, value = "e", "ls"
	default:
		code, value = "eE", "lLpPiCm"
	}
	for j := 1; j < len(t); j++ {
		c := t[j]
		switch {
		case lang == langPython && c == 'm':
			p.module = true
			return i + 1
		case lang == langOther && c == 'c' && (name == "nu" || name == "xonsh"), strings.IndexByte(code, c) >= 0:
			if j+1 < len(t) {
				p.code = append(p.code, Lit(t[j+1:]))
				return i
			}
			if i+1 < len(args) {
				p.code = append(p.code, args[i+1])
			}
			return i + 1
		case lang == langPHP && c == 'f':
			if j+1 == len(t) && i+1 < len(args) {
				p.script = &args[i+1]
				return i + 1
			}
			return i
		case strings.IndexByte(rest, c) >= 0:
			return i
		case strings.IndexByte(value, c) >= 0:
			if j+1 < len(t) {
				return i
			}
			return i + 1
		}
	}
	return i
}

// parseJS reads the command lines of node, bun and deno.
func parseJS(name string, args []Word) (p interpArgs) {
	if (name == "bun" || name == "deno" || name == "tsx") && len(args) > 0 {
		switch t, _ := args[0].Text(); {
		case name == "deno" && t == "eval":
			at := skipOptions(args, 1, " -c --config --import-map --cert --location --ext -L --log-level ")
			if at < len(args) {
				p.code, p.args = append(p.code, args[at]), args[at+1:]
			}
			return p
		case t == "run" && name != "tsx":
			at := skipOptions(args, 1, " -c --config --import-map --cert --location --ext -L --log-level --cwd --preload -r --env-file --filter ")
			if at < len(args) {
				p.script, p.args = &args[at], args[at+1:]
				p.stdin = wordIs(args[at], "-")
			}
			return p
		case name != "tsx" && !strings.HasPrefix(t, "-") && !strings.Contains(t, "."):
			return p // deno test, bun install
		}
	}
	print := false
	for i := 0; i < len(args); i++ {
		t, ok := args[i].Text()
		if !ok || len(t) < 2 || t[0] != '-' {
			if len(p.code) > 0 {
				p.args = args[i:]
				return p
			}
			if t == "-" && ok {
				p.stdin, p.args = true, args[i+1:]
				return p
			}
			p.script, p.args = &args[i], args[i+1:]
			return p
		}
		if t == "--" {
			if len(p.code) == 0 && i+1 < len(args) {
				p.script = &args[i+1]
				i++
			}
			p.args = args[min(i+1, len(args)):]
			return p
		}
		for _, o := range []string{"--eval=", "--print="} {
			if v, is := strings.CutPrefix(t, o); is {
				p.code = append(p.code, Lit(v))
			}
		}
		switch t {
		case "-e", "--eval", "-pe", "-ep", "-p", "--print":
			print = print || t != "-e"
			if i+1 < len(args) {
				i++
				p.code = append(p.code, args[i])
			}
		case "-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--input-type", "--env-file", "--preload",
			"--cwd", "--tsconfig", "-P", "--project", "-O", "--compilerOptions", "--watch-path", "--title", "--max-http-header-size":
			i++
		}
	}
	p.stdin = len(p.code) == 0
	return p
}

func parseAwk(args []Word) (p interpArgs) {
	argv := append([]Word{Lit("awk")}, args...)
	opts, at, _ := scan(argv, 1, command.Of("awk"))
	file := false
	for _, o := range opts {
		switch o.name {
		case "-e", "--source":
			if o.value != nil {
				p.code = append(p.code, *o.value)
			}
		case "-f", "--file", "-E", "--exec":
			if o.value != nil {
				file = true
				p.script = o.value
			}
		}
	}
	if len(p.code) == 0 && !file && at < len(argv) {
		p.code = append(p.code, argv[at])
		at++
	}
	p.args = argv[min(at, len(argv)):]
	return p
}
