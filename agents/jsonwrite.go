package agents

import (
	"strings"
	"unicode/utf8"
)

// quoteJSON returns s as a JSON string: only what must be escaped is escaped,
// in the same way as JSON.stringify and serde_json do, so that texts compare
// and hash equal with theirs. Invalid UTF-8 becomes U+FFFD.
func quoteJSON(s string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			b.WriteRune(r) // RuneError for a broken byte
			i += n
			continue
		}
		switch c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			if c < 0x20 {
				b.WriteString(`\u00`)
				b.WriteByte(hex[c>>4])
				b.WriteByte(hex[c&15])
			} else {
				b.WriteByte(c)
			}
		}
		i++
	}
	b.WriteByte('"')
	return b.String()
}

// quoteList returns a JSON list of strings.
func quoteList(list []string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, s := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoteJSON(s))
	}
	b.WriteByte(']')
	return b.String()
}

// splice returns the source text of obj in which the given parts are replaced.
// The parts must lie within obj and must not overlap; they are in ascending
// order.
func splice(src []byte, obj *node, parts []edit) string {
	var b strings.Builder
	at := obj.start
	for _, e := range parts {
		b.Write(src[at:e.off])
		b.WriteString(e.with)
		at = e.off + len(e.old)
	}
	b.Write(src[at:obj.end])
	return b.String()
}

// pretty renders a value with one entry per line, as JSON.stringify(v, null,
// indent) does: agents that rewrite their own file then leave ours as it is.
// prefix is put in front of every line but the first.
func pretty(src []byte, n *node, indent, prefix, newline string) string {
	var b strings.Builder
	var walk func(n *node, prefix string)
	walk = func(n *node, prefix string) {
		inner := prefix + indent
		switch {
		case n.kind == '{' && len(n.members) > 0:
			b.WriteByte('{')
			for i, m := range n.members {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(newline + inner + quoteJSON(m.key.str) + ": ")
				walk(m.val, inner)
			}
			b.WriteString(newline + prefix + "}")
		case n.kind == '[' && len(n.elems) > 0:
			b.WriteByte('[')
			for i, e := range n.elems {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(newline + inner)
				walk(e, inner)
			}
			b.WriteString(newline + prefix + "]")
		default:
			b.Write(n.raw(src))
		}
	}
	walk(n, prefix)
	return b.String()
}
