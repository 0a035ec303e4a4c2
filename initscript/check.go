package initscript

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"safeshell/config"
)

// Level says how grave a Finding is.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Info Level = "info" // worth knowing; nothing to do
	Warn Level = "warn" // part of the protection is not there
	Fail Level = "fail" // the protection is not there
)

// Finding is one result of Check, for doctor.
type Finding struct {
	Level   Level
	File    string // empty when it concerns no file
	Line    int    // 0 when it concerns the whole file
	Message string
	Fix     string // a command to run, or what to do; empty for OK and Info
}

const runInit = "safeshell init"

// Check looks at the start-up files, the static files, PATH and the exported
// functions, and changes nothing.
func Check(e Env, p Params) []Finding {
	if err := recordNewer(p); err != nil {
		return []Finding{{Level: Fail, Message: err.Error(), Fix: "update safeshell"}}
	}
	if err := checkHomes(p); err != nil {
		return []Finding{{Level: Fail, Message: err.Error(), Fix: runInit}}
	}
	var out []Finding
	out = append(out, checkBinary(p))
	out = append(out, checkStatic(p)...)
	for _, t := range targets(e, p) {
		out = append(out, t.check(p)...)
	}
	out = append(out, checkPath(e, p)...)
	out = append(out, checkExported(e, p)...)
	return append(out, checkBuiltins(e, p)...)
}

func checkBinary(p Params) Finding {
	info, err := os.Stat(p.Binary)
	switch {
	case err != nil:
		return Finding{Level: Fail, File: p.Binary, Message: "the safeshell binary is not there, so the start-up files do nothing: " + reason(err), Fix: "install safeshell again, then run " + runInit}
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return Finding{Level: Fail, File: p.Binary, Message: "the safeshell binary is not executable, so the start-up files do nothing", Fix: "chmod +x " + quoteSh(p.Binary)}
	}
	return Finding{Level: OK, File: p.Binary, Message: "the binary is executable"}
}

// reason is an error without the path, which the Finding has.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

func checkStatic(p Params) []Finding {
	want, err := p.static()
	if err != nil {
		return []Finding{{Level: Fail, Message: err.Error(), Fix: runInit}}
	}
	var out []Finding
	for _, f := range want {
		have, err := os.ReadFile(f.path)
		switch {
		case errors.Is(err, fs.ErrPermission):
			out = append(out, Finding{Level: Fail, File: f.path, Message: "the file that start-up files source cannot be read: " + reason(err), Fix: "/bin/chmod u+rwx " + quoteSh(p.Home)})
		case err != nil:
			out = append(out, Finding{Level: Fail, File: f.path, Message: "the file that start-up files source cannot be read: " + reason(err), Fix: runInit})
		case string(have) != f.text:
			out = append(out, Finding{Level: Warn, File: f.path, Message: "is not up to date with this safeshell and its rules", Fix: "safeshell refresh"})
		}
	}
	if out == nil {
		out = append(out, Finding{Level: OK, File: p.Home, Message: "the static files are up to date"})
	}
	return out
}

// check looks at one start-up file.
func (t target) check(p Params) []Finding {
	one := func(l Level, line int, fix, format string, a ...any) []Finding {
		return []Finding{{Level: l, File: t.path, Line: line, Message: fmt.Sprintf(format, a...), Fix: fix}}
	}
	f, err := load(t.path)
	if err != nil {
		return one(Warn, 0, "replace it by a file, then run "+runInit, "cannot be set up: %s", reason(err))
	}
	if f.info != nil && f.info.Mode()&0o444 == 0 {
		return one(Warn, 0, "chmod u+r "+quoteSh(f.path), "nobody may read it")
	}
	in, err := blocks(f.text)
	if err != nil {
		return one(Fail, 0, "take the marker out by hand, then run "+runInit, "%v", err)
	}
	if line := byHandLine(f.text, t); len(in) == 0 && line > 0 {
		if _, reached, _ := placement(f.text, t, []found{{line: line}}); !reached {
			return one(Fail, line, runInit, "safeshell is set up below a line that may leave the file, or inside another statement")
		}
		return one(OK, line, "", "set up by hand")
	}
	if len(in) == 0 {
		fix := runInit
		if f.writable() != nil {
			fix = "add by hand: " + t.byHand(p)
		}
		switch name := baseName(t.path); {
		case f.info == nil:
			return one(Warn, 0, fix, "does not exist, so %s", t.unset())
		case name == ".bash_profile" || name == ".bash_login":
			return one(Warn, 0, fix, "has no safeshell block and hides .profile from bash, so a login bash starts without the shims")
		}
		return one(Warn, 0, fix, "has no safeshell block, so %s", t.unset())
	}
	if len(in) > 1 {
		return one(Warn, in[1].line, runInit, "has the safeshell block %d times", len(in))
	}
	b := in[0]
	if string(f.text[b.start:b.end]) != t.block(p, b.flags) {
		return one(Warn, b.line, runInit, "the safeshell block was edited or is of another version")
	}
	if _, reached, _ := placement(f.text, t, in); !reached {
		return one(Fail, b.line, runInit, "the safeshell block is below a line that may leave the file, or inside another statement")
	}
	return one(OK, b.line, "", "the block is there once and is reached")
}

// byHandLine finds the line with which a user set safeshell up without a block;
// 0 when there is none.
func byHandLine(text []byte, t target) (n int) {
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "#") && (strings.Contains(line, "safeshell init -") || strings.Contains(line, "/"+baseName(t.source))) {
			return n
		}
	}
	return 0
}

// unset says what a missing block means.
func (t target) unset() string {
	switch baseName(t.path) {
	case ".bashrc":
		return "bash in a terminal and over ssh starts without the shims"
	case ".zshenv":
		return "zsh -c and zsh scripts start without the shims"
	case ".zprofile":
		return "a login zsh may put system directories in front of the shims"
	case ".zshrc":
		return "zsh in a terminal does not keep the shims first"
	case ".profile":
		return "a login sh starts without the shims"
	}
	return "a login " + t.shell + " starts without the shims"
}

// foreign are parts of directories in which other tools put shims, or
// directories of versions that they move about in PATH.
var foreign = []struct{ part, tool string }{
	{"/.asdf/shims", "asdf"}, {"/mise/shims", "mise"}, {"/mise/installs/", "mise"},
	{"/.pyenv/shims", "pyenv"}, {"/.pyenv/plugins/pyenv-virtualenv/shims", "pyenv-virtualenv"},
	{"/.rbenv/shims", "rbenv"}, {"/.nodenv/shims", "nodenv"}, {"/.goenv/shims", "goenv"},
	{"/.jenv/shims", "jenv"}, {"/.plenv/shims", "plenv"}, {"/.phpenv/shims", "phpenv"},
	{"/.volta/bin", "Volta"}, {"/.nvm/versions/", "nvm"}, {"/fnm_multishells/", "fnm"},
	{"/.safe-chain/shims", "safe-chain"}, {"/.proto/shims", "proto"}, {"/.rvm/gems", "rvm"},
}

func checkPath(e Env, p Params) []Finding {
	list := e.get("PATH")
	if list == "" {
		return []Finding{{Level: Fail, Message: "PATH is empty or not set", Fix: "open a new terminal"}}
	}
	var out []Finding
	entries := strings.Split(list, ":")
	ours := -1
	for i, entry := range entries {
		if sameDir(entry, p.shims()) {
			ours = i
			break
		}
	}
	switch {
	case ours < 0:
		out = append(out, Finding{Level: Fail, File: p.shims(), Message: "is not in PATH", Fix: runInit + ", then open a new terminal (or run: eval \"$(safeshell init -)\")"})
	case ours > 0:
		for _, entry := range entries[:ours] {
			out = append(out, shadow(e, p, entry))
		}
	default:
		out = append(out, Finding{Level: OK, File: p.shims(), Message: "is first in PATH"})
	}
	for i, entry := range entries {
		switch {
		case entry == "":
			out = append(out, Finding{Level: Warn, Message: fmt.Sprintf("entry %d of PATH is empty, which means the working directory: a program in a repository could be run by its bare name", i+1), Fix: "take the empty entry (a colon at either end, or two in a row) out of PATH"})
		case !filepath.IsAbs(entry):
			out = append(out, Finding{Level: Warn, Message: fmt.Sprintf("entry %d of PATH, %q, is relative: what it means changes with the working directory", i+1, entry), Fix: "write it in PATH as an absolute path"})
		}
		if i > ours && ours >= 0 {
			if tool := toolOf(entry); tool != "" {
				out = append(out, Finding{Level: Info, File: entry, Message: "shims of " + tool + " come after safeshell's, as they should"})
			}
		}
	}
	return out
}

// shadow is the finding about an entry in front of the shims.
func shadow(e Env, p Params, entry string) Finding {
	f := Finding{Level: Warn, File: entry, Message: "comes before safeshell's shims in PATH, so programs in it are not judged", Fix: `eval "$(safeshell init -)"`}
	if tool := toolOf(entry); tool != "" {
		f.Message = "of " + tool + " " + f.Message
	}
	if file, line := mentions(e, p, entry); file != "" {
		f.Message += fmt.Sprintf("; %s:%d mentions it", file, line)
	}
	return f
}

func toolOf(entry string) string {
	for _, f := range foreign {
		if strings.Contains(entry+"/", f.part+"/") || strings.HasSuffix(f.part, "/") && strings.Contains(entry+"/", f.part) {
			return f.tool
		}
	}
	return ""
}

// mentions finds the first line of a start-up file that names a directory, as
// it is or with $HOME or ~.
func mentions(e Env, p Params, dir string) (string, int) {
	if len(dir) < 2 {
		return "", 0
	}
	names := []string{dir}
	if rest, ok := strings.CutPrefix(dir, p.UserHome+"/"); ok {
		names = append(names, "$HOME/"+rest, "${HOME}/"+rest, "~/"+rest)
	}
	for _, path := range removable(e, p) {
		f, err := load(path)
		if err != nil {
			continue
		}
		n := 0
		for line := range strings.Lines(string(f.text)) {
			n++
			for _, name := range names {
				if strings.Contains(line, name) && !strings.HasPrefix(strings.TrimSpace(line), "#") {
					return path, n
				}
			}
		}
	}
	return "", 0
}

func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return a != ""
	}
	if !filepath.IsAbs(a) {
		return false
	}
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// checkExported finds functions of ours that somebody exported: other tools
// break on them, and every bash below would get them.
func checkExported(e Env, p Params) []Finding {
	var out []Finding
	for _, kv := range e.Environ {
		name, value, _ := strings.Cut(kv, "=")
		fn, ok := strings.CutPrefix(name, "BASH_FUNC_")
		if !ok {
			continue
		}
		fn = strings.TrimSuffix(strings.TrimSuffix(fn, "%%"), "()")
		if fn == "safeshell_prompt" || strings.Contains(value, "exec --builtin -- "+fn+" ") {
			out = append(out, Finding{Level: Warn, Message: "safeshell's function " + fn + " is exported to every program that is started", Fix: "export -nf " + fn + ", and take the export -f out of your start-up files"})
		}
	}
	return out
}

// checkBuiltins says which rules cannot reach a builtin.
func checkBuiltins(e Env, p Params) []Finding {
	var out []Finding
	for _, b := range p.Builtins {
		for _, shell := range []string{"bash", "zsh", "fish"} {
			if !e.Has(shell) {
				continue
			}
			if ok, why := Coverable(b, shell); !ok {
				out = append(out, Finding{Level: Warn, Message: fmt.Sprintf("a rule names %s, which %s cannot be made to ask for: %s", b, shell, why), Fix: "rely on the agent's hook (safeshell agents install), which judges the text"})
			}
		}
	}
	return out
}

// ByHand finds lines outside of blocks that call safeshell: once it is removed,
// each shell would say that there is no such command.
func ByHand(e Env, p Params) []Finding {
	var out []Finding
	for _, path := range removable(e, p) {
		f, err := load(path)
		if err != nil {
			continue
		}
		in, err := blocks(f.text)
		if err != nil {
			continue // Undo says it
		}
		n := 0
		for line := range strings.Lines(string(f.text)) {
			n++
			code, _, _ := strings.Cut(strings.TrimSpace(line), "#")
			if strings.Contains(code, "safeshell") && !slices.ContainsFunc(in, func(b found) bool {
				return b.line <= n && n < b.line+strings.Count(string(f.text[b.start:b.end]), "\n")
			}) {
				out = append(out, Finding{Level: Info, File: path, Line: n, Message: "calls safeshell, by your own hand", Fix: config.Edit(path)})
			}
		}
	}
	return out
}
