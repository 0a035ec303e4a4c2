package gitrepo

import (
	"bytes"
	"errors"
)

// ErrOddConfig says that a git configuration is none that git certainly reads as
// we do: git is asked then.
var ErrOddConfig = errors.New("git itself has to read this configuration")

// configText walks through a git configuration as git's config.c does. What
// is an error to git, and what versions of git read differently, is
// ErrOddConfig.
type configText struct {
	text []byte
	at   int
	name []byte // section, subsection and key, with dots
	val  []byte
}

// ReadConfig calls each with every key, in the spelling that git config
// prints (sections and keys in lower case, subsections as they are), and its
// value; set is false for a key without =. The slices are good until it returns.
func ReadConfig(text []byte, each func(key, value []byte, set bool) error) error {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(text, 0) >= 0 {
		return ErrOddConfig
	}
	t := configText{text: text}
	section := 0 // length of the section's name in t.name
	for t.at < len(t.text) {
		c := t.next()
		switch {
		case isConfigSpace(c):
		case c == '#' || c == ';':
			t.skipLine()
		case c == '[':
			if !t.section() {
				return ErrOddConfig
			}
			section = len(t.name)
		case isConfigAlpha(c) && section > 0:
			t.name = append(t.name[:section], lowerByte(c))
			set, ok := t.entry()
			if !ok {
				return ErrOddConfig
			}
			if err := each(t.name, t.val, set); err != nil {
				return err
			}
		default:
			return ErrOddConfig
		}
	}
	return nil
}

// next returns the next character: \r\n is one, and the end is a line's end.
func (t *configText) next() byte {
	if t.at >= len(t.text) {
		return '\n'
	}
	c := t.text[t.at]
	t.at++
	if c == '\r' && t.at < len(t.text) && t.text[t.at] == '\n' {
		t.at++
		return '\n'
	}
	return c
}

func (t *configText) skipLine() {
	for t.next() != '\n' {
	}
}

// section reads what follows a [.
func (t *configText) section() bool {
	t.name = t.name[:0]
	for {
		if t.at >= len(t.text) {
			return false
		}
		c := t.next()
		switch {
		case c == ']':
			if len(t.name) == 0 {
				return false
			}
			t.name = append(t.name, '.')
			return true
		case c == ' ' || c == '\t':
			return t.subsection()
		case !isConfigKey(c) && c != '.':
			return false
		}
		t.name = append(t.name, lowerByte(c))
	}
}

// subsection reads `"name"]`, behind the first space.
func (t *configText) subsection() bool {
	c := t.next()
	for c == ' ' || c == '\t' {
		c = t.next()
	}
	if c != '"' || len(t.name) == 0 {
		return false
	}
	t.name = append(t.name, '.')
	for {
		c = t.next()
		if c == '"' {
			break
		}
		if c == '\\' {
			c = t.next()
		}
		if c == '\n' || c == '\r' {
			return false
		}
		t.name = append(t.name, c)
	}
	t.name = append(t.name, '.')
	return t.next() == ']'
}

// entry reads the rest of a key, and its value.
func (t *configText) entry() (set, ok bool) {
	t.val = t.val[:0]
	c := t.next()
	for isConfigKey(c) {
		t.name = append(t.name, lowerByte(c))
		c = t.next()
	}
	for c == ' ' || c == '\t' {
		c = t.next()
	}
	switch c {
	case '\n':
		return false, true
	case '=':
		return true, t.value()
	}
	return false, false
}

// value reads to the end of the line, and of those that it continues on.
func (t *configText) value() bool {
	quoted, spaces := false, 0
	for {
		c := t.next()
		switch {
		case c == '\n':
			return !quoted
		case c == '\r':
			return false
		case !quoted && c == ' ':
			if len(t.val) > 0 {
				spaces++
			}
			continue
		case !quoted && c == '\t':
			// A space to some versions of git, itself to others; at either end nothing.
			if len(t.val) > 0 && !t.ends() {
				return false
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			t.skipLine()
			return true
		}
		for ; spaces > 0; spaces-- {
			t.val = append(t.val, ' ')
		}
		switch c {
		case '"':
			quoted = !quoted
			continue
		case '\\':
			switch c = t.next(); c {
			case '\n':
				continue
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case 'n':
				c = '\n'
			case '\\', '"':
			default:
				return false
			}
		}
		t.val = append(t.val, c)
	}
}

// ends reports whether nothing but space and a comment is left of the line.
func (t *configText) ends() bool {
	for i := t.at; i < len(t.text); i++ {
		switch t.text[i] {
		case ' ', '\t':
		case '\n', '#', ';':
			return true
		default:
			return false
		}
	}
	return true
}

func isConfigSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isConfigAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isConfigKey(c byte) bool   { return isConfigAlpha(c) || c >= '0' && c <= '9' || c == '-' }

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c |= 0x20
	}
	return c
}
