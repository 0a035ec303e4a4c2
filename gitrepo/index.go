package gitrepo

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"safeshell/internal/files"
	"sort"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// MaxIndex bounds the size of an index that is read here, in bytes; larger
// ones are git's business.
const MaxIndex = 64 << 20

// Index is git's list of tracked files with what they looked like when they
// were last known to be the same as the stored content (gitformat-index(5)).
type Index struct {
	Top     string
	mtime   int64 // of the index file, ns
	Entries []Entry
}

type Entry struct {
	Name         string
	ctime, mtime int64 // ns
	ino, Size    uint32
	Mode         uint32
	SHA          [20]byte
	unreliable   bool // assume-unchanged, skip-worktree, intent-to-add, in conflict
}

// ReadIndex reads versions 2 to 4 with SHA-1. ok is false for what it does not
// know: split and sparse indexes, SHA-256.
func ReadIndex(p Repo) (*Index, bool) {
	f, err := os.OpenFile(filepath.Join(p.GitDir, "index"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return &Index{Top: p.Top}, os.IsNotExist(err) // nothing is tracked yet
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > MaxIndex {
		return nil, false
	}
	data := make([]byte, fi.Size())
	if _, err := f.ReadAt(data, 0); err != nil && len(data) > 0 {
		return nil, false
	}
	if config, err := files.ReadRegular(filepath.Join(p.Common, "config"), MaxConfig); err != nil || bytes.Contains(bytes.ToLower(config), []byte("objectformat")) {
		return nil, false
	}
	x, ok := ParseIndex(data)
	if ok {
		x.Top, x.mtime = p.Top, fi.ModTime().UnixNano()
	}
	return x, ok
}

func ParseIndex(data []byte) (*Index, bool) {
	if len(data) < 12+20 || string(data[:4]) != "DIRC" {
		return nil, false
	}
	be := binary.BigEndian
	version, count := be.Uint32(data[4:]), be.Uint32(data[8:])
	if version < 2 || version > 4 || uint64(count)*62 > uint64(len(data)) {
		return nil, false
	}
	end := len(data) - 20
	x := &Index{Entries: make([]Entry, 0, count)}
	at, last := 12, ""
	for range count {
		if at+62 > end {
			return nil, false
		}
		start := at
		e := Entry{
			ctime: int64(be.Uint32(data[at:]))*1e9 + int64(be.Uint32(data[at+4:])),
			mtime: int64(be.Uint32(data[at+8:]))*1e9 + int64(be.Uint32(data[at+12:])),
			ino:   be.Uint32(data[at+20:]),
			Mode:  be.Uint32(data[at+24:]),
			Size:  be.Uint32(data[at+36:]),
		}
		copy(e.SHA[:], data[at+40:])
		flags := be.Uint16(data[at+60:])
		e.unreliable = flags&0x8000 != 0 || flags&0x3000 != 0
		at += 62
		if flags&0x4000 != 0 {
			if version < 3 || at+2 > end {
				return nil, false
			}
			extra := be.Uint16(data[at:])
			e.unreliable = e.unreliable || extra&0x6000 != 0
			at += 2
		}
		if version == 4 {
			strip, n := 0, 0
			for {
				if at >= end || n > 4 {
					return nil, false
				}
				c := data[at]
				at++
				if n > 0 {
					strip++
				}
				strip = strip<<7 | int(c&0x7f)
				n++
				if c < 0x80 {
					break
				}
			}
			nul := bytes.IndexByte(data[at:end], 0)
			if nul < 0 || strip > len(last) {
				return nil, false
			}
			e.Name = last[:len(last)-strip] + string(data[at:at+nul])
			at += nul + 1
		} else {
			nul := bytes.IndexByte(data[at:end], 0)
			if nul < 0 {
				return nil, false
			}
			e.Name = string(data[at : at+nul])
			at = start + (at+nul-start)/8*8 + 8
		}
		if e.Mode&0o170000 == 0o040000 {
			return nil, false // a sparse directory
		}
		last = e.Name
		x.Entries = append(x.Entries, e)
	}
	for at+8 <= end { // extensions; lower case ones must be understood
		sig, n := string(data[at:at+4]), be.Uint32(data[at+4:])
		if sig[0] >= 'a' && sig[0] <= 'z' {
			return nil, false
		}
		if uint64(at)+8+uint64(n) > uint64(end) {
			return nil, false
		}
		at += 8 + int(n)
	}
	return x, true
}

// Find returns the entries of a path relative to the top: the file itself, or
// all that lie below it.
func (x *Index) Find(rel string) []Entry {
	if rel == "" || rel == "." {
		return x.Entries
	}
	i := sort.Search(len(x.Entries), func(i int) bool { return x.Entries[i].Name >= rel })
	if i < len(x.Entries) && x.Entries[i].Name == rel {
		j := i
		for j < len(x.Entries) && x.Entries[j].Name == rel {
			j++
		}
		return x.Entries[i:j]
	}
	dir := rel + "/"
	i = sort.Search(len(x.Entries), func(i int) bool { return x.Entries[i].Name >= dir })
	j := i
	for j < len(x.Entries) && strings.HasPrefix(x.Entries[j].Name, dir) {
		j++
	}
	return x.Entries[i:j]
}

// Clean says that git holds the present content of a tracked file.
func (x *Index) Clean(e *Entry) (clean, exists bool) {
	file := filepath.Join(x.Top, e.Name)
	var st unix.Stat_t
	switch err := unix.Lstat(file, &st); {
	case err == syscall.ENOENT || err == syscall.ENOTDIR:
		return true, false // nothing there to lose
	case err != nil || e.unreliable:
		return false, true
	}
	kind := uint32(st.Mode) & unix.S_IFMT
	switch e.Mode & 0o170000 {
	case 0o100000:
		if kind != unix.S_IFREG {
			return false, true
		}
	case 0o120000:
		if kind != unix.S_IFLNK {
			return false, true
		}
	default:
		return false, true // a submodule: its own repository
	}
	if uint32(st.Size) != e.Size {
		return false, true
	}
	mtime := st.Mtim.Nano()
	if mtime == e.mtime && uint32(st.Ino) == e.ino && (e.ctime == 0 || st.Ctim.Nano() == e.ctime) && mtime < x.mtime {
		return true, true
	}
	// Touched, or changed in the same clock tick as the index: compare.
	return SameBlob(file, kind == unix.S_IFLNK, e), true
}

// maxHash bounds what is read to compare contents, in bytes.
const maxHash = 16 << 20

func SameBlob(file string, link bool, e *Entry) bool {
	if e.Size > maxHash {
		return false
	}
	var data []byte
	var err error
	if link {
		var s string
		s, err = os.Readlink(file)
		data = []byte(s)
	} else {
		data, err = files.ReadRegular(file, maxHash)
	}
	if err != nil || uint32(len(data)) != e.Size {
		return false
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil)) == hex.EncodeToString(e.SHA[:])
}
