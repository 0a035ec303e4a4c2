package gate

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A redirect that is left to a shim is a promise, kept only if the shim is met.
// script.Command.Astray says what the text does to PATH; this file says what the
// machine does: where PATH leads, whether the link is there and runs, and what the
// start-up files of a shell make of PATH.

// shimFor returns the shim of a command; "" where there is none that runs. The
// hook and the wrapper make a link that is missing; check takes it for made.
func (g *Gate) shimFor(name string, layer Layer) string {
	link, ok := g.facts.shims[name]
	if !ok {
		link = g.findShim(name, layer)
		if g.facts.shims == nil {
			g.facts.shims = map[string]string{}
		}
		g.facts.shims[name] = link
	}
	return link
}

func (g *Gate) findShim(name string, layer Layer) string {
	if name == "" || strings.Contains(name, "/") || strings.Contains(g.env.Paths.Shims, ":") {
		return ""
	}
	link := filepath.Join(g.env.Paths.Shims, name)
	if unix.Access(link, unix.X_OK) == nil {
		return link
	}
	if _, err := os.Lstat(link); !os.IsNotExist(err) || g.env.Binary == "" || unix.Access(g.env.Binary, unix.X_OK) != nil {
		return ""
	}
	switch layer {
	case Check:
		return link
	case Hook, Wrapper:
		if os.MkdirAll(g.env.Paths.Shims, 0o700) == nil && os.Symlink(g.env.Binary, link) == nil {
			return link
		}
	}
	return ""
}

// isShim reports whether a path is that of a shim.
func (g *Gate) isShim(path string, layer Layer) bool {
	return filepath.Dir(path) == g.env.Paths.Shims && g.shimFor(filepath.Base(path), layer) != ""
}

// leads reports whether the PATH of this process finds the shim of a command
// before any other program of its name.
func (g *Gate) leads(name string) bool {
	yes, ok := g.facts.leads[name]
	if !ok {
		yes = g.pathLeads(name)
		if g.facts.leads == nil {
			g.facts.leads = map[string]bool{}
		}
		g.facts.leads[name] = yes
	}
	return yes
}

func (g *Gate) pathLeads(name string) bool {
	for _, d := range filepath.SplitList(g.env.Getenv("PATH")) {
		if !filepath.IsAbs(d) {
			return false // it depends on the directory
		}
		if filepath.Clean(d) == g.env.Paths.Shims {
			return g.shimFor(name, Shim) != ""
		}
		if _, err := os.Lstat(filepath.Join(d, name)); !os.IsNotExist(err) {
			return false
		}
	}
	return false
}

// inFront reports whether the shell that reads the text of a request finds the
// shim first without being told to.
func (g *Gate) inFront(name string, req Request) bool {
	if g.isShim(name, req.Layer) {
		return true
	}
	switch req.Layer {
	case Wrapper:
		return true // it puts them there, whatever start-up files do
	case Check:
	case Hook:
		if !req.SamePath || g.env.Getenv("BASH_ENV") != "" {
			return false
		}
		if sh := filepath.Base(g.env.Getenv("SHELL")); strings.HasSuffix(sh, "zsh") && !g.StartKeepsPath(sh, false, false) {
			return false
		}
	}
	return g.leads(name)
}

// StartKeepsPath reports whether a shell that is started with the shims first in
// PATH still has them there when it runs its first command. What is not known of
// it, it does not keep.
func (g *Gate) StartKeepsPath(shell string, login, interactive bool) bool {
	home := g.env.Paths.User
	in := func(files ...string) []string {
		for i, f := range files {
			if !filepath.IsAbs(f) {
				files[i] = filepath.Join(home, f)
			}
		}
		return files
	}
	var files []string
	switch {
	case strings.HasSuffix(shell, "zsh"):
		if dir := g.env.Getenv("ZDOTDIR"); dir != "" {
			home = dir
		}
		files = in("/etc/zshenv", "/etc/zsh/zshenv", ".zshenv")
		if login {
			files = append(files, in("/etc/zprofile", "/etc/zsh/zprofile", ".zprofile")...)
		}
		if interactive {
			files = append(files, in("/etc/zshrc", "/etc/zsh/zshrc", ".zshrc")...)
		}
		if login {
			files = append(files, in("/etc/zlogin", "/etc/zsh/zlogin", ".zlogin")...)
		}
	case login:
		files = in("/etc/profile")
		first := in(".profile")
		if strings.HasSuffix(shell, "bash") {
			first = in(".bash_profile", ".bash_login", ".profile")
		}
		for _, f := range first {
			if unix.Access(f, unix.R_OK) == nil {
				files = append(files, f)
				break
			}
		}
	case interactive && strings.HasSuffix(shell, "bash"):
		files = in("/etc/bash.bashrc", "/etc/bashrc", ".bashrc")
	case interactive:
		return false
	}
	keeps := true
	for _, f := range files {
		text, err := os.ReadFile(f)
		switch {
		case os.IsNotExist(err):
		case err != nil:
			keeps = false
		default:
			keeps = fileKeeps(string(text), keeps)
		}
	}
	return keeps
}

// The marks around safeshell's block in a start-up file (initscript), and what
// Debian's zshenv does where PATH is not set or the system's.
const (
	blockBegin   = "\n# >>> safeshell >>>\n"
	blockEnd     = "\n# <<< safeshell <<<\n"
	debianZshenv = "if [[ -z \"$PATH\" || \"$PATH\" == \"/bin:/usr/bin\" ]]\nthen\n\texport PATH="
)

// fileKeeps reports whether the shims are first in PATH after a start-up file,
// where before says whether they were so before it: the block puts them there if
// it is reached, anything else may put something else there.
func fileKeeps(text string, before bool) bool {
	text = "\n" + text + "\n"
	if head, rest, ok := strings.Cut(text, blockBegin); ok {
		_, rest, ended := strings.Cut(rest, blockEnd)
		for _, leave := range [...]string{"return", "exit", "exec"} {
			ended = ended && !strings.Contains(head, leave)
		}
		return ended && !says(rest)
	}
	if at := strings.Index(text, debianZshenv); at >= 0 {
		if _, rest, ok := strings.Cut(text[at:], "\nfi\n"); ok {
			text = text[:at] + rest
		}
	}
	return before && !says(text)
}

// says reports whether a start-up file holds more than comments.
func says(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return true
		}
	}
	return false
}
