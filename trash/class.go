package trash

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// What to do with an operand.
const (
	classRefuse      = iota // would be a catastrophe, or cannot work
	classScratch            // really unlinked, by the real rm
	classRegenerable        // to the trash, for 24 hours
	classKeep               // to the trash
)

// systemRoots are never removed themselves; what is in them may be.
var systemRoots = []string{
	"/bin", "/boot", "/dev", "/dev/shm", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32",
	"/lost+found", "/media", "/mnt", "/nix", "/nix/store", "/opt", "/proc", "/root", "/run", "/sbin",
	"/snap", "/srv", "/sys", "/tmp", "/usr", "/usr/bin", "/usr/include", "/usr/lib", "/usr/lib32",
	"/usr/lib64", "/usr/libexec", "/usr/local", "/usr/local/bin", "/usr/local/lib", "/usr/sbin",
	"/usr/share", "/var", "/var/cache", "/var/lib", "/var/log", "/var/run", "/var/tmp",
	// macOS
	"/Applications", "/Library", "/System", "/Users", "/Volumes", "/cores", "/private",
	"/private/etc", "/private/tmp", "/private/var",
}

// places are the directories that matter for the classes, without symbolic
// links.
type places struct {
	home, cwd, own, trash string // "" where not known
	homeMnt               uint64 // mount of the home trash; 0 where there is none
	temp                  []string
}

// resolve is the path without symbolic links; of what does not exist, as far
// as it does.
func resolve(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	path = filepath.Clean(path)
	rest := ""
	for p := path; ; p = filepath.Dir(p) {
		fd, err := openDir(atFDCWD, p)
		if err == nil {
			real, err := realPath(fd, p)
			unix.Close(fd)
			if err != nil {
				return path
			}
			return filepath.Join(real, rest)
		}
		if p == "/" {
			return path
		}
		rest = filepath.Join(filepath.Base(p), rest)
	}
}

func (p *putter) places() *places {
	if p.known == nil {
		h, err := p.e.homeTrash()
		p.known = &places{
			home:  resolve(p.e.Home),
			cwd:   resolve(p.e.dir()),
			own:   resolve(p.e.SafeshellHome),
			trash: resolve(h),
		}
		if err == nil {
			p.known.homeMnt, _ = nearestMount(h)
		}
	}
	return p.known
}

// tempRoots are the places for scratch files, but not one that the user lives
// in; under sudo, who called.
func (p *putter) tempRoots() []string {
	if pl := p.places(); pl.temp == nil {
		roots := []string{p.e.getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm", p.e.getenv("XDG_RUNTIME_DIR")}
		if c := p.e.getenv("XDG_CACHE_HOME"); filepath.IsAbs(c) {
			roots = append(roots, c)
		} else if filepath.IsAbs(p.e.Home) {
			roots = append(roots, filepath.Join(p.e.Home, ".cache"))
		}
		pl.temp = []string{}
		for _, r := range roots {
			if r = resolve(r); r == "" || r == "/" || pl.home != "" && within(pl.home, r) || pl.own != "" && within(pl.own, r) {
				continue
			}
			pl.temp = append(pl.temp, r)
		}
	}
	return p.known.temp
}

// classify settles the class of t, whose real path and file are known. why
// says what a refusal is for.
func (p *putter) classify(t *target) (class int, why string) {
	if why := p.refuses(t); why != "" {
		return classRefuse, why
	}
	switch t.fi.kind() {
	case unix.S_IFREG, unix.S_IFDIR, unix.S_IFLNK:
	default:
		return classScratch, ""
	}
	if p.packageManager() || configureScratch(t) || p.inTemp(t) {
		return classScratch, ""
	}
	if m := p.mountOf(t.pmnt); m != nil && pseudoFS(m.fstype) {
		return classScratch, ""
	}
	if regenerable(t) {
		return classRegenerable, ""
	}
	return classKeep, ""
}

func (p *putter) refuses(t *target) string {
	pl := p.places()
	if slices.Contains(systemRoots, t.real) {
		return "it is a system directory"
	}
	if within(t.real, "/dev") && !within(t.real, "/dev/shm") {
		return "it is a device of the system"
	}
	if pl.own != "" && within(t.real, pl.own) {
		if t.real == pl.own {
			return "it belongs to safeshell itself; to take safeshell out: safeshell init --undo"
		}
		return "it belongs to safeshell itself; to put it aside: mv " + Show(t.real) + " " + Show(t.real+".old")
	}
	if top := p.trashOf(t.real); top != "" {
		if t.real == top {
			return "it is the trash; to empty that: safeshell trash empty"
		}
		return "it is in the trash; to delete it for good: safeshell trash list, then safeshell trash purge ID"
	}
	if t.fi.mnt != t.pmnt && p.isMountPoint(t.real) {
		return "it is a mount point"
	}
	if !t.fi.isDir() {
		return ""
	}
	switch {
	case t.real == pl.home:
		return "it is your home directory"
	case under(pl.home, t.real):
		return "your home directory is in it"
	case under(pl.cwd, t.real):
		return "the working directory is in it"
	case under(pl.own, t.real):
		return "safeshell's own directory is in it"
	case under(pl.trash, t.real):
		return "the trash is in it"
	}
	ms := p.mounts()
	if no := hardErr(p.mountsErr); p.mountsErr != nil && no != unix.EACCES && no != unix.EPERM { // those do not pass by themselves
		return "it cannot be told whether a filesystem is mounted in it (" + errText(p.mountsErr) + "); try again"
	}
	for _, m := range ms {
		if under(m.point, t.real) {
			if p.o.oneFS && p.otherDevice(m.point, t.fi.dev) {
				t.skip = append(t.skip, m.point)
				continue
			}
			return "a filesystem is mounted in it, at " + Quote(m.point, p.utf8)
		}
	}
	return ""
}

// trashOf is the trash directory that path is or is in, or "".
func (p *putter) trashOf(path string) string {
	if t := p.places().trash; t != "" && within(path, t) {
		return t
	}
	i := strings.Index(path, "/.Trash")
	if i < 0 {
		return ""
	}
	for _, m := range p.mounts() {
		if m.point != path[:max(i, 1)] {
			continue
		}
		dir, rest, _ := strings.Cut(path[i+1:], "/")
		base := filepath.Join(m.point, dir)
		if dir == ".Trash" {
			id, _, _ := strings.Cut(rest, "/")
			return filepath.Join(base, id)
		}
		if id, ok := strings.CutPrefix(dir, ".Trash-"); ok && id != "" && strings.Trim(id, "0123456789") == "" {
			return base
		}
	}
	return ""
}

func (p *putter) mounts() []mount {
	if !p.mountsRead {
		p.mountsRead = true
		p.mountList, p.mountsErr = readMounts(p.e.mountInfo())
		if no := hardErr(p.mountsErr); no == unix.ENOENT || no == unix.ENOTDIR {
			p.mountsErr = nil // there is no such table (chroot)
		}
	}
	return p.mountList
}

func (p *putter) mountOf(id uint64) *mount {
	if id == p.places().homeMnt {
		return nil // an ordinary one, without reading the list
	}
	return p.mountByID(id)
}

func (p *putter) mountByID(id uint64) *mount {
	for i, m := range p.mounts() {
		if m.id == id {
			return &p.mountList[i]
		}
	}
	return nil
}

// isMountPoint confirms what differing ids suggest: where the kernel has no
// mount ids they are device numbers, which differ within one overlay.
func (p *putter) isMountPoint(path string) bool {
	ms := p.mounts()
	return ms == nil || slices.ContainsFunc(ms, func(m mount) bool { return m.point == path })
}

func (p *putter) otherDevice(path string, dev uint64) bool {
	fi, err := lstatAt(atFDCWD, path)
	return err == nil && fi.dev != dev
}

// packageManager reports whether a package manager runs this rm: what it
// removes it can bring back, and it counts on the space.
func (p *putter) packageManager() bool {
	if p.e.UID != 0 {
		return false // not one that can install anything
	}
	if p.managed == nil {
		f := p.e.Ancestors
		if f == nil {
			f = ancestors
		}
		b := slices.ContainsFunc(f(), func(n string) bool {
			switch n {
			case "dpkg", "apt", "apt-get", "rpm", "dnf", "pacman":
				return true
			}
			return false
		})
		p.managed = &b
	}
	return *p.managed
}

// configureScratch: what an autoconf configure script makes and removes
// hundreds of times. pytest's conftest.py is somebody's work.
func configureScratch(t *target) bool {
	if t.fi.isDir() || strings.Contains(t.base, ".py") {
		return false
	}
	return strings.HasPrefix(t.base, "conftest") || strings.HasPrefix(t.base, "confdefs")
}

// inTemp: t lies below a place for scratch files, and not in a work tree there.
func (p *putter) inTemp(t *target) bool {
	for _, root := range p.tempRoots() {
		if !under(t.real, root) {
			continue
		}
		if t.fi.isDir() && mayExist(filepath.Join(t.real, ".git")) {
			return false
		}
		for d := t.parent; under(d, root); d = filepath.Dir(d) {
			if mayExist(filepath.Join(d, ".git")) {
				return false
			}
		}
		return true
	}
	return false
}

// mayExist is exists where a wrong no would cost a file: what cannot be looked
// at counts as there.
func mayExist(path string) bool {
	_, err := lstatAt(atFDCWD, path)
	return err != unix.ENOENT && err != unix.ENOTDIR
}

func exists(path string) bool {
	_, err := lstatAt(atFDCWD, path)
	return err == nil
}

// regenerable: build output by its name, and for directories by a line of the
// work tree's .gitignore that says so too.
func regenerable(t *target) bool {
	if t.fi.isReg() {
		return strings.HasSuffix(t.base, ".o") || strings.HasSuffix(t.base, ".tmp")
	}
	switch t.base {
	case "node_modules", "target", "dist", "build", ".venv", "__pycache__", ".next", ".gradle":
		return t.fi.isDir() && ignored(t.parent, t.base)
	}
	return false
}

// ignored reports whether a .gitignore between dir and the top of its work
// tree has a line for just this name, and none that takes it back. What git
// itself would say is not asked: a repository can make git run programs.
func ignored(dir, name string) bool {
	found := false
	for ; ; dir = filepath.Dir(dir) {
		for line := range strings.SplitSeq(readSmall(filepath.Join(dir, ".gitignore")), "\n") {
			line = strings.TrimRight(line, " \t\r")
			line, not := strings.CutPrefix(line, "!")
			line = strings.TrimSuffix(line, "/")
			line = strings.TrimPrefix(strings.TrimPrefix(line, "**"), "/")
			if line == name {
				if not {
					return false
				}
				found = true
			}
		}
		if exists(filepath.Join(dir, ".git")) {
			return found
		}
		if dir == "/" || dir == "." {
			return false
		}
	}
}

// readSmall is the content of a regular file, at most a megabyte of it.
func readSmall(path string) string {
	fd, err := openAt(atFDCWD, path, unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	fi, err := statFd(fd)
	if err != nil || !fi.isReg() || fi.size > 1<<20 {
		return ""
	}
	b := make([]byte, fi.size)
	n, _ := f.Read(b)
	return string(b[:n])
}
