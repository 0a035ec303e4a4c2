package agents

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// An entry is one configured hook of ours, as found in a file.
type entry struct {
	file      string
	line, col int
	exec      []string // program and arguments; nil when a shell runs text
	text      string   // the command for a shell
	event     string   // the key that it stands under
	matcher   string
	limit     time.Duration // 0: none is set
	closed    bool          // the fail-closed option is set
	disabled  bool
	async     bool
	status    string // statusMessage
	group     int    // index in the event's list
	index     int    // index in the group
	others    int    // entries of others that stand before ours in the event's list
	// For removal: each container from the outside in, and our index there.
	chain []link
	toml  *tomlHook
	obj   *node
}

type link struct {
	in    *node
	index int
}

// words returns the configured command as words.
func (e entry) words() []string {
	if e.exec != nil {
		return e.exec
	}
	return splitShell(e.text)
}

// ours says whether a configured command is our hook for this agent. binaries
// are names it may have apart from safeshell.
func ours(a Agent, words []string, binaries ...string) bool {
	if len(words) < 3 || words[1] != "hook" {
		return false
	}
	if named, ok := Find(words[2]); !ok || named.Name != a.Name {
		return false
	}
	if strings.HasPrefix(filepath.Base(words[0]), "safeshell") {
		return true
	}
	for _, b := range binaries {
		if b != "" && words[0] == b {
			return true
		}
	}
	return false
}

// jsonEntries finds our hooks anywhere in a JSON file.
func jsonEntries(a Agent, path string, doc *document, binaries ...string) []entry {
	var out []entry
	var walk func(n *node, keys []string, chain []link)
	walk = func(n *node, keys []string, chain []link) {
		for i, m := range n.members {
			walk(m.val, append(keys[:len(keys):len(keys)], m.key.str), append(chain[:len(chain):len(chain)], link{n, i}))
		}
		for i, el := range n.elems {
			walk(el, keys, append(chain[:len(chain):len(chain)], link{n, i}))
		}
		if n.kind != '{' || len(chain) == 0 {
			return
		}
		e := entry{file: path, chain: chain, obj: n}
		args := n.get("args")
		for _, key := range []string{"exec", "command", "bash"} {
			s, ok := n.get(key).text()
			if !ok {
				continue
			}
			if args.is('[') && key != "bash" {
				e.exec = []string{s}
				for _, el := range args.elems {
					e.exec = append(e.exec, el.str)
				}
			} else {
				e.text = s
			}
			break
		}
		if !ours(a, e.words(), binaries...) {
			return
		}
		e.line, e.col = position(doc.src, n.start)
		e.describe(a, doc.src, keys)
		out = append(out, e)
	}
	if doc.root != nil {
		walk(doc.root, nil, nil)
	}
	return out
}

// describe fills in what stands in the hook's own object and in the one around
// it, which is its matcher group or, with Kiro, the hook of the action.
func (e *entry) describe(a Agent, src []byte, keys []string) {
	near := []*node{e.obj}
	var lists []link
	for i := len(e.chain) - 1; i >= 0; i-- {
		switch in := e.chain[i].in; {
		case in.kind == '[':
			lists = append([]link{e.chain[i]}, lists...)
		case len(near) == 1 && (in.has("matcher") || in.has("hooks") || in.has("action")) && in != e.chain[0].in:
			near = append(near, in)
		}
	}
	for _, o := range near {
		if s, ok := o.get("matcher").text(); ok && e.matcher == "" {
			e.matcher = s
		}
		if s, ok := o.get("trigger").text(); ok {
			e.event = s
		}
		if o.get("enabled").is('f') {
			e.disabled = true
		}
		for key, unit := range map[string]time.Duration{
			"timeout": time.Second, "timeoutSec": time.Second, "timeout_ms": time.Millisecond,
		} {
			v := o.get(key)
			if !v.is('0') {
				continue
			}
			if a.Name == "gemini" {
				unit = time.Millisecond
			}
			if f, err := strconv.ParseFloat(string(v.raw(src)), 64); err == nil {
				if a.Name == "qwen" && f >= 1000 {
					unit = time.Millisecond
				}
				e.limit = time.Duration(f * float64(unit))
			}
		}
	}
	block, _ := e.obj.get("onFailure").text()
	onFailure, _ := e.obj.get("on_failure").text()
	e.closed = block == "block" || onFailure == "block" || e.obj.get("failClosed").is('t')
	e.async = e.obj.get("async").is('t')
	e.status, _ = e.obj.get("statusMessage").text()
	for _, k := range keys {
		for _, event := range a.Events {
			if k == event {
				e.event = k
			}
		}
	}
	if len(lists) > 0 {
		e.group = lists[0].index
		e.others = lists[0].index
	}
	if len(lists) > 1 {
		e.index = lists[1].index
		e.others += lists[1].index
	}
}

// removal returns the container and index to be taken out: the hook itself, or
// the whole group where nothing else is in it.
func (e entry) removal() link {
	at := len(e.chain) - 1
	for at > 0 && e.chain[at].in.kind != '[' {
		at-- // out of an action, to the hook's place in the list
	}
	up := at
	for up > 0 && e.chain[up-1].in.kind == '{' {
		up-- // the keys between this list and what holds it
	}
	if len(e.chain[at].in.elems) == 1 && up > 0 && e.chain[up-1].in.kind == '[' {
		group := e.chain[up-1].in.elems[e.chain[up-1].index]
		for _, m := range group.members {
			if m.key.str != "matcher" && m.key.str != "hooks" {
				return e.chain[at]
			}
		}
		return e.chain[up-1]
	}
	return e.chain[at]
}

// tomlEntries finds our hooks in a TOML file.
func tomlEntries(a Agent, path string, src []byte, items []tomlItem, binaries ...string) []entry {
	var out []entry
	for i, h := range tomlHooks(items) {
		e := entry{file: path, text: h.text("command"), event: h.text("event"), matcher: h.text("matcher"),
			group: i, others: i, toml: &h}
		if !ours(a, e.words(), binaries...) {
			continue
		}
		if v := h.get("timeout"); v != nil {
			if f, err := strconv.ParseFloat(string(src[v.start:v.end]), 64); err == nil {
				e.limit = time.Duration(f * float64(time.Second))
			}
		}
		e.line, e.col = position(src, h.start)
		out = append(out, e)
	}
	return out
}
