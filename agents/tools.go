package agents

import "strings"

// fileTool says whether a tool touches files, and whether it writes them. The
// names of all agents agree where they overlap, so that one table serves all.
// An editor tool that also views is told apart by its own "command".
func fileTool(tool, verb string) (write, ok bool) {
	t := strings.TrimPrefix(tool, "developer__")
	t = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(t))
	switch t {
	case "read", "readfile", "readfiles", "readmanyfiles", "view", "viewfile", "fsread", "readnotebook",
		"prereadcode":
		return false, true
	case "write", "writefile", "writetofile", "create", "createfile", "fswrite",
		"edit", "editfile", "multiedit", "replace", "replaceinfile", "searchreplace",
		"strreplace", "strreplacefile", "replacestringinfile", "multireplacestringinfile",
		"inserteditintofile", "replacefilecontent", "multireplacefilecontent", "notebookedit", "editnotebookfile", "editnotebook",
		"applypatch", "patch", "delete", "deletefile", "prewritecode":
		return true, true
	case "strreplaceeditor", "strreplacebasededittool", "texteditor", "editor":
		return verb != "view", true
	}
	return false, false
}

// patchTool says whether the tool's input is a patch.
func patchTool(tool string) bool {
	t := strings.ToLower(strings.ReplaceAll(tool, "_", ""))
	return t == "applypatch" || t == "patch"
}

func isPathKey(k string) bool {
	switch k {
	case "file_path", "filePath", "path", "absolute_path", "notebook_path", "notebookPath",
		"target_file", "targetFile", "TargetFile", "AbsolutePath", "filename", "filepath", "uri",
		"target_notebook", "new_path", "destination":
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

// ours says whether the tool is one to be judged; else the call is skipped.
func (e *event) ours(r *request, shell bool) bool {
	_, file := fileTool(r.tool, "")
	r.skip = !shell && !file
	return !r.skip
}

// take fills the call: the command under key where the tool is a shell, else
// the files. overs are keys of a shell tool's input that change its directory.
func (e *event) take(r *request, shell bool, cwd, key string, overs ...string) {
	if !shell {
		r.call.Dir = e.dir(cwd, "")
		e.files(r)
		return
	}
	over := ""
	if r.args.is('{') {
		over = e.first(r.args, overs...)
	}
	r.call.Dir = e.dir(cwd, over)
	r.call.PowerShell = strings.EqualFold(r.tool, "powershell")
	e.command(r, key)
}

// files fills r with what a file tool touches. A tool that is none, or one
// whose paths are under keys nobody knows, is skipped.
func (e *event) files(r *request) {
	verb, _ := r.args.get("command").text()
	write, ok := fileTool(r.tool, verb)
	if !ok || r.args == nil {
		r.skip = true
		return
	}
	add := func(p string, write bool) {
		if p == "" {
			return
		}
		f := FileAccess{Path: e.abs(r.call.Dir, p), Write: write}
		for _, have := range r.call.Files {
			if have == f {
				return
			}
		}
		r.call.Files = append(r.call.Files, f)
	}
	if patchTool(r.tool) {
		if s, ok := r.args.text(); ok {
			for _, p := range patchPaths(s) {
				add(p, true)
			}
		}
		for _, m := range r.args.members {
			if s, ok := m.val.text(); ok && isPatchKey(m.key.str) {
				for _, p := range patchPaths(s) {
					add(p, true)
				}
			}
		}
	}
	var collect func(n *node, depth int)
	collect = func(n *node, depth int) {
		if n == nil || n.kind != '{' {
			return
		}
		for _, m := range n.members {
			if s, ok := m.val.text(); ok && isPathKey(m.key.str) {
				r.paths = append(r.paths, m.val)
				add(s, write)
			}
			if !isPathListKey(m.key.str) || depth > 0 {
				continue
			}
			if s, ok := m.val.text(); ok && m.key.str != "include" {
				r.paths = append(r.paths, m.val)
				add(s, write)
			}
			for _, el := range m.val.elems {
				if s, ok := el.text(); ok && m.key.str != "edits" {
					r.paths = append(r.paths, el)
					add(s, write)
				}
				collect(el, depth+1)
			}
		}
	}
	collect(r.args, 0)
	r.skip = len(r.call.Files) == 0
}

// patchPaths returns the files named in the headers of an apply_patch text, in
// order. A line of added text begins with +, so it cannot pass for a header.
func patchPaths(patch string) []string {
	var out []string
	for line := range strings.Lines(patch) {
		line = strings.TrimSpace(line)
		for _, head := range []string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"} {
			if p, ok := strings.CutPrefix(line, head); ok {
				if p = strings.TrimSpace(p); p != "" {
					out = append(out, p)
				}
			}
		}
	}
	return out
}
