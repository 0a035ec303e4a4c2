package cli

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/script"
)

// programs are the safeshells that are left to be removed.
func (a *app) programs() (out []string) {
	for _, p := range append([]string{self()}, a.inPath("safeshell")) {
		if p != "" && !strings.HasPrefix(p, a.paths.Home+"/") && !slices.ContainsFunc(out, func(q string) bool { return sameFile(p, q) }) {
			out = append(out, p)
		}
	}
	return out
}

// managers are those of the system, and how each names the package of a file.
var managers = []struct{ tool, database, query, then string }{
	{"dpkg", "/var/lib/dpkg/status", "-S", "sudo apt remove %s"},
	{"rpm", "/usr/lib/sysimage/rpm/rpmdb.sqlite", "-qf", "sudo dnf remove %s"},
	{"rpm", "/var/lib/rpm/rpmdb.sqlite", "-qf", "sudo dnf remove %s"},
	{"rpm", "/var/lib/rpm/Packages", "-qf", "sudo dnf remove %s"},
	{"apk", "/lib/apk/db/installed", "info --who-owns", "sudo apk del %s"},
	{"pacman", "/var/lib/pacman/local", "-Qqo", "sudo pacman -R %s"},
}

// removal is the command that removes a binary, by who has put it there.
func (a *app) removal(binary string) string {
	real := binary
	if p, err := filepath.EvalSymlinks(binary); err == nil {
		real = p
	}
	switch before, rest, _ := strings.Cut(real, "/node_modules/"); {
	case strings.Contains(real, "/_npx/"):
		return "nothing to do, npx keeps it in its cache"
	case npmGlobal.MatchString(real):
		return "npm uninstall -g safeshell"
	case rest != "":
		return "cd " + shellWord(before) + " && npm uninstall safeshell (or the package manager's like)"
	case strings.Contains(real, "/Cellar/"):
		return "brew uninstall safeshell"
	case strings.HasPrefix(real, "/nix/store/"):
		return "nix profile remove safeshell"
	}
	for _, m := range managers {
		tool := a.inPath(m.tool)
		if dbs, _ := filepath.Glob(m.database); tool == "" || len(dbs) == 0 {
			continue // rpm would make a database
		}
		for _, p := range []string{binary, real} {
			if pkg := owner(tool, append(strings.Fields(m.query), p)); pkg != "" {
				return fmt.Sprintf(m.then, pkg)
			}
		}
	}
	return a.removeFiles(real)
}

// removeFiles is for what `make install` put below a PREFIX.
func (a *app) removeFiles(binary string) string {
	prefix := filepath.Dir(filepath.Dir(binary))
	words := script.Quote([]string{binary})
	for _, pattern := range []string{"bin/safeshell-wrapper", "share/man/man1/safeshell*.1", "share/bash-completion/completions/safeshell", "share/zsh/site-functions/_safeshell", "share/fish/vendor_completions.d/safeshell.fish"} {
		found, _ := filepath.Glob(filepath.Join(prefix, pattern))
		if filepath.Base(filepath.Dir(binary)) != "bin" || len(found) == 0 {
			continue
		}
		// Some thirty pages are one word.
		name, rest, many := strings.Cut(pattern, "*")
		words += " " + script.Quote([]string{filepath.Join(prefix, name)})
		if many {
			words += "*" + rest
		}
	}
	sudo := ""
	if unix.Access(filepath.Dir(binary), unix.W_OK) != nil {
		sudo = "sudo "
	}
	return sudo + "/bin/rm " + words
}

// owner asks a package manager for the package of a file; "" when it has none.
func owner(tool string, args []string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, tool, args...)
	c.WaitDelay, c.Env = time.Second, []string{"HOME=/nonexistent", "LC_ALL=C"} // Debian's rpm makes a database in HOME
	out, err := c.Output()
	if err != nil {
		return ""
	}
	text, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if _, pkg, ok := strings.Cut(text, " is owned by "); ok { // apk
		text = pkg
	}
	name, _, _ := strings.Cut(text, ":") // dpkg: the path follows
	if strings.ContainsAny(name, " /") {
		return ""
	}
	return visible(name)
}
