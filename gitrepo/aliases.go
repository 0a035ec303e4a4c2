package gitrepo

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"safeshell/internal/files"
	"strings"

	"golang.org/x/sys/unix"
)

// PlainAliases reads the aliases that hold in dir from the files that git would
// read, each "key\nvalue" as `git config --null` prints it, in git's order. It is
// ErrOddConfig unless all of it is plain: then git is to be asked. env is git's
// environment, git the program itself.
//
// Plain is: a git of the system, whose own configuration is below /etc; nothing
// in the environment that leads elsewhere; no included files; a repository of our
// own with an ordinary layout, or none; every line of one meaning.
func PlainAliases(git, dir string, env []string) (entries []string, err error) {
	if runtime.GOOS != "linux" || git != "/usr/bin/git" && git != "/bin/git" || !isProgram(git) {
		return nil, ErrOddConfig // it may have its configuration anywhere
	}
	home, xdg := "", ""
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		switch {
		case name == "HOME" && home == "":
			home = value
		case name == "XDG_CONFIG_HOME" && xdg == "":
			xdg = value
		case name == "HOME", name == "XDG_CONFIG_HOME", name == "SUDO_UID",
			strings.HasPrefix(name, "GIT_") && name != "GIT_OPTIONAL_LOCKS" && name != "GIT_TERMINAL_PROMPT" && name != "GIT_NO_LAZY_FETCH" && name != "GIT_ALLOW_PROTOCOL":
			return nil, ErrOddConfig
		}
	}
	if !filepath.IsAbs(home) || xdg != "" && !filepath.IsAbs(xdg) {
		return nil, ErrOddConfig
	}
	if xdg == "" {
		xdg = home + "/.config"
	}
	common, err := plainRepository(dir)
	if err != nil {
		return nil, err
	}
	for _, elsewhere := range [...]string{"/usr/etc/gitconfig", "/usr/local/etc/gitconfig"} {
		if files.Exists(elsewhere) {
			return nil, ErrOddConfig // a git that was built to look there
		}
	}
	places := [...]string{"/etc/gitconfig", xdg + "/git/config", home + "/.gitconfig", common}
	for i, f := range places {
		if f == "" {
			continue
		}
		data, err := files.ReadRegular(f, MaxConfig)
		if errors.Is(err, fs.ErrNotExist) && f != common {
			continue
		}
		if err != nil {
			return nil, ErrOddConfig
		}
		err = ReadConfig(data, func(key, value []byte, set bool) error {
			switch {
			case bytes.HasPrefix(key, []byte("include")):
				return ErrOddConfig
			case bytes.HasPrefix(key, []byte("alias.")):
				entry := string(key)
				if set {
					entry += "\n" + string(value)
				}
				entries = append(entries, entry)
			case i < 3:
			case bytes.HasPrefix(key, []byte("extensions.")), string(key) == "core.repositoryformatversion" && string(value) != "0",
				// Read as numbers and truth while git sets itself up; what is none it refuses.
				string(key) == "core.bare" && string(value) != "false", string(key) == "core.worktree":
				return ErrOddConfig
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// isProgram reports whether a file is a program that root has installed, and no
// script in front of one.
func isProgram(path string) bool {
	var st unix.Stat_t
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var head [4]byte
	n, err := unix.Read(fd, head[:])
	return err == nil && n == 4 && string(head[:]) == "\x7fELF" && unix.Fstat(fd, &st) == nil && st.Uid == 0
}

// plainRepository returns the configuration of the repository around dir, ""
// when there is none.
func plainRepository(dir string) (config string, err error) {
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir {
		return "", ErrOddConfig
	}
	var here unix.Stat_t
	if unix.Stat(dir, &here) != nil {
		return "", ErrOddConfig
	}
	uid := uint32(unix.Geteuid())
	for d := dir; ; d = filepath.Dir(d) {
		var st, git unix.Stat_t
		if unix.Stat(d, &st) != nil || st.Dev != here.Dev {
			return "", ErrOddConfig // git stops there
		}
		at := strings.TrimSuffix(d, "/")
		if unix.Lstat(at+"/.git", &git) == nil {
			if st.Uid != uid || git.Uid != uid {
				return "", ErrOddConfig // git may refuse it
			}
			return plainGitDir(at+"/.git", uint32(git.Mode)&unix.S_IFMT, uid)
		}
		if files.Exists(at + "/HEAD") {
			return "", ErrOddConfig // it may be bare
		}
		if d == "/" {
			return "", nil
		}
	}
}

// plainGitDir returns the configuration of a repository whose .git is of that
// kind.
func plainGitDir(git string, kind, uid uint32) (string, error) {
	common := git
	switch kind {
	case unix.S_IFREG:
		dir := FollowFile(git)
		if dir == git {
			return "", ErrOddConfig
		}
		git, common = dir, dir
		if data, err := files.ReadHead(dir + "/commondir"); err == nil {
			common = strings.TrimRight(data, "\n")
			if !filepath.IsAbs(common) {
				common = dir + "/" + common
			}
		}
	case unix.S_IFDIR:
		if files.Exists(git + "/commondir") {
			return "", ErrOddConfig
		}
	default:
		return "", ErrOddConfig
	}
	for _, d := range [...]string{git, common} {
		var st unix.Stat_t
		if unix.Stat(d, &st) != nil || st.Uid != uid || uint32(st.Mode)&unix.S_IFMT != unix.S_IFDIR {
			return "", ErrOddConfig
		}
	}
	head, err := files.ReadHead(git + "/HEAD")
	if err != nil || !strings.HasPrefix(head, "ref: refs/") && !isHash(strings.TrimSpace(head)) ||
		!files.Exists(common+"/objects") || !files.Exists(common+"/refs") {
		return "", ErrOddConfig // git may see no repository here
	}
	return common + "/config", nil
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
