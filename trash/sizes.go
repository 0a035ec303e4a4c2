package trash

import (
	"bufio"
	"bytes"
	"cmp"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// sizesName is the specification's cache of the sizes of trashed directories.
const sizesName = "directorysizes"

// dirSize is one line of it: bytes of disk blocks, and the modification time
// in seconds of the information file that it was reckoned for.
type dirSize struct{ bytes, mtime int64 }

// Sizes fills in the Size of each item, in bytes of disk blocks. Directories
// are walked once and remembered in the trash's directorysizes; -1 stays where
// nothing could be learned.
func Sizes(e Env, items []Item) {
	ss, _ := e.stores()
	defer closeAll(ss)
	for _, s := range ss {
		cache, fresh := s.readSizes(), map[string]dirSize{}
		changed := false
		for i := range items {
			it := &items[i]
			if it.TrashDir != s.path || it.Size >= 0 {
				continue
			}
			fi, err := lstatAt(s.files, it.Name)
			if err != nil {
				continue
			}
			if !fi.isDir() {
				it.Size = fi.usage()
				continue
			}
			inf, err := lstatAt(s.info, it.Name+infoSuffix)
			if c, ok := cache[it.Name]; ok && err == nil && c.mtime == inf.mtime.Sec {
				it.Size = c.bytes
				continue
			}
			it.Size = diskUsage(s.files, it.Name, 0)
			if err == nil {
				fresh[it.Name] = dirSize{it.Size, inf.mtime.Sec}
				changed = true
			}
		}
		if changed {
			s.updateSizes(func(m map[string]dirSize) {
				for k, v := range fresh {
					m[k] = v
				}
			})
		}
	}
}

// diskUsage is the space of a tree. What cannot be read counts nothing.
func diskUsage(dirfd int, name string, depth int) int64 {
	fi, err := lstatAt(dirfd, name)
	if err != nil {
		return 0
	}
	sum := fi.usage()
	if !fi.isDir() || depth > 1000 {
		return sum
	}
	f, err := openRead(dirfd, name)
	if err != nil {
		return sum
	}
	defer f.Close()
	for {
		es, err := readSome(f, 1024)
		if err != nil || len(es) == 0 {
			return sum
		}
		for _, e := range es {
			sum += diskUsage(int(f.Fd()), e.name, depth+1)
		}
	}
}

func (s *store) readSizes() map[string]dirSize {
	m := map[string]dirSize{}
	fd, err := openAt(s.fd, sizesName, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return m
	}
	f := os.NewFile(uintptr(fd), sizesName)
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		fs := strings.Fields(sc.Text())
		if len(fs) != 3 {
			continue
		}
		bytes, err1 := strconv.ParseInt(fs[0], 10, 64)
		mtime, err2 := strconv.ParseInt(fs[1], 10, 64)
		name, err3 := unescape(fs[2])
		if cmp.Or(err1, err2, err3) == nil && bytes >= 0 && name != "" && !strings.Contains(name, "/") {
			m[name] = dirSize{bytes, mtime}
		}
	}
	return m
}

// updateSizes changes the cache and drops lines of what is no longer there. A
// failure is no loss: the sizes are reckoned again.
func (s *store) updateSizes(change func(map[string]dirSize)) {
	m := s.readSizes()
	had := len(m)
	change(m)
	for name := range m {
		if _, err := lstatAt(s.info, name+infoSuffix); err == unix.ENOENT {
			delete(m, name)
		}
	}
	if len(m) == 0 && had == 0 {
		return
	}
	var b bytes.Buffer
	for name, d := range m {
		line := strconv.AppendInt(nil, d.bytes, 10)
		line = append(line, ' ')
		line = strconv.AppendInt(line, d.mtime, 10)
		line = append(line, ' ')
		line = appendEscaped(line, name)
		b.Write(append(line, '\n'))
	}
	tmp := "." + sizesName + "-" + randomSuffix()
	fd, err := openAt(s.fd, tmp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(fd), tmp)
	_, err = f.Write(b.Bytes())
	if err = cmp.Or(err, f.Close()); err == nil {
		err = unix.Renameat(s.fd, tmp, s.fd, sizesName)
	}
	if err != nil {
		_ = unix.Unlinkat(s.fd, tmp, 0)
	}
}
