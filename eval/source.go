package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"safeshell/config"
)

// source is one origin of rules.
type source struct {
	kind      sourceKind
	path      string
	blob      *blob // nil: it has no rules in force
	overrides []override
	packs     []string // nil: not given
	packsSet  bool
	wrappers  []string
	trustKey  string // of the content in force
	trusted   bool
	problems  []Problem
	renewed   bool // compiled in this process, because the cache was damaged
	fatal     bool // it exists, cannot be used, and has no last good version
}

// sourceMeta is what a cached blob says about where it comes from.
type sourceMeta struct {
	path     string
	id       fileID
	trustKey string
	compiled int64 // wall clock, ns
	file     ruleFile
	packsSet bool
}

func (e *encoder) meta(m *sourceMeta) {
	e.str(m.path)
	e.i64(m.id.size)
	e.i64(m.id.mtime)
	e.i64(m.id.ctime)
	e.i64(int64(m.id.ino))
	e.i64(int64(m.id.dev))
	e.str(m.trustKey)
	e.i64(m.compiled)
	e.bool(m.packsSet)
	e.list(m.file.packs)
	e.list(m.file.wrappers)
	e.num(len(m.file.overrides))
	for _, o := range m.file.overrides {
		e.str(o.name)
		e.num(o.line)
		e.num(o.column)
		e.bool(o.disabled)
		e.bool(o.action != nil)
		if o.action != nil {
			e.num(int(*o.action))
		}
		e.bool(o.context != nil)
		if o.context != nil {
			e.str(string(*o.context))
		}
		for _, p := range []*string{o.message, o.suggest} {
			e.bool(p != nil)
			if p != nil {
				e.str(*p)
			}
		}
		e.bool(o.override != nil)
		if o.override != nil {
			e.bool(*o.override)
		}
	}
}

func (d *decoder) meta() (m sourceMeta) {
	m.path = d.str()
	m.id = fileID{d.i64(), d.i64(), d.i64(), uint64(d.i64()), uint64(d.i64())}
	m.trustKey = d.str()
	m.compiled = d.i64()
	m.packsSet = d.bool()
	m.file.packs = d.list()
	m.file.wrappers = d.list()
	for range d.count() {
		o := override{name: d.str(), line: d.num(), column: d.num(), disabled: d.bool()}
		if d.bool() {
			a := Action(d.num())
			o.action = &a
			d.bad = d.bad || a > Deny
		}
		if d.bool() {
			c := Context(d.str())
			o.context = &c
		}
		for _, p := range []**string{&o.message, &o.suggest} {
			if d.bool() {
				s := d.str()
				*p = &s
			}
		}
		if d.bool() {
			b := d.bool()
			o.override = &b
		}
		m.file.overrides = append(m.file.overrides, o)
	}
	return m
}

// racyWindow: a file that changed so shortly before it was compiled may have
// changed again without its times showing it (clock ticks, slow filesystems).
const racyWindow = 2 * time.Second

// openSource finds the rules of one file: from the cache when the file is the
// one that was compiled, else by compiling it. It returns nil when there is no
// file.
func openSource(path string, kind sourceKind, cache string) *source {
	s := &source{kind: kind, path: path}
	id, err := statSource(path, kind)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	base := cacheBase(path, cache)
	if err != nil {
		s.broken(base, fileProblem(path, err))
		return s
	}
	good, meta := openCached(base+".rules", path)
	if good != nil && meta.id == id && !racy(meta) {
		s.use(good, meta)
		return s
	}
	if bad := readBad(base+".bad", path, id); bad != nil {
		s.useLastGood(good, meta, bad)
		return s
	}
	data, id, err := readSource(path, kind)
	if errors.Is(err, fs.ErrNotExist) {
		closeBlob(good)
		return nil
	}
	if err != nil {
		s.useLastGood(good, meta, fileProblem(path, err))
		return s
	}
	key := trustKey(path, data)
	now := time.Now().UnixNano()
	if good != nil && meta.id == id && meta.trustKey == key {
		// The same content, seen again later: no longer racy.
		s.use(good, meta)
		if meta.compiled = now; !racy(meta) {
			if rules, err := good.all(); err == nil {
				saveBlob(base+".rules", rules, &meta)
			}
		}
		return s
	}
	file, problems := parseRules(path, data, kind)
	if len(problems) > 0 {
		if !problems[0].passing {
			saveBad(base+".bad", path, id, now, problems)
		}
		s.useLastGood(good, meta, problems)
		return s
	}
	closeBlob(good)
	meta = sourceMeta{path: path, id: id, trustKey: key, compiled: now, file: *file, packsSet: file.packs != nil}
	rules := make([]*rule, len(file.rules))
	for i := range file.rules {
		rules[i] = &file.rules[i]
	}
	mem := saveBlob(base+".rules", rules, &meta)
	b := &blob{mem: string(mem), size: len(mem)}
	if err := openBlob(b); err != nil {
		s.broken(base, []Problem{{File: path, Message: "the rules could not be compiled: " + err.Error(), Fix: "report this as a defect of safeshell"}})
		return s
	}
	s.use(b, meta)
	return s
}

// cacheFormat stands in the names of cached files, so that two versions of
// safeshell side by side do not write over each other's at every command. It
// changes with blobVersion and sourceMeta; tests set it by -ldflags -X.
var cacheFormat = "2"

// cacheBase is the name, without ending, of a source's files in the cache.
func cacheBase(path, cache string) string {
	if cache == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(cache, hex.EncodeToString(sum[:16])+"-"+cacheFormat)
}

// dropCached removes the compiled rules of a source.
func dropCached(path, cache string) {
	if base := cacheBase(path, cache); base != "" {
		os.Remove(base + ".rules")
	}
}

// broken is for a file that cannot even be looked at.
func (s *source) broken(base string, problems []Problem) {
	good, meta := openCached(base+".rules", s.path)
	s.useLastGood(good, meta, problems)
}

func (s *source) use(b *blob, m sourceMeta) {
	s.blob, s.overrides, s.packs, s.packsSet = b, m.file.overrides, m.file.packs, m.packsSet
	s.wrappers, s.trustKey = m.file.wrappers, m.trustKey
}

// useLastGood keeps the last rules that could be read in force.
func (s *source) useLastGood(good *blob, meta sourceMeta, problems []Problem) {
	s.problems = append(s.problems, problems...)
	if good != nil {
		s.use(good, meta)
	} else {
		s.fatal = true
	}
	for i := range s.problems {
		s.problems[i].Fatal = s.fatal
		s.problems[i].LastGood = !s.fatal
	}
}

func fileProblem(path string, err error) []Problem {
	p := Problem{File: path, Message: err.Error()}
	var fe *fileError
	if errors.As(err, &fe) {
		p.Fix = fe.fix
	}
	return []Problem{p}
}

func racy(m sourceMeta) bool {
	return m.compiled-max(m.id.mtime, m.id.ctime) < int64(racyWindow)
}

func closeBlob(b *blob) {
	if b != nil {
		b.file.close()
		b.file = 0
	}
}

// openCached opens a compiled file that is the user's own and undamaged.
func openCached(name, path string) (*blob, sourceMeta) {
	if !filepath.IsAbs(name) {
		return nil, sourceMeta{}
	}
	f, size, mtime := openPrivate(name)
	if f == 0 || size > 64*MaxFileSize {
		f.close()
		return nil, sourceMeta{}
	}
	b := &blob{file: f, size: int(size)}
	if openBlob(b) == nil {
		d := decoder{s: b.meta}
		if m := d.meta(); !d.bad && m.path == path {
			touchOld(name, mtime)
			return b, m
		}
	}
	f.close()
	return nil, sourceMeta{}
}

// saveBlob compiles rules and stores them if it can.
func saveBlob(name string, rules []*rule, meta *sourceMeta) []byte {
	flat := make([]rule, len(rules))
	for i, r := range rules {
		flat[i] = *r
	}
	var e encoder
	e.meta(meta)
	data := encodeBlob(flat, string(e.b))
	saveCache(name, data)
	return data
}

// saveCache writes a cache file; a cache that cannot be written is done
// without.
func saveCache(name string, data []byte) {
	dir := dirOf(name)
	if !filepath.IsAbs(name) {
		return
	}
	if err := config.Replace(name, data, false); errors.Is(err, fs.ErrNotExist) {
		// Only below an existing home: safeshell that is not set up leaves no traces.
		if _, err := os.Stat(dirOf(dir)); err == nil && os.Mkdir(dir, 0o700) == nil {
			_ = config.Replace(name, data, false)
		}
	}
}

const badMagic = "SAFEBAD1"

// saveBad remembers that a file is broken, and how, so that it is not parsed
// again for each command.
func saveBad(name, path string, id fileID, now int64, problems []Problem) {
	var e encoder
	e.meta(&sourceMeta{path: path, id: id, compiled: now})
	e.num(len(problems))
	for _, p := range problems {
		e.num(p.Line)
		e.num(p.Column)
		e.str(p.Message)
		e.str(p.Fix)
	}
	var sum encoder
	sum.num(int(sum32(sumSeed, string(e.b))))
	saveCache(name, append(append([]byte(badMagic), e.b...), sum.b...))
}

func readBad(name, path string, id fileID) []Problem {
	if !filepath.IsAbs(name) {
		return nil
	}
	f, size, _ := openPrivate(name)
	if f == 0 {
		return nil
	}
	defer f.close()
	data := make([]byte, min(size, MaxFileSize))
	n := len(data)
	if f.readAt(data, 0) != nil {
		return nil
	}
	s := string(data[:n])
	if len(s) < len(badMagic) || s[:len(badMagic)] != badMagic {
		return nil
	}
	d := decoder{s: s[len(badMagic):]}
	m := d.meta()
	var out []Problem
	for range d.count() {
		out = append(out, Problem{File: path, Line: d.num(), Column: d.num(), Message: d.str(), Fix: d.str()})
	}
	sum := sum32(sumSeed, d.s[:min(d.off, len(d.s))])
	if uint32(d.num()) != sum || d.bad || m.path != path || m.id != id || racy(m) {
		return nil
	}
	return out
}
