package agents

import "unicode/utf8"

// all returns every value under key, in order: a repeated key is legal JSON.
func (n *node) all(key string) []*node {
	if n == nil || n.kind != '{' {
		return nil
	}
	var out []*node
	for _, m := range n.members {
		if m.key.str == key {
			out = append(out, m.val)
		}
	}
	return out
}

// get returns the last value under key, as JavaScript and serde would, or nil.
func (n *node) get(key string) *node {
	if all := n.all(key); len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

func (n *node) has(key string) bool { return len(n.all(key)) > 0 }

func (n *node) is(kind byte) bool { return n != nil && n.kind == kind }

// text returns a string's value.
func (n *node) text() (string, bool) {
	if !n.is('"') {
		return "", false
	}
	return n.str, true
}

// raw returns the value's bytes in the source.
func (n *node) raw(src []byte) []byte { return src[n.start:n.end] }

// kindName names a value's type for messages.
func (n *node) kindName() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "a truth value"
}

// clip cuts s to at most n bytes at a character's edge.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
