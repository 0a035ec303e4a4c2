package main

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// entry is one file of an archive: from a file on disk, as data, or as a link.
type entry struct {
	name       string
	data       []byte
	file, link string
	executable bool
}

// writeArchive makes a compressed tar whose bytes depend on names, contents and
// date alone: not on who makes it, where, or with which umask.
func writeArchive(path string, date time.Time, entries []entry) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	entries = slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	for _, e := range entries {
		if err := e.write(w, date); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return errors.Join(w.Close(), z.Close())
}

func (e entry) write(w *tar.Writer, date time.Time) error {
	h := &tar.Header{Name: e.name, Mode: 0o644, ModTime: date, Format: tar.FormatUSTAR, Size: int64(len(e.data))}
	if e.executable {
		h.Mode = 0o755
	}
	if e.link != "" {
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, e.link, 0o777
		return w.WriteHeader(h)
	}
	if e.file == "" {
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err := w.Write(e.data)
		return err
	}
	f, err := os.Open(e.file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h.Size = info.Size()
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}

func (r *release) archiveName(p platform) string {
	return fmt.Sprintf("safeshell_%s_%s", r.number(), p)
}

// archives packs each platform's files below one directory.
func (r *release) archives() error {
	for _, p := range r.platforms {
		top := r.archiveName(p)
		entries := []entry{
			{name: top + "/safeshell", file: filepath.Join(r.dir(p), "safeshell"), executable: true},
			{name: top + "/safeshell-wrapper", link: "safeshell"},
		}
		for _, pattern := range append([]string{"THIRD_PARTY_LICENSES", "man/man1/*.1", "completions/*"}, texts...) {
			paths, err := filepath.Glob(filepath.Join(r.dir(p), pattern))
			if err != nil || len(paths) == 0 {
				return fmt.Errorf("%s: nothing to pack: %w", pattern, errors.Join(err, os.ErrNotExist))
			}
			for _, path := range paths {
				name, err := filepath.Rel(r.dir(p), path)
				if err != nil {
					return err
				}
				entries = append(entries, entry{name: top + "/" + filepath.ToSlash(name), file: path})
			}
		}
		if err := writeArchive(filepath.Join(r.out, top+".tar.gz"), r.date, entries); err != nil {
			return err
		}
	}
	return nil
}
