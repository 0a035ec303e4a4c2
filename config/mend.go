package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Mend says what to do about a file error in safeshell's own places, as a
// command where there is one; "" when nothing better than the error is known.
// Commands are named by their path, because a guarded name may be what fails.
func Mend(err error) string {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return MendFile(pe.Path, pe.Err)
	case errors.As(err, &le):
		return MendFile(le.New, le.Err)
	}
	return ""
}

// Edit is a command by which a person mends the content of a file.
func Edit(path string) string { return "${EDITOR:-vi} " + shellWord(path) }

// Unreadable is the line about a config.yaml that Load could not make sense of.
func (p Paths) Unreadable(err error) string {
	do := Mend(err)
	if do == "" {
		do = Edit(p.Config)
	}
	holds := "the defaults hold"
	if errors.As(err, new(*LevelError)) {
		holds = "info holds, beside the rest of the file,"
	}
	return err.Error() + "; " + holds + " until it is mended: " + do
}

// MendFile is Mend for a known path and system error.
func MendFile(path string, err error) string {
	dir := filepath.Dir(path)
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return MakeRoom(dir)
	case errors.Is(err, unix.EMFILE):
		return "raise the limit, see: ulimit -n"
	case errors.Is(err, unix.EFBIG):
		return "raise the limit, see: ulimit -f"
	case errors.Is(err, unix.EROFS):
		return "set SAFESHELL_HOME to a directory that can be written"
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP), errors.Is(err, unix.EEXIST):
		return mendWay(path)
	case errors.Is(err, fs.ErrPermission):
		return mendMode(path)
	}
	return ""
}

// MakeRoom is what to do about a file system that is full at dir: where to look
// for bytes, or for files where there may be no more of those.
func MakeRoom(dir string) string {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) == nil && st.Files > 0 && st.Ffree == 0 {
		return "it holds as many files as it can; remove some, see: df -i " + shellWord(dir)
	}
	return "make room, see: df -h " + shellWord(dir)
}

// mendWay finds what on the way to path is a link that leads nowhere, or a file
// where a directory should be.
func mendWay(path string) string {
	at := "/"
	for part := range strings.SplitSeq(strings.Trim(filepath.Clean(path), "/"), "/") {
		at = filepath.Join(at, part)
		fi, err := os.Stat(at)
		if err != nil {
			if l, err := os.Lstat(at); err == nil && l.Mode()&fs.ModeSymlink != 0 {
				return "remove the link: /bin/rm " + shellWord(at)
			}
			return ""
		}
		if !fi.IsDir() {
			return "a directory should be there, see: ls -l " + shellWord(at)
		}
	}
	return ""
}

// mendMode finds the topmost place on the way to path whose mode is in the way.
func mendMode(path string) string {
	at := "/"
	parts := strings.Split(strings.Trim(filepath.Clean(path), "/"), "/")
	for i := range parts {
		var st unix.Stat_t
		if unix.Stat(at, &st) != nil {
			break
		}
		if unix.Faccessat(unix.AT_FDCWD, at, unix.X_OK, unix.AT_EACCESS) != nil {
			return chmod(at, &st, "u+rwx")
		}
		next := filepath.Join(at, parts[i])
		if unix.Lstat(next, &st) == unix.ENOENT {
			// It cannot be made here.
			if unix.Stat(at, &st) == nil {
				return chmod(at, &st, "u+rwx")
			}
			break
		}
		at = next
	}
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return ""
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return chmod(path, &st, "u+rwx")
	}
	return chmod(path, &st, "u+rw")
}

func chmod(path string, st *unix.Stat_t, mode string) string {
	if int(st.Uid) != os.Geteuid() {
		return "set SAFESHELL_HOME to a directory of your own"
	}
	return "/bin/chmod " + mode + " " + shellWord(path)
}

// shellWord quotes s for a POSIX shell, where that is needed.
func shellWord(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,@%:=", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
