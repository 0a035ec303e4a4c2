package agents

import (
	"os"
	"strings"
)

// patchTool says whether the tool's input is a patch.
func patchTool(tool string) bool {
	t := strings.ToLower(strings.ReplaceAll(tool, "_", ""))
	return t == "applypatch" || t == "patch"
}

func isPathKey(k string) bool {
	switch k {
	case "file_path", "filePath", "path", "absolute_path", "notebook_path", "notebookPath",
		"target_file", "targetFile", "TargetFile", "AbsolutePath", "filename", "filepath", "uri",
		"target_notebook", "new_path", "destination", "local_path", "localPath":
		return true
	}
	return false
}

func isPathListKey(k string) bool {
	switch k {
	case "paths", "files", "file_paths", "filePaths", "include", "operations", "replacements", "edits":
		return true
	}
	return false
}

func isPatchKey(k string) bool {
	switch k {
	case "command", "input", "patch", "patchText", "patch_text", "diff":
		return true
	}
	return false
}

// ours says whether the tool is one to be judged; else the call is skipped. A
// tool that nobody knows and whose input holds a command is judged by that.
func (e *event) ours(r *request) bool {
	if r.kind == unknownTool {
		r.kind = kindOf(e.agent, r.tool)
	}
	if r.kind == unknownTool && r.args.is('{') {
		if s, ok := r.args.get("command").text(); ok && s != "" {
			r.kind, r.stranger = runsTool, true
		}
	}
	r.skip = r.kind <= idleTool
	return !r.skip
}

// take fills the call: the command under key where the tool is a shell, else
// the files. overs are keys of a shell tool's input that change its directory.
func (e *event) take(r *request, cwd, key string, overs ...string) {
	switch r.kind {
	case runsTool:
	case typesTool:
		r.call.Dir = e.dir(cwd, "")
		e.typed(r)
		return
	default:
		r.call.Dir = e.dir(cwd, "")
		e.files(r)
		return
	}
	if r.stranger {
		key, overs = "command", nil
	}
	over := ""
	if r.args.is('{') {
		over = e.first(r.args, overs...)
	}
	r.call.Dir = e.dir(cwd, over)
	r.call.PowerShell = strings.EqualFold(r.tool, "powershell")
	e.command(r, key)
}

// rewritable says that a replaced command would be run by the tool.
func (r *request) rewritable() bool { return r.kind == runsTool && !r.stranger }

// typed takes what would be typed into a running program, which may be a shell.
// Named keys ({enter}) end lines.
func (e *event) typed(r *request) {
	for _, key := range []string{"input", "Input", "text", "chars", "keys"} {
		if s, ok := r.args.get(key).text(); ok {
			e.line(r, strings.NewReplacer("{enter}", "\n", "{Enter}", "\n", "{return}", "\n", "\r", "\n").Replace(s))
		}
	}
	r.skip = len(r.call.Lines) == 0
}

// accessOf is what a file tool does to each path that its input names. A tool
// that views and edits is told apart by its own "command".
func accessOf(r *request) Access {
	verb, _ := r.args.get("command").text()
	switch r.kind {
	case editsTool, writesTool:
		switch {
		case verb == "view":
			return Read
		case verb == "create" || verb == "write" || r.kind == writesTool:
			return Write
		}
		return Edit
	case deletesTool:
		return Delete
	case searchesTool:
		return Search
	}
	return Read
}

// files fills r with what a file tool touches. A tool whose paths are under
// keys nobody knows is skipped.
func (e *event) files(r *request) {
	if r.args == nil {
		r.skip = true
		return
	}
	does := accessOf(r)
	if does == Search {
		e.search(r)
		return
	}
	if patchTool(r.tool) {
		if s, ok := r.args.text(); ok {
			e.patch(r, r.call.Dir, s)
		}
		for _, m := range r.args.members {
			if s, ok := m.val.text(); ok && isPatchKey(m.key.str) {
				e.patch(r, r.call.Dir, s)
			}
		}
	}
	for _, n := range pathNodes(r.args, 0) {
		r.paths = append(r.paths, n.node)
		f := FileAccess{Path: e.abs(r.call.Dir, n.node.str), Does: does}
		if does == Read && n.list && isPattern(f.Path) {
			f.Pattern = true
			if dir := everythingBelow(f.Path); dir != "" { // as a search that finds all lines
				f = FileAccess{Path: dir, Does: Search, Pattern: isPattern(dir)}
			}
		}
		r.add(f)
	}
	r.skip = len(r.call.Files) == 0
}

// add notes an access once.
func (r *request) add(f FileAccess) {
	for _, have := range r.call.Files {
		if have == f {
			return
		}
	}
	r.call.Files = append(r.call.Files, f)
}

// A pathNode is a string in a tool's input that names a file; list says that it
// stands in a list, where some tools take patterns.
type pathNode struct {
	node *node
	list bool
}

// pathNodes finds the names of files in a tool's input, one level deep.
func pathNodes(n *node, depth int) []pathNode {
	var out []pathNode
	if n == nil || n.kind != '{' {
		return nil
	}
	add := func(v *node, list bool) {
		if s, ok := v.text(); ok && s != "" {
			out = append(out, pathNode{v, list})
		}
	}
	for _, m := range n.members {
		if isPathKey(m.key.str) {
			add(m.val, false)
		}
		if !isPathListKey(m.key.str) || depth > 0 {
			continue
		}
		if m.key.str != "include" {
			add(m.val, true)
		}
		for _, el := range m.val.elems {
			if m.key.str != "edits" {
				add(el, true)
			}
			out = append(out, pathNodes(el, depth+1)...)
		}
	}
	return out
}

// everythingBelow returns the directory of which a pattern takes all files; ""
// when it takes only some.
func everythingBelow(pattern string) string {
	dir := pattern
	for i := strings.LastIndexByte(dir, '/'); i >= 0 && strings.Trim(dir[i+1:], "*.") == ""; i = strings.LastIndexByte(dir, '/') {
		dir = dir[:i]
	}
	if dir == pattern {
		return ""
	}
	return dir
}

// isPattern says that a name is a pattern and no file has it.
func isPattern(path string) bool {
	if !strings.ContainsAny(path, "*?[{") {
		return false
	}
	_, err := os.Lstat(path)
	return err != nil
}

// search takes what a search would show the lines of: a pattern of text, the
// places, and patterns of names that narrow them. Without a place it is the
// call's directory.
func (e *event) search(r *request) {
	text := func(keys ...string) []*node {
		var out []*node
		for _, k := range keys {
			for _, v := range r.args.all(k) {
				for _, el := range append([]*node{v}, v.elems...) {
					if s, ok := el.text(); ok && s != "" {
						out = append(out, el)
					}
				}
			}
		}
		return out
	}
	look := ""
	for _, n := range text("pattern", "regex", "query", "queries", "Query", "search_term") {
		look += n.str + "\n"
	}
	look = strings.TrimSuffix(look, "\n")
	places := text("path", "paths", "dir_path", "directory", "SearchPath", "search_path", "file_path", "filePath", "target_directory")
	names := text("glob", "include", "include_pattern", "includePattern", "file_pattern", "filePattern", "file_glob", "Includes")
	r.paths = places
	at := []string{r.call.Dir}
	if len(places) > 0 {
		at = nil
		for _, p := range places {
			at = append(at, e.abs(r.call.Dir, p.str))
		}
	}
	mode, _ := r.args.get("output_mode").text()
	short := mode == "files_with_matches" || mode == "count" || r.args.get("names_only").is('t')
	for _, dir := range at {
		r.add(FileAccess{Path: dir, Does: Search, Look: look, Names: short, Pattern: isPattern(dir)})
		for _, n := range names {
			if base := n.str[strings.LastIndexByte(n.str, '/')+1:]; strings.HasPrefix(n.str, "!") || strings.Trim(base, "*.") == "" {
				continue // leaves out, or narrows nothing
			}
			f := FileAccess{Path: e.abs(dir, n.str), Does: Search, Look: look, Names: short, Pattern: true}
			r.add(f)
			if !strings.Contains(n.str, "/") {
				f.Path = e.abs(dir, "**/"+n.str)
				r.add(f)
			}
		}
	}
}

// patch takes the files named in the headers of an apply_patch text. A line of
// added text begins with +, so it cannot pass for a header.
func (e *event) patch(r *request, dir, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, h := range patchHeads {
			if p, ok := strings.CutPrefix(line, h.text); ok && strings.TrimSpace(p) != "" {
				r.add(FileAccess{Path: e.abs(dir, strings.TrimSpace(p)), Does: h.does})
			}
		}
	}
}

var patchHeads = [...]struct {
	text string
	does Access
}{{"*** Add File:", Write}, {"*** Update File:", Edit}, {"*** Delete File:", Delete}, {"*** Move to:", Write}}

// Commands are the commands of a shell that do only what the access does, so
// that one set of rules for paths serves both. A pattern of names is a line for
// a shell to read; all else is argv.
func (f FileAccess) Commands() (argv [][]string, line string) {
	show := []string{"cat", "--"}
	if f.Does == Search {
		show = []string{"grep", "-r", "-e", f.Look, "--"}
		if f.Names {
			show[1] = "-rl"
		}
	}
	if f.Pattern {
		for _, w := range show {
			line += shellQuote(w) + " "
		}
		return nil, line + patternWord(f.Path)
	}
	switch f.Does {
	case Write:
		return [][]string{{"tee", "--", f.Path}}, ""
	case Delete:
		return [][]string{{"unlink", f.Path}}, ""
	case Edit:
		argv = [][]string{{"tee", "-a", "--", f.Path}}
		if _, err := os.Lstat(f.Path); err == nil {
			argv = append(argv, []string{"cat", "--", f.Path})
		}
		return argv, ""
	}
	return [][]string{append(show, f.Path)}, ""
}

// patternWord writes a pattern of names as a word that a shell expands, and
// nothing else of it.
func patternWord(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 ||
			strings.IndexByte("/._-+@%:,*?[]{}^!", c) >= 0) {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}
