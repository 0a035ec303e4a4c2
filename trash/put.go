package trash

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Result is what became of a Put.
type Result struct {
	Code int // exit status, 0 or 1
	// ExecReal: nothing was done, and the caller must execute the real rm with
	// the original arguments: they ask for help, are wrong, or name nothing
	// that belongs in the trash.
	ExecReal bool
	Group    string   // the id of this call; restores all of Moved together
	Moved    []Moved  // what went to the trash, in order
	Refused  []string // what was not taken on purpose, a line each
	EvictDue bool     // it is time for Evict
}

// Moved is one thing that went to the trash.
type Moved struct {
	Path  string // where it was: absolute, without symbolic links above it
	Trash string // where it is
}

// putter is one call of Put.
type putter struct {
	e      Env
	c      Config
	o      options
	prog   string
	realRm string
	utf8   bool
	out    *bufio.Writer
	in     info // what all items of the call have in common
	res    Result
	cwdfd  int

	dir    *openParent
	moved  bool // a directory or a link went away: paths may mean something else now
	warned map[string]bool

	known      *places
	mountList  []mount
	mountsErr  error // why mountList is not known
	mountsRead bool
	managed    *bool
	rootInfo   *finfo
	store      *store // the home trash, when open
	homeErr    error
	tops       map[uint64]*store
	topErrs    map[uint64]error
	scratch    []string        // operands for the real rm
	held       map[devIno]bool // trash directories that the caller has locked
}

func newPutter(e Env, prog string) *putter {
	return &putter{
		e: e, prog: prog, out: bufio.NewWriter(e.stdout()), cwdfd: atFDCWD, warned: map[string]bool{},
		tops: map[uint64]*store{}, topErrs: map[uint64]error{},
	}
}

// openParent is the directory of the operand at hand.
type openParent struct {
	arg   string
	fd    int
	fi    finfo
	real  string
	modes []uint32
}

// Put does what rm would with these arguments (without the program's name),
// but moves files to the trash. prog is what messages start with, "rm". realRm
// is the path of the real rm, which removes what does not belong in the trash;
// without one ("") that goes to the trash too.
func Put(e Env, c Config, prog string, args []string, realRm string) Result {
	cl := parse(args, e.isSet("POSIXLY_CORRECT"))
	if cl.usage == "" && !cl.info && len(cl.operands) == 0 {
		if cl.ignoreMissing {
			return Result{}
		}
		cl.usage, cl.tryHelp = "missing operand", true
	}
	if cl.usage != "" || cl.info {
		if realRm != "" && !cl.foreign {
			return Result{ExecReal: true}
		}
		return Result{Code: sayUsage(e, prog, args, cl)}
	}
	p := newPutter(e, prog)
	p.c, p.o, p.realRm, p.utf8 = c, cl.options, realRm, e.utf8Locale()
	defer p.close()
	if e.Dir != "" {
		fd, err := openDir(atFDCWD, e.Dir)
		if err != nil {
			p.say("cannot work in %s: %s", p.quote(e.Dir), errText(err))
			return Result{Code: 1}
		}
		p.cwdfd = fd
	}
	p.run(cl.operands)
	p.flush()
	p.res.EvictDue = p.evictDue()
	return p.res
}

// Refusals are what Put would say of the operands that it refuses to take, a
// line each; all reports that it would take none. It changes nothing.
func Refusals(e Env, prog string, args []string) (why []string, all bool) {
	cl := parse(args, e.isSet("POSIXLY_CORRECT"))
	if cl.usage != "" || cl.info {
		return nil, false
	}
	p := newPutter(e, prog)
	p.o, p.utf8 = cl.options, e.utf8Locale()
	defer p.close()
	if e.Dir != "" {
		fd, err := openDir(atFDCWD, e.Dir)
		if err != nil {
			return nil, false
		}
		p.cwdfd = fd
	}
	all = len(cl.operands) > 0
	for _, a := range cl.operands {
		t := p.inspect(a)
		refused := t.state == stateAct && t.class == classRefuse
		if all = all && refused; refused {
			why = append(why, p.refusal(&t))
		}
	}
	return why, all
}

func sayUsage(e Env, prog string, args []string, cl cmdline) int {
	switch {
	case cl.info:
		fmt.Fprintf(e.stderr(), "%s: there is no real rm to ask; see: safeshell trash put --help\n", prog)
		return 1
	case cl.usage == "":
		return 0
	}
	fmt.Fprintf(e.stderr(), "%s: %s\n", prog, cl.usage)
	if !cl.tryHelp {
		return 1
	}
	for _, a := range args {
		if len(a) > 1 && a[0] == '-' && cl.usage != "missing operand" {
			p := a
			if e.Dir != "" {
				p = filepath.Join(e.Dir, a)
			}
			if exists(p) {
				fmt.Fprintf(e.stderr(), "Try '%s ./%s' to remove the file %s.\n", prog, a, Quote(a, e.utf8Locale()))
				break
			}
		}
	}
	fmt.Fprintf(e.stderr(), "Try '%s --help' for more information.\n", prog)
	return 1
}

func (p *putter) close() {
	p.setDir(nil)
	if p.cwdfd != atFDCWD {
		unix.Close(p.cwdfd)
	}
	if p.store != nil {
		p.store.close()
	}
	for _, s := range p.tops {
		if s != nil {
			s.close()
		}
	}
}

func (p *putter) run(operands []string) {
	ts := make([]target, len(operands))
	nothing, silent := true, p.o.ignoreMissing
	for i, a := range operands {
		ts[i] = p.inspect(a)
		t := &ts[i]
		nothing = nothing && (t.stays() || t.state == stateAct && t.class == classScratch)
		silent = silent && t.state == stateErr && p.ignorable(t.err)
	}
	switch {
	case silent:
		return
	case nothing && p.realRm != "":
		p.res.ExecReal = true
		return
	}
	if p.o.once && (p.o.recursive || len(ts) > 3) {
		noun, how := "arguments", ""
		if len(ts) == 1 {
			noun = "argument"
		}
		if p.o.recursive {
			how = " recursively"
		}
		if !p.yes(fmt.Sprintf("remove %d %s%s? ", len(ts), noun, how)) {
			return
		}
	}
	now := p.e.now()
	p.in = info{
		deleted: now.Local(), group: groupID(now, rand.Uint64()),
		cwd: p.e.dir(), session: p.e.Session,
	}
	p.res.Group = p.in.group
	for i := range ts {
		t := &ts[i]
		if !p.isScratch(t) {
			p.runScratch()
		}
		if i > 0 && (p.moved || t.state == stateErr) {
			*t = p.inspect(operands[i])
		}
		p.operand(t)
	}
	p.runScratch()
}

// operand does one operand in its turn.
func (p *putter) operand(t *target) {
	if p.isScratch(t) && !p.asks() {
		p.scratch = append(p.scratch, t.arg)
		return
	}
	p.runScratch()
	switch t.state {
	case stateErr, stateFail:
		err := t.err
		if p.o.ask == askAlways && t.lookup != nil {
			err = t.lookup
		}
		p.cannot(t.arg, err)
	case stateDots:
		p.refuse("refusing to remove '.' or '..' directory: skipping " + p.quote(t.arg))
	case stateRoot:
		same := ""
		if t.arg != "/" {
			same = " (same as '/')"
		}
		p.refuse("it is dangerous to operate recursively on " + p.quote(t.arg) + same)
		if p.o.preserveRoot {
			p.say("use --no-preserve-root to override this failsafe")
		} else {
			p.say("--no-preserve-root does not override this failsafe here")
		}
	case stateDevice:
		p.res.Code = 1
		if t.err != nil {
			p.say("failed to stat %s: skipping %s", p.quote(strings.TrimSuffix(t.arg, "/")+"/.."), p.quote(t.arg))
			return
		}
		p.say("skipping %s, since it's on a different device", p.quote(t.arg))
		p.say("and --preserve-root=all is in effect")
	case stateLinkDir:
		p.cannot(t.arg, unix.ENOTDIR)
	default:
		p.act(t)
	}
}

// refuse says why an operand is not taken.
func (p *putter) refuse(why string) {
	p.say("%s", why)
	p.res.Refused, p.res.Code = append(p.res.Refused, why), 1
}

// begin tells the caller, once, that something is about to go.
func (p *putter) begin() {
	if p.e.Begin != nil {
		p.e.Begin()
		p.e.Begin = nil
	}
}

// isScratch: the real rm is to remove it.
func (p *putter) isScratch(t *target) bool {
	return t.state == stateAct && t.class == classScratch && p.realRm != ""
}

func (p *putter) refusal(t *target) string {
	return "refusing to remove " + p.quote(t.arg) + ": " + t.why
}

// act removes an operand that is there and may be removed.
func (p *putter) act(t *target) {
	if t.class == classRefuse {
		p.refuse(p.refusal(t))
		return
	}
	p.begin()
	if err := p.openParent(t); err != nil {
		p.cannot(t.arg, err)
		return
	}
	p.in.class = 0
	if t.class == classRegenerable {
		p.in.class = 2
	}
	for _, u := range p.plan(t) {
		if p.isScratch(t) {
			p.scratch = append(p.scratch, u.show)
			p.runScratch()
			continue
		}
		fd, err := p.openRel(u.rel)
		if err != nil {
			p.cannot(u.show, err)
			continue
		}
		u.parent = fd
		p.take(u)
		if fd != p.dir.fd {
			unix.Close(fd)
		}
	}
}

// runScratch has the real rm remove the scratch operands met so far. What they
// are about to lose was asked, so it gets no terminal to ask again.
func (p *putter) runScratch() {
	if len(p.scratch) == 0 {
		return
	}
	args := append(p.o.realArgs(), p.scratch...)
	p.scratch, p.moved = nil, true
	p.begin()
	p.flush()
	cmd := exec.Command(p.realRm, args...)
	cmd.Args[0] = p.prog
	cmd.Dir, cmd.Env = p.e.Dir, p.e.Environ
	cmd.Stdout, cmd.Stderr = p.e.stdout(), p.e.stderr()
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		p.res.Code = 1
	default:
		p.say("cannot run the real rm: %v", err)
		p.res.Code = 1
	}
}

// say writes a line to stderr, after what is buffered for stdout.
func (p *putter) say(format string, args ...any) {
	p.flush()
	fmt.Fprintf(p.e.stderr(), "%s: %s\n", p.prog, fmt.Sprintf(format, args...))
}

func (p *putter) flush() {
	if p.out.Buffered() == 0 {
		return
	}
	if err := p.out.Flush(); err != nil {
		p.out.Reset(discard{}) // say it once
		fmt.Fprintf(p.e.stderr(), "%s: write error: %s\n", p.prog, errText(err))
		p.res.Code = 1
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

func (p *putter) quote(s string) string { return Quote(s, p.utf8) }

// ignorable: -f is silent about it (rm's ignorable_missing).
func (p *putter) ignorable(err error) bool {
	if !p.o.ignoreMissing {
		return false
	}
	switch err {
	case unix.ENOENT, unix.ENOTDIR, unix.EINVAL, unix.EILSEQ:
		return true
	}
	return false
}

// cannot reports that a file was not removed; false for convenience.
func (p *putter) cannot(show string, err error) bool {
	if p.ignorable(err) {
		return false
	}
	p.say("cannot remove %s: %s", p.quote(show), errText(err))
	p.res.Code = 1
	return false
}

// parentModes are the permissions of dir and the directories above it, as far
// up as they matter: not the home directory, not the top of a filesystem's
// trash.
func (p *putter) parentModes(dir, top string) []uint32 {
	var ms []uint32
	for d := dir; d != "/" && d != top && d != p.places().home && len(ms) < 256; d = filepath.Dir(d) {
		fi, err := lstatAt(atFDCWD, d)
		if err != nil {
			break
		}
		ms = append(ms, fi.perm())
	}
	return ms
}

// quota is how much may lie in a store.
func (c Config) quota(s *store) int64 {
	if c.MaxBytes > 0 {
		return c.MaxBytes
	}
	if total, _, err := space(s.fd); err == nil {
		return min(defaultMaxBytes, total/10)
	}
	return defaultMaxBytes
}

func (c Config) keep() time.Duration {
	d := c.KeepDays
	if d <= 0 {
		d = defaultKeepDays
	}
	return time.Duration(d) * 24 * time.Hour
}
