package agents

import (
	"bytes"
	"strings"
)

// tomlNewline is the line end that a file uses.
func tomlNewline(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// appendBlock returns the edit that puts a block of statements at the end of a
// file, parted from the rest by an empty line.
func appendBlock(src []byte, block string) edit {
	nl := tomlNewline(src)
	block = strings.ReplaceAll(block, "\n", nl)
	body := bytes.TrimPrefix(src, []byte(bom))
	switch {
	case len(bytes.TrimSpace(body)) == 0:
	case !bytes.HasSuffix(body, []byte("\n")):
		block = nl + nl + block
	case !bytes.HasSuffix(body, []byte("\n\n")) && !bytes.HasSuffix(body, []byte("\n\r\n")):
		block = nl + block
	}
	return edit{off: len(src), with: block}
}

// addTOMLHook returns the edit that adds a [[hooks]] table. Where the file has
// hooks as a list of inline tables, which cannot be extended by headers, the
// hook is added there.
func addTOMLHook(src []byte, items []tomlItem, block string) (edit, *SyntaxError) {
	inTable := false
	for _, it := range items {
		if it.header {
			inTable = true
			if len(it.keys) > 0 && it.keys[0] == "hooks" && !(it.array && len(it.keys) == 1) && !hasArray(items, "hooks") {
				return edit{}, syntaxErrorAt(src, it.start, "hooks is a table where a list of tables is due")
			}
			continue
		}
		if inTable || it.keys[0] != "hooks" {
			continue
		}
		if len(it.keys) != 1 || it.val.kind != '[' {
			return edit{}, syntaxErrorAt(src, it.start, "hooks is not a list of tables")
		}
		inline := inlineTOML(block)
		at := it.val.start + 1
		if len(it.val.elems) == 0 {
			between := string(src[at : it.val.end-1])
			if strings.TrimSpace(between) == "" {
				return edit{off: at, old: between, with: inline}, nil
			}
			return edit{off: at, with: inline + ","}, nil
		}
		first := it.val.elems[0].start
		if blank, own := lineBlank(src, first); own {
			return edit{off: first, with: inline + "," + tomlNewline(src) + blank}, nil
		}
		return edit{off: first, with: inline + ", "}, nil
	}
	return appendBlock(src, block), nil
}

func hasArray(items []tomlItem, name string) bool {
	for _, it := range items {
		if it.header && it.array && len(it.keys) == 1 && it.keys[0] == name {
			return true
		}
	}
	return false
}

// inlineTOML turns a [[table]] block of ours into an inline table.
func inlineTOML(block string) string {
	var parts []string
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "[") {
			parts = append(parts, line)
		}
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// A tomlHook is one entry of hooks, in whichever form.
type tomlHook struct {
	start, end int // of the whole entry
	pairs      []tomlItem
	list       *tomlItem // the statement that holds an inline entry
	index      int       // among the inline entries, or among the headers
}

func (h tomlHook) get(key string) *tomlValue {
	for i := range h.pairs {
		if sameKeys(h.pairs[i].keys, []string{key}) {
			return &h.pairs[i].val
		}
	}
	return nil
}

func (h tomlHook) text(key string) string {
	if v := h.get(key); v != nil && v.kind == '"' {
		return v.str
	}
	return ""
}

// tomlHooks returns the entries of hooks.
func tomlHooks(items []tomlItem) []tomlHook {
	var out []tomlHook
	inTable, n := false, 0
	for i, it := range items {
		switch {
		case it.header:
			inTable = true
			if !it.array || !sameKeys(it.keys, []string{"hooks"}) {
				continue
			}
			h := tomlHook{start: it.start, end: it.end, index: n}
			n++
			for _, kv := range items[i+1:] {
				if kv.header {
					break
				}
				h.pairs = append(h.pairs, kv)
				h.end = kv.end
			}
			out = append(out, h)
		case !inTable && sameKeys(it.keys, []string{"hooks"}) && it.val.kind == '[':
			for j, el := range it.val.elems {
				if el.kind == '{' {
					out = append(out, tomlHook{start: el.start, end: el.end, pairs: el.pairs, list: &items[i], index: j})
				}
			}
		}
	}
	return out
}

// removeTOMLHook returns the edit that takes an entry out, with its lines.
func removeTOMLHook(src []byte, h tomlHook) edit {
	from, to := h.start, h.end
	if h.list != nil {
		elems := h.list.val.elems
		switch {
		case len(elems) == 1:
			if c := bytes.IndexByte(src[to:h.list.val.end], ','); c >= 0 && len(bytes.TrimSpace(src[to:to+c])) == 0 {
				to += c + 1
			}
		case h.index+1 < len(elems):
			to = elems[h.index+1].start
		default:
			from = elems[h.index-1].end
		}
		return edit{off: from, old: string(src[from:to])}
	}
	return removeLines(src, from, to)
}

// removeLines returns the edit that removes the lines from..to, and the empty
// line in front of them.
func removeLines(src []byte, from, to int) edit {
	from = bytes.LastIndexByte(src[:from], '\n') + 1
	if from == 0 && bytes.HasPrefix(src, []byte(bom)) {
		from = len(bom)
	}
	if i := bytes.IndexByte(src[to:], '\n'); i >= 0 {
		to += i + 1
	} else {
		to = len(src)
	}
	if rest := src[:from]; bytes.HasSuffix(rest, []byte("\n\n")) {
		from--
	} else if bytes.HasSuffix(rest, []byte("\n\r\n")) {
		from -= 2
	}
	return edit{off: from, old: string(src[from:to])}
}
