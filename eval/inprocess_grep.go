package eval

import (
	"io"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"
)

// maxGrepFile bounds the files that are read, in bytes.
const maxGrepFile = 1 << 20

// grepCall is a grep command line.
type grepCall struct {
	key      matcherKey
	quiet    bool
	invert   bool
	patterns []string
	files    []string
}

// grep knows the options of which the exit status depends on the lines alone.
func (x *inShell) grep(args []string, out inIO) int {
	g, ok := parseGrep(args)
	if !ok || !x.m.tool(x.j, "grep") || !x.m.loc.known || x.m.twice["LC_ALL"] {
		return x.leave()
	}
	if g.quiet {
		out.out = nil
	}
	g.key.text = strings.Join(g.patterns, "\n")
	if out.mixed && strings.Contains(g.key.text, `\`) {
		return x.leave() // warnings about needless backslashes
	}
	if len(g.files) == 0 {
		g.files = []string{"-"}
	}
	if len(g.files) > 1 && out.out != nil {
		return x.leave() // lines begin with the file's name
	}
	found := false
	for _, name := range g.files {
		data, ok := x.grepInput(name, out)
		if !ok || !x.spend(len(data)) {
			return x.leave()
		}
		switch x.grepData(&g, data, out) {
		case maybe:
			return x.leave()
		case sure:
			found = true
		}
	}
	return truth(found)
}

func parseGrep(args []string) (g grepCall, ok bool) {
	kinds := 0
	setKind := func(k reKind) {
		if kinds == 0 || g.key.kind != k {
			kinds++
		}
		g.key.kind = k
	}
	named := false
	var rest []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			rest = append(rest, a)
			continue
		}
		if strings.HasPrefix(a, "--") {
			switch a {
			case "--quiet", "--silent":
				g.quiet = true
			case "--extended-regexp":
				setKind(extendedExpression)
			case "--basic-regexp":
				setKind(basicExpression)
			case "--fixed-strings":
				setKind(fixedText)
			case "--ignore-case":
				g.key.fold = true
			case "--invert-match":
				g.invert = true
			case "--word-regexp":
				g.key.word = true
			case "--line-regexp":
				g.key.line = true
			case "--no-messages":
			default:
				p, is := strings.CutPrefix(a, "--regexp=")
				if !is {
					return g, false
				}
				g.patterns, named = append(g.patterns, p), true
			}
			continue
		}
	cluster:
		for k := 1; k < len(a); k++ {
			switch a[k] {
			case 'q':
				g.quiet = true
			case 'E':
				setKind(extendedExpression)
			case 'G':
				setKind(basicExpression)
			case 'F':
				setKind(fixedText)
			case 'i':
				g.key.fold = true
			case 'v':
				g.invert = true
			case 'w':
				g.key.word = true
			case 'x':
				g.key.line = true
			case 's':
			case 'e':
				p := a[k+1:]
				if p == "" {
					if i++; i == len(args) {
						return g, false
					}
					p = args[i]
				}
				g.patterns, named = append(g.patterns, p), true
				break cluster
			default:
				return g, false
			}
		}
	}
	if !named {
		if len(rest) == 0 {
			return g, false
		}
		g.patterns, rest = rest[:1], rest[1:]
	}
	g.files = rest
	return g, kinds <= 1
}

func (x *inShell) grepInput(name string, out inIO) (string, bool) {
	if name == "-" {
		if out.in.used {
			return "", false
		}
		// /dev/null may be read again.
		out.in.used = out.in.data != ""
		return out.in.data, true
	}
	if name == "" {
		return "", false
	}
	path := x.path(name)
	if x.left {
		return "", false
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxGrepFile {
		return "", false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxGrepFile+1))
	if err != nil || len(data) > maxGrepFile || strings.IndexByte(string(data), 0) >= 0 {
		return "", false
	}
	return string(data), true
}

// grepData says whether a line is selected, and writes those that are.
func (x *inShell) grepData(g *grepCall, data string, out inIO) certainty {
	if out.out != nil && !isASCII(data) {
		return maybe // it may be called binary
	}
	m, plain := (*matcher)(nil), false
	if k := g.key; k.kind == fixedText && !k.fold && !k.word && !k.line && len(g.patterns) == 1 &&
		k.text != "" && !strings.Contains(k.text, "\n") {
		plain = isASCII(k.text) || utf8.ValidString(k.text) && utf8.ValidString(data)
	}
	if !plain {
		if m = x.matcher(g.key); m == nil || !m.affordable(len(data)) {
			return maybe
		}
	}
	result := never
	for data != "" {
		line, rest, _ := strings.Cut(data, "\n")
		data = rest
		c := never
		if plain {
			if strings.Contains(line, g.key.text) {
				c = sure
			}
		} else {
			c = m.line(line)
		}
		if g.invert {
			c = sure - c
		}
		result = max(result, c)
		if out.out == nil {
			if c == sure {
				return sure
			}
			continue
		}
		if c == maybe {
			return maybe
		}
		if c == sure {
			out.write(x, line+"\n")
		}
	}
	return result
}
