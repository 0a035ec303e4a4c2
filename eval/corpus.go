package eval

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Verdict is an action as corpora write it: allow, redirect, ask, deny.
func Verdict(a Action) string {
	if a == RequireApproval {
		return "ask"
	}
	return a.String()
}

// CorpusLine is one command line with the verdicts that are right for it.
type CorpusLine struct {
	Line     int      // in its file
	Class    string   // of the last "# class:" comment
	Verdicts []string // any of them is right
	Command  string
}

// Accepts reports whether a verdict is right.
func (l CorpusLine) Accepts(verdict string) bool { return slices.Contains(l.Verdicts, verdict) }

// ReadCorpus reads lines of verdict<TAB>command. Several verdicts are joined by
// |; a command that begins with $' is a bash ANSI-C string; # begins a comment.
func ReadCorpus(r io.Reader, name string) ([]CorpusLine, error) {
	var out []CorpusLine
	s := bufio.NewScanner(r)
	s.Buffer(nil, MaxFileSize)
	class := ""
	for n := 1; s.Scan(); n++ {
		text := s.Text()
		if c, ok := strings.CutPrefix(text, "# class:"); ok {
			class = strings.TrimSpace(c)
			continue
		}
		if strings.TrimSpace(text) == "" || text[0] == '#' {
			continue
		}
		v, c, ok := strings.Cut(text, "\t")
		if !ok {
			return nil, fmt.Errorf("%s:%d: no tab; write verdict<TAB>command", name, n)
		}
		l := CorpusLine{Line: n, Class: class, Verdicts: strings.Split(v, "|"), Command: c}
		for _, v := range l.Verdicts {
			if v != "allow" && v != "redirect" && v != "ask" && v != "deny" {
				return nil, fmt.Errorf("%s:%d: %q is no verdict; write allow, redirect, ask or deny", name, n, v)
			}
		}
		if strings.HasPrefix(c, "$'") {
			if l.Command, ok = unquoteANSI(c); !ok {
				return nil, fmt.Errorf("%s:%d: the $'...' string is broken", name, n)
			}
		}
		out = append(out, l)
	}
	return out, s.Err()
}

// unquoteANSI reads $'...' with \n \t \r \\ \' \" \e \xHH \uHHHH.
func unquoteANSI(s string) (string, bool) {
	body, ok := strings.CutSuffix(strings.TrimPrefix(s, "$'"), "'")
	if !ok {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			b.WriteByte(body[i])
			continue
		}
		if i++; i == len(body) {
			return "", false
		}
		digits := 0
		switch c := body[i]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'e':
			b.WriteByte(0x1b)
		case '\\', '\'', '"':
			b.WriteByte(c)
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		default:
			return "", false
		}
		if digits == 0 {
			continue
		}
		if i+digits >= len(body)+1 || i+1+digits > len(body) {
			return "", false
		}
		n, err := strconv.ParseUint(body[i+1:i+1+digits], 16, 32)
		if err != nil {
			return "", false
		}
		if digits == 2 {
			b.WriteByte(byte(n))
		} else {
			b.WriteRune(rune(n))
		}
		i += digits
	}
	return b.String(), true
}
