package spool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/config"
	"safeshell/spool/mask"
)

// Ask publishes r and waits for its decision. It always returns one; only
// Allowed with a nil error may run the command, and then the one that was
// resolved before asking, never what the record says.
//
// A late answer to an earlier try is taken first. Without a living monitor it
// returns NoMonitor at once, or after WaitForMonitor. When ctx ends, the
// request is decided as Cancelled (TimedOut if ctx had a deadline); use
// WithSignals so that a killed command takes its question along.
//
// The error says what went wrong, with Denied beside it: ErrUnusable when
// nothing could be asked, ErrTampered and ErrGone when the answer is in doubt.
func (s *Spool) Ask(ctx context.Context, r Request, o AskOptions) (Decision, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.NoMonitorGrace <= 0 {
		o.NoMonitorGrace = DefaultGrace
	}
	start := s.boot()
	r = s.prepare(r, o)
	w := &waiter{s: s, r: r, o: o, start: start}
	if ctx.Err() != nil {
		return w.own(w.ended(ctx)), nil
	}
	if d, ok := s.takeLate(r.KeySHA); ok {
		return d, nil
	}
	w.seen = s.MonitorAlive()
	if !w.seen && o.WaitForMonitor <= 0 {
		return w.own(NoMonitor, "no monitor is running"), nil
	}
	w.watch(s.newWatcher)
	defer w.close()
	if err := w.publish(); err != nil {
		return w.deny(fmt.Errorf("%w: %w", ErrUnusable, s.withHint(err)))
	}
	w.watchDir()
	if o.Waiting != nil {
		o.Waiting(w.r)
	}
	return w.wait(ctx)
}

// prepare fills in what Ask promises, except id and nonce.
func (s *Spool) prepare(r Request, o AskOptions) Request {
	r.UID = s.uid
	r.ArgvSHA = r.sha()
	r.KeySHA = r.Key().Hash()
	// What is far too long is cut first, well outside of what the record keeps.
	argv, n := cutArgv(r.Argv, maxRecord)
	line, m := cutMiddle(r.Line, maxRecord)
	r.Argv, r.Line, r.Cut = mask.Argv(argv), mask.Text(line), n+m
	r.Suggest, r.Loss, r.Reason = mask.Text(r.Suggest), mask.Text(r.Loss), mask.Text(r.Reason)
	r.Parts = slices.Clone(r.Parts)
	for i := range r.Parts {
		p := &r.Parts[i]
		p.Command, p.Suggest, p.Loss, p.Reason = mask.Text(p.Command), mask.Text(p.Suggest), mask.Text(p.Loss), mask.Text(p.Reason)
	}
	identify(&r)
	r.BootID = s.bootID()
	r.Created = s.wall().Round(0)
	r.NotAfter = r.Created.Add(o.Timeout)
	r.TimeoutS = o.Timeout.Seconds()
	r.ID, r.Nonce = newID(r.Created), newNonce()
	return r
}

// withHint adds what to do about an error of the file system.
func (s *Spool) withHint(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w; %s", err, config.MakeRoom(s.dir))
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; set SAFESHELL_SPOOL to a directory that can be written", err)
	case starved(err):
		return fmt.Errorf("%w; raise the limit, see: ulimit -n", err)
	}
	if fix := config.Mend(err); fix != "" {
		if strings.HasPrefix(fix, "/") {
			fix = "run: " + fix
		}
		return fmt.Errorf("%w; %s", err, fix)
	}
	return fmt.Errorf("%w; run: safeshell doctor", err)
}

// starved errors pass: the process or the system is short of something.
func starved(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// waiter is one published request of this process.
type waiter struct {
	s    *Spool
	r    Request // as readers see it
	sha  string  // of the record
	o    AskOptions
	lock *os.File // the request; its lock is our proof of life

	events   *eventSource // nil: poll alone
	pollStep time.Duration

	start, nextProbe time.Duration // CLOCK_BOOTTIME
	seen             bool          // a monitor was alive since the start
	gone             bool          // the last probe found none
	goneSince        time.Duration
	killed           bool // by SIGTERM or SIGHUP
}

func (w *waiter) reqDir() string  { return w.s.path("req", w.r.ID) }
func (w *waiter) doneDir() string { return w.s.path("done", w.r.ID) }

// publish makes the request visible, complete and locked. If gc took the
// staged directory or the spool was removed, it tries again: to a gc whose
// clock has just been set everything staged is old.
func (w *waiter) publish() error {
	err := w.publishOnce()
	for range publishTries {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) && !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if err := w.s.layout(); err != nil {
			return err
		}
		w.r.ID, w.r.Nonce = newID(w.s.wall()), newNonce()
		err = w.publishOnce()
	}
	return err
}

// publishTries is how often it is tried again.
const publishTries = 4

func (w *waiter) publishOnce() (err error) {
	data, shown, err := encodeRequest(w.r)
	if err != nil {
		return err
	}
	dir := w.s.path("tmp", w.r.ID)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	var f *os.File
	defer func() {
		if err != nil {
			os.Remove(dir + "/request")
			if w.events != nil && w.events.fifo != nil {
				w.events.close()
				w.events = nil
			}
			os.Remove(dir + wakeName)
			os.Remove(dir)
			if f != nil {
				f.Close()
			}
		}
	}()
	if err := os.Chmod(dir, 0o700); err != nil { // whatever the umask took away
		return err
	}
	f, err = os.OpenFile(dir+"/request", os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	if err := flock(f, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	if err := f.Chmod(0o600); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if w.events == nil {
		w.events = w.s.newFIFO(dir)
	}
	if err := os.Rename(dir, w.reqDir()); err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	w.r, w.sha, w.lock = shown, hex.EncodeToString(sum[:]), f
	return nil
}

// close frees the lock: from now on the request has no owner.
func (w *waiter) close() {
	w.events.close()
	if w.lock != nil {
		w.lock.Close()
	}
}

// wait returns when the request is decided, by whomever.
func (w *waiter) wait(ctx context.Context) (Decision, error) {
	w.gone, w.goneSince = !w.seen, w.start
	for {
		d, err := w.look(w.reqDir())
		if d != nil || err != nil {
			w.events.forget(w.reqDir())
			return w.finish(d, err)
		}
		if v, why := w.giveUp(ctx); v != "" {
			w.events.forget(w.reqDir())
			return w.decide(v, why)
		}
		w.sleep(ctx)
	}
}

// look returns the decision in dir once there is one. An error is a decision
// in doubt, or the loss of the request.
func (w *waiter) look(dir string) (*Decision, error) {
	data, err := readStrict(dir+"/decision", w.s.uid, 2, maxRecord)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %s was removed while waiting", ErrGone, Visible(dir))
		}
		return nil, nil
	case starved(err):
		return nil, nil // look again; the deadline ends this
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrTampered, err)
	}
	d, err := decodeDecision(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTampered, err)
	}
	for _, f := range []struct{ name, got, want string }{
		{"id", d.ID, w.r.ID}, {"nonce", d.Nonce, w.r.Nonce}, {"req_sha256", d.ReqSHA, w.sha},
	} {
		if f.got != f.want {
			return nil, fmt.Errorf("%w: its %s is another request's", ErrTampered, f.name)
		}
	}
	if d.Late {
		return nil, fmt.Errorf("%w: a late answer to a request that waits", ErrTampered)
	}
	return &d, nil
}

// giveUp says whether the requester must decide itself: its caller is gone,
// its time is up, or nobody is there to answer.
func (w *waiter) giveUp(ctx context.Context) (Verdict, string) {
	if ctx.Err() != nil {
		return w.ended(ctx)
	}
	now := w.s.boot()
	if now-w.start >= w.o.Timeout {
		return TimedOut, fmt.Sprintf("no answer within %s", w.o.Timeout)
	}
	if now < w.nextProbe {
		return "", ""
	}
	limit := w.o.NoMonitorGrace
	if !w.seen {
		limit = w.o.WaitForMonitor
	}
	w.nextProbe = now + min(time.Second, max(limit/4, 5*time.Millisecond))
	if !w.s.probe() {
		if !w.gone {
			w.gone, w.goneSince = true, now
		}
		if now-w.goneSince >= limit {
			return NoMonitor, fmt.Sprintf("no monitor for %s", limit)
		}
		return "", ""
	}
	w.seen, w.gone = true, false
	return "", ""
}

// ended translates the end of a context. A command that is told to stop by its
// caller (agents stop waiting) leaves the question open for the next try; one
// that a human interrupts does not.
func (w *waiter) ended(ctx context.Context) (Verdict, string) {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.DeadlineExceeded) {
		return TimedOut, "the caller's time is up"
	}
	var e SignalError
	w.killed = errors.As(cause, &e) && e.Signal != syscall.SIGINT
	return Cancelled, clip(cause.Error())
}

// decide writes the requester's own decision, or obeys the one that came first.
func (w *waiter) decide(v Verdict, why string) (Decision, error) {
	d := w.own(v, why)
	data, err := encode(d)
	if err == nil {
		err = w.s.linkNew(data, w.reqDir()+"/decision")
	}
	if err == nil {
		return w.finish(&d, nil)
	}
	if errors.Is(err, fs.ErrExist) {
		first, err := w.look(w.reqDir())
		if first == nil && err == nil {
			err = fmt.Errorf("%w: it vanished", ErrTampered)
		}
		return w.finish(first, err)
	}
	// No record can be made (full disk, tmp/ gone). Once the request is
	// retired nobody else can decide it either; if somebody had, obey.
	dir := w.doneDir()
	if os.Rename(w.reqDir(), dir) != nil {
		dir = w.reqDir()
	}
	first, lookErr := w.look(dir)
	switch {
	case lookErr != nil:
		return w.deny(lookErr)
	case first == nil:
		return d, nil
	case dir != w.doneDir() && first.Verdict == Allowed:
		return w.deny(w.s.withHint(err))
	}
	return *first, nil
}

// finish retires the request and returns its decision. What cannot be retired
// is not allowed: somebody else has moved it.
func (w *waiter) finish(d *Decision, err error) (Decision, error) {
	mv := os.Rename(w.reqDir(), w.doneDir())
	switch {
	case err != nil:
		return w.deny(err)
	case mv != nil:
		return w.deny(fmt.Errorf("the decision (%s) does not count: %w", d.Verdict, mv))
	}
	return *d, nil
}

// own is a decision by the requester.
func (w *waiter) own(v Verdict, why string) Decision {
	return Decision{
		V: 1, ID: w.r.ID, Nonce: w.r.Nonce, ReqSHA: w.sha, Verdict: v, Reason: why,
		By: ByRequester, At: w.s.wall().Round(0), BootID: w.r.BootID, BootNS: int64(w.s.boot()), End: true,
		Again: v == TimedOut || v == NoMonitor || v == Cancelled && w.killed,
	}
}

// deny returns a denial that is on no disk, with its reason as the error.
func (w *waiter) deny(err error) (Decision, error) {
	d := w.own(Denied, clip(err.Error()))
	d.Choice = Refuse
	return d, err
}

// MonitorAlive reports whether somebody watches. It is false only if nobody
// does; it may be wrongly true for a moment while others probe, so it asks
// twice.
func (s *Spool) MonitorAlive() bool {
	if !s.probe() {
		return false
	}
	time.Sleep(time.Millisecond + rand.N(2*time.Millisecond))
	return s.probe()
}

// probe tries to get the lock that monitors share. Who cannot even open it for
// want of descriptors sees a monitor, and is ended by the clock.
func (s *Spool) probe() bool {
	f, err := os.OpenFile(s.path("monitor.lock"), readOnly, 0)
	if err != nil {
		return starved(err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || checkFile(f.Name(), fi, s.uid, 1) != nil {
		return false
	}
	return errors.Is(flock(f, unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}
