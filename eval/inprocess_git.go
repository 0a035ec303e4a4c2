package eval

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// git answers the questions about the repository that its files answer.
func (x *inShell) git(args []string, out inIO) int {
	question := strings.Join(args, " ")
	switch question {
	case "branch --show-current", "rev-parse --abbrev-ref HEAD", "rev-parse --show-toplevel", "rev-parse --is-inside-work-tree":
	default:
		return x.leave()
	}
	dir := x.dir()
	if x.left || len(args) != strings.Count(question, " ")+1 || !x.m.plainGitEnv() || !x.m.tool(x.j, "git") {
		return x.leave()
	}
	r, k := openWorkTree(dir)
	if k == maybe || k == never && out.mixed {
		return x.leave()
	}
	if k == never {
		return 128
	}
	switch question {
	case "branch --show-current":
		if r.branch == "" {
			return 0
		}
		return out.write(x, r.branch+"\n")
	case "rev-parse --show-toplevel":
		return out.write(x, r.top+"\n")
	case "rev-parse --is-inside-work-tree":
		return out.write(x, "true\n")
	}
	if r.branch == "" {
		return out.write(x, "HEAD\n")
	}
	if !r.plainName() {
		return x.leave()
	}
	return out.write(x, r.branch+"\n")
}

// plainGitEnv says that no variable changes what git looks at.
func (m *inProcess) plainGitEnv() bool {
	for name := range m.environ {
		if !strings.HasPrefix(name, "GIT_") {
			continue
		}
		switch name {
		case "GIT_OPTIONAL_LOCKS", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_TERMINAL_PROMPT", "GIT_ASKPASS",
			"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_MERGE_AUTOEDIT", "GIT_PS1_SHOWDIRTYSTATE",
			"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE":
		default:
			return false
		}
	}
	return true
}

// workTree is a repository with nothing unusual about it.
type workTree struct {
	top    string
	gitDir string
	common string
	branch string // empty: detached
}

// openWorkTree finds the repository around dir as git does. never: there is
// none; maybe: git has to say.
func openWorkTree(dir string) (r workTree, k certainty) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return r, maybe
	}
	dev := uint64(0)
	for d := real; ; d = filepath.Dir(d) {
		var st syscall.Stat_t
		if syscall.Stat(d, &st) != nil {
			return r, maybe
		}
		if d == real {
			dev = uint64(st.Dev)
		} else if dev != uint64(st.Dev) {
			return r, never // git stops at mount points
		}
		// A directory like .git itself, or a bare repository.
		if exists(filepath.Join(d, "HEAD")) || exists(filepath.Join(d, "objects")) {
			return r, maybe
		}
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			r.top = d
			break
		} else if !os.IsNotExist(err) {
			return r, maybe
		}
		if d == "/" {
			return r, never
		}
	}
	if !r.read() {
		return r, maybe
	}
	return r, sure
}

// read follows .git to HEAD, and says whether all is as git makes it.
func (r *workTree) read() bool {
	dot := filepath.Join(r.top, ".git")
	fi, err := os.Lstat(dot)
	if err != nil || !owned(dot) || !owned(r.top) {
		return false
	}
	switch {
	case fi.IsDir():
		r.gitDir = dot
	case fi.Mode().IsRegular():
		data, ok := oneLineFile(dot)
		to, is := strings.CutPrefix(data, "gitdir: ")
		if !ok || !is || to == "" {
			return false
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(r.top, to)
		}
		r.gitDir = filepath.Clean(to)
		if !owned(r.gitDir) {
			return false
		}
	default:
		return false
	}
	r.common = r.gitDir
	if exists(filepath.Join(r.gitDir, "commondir")) {
		to, ok := oneLineFile(filepath.Join(r.gitDir, "commondir"))
		if !ok || to == "" {
			return false
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(r.gitDir, to)
		}
		r.common = filepath.Clean(to)
	}
	for _, d := range [...]string{"objects", "refs"} {
		d = filepath.Join(r.common, d)
		if fi, err := os.Stat(d); err != nil || !fi.IsDir() || !accessible(d, accessExec) {
			return false
		}
	}
	return !exists(filepath.Join(r.gitDir, "config.worktree")) && plainGitConfig(filepath.Join(r.common, "config")) && r.readHead()
}

// owned says that git would trust the owner of a file.
func owned(path string) bool {
	var st syscall.Stat_t
	return syscall.Stat(path, &st) == nil && int(st.Uid) == os.Geteuid()
}

// oneLineFile reads a file that is one line.
func oneLineFile(path string) (string, bool) {
	fi, err := os.Lstat(path)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() >= 4096 {
		return "", false
	}
	data, err := readSmall(path)
	if err != nil {
		return "", false
	}
	line, ended := strings.CutSuffix(data, "\n")
	return line, ended && plainValue(line) && strings.TrimSpace(line) == line && !strings.Contains(line, "\n")
}

func (r *workTree) readHead() bool {
	head, ok := oneLineFile(filepath.Join(r.gitDir, "HEAD"))
	if !ok {
		return false
	}
	if isObjectName(head) {
		return true
	}
	name, is := strings.CutPrefix(head, "ref: refs/heads/")
	if !is || !plainBranch(name) {
		return false
	}
	r.branch = name
	// A branch may itself point to another.
	loose := filepath.Join(r.common, "refs/heads", name)
	if !exists(loose) {
		return true
	}
	if fi, err := os.Lstat(loose); err == nil && fi.IsDir() {
		return false
	}
	id, ok := oneLineFile(loose)
	return ok && isObjectName(id)
}

func isObjectName(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// plainBranch says that a name is certainly a branch's.
func plainBranch(s string) bool {
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") || strings.Contains(part, "..") {
			return false
		}
		for i := range len(part) {
			if c := part[i]; !isWordByte(c) && c < 0x80 && strings.IndexByte(".-+=,#%", c) < 0 {
				return false
			}
		}
	}
	return s != "HEAD" && s != "@"
}

// plainName says that the branch exists and that its short name could not mean
// another reference, so that git shortens it to that.
func (r *workTree) plainName() bool {
	for _, other := range [...]string{"", "refs/", "refs/tags/", "refs/remotes/"} {
		if exists(filepath.Join(r.common, other+r.branch)) || exists(filepath.Join(r.gitDir, other+r.branch)) {
			return false
		}
	}
	found := exists(filepath.Join(r.common, "refs/heads", r.branch))
	packed := filepath.Join(r.common, "packed-refs")
	fi, err := os.Lstat(packed)
	if os.IsNotExist(err) {
		return found
	}
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxGrepFile {
		return false
	}
	data, err := readRegular(packed, maxGrepFile)
	if err != nil {
		return false
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		_, name, _ := strings.Cut(line, " ")
		switch {
		case line == "" || line[0] == '#' || line[0] == '^':
		case name == "refs/heads/"+r.branch:
			found = true
		case name == "refs/"+r.branch, name == "refs/tags/"+r.branch, name == "refs/remotes/"+r.branch, name == "refs/remotes/"+r.branch+"/HEAD":
			return false
		}
	}
	return found
}

// plainGitConfig says that a repository's configuration has only keys that do
// not change where it is or how its references are kept.
func plainGitConfig(path string) bool {
	fi, err := os.Stat(path)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > 64<<10 {
		return false
	}
	data, err := readRegular(path, 64<<10)
	if err != nil || !plainValue(string(data)) {
		return false
	}
	section := ""
	for line := range strings.SplitSeq(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			if line[len(line)-1] != ']' || strings.Count(line, `"`) != 0 && !strings.HasSuffix(line, `"]`) || strings.Contains(line, `\`) {
				return false
			}
			section, _, _ = strings.Cut(strings.ToLower(line[1:len(line)-1]), " ")
			if section == "" || strings.Trim(section, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || section == "include" || section == "includeif" {
				return false
			}
			continue
		}
		key, value, is := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		value = strings.TrimSpace(value)
		if section == "" || !is || key == "" || strings.HasSuffix(line, `\`) || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" ||
			strings.Count(value, `"`)%2 != 0 {
			return false
		}
		switch section {
		case "core":
			switch key {
			case "repositoryformatversion":
				if value != "0" && value != "1" {
					return false
				}
			case "bare":
				if value != "false" {
					return false
				}
			case "filemode", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks":
				if value != "true" && value != "false" {
					return false
				}
			case "autocrlf", "hookspath", "editor", "sshcommand", "fsmonitor", "untrackedcache":
			default:
				return false
			}
		case "extensions":
			if key != "objectformat" || value != "sha1" && value != "sha256" {
				return false
			}
		case "remote", "branch", "user", "submodule", "lfs", "gc", "alias", "http", "url":
		default:
			return false // pull, color: a value that git cannot read would end it
		}
	}
	return true
}
