package trash

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mount is one line of mountinfo.
type mount struct {
	id     uint64
	dev    string // major:minor
	root   string // what of the filesystem is mounted
	point  string
	fstype string
}

// procMounts is what the kernel says is mounted.
const procMounts = "/proc/self/mountinfo"

// parseMounts reads a mountinfo file (proc_pid_mountinfo(5)). Lines that are
// not understood are left out.
func parseMounts(path string) ([]mount, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var ms []mount
	for line := range strings.SplitSeq(string(b), "\n") {
		f := strings.Fields(line)
		if len(f) < 7 {
			continue
		}
		id, err := strconv.ParseUint(f[0], 10, 64)
		if err != nil {
			continue
		}
		m := mount{id: id, dev: f[2], root: unoctal(f[3]), point: unoctal(f[4])}
		for i := 6; i+1 < len(f); i++ {
			if f[i] == "-" {
				m.fstype = f[i+1]
				break
			}
		}
		if filepath.IsAbs(m.point) {
			ms = append(ms, m)
		}
	}
	return ms, nil
}

// unoctal undoes the \040 that the kernel writes for blanks in paths.
func unoctal(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(v))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// under reports whether path lies strictly below dir. Both are clean and
// absolute.
func under(path, dir string) bool {
	if dir == "/" {
		return path != "/" && strings.HasPrefix(path, "/")
	}
	return len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == dir
}

func within(path, dir string) bool { return path == dir || under(path, dir) }

// pseudoFS hold no files that anybody could want back.
func pseudoFS(fstype string) bool {
	switch fstype {
	case "proc", "sysfs", "cgroup", "cgroup2", "debugfs", "tracefs", "configfs", "securityfs",
		"bpf", "devpts", "pstore", "mqueue", "hugetlbfs", "autofs", "binfmt_misc", "fusectl",
		"rpc_pipefs", "selinuxfs", "efivarfs", "nsfs", "devtmpfs":
		return true
	}
	return false
}

// uidlessFS show the same owner for every file, so that a trash there would
// belong to everybody (specification, "Trash directories").
func uidlessFS(fstype string) bool {
	switch fstype {
	case "cifs", "smb3", "smbfs", "ncpfs", "davfs", "fuse.curlftpfs", "fuse.davfs2", "fuse.gvfsd-fuse":
		return true
	}
	return false
}

// modelessFS make up the permission bits.
func modelessFS(fstype string) bool {
	switch fstype {
	case "vfat", "msdos", "exfat", "ntfs", "ntfs3", "fuseblk":
		return true
	}
	return false
}
