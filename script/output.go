package script

import (
	"encoding/base64"
	"path"
	"strconv"
	"strings"
)

// output writes what a command is known to print to its sink.
func (a *analyzer) output(k *call, name string) {
	s := k.c.sink
	if s == nil || s.lost {
		return
	}
	args := k.argv[1:]
	for _, w := range args {
		for _, p := range w.Parts {
			if p.Kind == Variable && (strings.HasPrefix(p.Name, "!") || strings.Contains(p.Name, "?")) {
				s.lose() // ${!x} and ${x?} may fail, and nothing is printed
				return
			}
		}
	}
	if k.c.src != nil && k.c.src.lang == Zsh {
		// A pattern that matches nothing stops the command there, and so does
		// =name of a program that is not there.
		for _, w := range args {
			for _, p := range w.Parts {
				if p.Kind == Glob || p.Kind == Output && strings.HasPrefix(p.Name, "which ") || p.Kind == Variable && (p.Name == "=" || p.Name == "~") {
					s.lose()
					return
				}
			}
		}
	}
	switch name {
	case ":", "true", "false", "mkdir", "touch", "rmdir", "rm", "cp", "mv", "ln", "chmod", "chown", "sleep", "exit", "kill":
		return
	case "safeshell":
		// What rm was rewritten to prints as little as rm.
		if len(args) > 1 && args[0].String() == "trash" && args[1].String() == "put" {
			return
		}
	case "echo":
		a.echo(s, args, k.c.src, k.st)
		return
	case "printf":
		if len(args) > 0 {
			if t, ok := args[0].Text(); ok && strings.HasPrefix(t, "-v") {
				return
			}
		}
		if ps, ok := formatPrintf(args, k.c.src.lang); ok {
			s.write(ps...)
			return
		}
	case "pwd":
		if len(args) == 0 && len(k.dir.Parts) > 0 && !k.noEnv {
			s.write(k.dir.Parts...)
			s.write(Part{Text: "\n"})
			return
		}
	case "mktemp":
		s.write(Part{Kind: TempPath}, Part{Text: "\n"})
		return
	case "cat", "tee":
		if a.cat(k, name, args) {
			return
		}
	case "basename", "dirname":
		if pathPart(s, name, args) {
			return
		}
	case "seq":
		if seq(s, args) {
			return
		}
	case "base64":
		if decode64(s, k, args) {
			return
		}
	case "rev":
		if t, ok := stdinText(k); ok && len(args) == 0 && isASCII(t) {
			for line := range strings.SplitAfterSeq(t, "\n") {
				body := strings.TrimSuffix(line, "\n")
				b := []byte(body)
				for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
					b[i], b[j] = b[j], b[i]
				}
				s.write(Part{Text: string(b) + line[len(body):]})
			}
			return
		}
	case "tr":
		if t, ok := stdinText(k); ok && translate(s, t, args) {
			return
		}
	}
	s.lose()
}

func stdinText(k *call) (string, bool) {
	if k.c.stdin == nil {
		return "", false
	}
	return k.c.stdin.Text()
}

// echo prints its arguments; what backslashes mean depends on the shell.
func (a *analyzer) echo(s *sink, args []Word, src *source, st *state) {
	newline, escapes := true, src.lang != Bash
	if st.odd {
		s.lose()
		return
	}
	for len(args) > 0 {
		t, ok := args[0].Text()
		if !ok && strings.Trim(litText(args[0]), "-neE") == "" && (len(args) > 1 || len(args[0].Parts) > 1) && args[0].Parts[0].Kind != TempPath {
			s.lose() // it may be an option
			return
		}
		if !ok || len(t) < 2 || t[0] != '-' || strings.Trim(t[1:], "neE") != "" {
			break
		}
		if src.lang == POSIX && t != "-n" {
			break
		}
		for _, c := range t[1:] {
			switch c {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E':
				escapes = false
			}
		}
		args = args[1:]
	}
	for i, w := range args {
		if i > 0 {
			s.write(Part{Text: " "})
		}
		for _, p := range w.Parts {
			if p.Kind == Literal && escapes && strings.IndexByte(p.Text, '\\') >= 0 {
				t, stop := echoEscapes(p.Text, src.lang, false)
				s.write(Part{Text: t})
				if stop {
					return
				}
				continue
			}
			p.Split = false
			s.write(p)
		}
	}
	if newline {
		s.write(Part{Text: "\n"})
	}
}

// echoEscapes decodes what echo (octal: or printf %b) makes of backslashes;
// stop is set by \c. Shells differ in \x, \u, \E and octal without a zero.
func echoEscapes(t string, lang Dialect, octal bool) (out string, stop bool) {
	var b strings.Builder
	for i := 0; i < len(t); i++ {
		if t[i] != '\\' || i+1 >= len(t) {
			b.WriteByte(t[i])
			continue
		}
		i++
		n := 1
		switch c := t[i]; c {
		case 'c':
			return b.String(), true
		case '0':
			v, d := digits(t[i+1:], 8, 3)
			i += d
			b.WriteByte(byte(v))
			continue
		case 'a', 'b', 'e', 'f', 'n', 'r', 't', 'v', '\\':
		case 'E':
			n = truth(lang == Bash)
		case 'x', 'u', 'U':
			most := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			if _, d := digits(t[i+1:], 16, most); d > 0 && lang != POSIX {
				n += d
			} else {
				n = 0
			}
		case '1', '2', '3', '4', '5', '6', '7':
			if n = 0; octal || lang == POSIX {
				_, n = digits(t[i:], 8, 3)
			}
		default:
			n = 0
		}
		if n == 0 {
			b.WriteByte('\\')
			b.WriteByte(t[i])
			continue
		}
		b.WriteString(ansiC("\\"+t[i:i+n], false))
		i += n - 1
	}
	return b.String(), false
}

// formatPrintf formats as printf does: %s, %b, %q of plain words, %d, %c, %%
// and escapes; ok is false for anything else.
func formatPrintf(args []Word, lang Dialect) ([]Part, bool) {
	if len(args) > 0 {
		if t, _ := args[0].Text(); t == "--" {
			args = args[1:]
		}
	}
	if len(args) == 0 {
		return nil, false
	}
	format, ok := args[0].Text()
	args = args[1:]
	if !ok {
		return nil, false
	}
	for _, w := range args {
		if mayBeMany(w) {
			return nil, false
		}
	}
	var out []Part
	for round := 0; ; round++ {
		if round > 256 {
			return nil, false
		}
		used := false
		next := func() Word {
			used = true
			if len(args) == 0 {
				return Word{}
			}
			w := args[0]
			args = args[1:]
			return w
		}
		for i := 0; i < len(format); i++ {
			switch c := format[i]; {
			case c == '\\' && i+1 < len(format):
				n := escapeLen(format[i:])
				switch e := format[i+1]; {
				case e == 'c':
					return nil, false
				case strings.IndexByte("abefnrtv\\01234567", e) >= 0, strings.IndexByte("xuU", e) >= 0 && n > 2 && lang != POSIX:
				case isNameByte(e) && e != 'E' && e != 'x' && e != 'u' && e != 'U':
					out = append(out, Part{Text: format[i : i+2]})
					i++
					continue
				default:
					return nil, false // shells differ
				}
				out = append(out, Part{Text: ansiC(format[i:i+n], false)})
				i += n - 1
			case c == '%' && i+1 < len(format):
				i++
				switch format[i] {
				case '%':
					out = append(out, Part{Text: "%"})
				case 's':
					out = append(out, next().Parts...)
				case 'b':
					t, ok := next().Text()
					if !ok {
						return nil, false
					}
					t, stop := echoEscapes(t, lang, true)
					out = append(out, Part{Text: t})
					if stop {
						return merge(out), true
					}
				case 'd', 'i', 'u':
					t, ok := next().Text()
					if t == "" {
						t = "0"
					}
					if n, err := strconv.Atoi(t); !ok || err != nil || strconv.Itoa(n) != t {
						return nil, false
					}
					out = append(out, Part{Text: t})
				case 'q':
					t, ok := next().Text()
					if !ok || !plain(t) || t == "" {
						return nil, false
					}
					out = append(out, Part{Text: t})
				default:
					return nil, false
				}
			default:
				j := i + 1
				for j < len(format) && format[j] != '\\' && format[j] != '%' {
					j++
				}
				out = append(out, Part{Text: format[i:j]})
				i = j - 1
			}
		}
		out = merge(out)
		if len(args) == 0 || !used {
			for i := range out {
				out[i].Split = false
			}
			return out, true
		}
	}
}

// escapeLen is the length of the escape at the start of a printf format.
func escapeLen(s string) int {
	n := 0
	switch s[1] {
	case '0', '1', '2', '3', '4', '5', '6', '7':
		_, n = digits(s[1:], 8, 3)
		return 1 + n
	case 'x':
		_, n = digits(s[2:], 16, 2)
	case 'u':
		_, n = digits(s[2:], 16, 4)
	case 'U':
		_, n = digits(s[2:], 16, 8)
	}
	return 2 + n
}

// cat passes on its input and files that the text wrote.
func (a *analyzer) cat(k *call, name string, args []Word) bool {
	var files []Word
	for _, w := range args {
		if t, ok := w.Text(); ok && len(t) > 1 && t[0] == '-' {
			if name == "cat" && t != "--" && t != "-u" {
				return false
			}
			continue
		}
		files = append(files, w)
	}
	if len(files) == 0 || name == "tee" {
		if k.c.stdin == nil {
			return false
		}
		k.c.sink.write(k.c.stdin.Parts...)
		return true
	}
	for _, w := range files {
		t, _ := w.Text()
		switch content := a.fileText(k.dir, w); {
		case (t == "-" || t == "/dev/stdin") && k.c.stdin != nil:
			k.c.sink.write(k.c.stdin.Parts...)
		case t == "/dev/null":
		case content != nil:
			k.c.sink.write(content.Parts...)
		case len(w.Parts) == 1 && w.Parts[0].content != nil:
			k.c.sink.write(w.Parts[0].content.Parts...)
		default:
			return false
		}
	}
	return true
}

func pathPart(s *sink, name string, args []Word) bool {
	if len(args) == 0 || len(args) > 2 || name == "dirname" && len(args) > 1 {
		return false
	}
	t, ok := args[0].Text()
	if !ok || t == "" || strings.HasPrefix(t, "-") {
		return false
	}
	t = strings.TrimRight(t, "/")
	if t == "" {
		t = "/"
	}
	if name == "dirname" {
		i := strings.LastIndexByte(t, '/')
		switch {
		case i < 0:
			t = "."
		default:
			if t = strings.TrimRight(t[:i], "/"); t == "" {
				t = "/"
			}
		}
	} else {
		t = path.Base(t)
		if len(args) == 2 {
			suffix, ok := args[1].Text()
			if !ok {
				return false
			}
			if t != suffix {
				t = strings.TrimSuffix(t, suffix)
			}
		}
	}
	s.write(Part{Text: t + "\n"})
	return true
}

func seq(s *sink, args []Word) bool {
	var n []int
	for _, w := range args {
		t, ok := w.Text()
		v, err := strconv.Atoi(t)
		if !ok || err != nil || strconv.Itoa(v) != t {
			return false
		}
		n = append(n, v)
	}
	from, step, to := 1, 1, 0
	switch len(n) {
	case 1:
		to = n[0]
	case 2:
		from, to = n[0], n[1]
	case 3:
		from, step, to = n[0], n[1], n[2]
	default:
		return false
	}
	if step <= 0 || (to-from)/step > 256 {
		return false
	}
	var b strings.Builder
	for ; from <= to; from += step {
		b.WriteString(strconv.Itoa(from))
		b.WriteByte('\n')
	}
	s.write(Part{Text: b.String()})
	return true
}

// decode64 is base64 -d of known input.
func decode64(s *sink, k *call, args []Word) bool {
	t, ok := stdinText(k)
	if !ok || len(args) != 1 {
		return false
	}
	switch f, _ := args[0].Text(); f {
	case "-d", "-D", "--decode":
	default:
		return false
	}
	b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(t), ""))
	if err != nil {
		return false
	}
	s.write(Part{Text: string(b)})
	return true
}

// translate is tr with two sets of the same length or ranges of letters.
func translate(s *sink, t string, args []Word) bool {
	if len(args) != 2 {
		return false
	}
	from, ok1 := args[0].Text()
	to, ok2 := args[1].Text()
	f, ok3 := trSet(from)
	g, ok4 := trSet(to)
	if !ok1 || !ok2 || !ok3 || !ok4 || len(f) == 0 || len(f) > len(g) {
		return false
	}
	b := []byte(t)
	for i, c := range b {
		if j := strings.LastIndexByte(f, c); j >= 0 {
			b[i] = g[j]
		}
	}
	s.write(Part{Text: string(b)})
	return true
}

func trSet(t string) (string, bool) {
	if strings.ContainsAny(t, "\\[") || strings.HasPrefix(t, "-") {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(t); i++ {
		if i+2 < len(t) && t[i+1] == '-' {
			if t[i] > t[i+2] {
				return "", false
			}
			for c := int(t[i]); c <= int(t[i+2]); c++ {
				b.WriteByte(byte(c))
			}
			i += 2
			continue
		}
		b.WriteByte(t[i])
	}
	return b.String(), true
}
