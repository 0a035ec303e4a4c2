package trash

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Item is one thing in a trash.
type Item struct {
	ID       string    // short, unique among all items; changes when a name is used again
	Name     string    // its name in the trash, in files/ and before .trashinfo in info/
	TrashDir string    // the trash it is in
	TopDir   string    // the top directory of that trash; "" for the home trash
	Path     string    // where it was, absolute; "" if that is not known (see Problem)
	Deleted  time.Time // local time to the second; zero if not known
	Group    string    // the call that trashed it; "" if that was another program's
	Cwd      string    // where that call was made
	Session  string    // whose that call was
	Class    int       // 2 if it can be made again (kept for 24 hours), else 0
	IsDir    bool
	Size     int64  // bytes of disk; -1 until Sizes has told
	Problem  string // why it cannot be restored to where it was, or ""
	Part     string // of a directory in the trash only this, a path below it; "": all

	orphan  bool  // there is data, but no information file
	unread  error // why its information file could not be read, if it may be a good one
	micro   int64 // when it was deleted, as exactly as is known; 0 if it is not
	parents []uint32
}

// DataPath is where the item is now.
func (it Item) DataPath() string {
	return strings.TrimSuffix(it.TrashDir+"/files/"+it.Name+"/"+it.Part, "/")
}

// part is what lies at rest, a path below the directory it.
func (it Item) part(rest string, dir bool) Item {
	it.Part, it.Path, it.IsDir, it.Size = rest, it.Path+"/"+rest, dir, -1
	return it
}

// whole is the path that the item has in the trash, of which this may be a part.
func (it Item) whole() string { return strings.TrimSuffix(strings.TrimSuffix(it.Path, it.Part), "/") }

// when is the time of the deletion. The group tells more than the second that
// is written down.
func (it Item) when() time.Time {
	if it.micro == 0 {
		return time.Time{}
	}
	return time.UnixMicro(it.micro)
}

// List reads all trash directories of the user: newest items first. It takes
// time in proportion to their number and looks at no item's content. Errors
// tell of trash directories that could not be read or are not trusted.
func List(e Env) ([]Item, []error) {
	ss, errs := e.stores()
	defer closeAll(ss)
	var items []Item
	for _, s := range ss {
		its, err := s.list()
		items = append(items, its...)
		if err != nil {
			errs = append(errs, err)
		}
	}
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(b.micro, a.micro), strings.Compare(a.Path, b.Path), strings.Compare(a.Name, b.Name))
	})
	return items, errs
}

// partialPrefix begins the names of copies under way in files/.
const partialPrefix = ".partial-"

// list reads one trash: an item for each information file with data, and for
// each data without information.
func (s *store) list() ([]Item, error) {
	data, err := s.names("files")
	if err != nil {
		return nil, err
	}
	infos, err := s.names("info")
	if err != nil {
		return nil, err
	}
	kinds := make(map[string]uint32, len(data))
	for _, d := range data {
		kinds[d.name] = d.kind
	}
	items := make([]Item, 0, len(infos))
	going := s.doomedIDs()
	buf := s.buffer()
	for _, i := range infos {
		name, ok := strings.CutSuffix(i.name, infoSuffix)
		if !ok {
			continue
		}
		kind, ok := kinds[name]
		if !ok {
			continue // a put that was interrupted, or is under way
		}
		delete(kinds, name)
		it, err := s.item(name, buf)
		if err == unix.ENOENT {
			continue // restored meanwhile
		}
		if going[it.ID] {
			continue
		}
		it.IsDir = s.isDirKind(name, kind)
		items = append(items, it)
	}
	for name, kind := range kinds {
		if strings.HasPrefix(name, partialPrefix) {
			continue
		}
		if _, err := lstatAt(s.info, name+infoSuffix); err == nil {
			continue // trashed while this list was made
		}
		it := s.newItem(name, info{})
		it.orphan = true
		it.IsDir = s.isDirKind(name, kind)
		it.Problem = "it has no information file"
		items = append(items, it)
	}
	return items, nil
}

func (s *store) isDirKind(name string, kind uint32) bool {
	if kind != 0 {
		return kind == unix.S_IFDIR
	}
	fi, err := lstatAt(s.files, name)
	return err == nil && fi.isDir()
}

func (s *store) names(dir string) ([]entry, error) {
	f, err := openRead(s.fd, dir)
	if err != nil {
		return nil, &pathError{"open", filepath.Join(s.path, dir), err}
	}
	defer f.Close()
	es, err := readAll(f)
	if err != nil {
		return nil, &pathError{"read", filepath.Join(s.path, dir), err}
	}
	return es, nil
}

// item reads the information of name; buf is for its content. The error is
// unix.ENOENT when there is none; any other is told in the item.
func (s *store) item(name string, buf []byte) (Item, error) {
	in, err := s.readInfo(name, buf)
	if err == unix.ENOENT {
		return Item{}, err
	}
	it := s.newItem(name, in)
	switch {
	case err != nil:
		it.Path, it.Problem = "", "bad information file: "+errText(err)
		if no := unix.Errno(0); errors.As(err, &no) && !slices.Contains(noInfoFile, no) {
			it.unread = no
		}
	default:
		it.Path, it.Problem = s.original(in.path)
	}
	return it, nil
}

// noInfoFile are the errors of what stands for an information file but is none:
// a link, a directory, a socket.
var noInfoFile = []unix.Errno{unix.ELOOP, unix.EISDIR, unix.ENXIO}

func (s *store) newItem(name string, in info) Item {
	micro := int64(0)
	if t, ok := groupTime(in.group); ok {
		micro = t.UnixMicro()
	} else if !in.deleted.IsZero() {
		micro = in.deleted.UnixMicro()
	}
	return Item{
		micro: micro,
		ID:    itemID(s.path, name, in), Name: name, TrashDir: s.path, TopDir: s.top,
		Deleted: in.deleted, Group: in.group, Cwd: in.cwd, Session: in.session,
		Class: in.class, Size: -1, parents: in.parents,
	}
}

// original is the absolute path that an information file means, or why there
// is none: one in a top directory must stay within it.
func (s *store) original(p string) (path, problem string) {
	for c := range strings.SplitSeq(p, "/") {
		if c == ".." {
			return "", "its recorded path has \"..\" in it"
		}
	}
	if s.top == "" {
		if !strings.HasPrefix(p, "/") {
			return "", "its recorded path is not absolute"
		}
		return filepath.Clean(p), ""
	}
	if strings.HasPrefix(p, "/") {
		return "", "its recorded path leads out of " + Show(s.top)
	}
	p = filepath.Join(s.top, p)
	if p == s.top {
		return "", "its recorded path is that of the top directory"
	}
	return p, ""
}

func (s *store) readInfo(name string, buf []byte) (info, error) {
	fd, err := openAt(s.info, name+infoSuffix, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return info{}, err
	}
	defer unix.Close(fd)
	n, err := readFull(fd, buf)
	if err != nil {
		return info{}, err
	}
	return parseInfo(buf[:n])
}

// readFull reads what a file holds, as far as buf reaches. What ends with a
// line, and did not fill buf, is taken to be all.
func readFull(fd int, buf []byte) (n int, err error) {
	for n < len(buf) {
		m, err := unix.Read(fd, buf[n:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return n, err
		case m == 0:
			return n, nil
		default:
			if n += m; buf[n-1] == '\n' {
				return n, nil
			}
		}
	}
	return n, nil
}

// buffer is for the content of one information file at a time.
func (s *store) buffer() []byte {
	if s.buf == nil {
		s.buf = make([]byte, maxInfo+1)
	}
	return s.buf
}

func itemID(trash, name string, in info) string {
	v := uint64(14695981039346656037) // FNV-1a
	for _, s := range [...]string{trash, name, in.date, in.group} {
		for i := range len(s) {
			v = (v ^ uint64(s[i])) * 1099511628211
		}
		v *= 1099511628211 // a NUL
	}
	return base32Digits(v^v>>50, 10)
}

// Selection says which items are meant: those that any of its criteria names.
type Selection struct {
	IDs    []string // item ids, or beginnings of at least four characters
	Names  []string // last components of original paths; the newest item of one path
	Paths  []string // original absolute paths, through links or not; the newest item of each
	Under  []string // absolute directories, as well: all that was in them at any depth, or was them
	Groups []string // calls
	Last   bool     // all of the newest call
	All    bool
	// Parts lets a path or a directory mean a part of a directory in the trash,
	// where it is no item.
	Parts bool

	// Older narrows the choice to items deleted longer ago than this, and
	// stands alone for all of those. Items without a readable date are never
	// among them.
	Older time.Duration
	// Session and Since narrow the choice to items of one session, and to those
	// deleted then or later. Alone they mean all of those: the newest of each path.
	Session string
	Since   time.Time
}

func (s Selection) empty() bool {
	return len(s.IDs)+len(s.Names)+len(s.Paths)+len(s.Under)+len(s.Groups) == 0 && !s.Last && !s.All
}

// Select picks from items, as List returned them, in their order. Each
// criterion that names nothing, or is ambiguous, is an error; what the others
// name is returned all the same. Where an information file could not be read it
// is not known what the newest of a path or the last call is, and none is
// guessed; that too is an error.
func Select(items []Item, s Selection, now time.Time) ([]Item, []error) {
	unread := slices.IndexFunc(items, func(it Item) bool { return it.unread != nil })
	var maybe []error
	if unread >= 0 && !s.All && (len(s.Names)+len(s.Paths)+len(s.Under)+len(s.Groups) > 0 || s.Last || s.Older > 0 || s.Session != "" || !s.Since.IsZero()) {
		it := items[unread]
		maybe = append(maybe, fmt.Errorf("it is not known whether %s, which is in the trash, is meant: its information file cannot be read (%s); try again, or give ids, see: safeshell trash list", Show(it.Name), errText(it.unread)))
	}
	narrowed := s.Session != "" || !s.Since.IsZero()
	if narrowed || s.Older > 0 {
		items = slices.DeleteFunc(slices.Clone(items), func(it Item) bool {
			return s.Session != "" && it.Session != s.Session ||
				!s.Since.IsZero() && it.when().Before(s.Since) ||
				s.Older > 0 && (it.Deleted.IsZero() || now.Sub(it.Deleted) <= s.Older)
		})
	}
	switch {
	case s.All || s.Older > 0 && s.empty():
		return slices.Clone(items), maybe
	case narrowed && s.empty():
		seen := map[string]bool{}
		return slices.DeleteFunc(slices.Clone(items), func(it Item) bool {
			was := it.Path != "" && seen[it.Path]
			seen[it.Path] = true
			return was
		}), maybe
	}
	c := chooser{items: items, chosen: make([]bool, len(items)), errs: maybe, some: s.Parts}
	if len(maybe) > 0 {
		s.Names, s.Paths, s.Last = nil, nil, false
	}
	for _, a := range s.IDs {
		c.id(a)
	}
	c.newest("name", s.Names, func(it *Item) string { return filepath.Base(it.Path) })
	c.newest("path", s.Paths, func(it *Item) string { return it.Path })
	for _, a := range s.Under {
		in := func(dir string) func(*Item) bool {
			return func(it *Item) bool { return it.Path != "" && within(it.Path, dir) }
		}
		dir := filepath.Clean(a)
		if real := resolved(dir); real != dir && !slices.ContainsFunc(items, func(it Item) bool { return in(dir)(&it) }) {
			dir = real
		}
		c.all("directory", a, in(dir))
	}
	for _, a := range s.Groups {
		c.all("rm call", a, func(it *Item) bool { return it.Group == a })
	}
	if s.Last {
		if i, ok := newest(items); !ok {
			c.errs = append(c.errs, errors.New("there is no last rm in the trash; to see what it holds: safeshell trash list"))
		} else {
			for j := range items {
				if j == i || items[j].Group != "" && items[j].Group == items[i].Group {
					c.chosen[j] = true
				}
			}
		}
	}
	var out []Item
	for i, yes := range c.chosen {
		if yes {
			out = append(out, items[i])
		}
	}
	return append(out, c.parts...), c.errs
}

// chooser is one Select.
type chooser struct {
	items  []Item
	chosen []bool
	errs   []error
	some   bool   // parts of directories may be chosen
	parts  []Item // those that are
	byID   []int  // indexes of items in the order of their ids
}

// none tells that nothing fits. A path may lie in a directory that is there: then
// that part of it is chosen, or how to restore it is told.
func (c *chooser) none(what, arg string) {
	if what == "path" || what == "directory" {
		if it, ok := c.holding(arg); ok {
			if c.some {
				c.parts = append(c.parts, it)
				return
			}
			c.errs = append(c.errs, fmt.Errorf("%s is in the trash as a part of %s (%s), and stays there as long as that; to restore it: safeshell trash restore %s",
				Show(arg), Show(it.whole()), it.ID, Quote(it.Path, false)))
			return
		}
	}
	c.errs = append(c.errs, fmt.Errorf("no item in the trash has the %s %s; to see all: safeshell trash list", what, Show(arg)))
}

// holding is what was at path, as a part of the newest directory in the trash
// that has it.
func (c *chooser) holding(path string) (Item, bool) {
	for _, p := range []string{filepath.Clean(path), inRealDir(path)} {
		for i := range c.items {
			it := &c.items[i]
			if it.Path == "" || !it.IsDir || it.unread != nil || !under(p, it.Path) {
				continue
			}
			rest := strings.TrimPrefix(p[len(it.Path):], "/")
			if fi, err := os.Lstat(it.DataPath() + "/" + rest); err == nil {
				return it.part(rest, fi.IsDir()), true
			}
		}
	}
	return Item{}, false
}

// resolved is path without links in as much of it as is there: items are known by
// such paths.
func resolved(path string) string {
	path, rest := filepath.Clean(path), ""
	for {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest)
		}
		dir := filepath.Dir(path)
		if dir == path {
			return filepath.Join(path, rest)
		}
		path, rest = dir, filepath.Join(filepath.Base(path), rest)
	}
}

// inRealDir resolves the directory that path is in.
func inRealDir(path string) string {
	path = filepath.Clean(path)
	if path == "/" {
		return path
	}
	return filepath.Join(resolved(filepath.Dir(path)), filepath.Base(path))
}

// id chooses the one item whose id begins with a.
func (c *chooser) id(a string) {
	if len(a) < 4 {
		c.errs = append(c.errs, fmt.Errorf("%s is too short for an id: give at least 4 characters of it", Show(a)))
		return
	}
	if c.byID == nil {
		c.byID = make([]int, len(c.items))
		for i := range c.byID {
			c.byID[i] = i
		}
		slices.SortFunc(c.byID, func(i, j int) int { return strings.Compare(c.items[i].ID, c.items[j].ID) })
	}
	at, _ := slices.BinarySearchFunc(c.byID, a, func(i int, a string) int { return strings.Compare(c.items[i].ID, a) })
	has := func(at int) bool { return at < len(c.byID) && strings.HasPrefix(c.items[c.byID[at]].ID, a) }
	switch {
	case !has(at):
		c.none("id", a)
	case has(at + 1):
		c.errs = append(c.errs, fmt.Errorf("several ids begin with %s; to see them: safeshell trash list", Show(a)))
	default:
		c.chosen[c.byID[at]] = true
	}
}

// all chooses every item that fits.
func (c *chooser) all(what, arg string, fits func(*Item) bool) {
	found := false
	for i := range c.items {
		if fits(&c.items[i]) {
			c.chosen[i], found = true, true
		}
	}
	if !found {
		c.none(what, arg)
	}
}

// newest chooses, for each argument, the newest item that has this key; they
// must all be of one path. One pass over the items, whatever their number.
func (c *chooser) newest(what string, args []string, key func(*Item) string) {
	if len(args) == 0 {
		return
	}
	found := make(map[string]map[string]int, len(args)) // by key: paths, and their newest item
	want := func(a string) string { return a }
	if what == "path" {
		real := make(map[string]string, len(args))
		for _, a := range args {
			real[filepath.Clean(a)] = inRealDir(a)
		}
		for i := range c.items {
			delete(real, c.items[i].Path) // there under this very path
		}
		want = func(a string) string {
			a = filepath.Clean(a)
			return cmp.Or(real[a], a)
		}
	}
	for _, a := range args {
		found[want(a)] = nil
	}
	for i := range c.items {
		it := &c.items[i]
		if it.Path == "" {
			continue
		}
		k := key(it)
		paths, wanted := found[k]
		if !wanted {
			continue
		}
		if paths == nil {
			paths = map[string]int{}
			found[k] = paths
		}
		if _, older := paths[it.Path]; !older {
			paths[it.Path] = i
		}
	}
	for _, a := range args {
		switch paths := found[want(a)]; {
		case len(paths) == 0:
			c.none(what, a)
		case len(paths) > 1:
			c.errs = append(c.errs, ambiguous(what, a, c.items, paths))
		default:
			for _, i := range paths {
				c.chosen[i] = true
			}
		}
	}
}

func newest(items []Item) (int, bool) {
	best := -1
	for i, it := range items {
		if it.orphan || it.micro == 0 {
			continue
		}
		if best < 0 || it.micro > items[best].micro {
			best = i
		}
	}
	return best, best >= 0
}

func ambiguous(what, arg string, items []Item, paths map[string]int) error {
	var is []int
	for _, i := range paths {
		is = append(is, i)
	}
	slices.Sort(is)
	var b strings.Builder
	fmt.Fprintf(&b, "%d items in the trash have the %s %s; give one of these ids:", len(is), what, Show(arg))
	for n, i := range is {
		if n == 5 {
			b.WriteString(" ...")
			break
		}
		fmt.Fprintf(&b, " %s (%s)", items[i].ID, Show(items[i].Path))
	}
	return errors.New(b.String())
}
