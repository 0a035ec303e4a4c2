package eval

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxIndex bounds the size of an index that is read here, in bytes; larger
// ones are git's business.
const maxIndex = 64 << 20

// gitIndex is git's list of tracked files with what they looked like when they
// were last known to be the same as the stored content (gitformat-index(5)).
type gitIndex struct {
	top     string
	mtime   int64 // of the index file, ns
	entries []indexEntry
}

type indexEntry struct {
	name         string
	ctime, mtime int64 // ns
	ino, size    uint32
	mode         uint32
	sha          [20]byte
	unreliable   bool // assume-unchanged, skip-worktree, intent-to-add, in conflict
}

// readIndex reads versions 2 to 4 with SHA-1. ok is false for what it does not
// know: split and sparse indexes, SHA-256.
func readIndex(p gitPlace) (*gitIndex, bool) {
	f, err := os.OpenFile(filepath.Join(p.gitDir, "index"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return &gitIndex{top: p.top}, os.IsNotExist(err) // nothing is tracked yet
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxIndex {
		return nil, false
	}
	data := make([]byte, fi.Size())
	if _, err := f.ReadAt(data, 0); err != nil && len(data) > 0 {
		return nil, false
	}
	if config, err := readRegular(filepath.Join(p.common, "config"), maxGitConfig); err != nil || bytes.Contains(bytes.ToLower(config), []byte("objectformat")) {
		return nil, false
	}
	x, ok := parseIndex(data)
	if ok {
		x.top, x.mtime = p.top, fi.ModTime().UnixNano()
	}
	return x, ok
}

func parseIndex(data []byte) (*gitIndex, bool) {
	if len(data) < 12+20 || string(data[:4]) != "DIRC" {
		return nil, false
	}
	be := binary.BigEndian
	version, count := be.Uint32(data[4:]), be.Uint32(data[8:])
	if version < 2 || version > 4 || uint64(count)*62 > uint64(len(data)) {
		return nil, false
	}
	end := len(data) - 20
	x := &gitIndex{entries: make([]indexEntry, 0, count)}
	at, last := 12, ""
	for range count {
		if at+62 > end {
			return nil, false
		}
		start := at
		e := indexEntry{
			ctime: int64(be.Uint32(data[at:]))*1e9 + int64(be.Uint32(data[at+4:])),
			mtime: int64(be.Uint32(data[at+8:]))*1e9 + int64(be.Uint32(data[at+12:])),
			ino:   be.Uint32(data[at+20:]),
			mode:  be.Uint32(data[at+24:]),
			size:  be.Uint32(data[at+36:]),
		}
		copy(e.sha[:], data[at+40:])
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
			e.name = last[:len(last)-strip] + string(data[at:at+nul])
			at += nul + 1
		} else {
			nul := bytes.IndexByte(data[at:end], 0)
			if nul < 0 {
				return nil, false
			}
			e.name = string(data[at : at+nul])
			at = start + (at+nul-start)/8*8 + 8
		}
		if e.mode&0o170000 == 0o040000 {
			return nil, false // a sparse directory
		}
		last = e.name
		x.entries = append(x.entries, e)
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

// find returns the entries of a path relative to the top: the file itself, or
// all that lie below it.
func (x *gitIndex) find(rel string) []indexEntry {
	if rel == "" || rel == "." {
		return x.entries
	}
	i := sort.Search(len(x.entries), func(i int) bool { return x.entries[i].name >= rel })
	if i < len(x.entries) && x.entries[i].name == rel {
		j := i
		for j < len(x.entries) && x.entries[j].name == rel {
			j++
		}
		return x.entries[i:j]
	}
	dir := rel + "/"
	i = sort.Search(len(x.entries), func(i int) bool { return x.entries[i].name >= dir })
	j := i
	for j < len(x.entries) && strings.HasPrefix(x.entries[j].name, dir) {
		j++
	}
	return x.entries[i:j]
}

// clean says that git holds the present content of a tracked file.
func (x *gitIndex) clean(e *indexEntry) (clean, exists bool) {
	file := filepath.Join(x.top, e.name)
	var st unix.Stat_t
	switch err := unix.Lstat(file, &st); {
	case err == syscall.ENOENT || err == syscall.ENOTDIR:
		return true, false // nothing there to lose
	case err != nil || e.unreliable:
		return false, true
	}
	kind := uint32(st.Mode) & unix.S_IFMT
	switch e.mode & 0o170000 {
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
	if uint32(st.Size) != e.size {
		return false, true
	}
	mtime := st.Mtim.Nano()
	if mtime == e.mtime && uint32(st.Ino) == e.ino && (e.ctime == 0 || st.Ctim.Nano() == e.ctime) && mtime < x.mtime {
		return true, true
	}
	// Touched, or changed in the same clock tick as the index: compare.
	return sameBlob(file, kind == unix.S_IFLNK, e), true
}

// maxHash bounds what is read to compare contents, in bytes.
const maxHash = 16 << 20

func sameBlob(file string, link bool, e *indexEntry) bool {
	if e.size > maxHash {
		return false
	}
	var data []byte
	var err error
	if link {
		var s string
		s, err = os.Readlink(file)
		data = []byte(s)
	} else {
		data, err = readRegular(file, maxHash)
	}
	if err != nil || uint32(len(data)) != e.size {
		return false
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil)) == hex.EncodeToString(e.sha[:])
}
