package agents

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// An event is one hook event while it is read. The first thing that is wrong
// with it is kept in err, so that readers need not check every key.
type event struct {
	src    []byte
	root   *node
	agent  string // the real sender
	getenv func(string) string
	getwd  func() (string, error)
	err    error
}

// A request is an event understood: either nothing of ours (skip) or a call to
// be judged.
type request struct {
	skip bool
	call Call
	name string // the event's name, where a protocol has several
	tool string // the tool's name as sent
	kind toolKind
	// stranger: a tool that nobody knows, judged by the command in its input.
	stranger bool
	args     *node   // the tool's input
	cmds     []*node // the strings inside args that hold the command
	paths    []*node // the strings inside args that name a tool's files
	ask      bool    // a question would reach a person
	write    bool    // a replaced command would be run
	note     bool    // a note would be shown
}

func (e *event) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

// value returns what stands under key; nil when absent or null. The same key
// with different values is an error: two readers would understand two things.
func (e *event) value(n *node, key string) *node {
	all := n.all(key)
	if len(all) == 0 {
		return nil
	}
	for _, v := range all[1:] {
		if !bytes.Equal(v.raw(e.src), all[0].raw(e.src)) {
			e.fail("the key %q is there twice with different values", key)
		}
	}
	if all[0].kind == 'n' {
		return nil
	}
	return all[0]
}

// str returns the string under key; empty when absent.
func (e *event) str(n *node, key string) string {
	v := e.value(n, key)
	if v == nil {
		return ""
	}
	s, ok := v.text()
	if !ok {
		e.fail("the key %q holds %s where a string is due", key, v.kindName())
	}
	return s
}

// first returns the first string that is not empty among keys.
func (e *event) first(n *node, keys ...string) string {
	for _, k := range keys {
		if s := e.str(n, k); s != "" {
			return s
		}
	}
	return ""
}

// dir returns the directory in which a call runs: over, made absolute against
// cwd. Without a usable cwd it is the hook's own, which agents set the same.
func (e *event) dir(cwd, over string) string {
	if !filepath.IsAbs(cwd) {
		own, err := e.getwd()
		if err != nil || !filepath.IsAbs(own) {
			e.fail("the event names no absolute working directory")
			return ""
		}
		cwd = filepath.Join(own, cwd)
	}
	switch {
	case over == "":
		return cwd
	case strings.HasPrefix(over, "~/") && filepath.IsAbs(e.getenv("HOME")):
		return filepath.Join(e.getenv("HOME"), over[2:])
	case filepath.IsAbs(over):
		return over
	}
	return filepath.Join(cwd, over)
}

// command takes the shell text under key of the tool's input.
func (e *event) command(r *request, key string) {
	if r.args == nil || r.args.kind != '{' {
		e.fail("the tool %q came without an input object", clip(r.tool, 60))
		return
	}
	v := e.value(r.args, key)
	if v == nil {
		e.fail("the tool %q came without %q", clip(r.tool, 60), key)
		return
	}
	s, ok := v.text()
	if !ok {
		e.fail("the key %q holds %s where a string is due", key, v.kindName())
		return
	}
	e.line(r, s)
	r.cmds = r.args.all(key)
}

// line adds one shell text.
func (e *event) line(r *request, s string) {
	if strings.ContainsRune(s, 0) {
		e.fail("the command holds a NUL byte, which no shell can be given")
		return
	}
	r.call.Lines = append(r.call.Lines, s)
}

// replaced returns the tool's input with its command exchanged; all other
// fields stay as they were sent, byte for byte.
func (e *event) replaced(r request, line string) string {
	parts := make([]edit, 0, len(r.cmds))
	for _, c := range r.cmds {
		parts = append(parts, edit{off: c.start, old: string(c.raw(e.src)), with: quoteJSON(line)})
	}
	return splice(e.src, r.args, parts)
}

// abs makes a file tool's path absolute without resolving .. or links: what
// the path means is for the rules to find out.
func (e *event) abs(dir, p string) string {
	if strings.HasPrefix(p, "file://") {
		p = fileURL(p)
	}
	if home := e.getenv("HOME"); filepath.IsAbs(home) {
		if p == "~" {
			return home
		}
		if strings.HasPrefix(p, "~/") {
			return home + p[1:]
		}
	}
	if filepath.IsAbs(p) {
		return p
	}
	return strings.TrimSuffix(dir, "/") + "/" + p
}

// fileURL returns the path of a file URL; the URL itself when it has none or is
// not valid. (net/url would cost every shim the start of net/netip.)
func fileURL(u string) string {
	rest := u[len("file://"):]
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	i := strings.IndexByte(rest, '/')
	if i < 0 {
		return u
	}
	path := make([]byte, 0, len(rest))
	for rest = rest[i:]; rest != ""; rest = rest[1:] {
		c := rest[0]
		if c == '%' {
			if len(rest) < 3 {
				return u
			}
			n, err := strconv.ParseUint(rest[1:3], 16, 8)
			if err != nil {
				return u
			}
			c, rest = byte(n), rest[2:]
		}
		path = append(path, c)
	}
	return string(path)
}

var errNotAnEvent = errors.New("this is JSON, but not a hook event")
