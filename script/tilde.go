package script

import "strings"

// tilde expands a leading ~ and returns the rest of the literal. only: the
// word is nothing but this literal.
func (e *expander) tilde(s string, only bool) string {
	at := 0
	if e.split && e.c.src.lang == Bash {
		// bash also expands a=~/x in arguments.
		if i := strings.IndexByte(s, '='); i > 0 && isName(s[:i]) && i+1 < len(s) && s[i+1] == '~' {
			at = i + 1
		}
	}
	if at >= len(s) || s[at] != '~' {
		if e.assign && strings.Contains(s, ":~") {
			return e.tildes(s, only)
		}
		return s
	}
	end := at + 1
	for end < len(s) && s[end] != '/' && !(s[end] == ':' && (e.assign || at > 0)) {
		if c := s[end]; c == '\\' || c == '*' || c == '?' || c == '[' || c >= 0xF4 {
			return s
		}
		end++
	}
	if end == len(s) && !only {
		if e.c.src.lang == Zsh {
			e.add(Part{Kind: Variable, Name: s[at:]}) // a named directory, by what follows
			return ""
		}
		return s // ~"x", ~$x: no expansion
	}
	e.text(s[:at])
	name := s[at+1 : end]
	var w Word
	switch {
	case name == "":
		w = e.home()
	case name == "+" && e.c.src.lang != POSIX:
		w = e.st.dir
	case name == "-" && e.st.oldKnown && e.c.src.lang != POSIX:
		w = e.st.old
	case name == "-" && e.c.src.lang == Bash, name == "+", name == "-" && e.c.src.lang == POSIX:
		w = Lit("~" + name)
	default:
		w = Word{Parts: []Part{{Kind: Variable, Name: "~" + name}}}
	}
	for _, p := range w.Parts {
		e.add(p)
	}
	e.has = true
	if e.assign && end < len(s) && strings.Contains(s[end:], ":~") {
		return e.tildes(s[end:], only)
	}
	return s[end:]
}

// tildes expands ~ after each : of a value.
func (e *expander) tildes(s string, only bool) string {
	i := strings.Index(s, ":~")
	e.lit(s[:i+1], nil)
	return e.tilde(s[i+1:], only)
}

// home is what ~ stands for.
func (e *expander) home() Word {
	v := e.a.lookup("HOME", e.st)
	if v.kind == isScalar {
		return Word{Parts: v.parts}
	}
	return Word{Parts: []Part{{Kind: Variable, Name: "HOME", Alt: v.alt}}}
}

// equals expands zsh's =command.
func (e *expander) equals(s string, only bool) string {
	if e.c.src.lang != Zsh || !e.split || s == "" || len(s) < 2 && only || s[0] != '=' || len(e.cur) > 0 {
		return s
	}
	if strings.ContainsAny(s[1:], "=\\*?[~{(<") {
		only = false
	}
	if only {
		e.add(Part{Kind: Output, Name: "which " + s[1:]})
	} else {
		e.add(Part{Kind: Output, Name: "which " + e.c.src.decode(s[1:]), Split: true})
	}
	return ""
}

func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			return false
		}
	}
	return true
}
