package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// The monitor looks each second, whatever events say; and collects garbage now
// and then.
const (
	monitorTick = time.Second
	gcInterval  = time.Minute
)

// Monitor is the presence of a human. While it is open, requesters wait for
// an answer instead of giving up. Killing its process is safe at any moment.
type Monitor struct {
	s        *Spool
	changes  chan struct{}
	warnings chan string
	stop     context.CancelFunc
	stopped  chan struct{}

	present func() bool // whether there is somebody to answer; nil: as long as it is open
	lock    *os.File    // monitor.lock, shared; nil while it cannot be had, or nobody is present
	events  *eventSource
	warned  map[string]bool
	noRoom  string // the last warning that nothing can be written
}

// Watch opens a monitor, which lives until ctx ends or Close is called. It
// runs SelfTest first and refuses where locks do not work, as no requester
// would see it. Several may be open.
//
// If another process keeps the lock to itself, Watch returns after a second all
// the same, warns, and goes on trying.
func (s *Spool) Watch(ctx context.Context) (*Monitor, error) { return s.WatchWhile(ctx, nil) }

// WatchWhile is Watch, but requesters see the monitor only while present, which
// is asked each second, says that there is somebody to answer.
func (s *Spool) WatchWhile(ctx context.Context, present func() bool) (*Monitor, error) {
	if err := s.layout(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	if !s.probe() { // the first one
		if err := s.SelfTest(); err != nil {
			return nil, err
		}
	}
	id := newID(s.wall())
	s.monitorID.Store(&id)
	ctx, stop := context.WithCancel(ctx)
	m := &Monitor{
		s: s, stop: stop, stopped: make(chan struct{}), present: present,
		changes: make(chan struct{}, 1), warnings: make(chan string, 16), warned: make(map[string]bool),
	}
	deadline := time.Now().Add(time.Second)
	for m.isPresent() {
		err := m.takeLock()
		if err == nil || time.Now().After(deadline) && errors.Is(err, unix.EWOULDBLOCK) {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil {
			stop()
			return nil, fmt.Errorf("%w: %w", ErrUnusable, s.withHint(err))
		}
		time.Sleep(2 * time.Millisecond) // a probe holds it for microseconds
	}
	m.openEvents()
	go m.run(ctx)
	return m, nil
}

// Changes hints that Pending may have changed; it comes at least each second.
// It is closed when the monitor ends.
func (m *Monitor) Changes() <-chan struct{} { return m.changes }

// Warnings are to be shown to the user. It is closed when the monitor ends;
// warnings that nobody reads are dropped.
func (m *Monitor) Warnings() <-chan string { return m.warnings }

// Close ends the monitor and returns when it no longer counts as alive.
func (m *Monitor) Close() error {
	m.stop()
	<-m.stopped
	return nil
}

// takeLock gets the shared lock on what monitor.lock names now. The file is
// never deleted by us; if somebody else did, the old lock is seen by nobody.
func (m *Monitor) takeLock() error {
	path := m.s.path("monitor.lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	if _, err = checkNew(int(f.Fd()), path, m.s.uid); err == nil {
		err = flock(f, unix.LOCK_SH|unix.LOCK_NB)
	}
	if err == nil && !sameFile(f, path) {
		err = fs.ErrNotExist
	}
	if err != nil {
		f.Close()
		return err
	}
	m.lock = f
	return nil
}

// openEvents watches the directories in which things appear, before the first
// scan. Without events the tick remains.
func (m *Monitor) openEvents() {
	m.events.close()
	m.events = newEventSource(m.s.newWatcher)
	if m.events == nil {
		m.warn("file events are not to be had (see: sysctl fs.inotify); new requests show up within a second instead of at once")
		return
	}
	for _, dir := range []string{"req", "done", "grant"} {
		if m.events.w.Add(m.s.path(dir)) != nil {
			m.warn("file events are not to be had for " + Visible(m.s.path(dir)) + "; changes show up within a second instead of at once")
		}
	}
}

func (m *Monitor) run(ctx context.Context) {
	defer close(m.stopped)
	defer close(m.changes)
	defer close(m.warnings)
	defer func() {
		m.events.close()
		if m.lock != nil {
			m.lock.Close()
		}
	}()
	tick := time.NewTicker(monitorTick)
	defer tick.Stop()
	m.check(true)
	m.gc()
	lastGC := time.Now()
	m.hint()
	for {
		events, errs := m.events.channels()
		ok := true
		select {
		case <-ctx.Done():
			return
		case _, ok = <-events:
		case _, ok = <-errs:
		case <-tick.C:
			m.check(false)
			if time.Since(lastGC) >= gcInterval {
				m.gc()
				lastGC = time.Now()
			}
		}
		if !ok { // the watcher died
			m.openEvents()
		}
		m.hint()
	}
}

func (m *Monitor) isPresent() bool { return m.present == nil || m.present() }

// check makes sure that what we hold and watch is still what the paths name, and
// that somebody is there.
func (m *Monitor) check(first bool) {
	if !m.isPresent() {
		if m.lock != nil {
			m.lock.Close()
			m.lock = nil
		}
		return
	}
	if m.lock != nil && sameFile(m.lock, m.s.path("monitor.lock")) {
		return
	}
	if m.lock != nil {
		m.lock.Close()
		m.lock = nil
		m.warn("the spool " + Visible(m.s.dir) + " was replaced while watching; commands that waited in it are denied")
		m.warned = make(map[string]bool)
	}
	if err := m.s.layout(); err != nil {
		m.warn("the spool cannot be used, so no request arrives: " + err.Error())
		return
	}
	switch err := m.takeLock(); {
	case errors.Is(err, unix.EWOULDBLOCK):
		m.warn("another process holds " + Visible(m.s.path("monitor.lock")) + " for itself; see: fuser " + quote(m.s.path("monitor.lock")))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		m.warn("requesters cannot see this monitor: " + err.Error())
	case err == nil && !first:
		m.openEvents()
	}
}

func (m *Monitor) gc() {
	if err := m.s.GC(m.s.wall()); err != nil {
		m.warn("old requests cannot be removed: " + err.Error())
	}
	if err := m.s.Check(); err != nil && !errors.Is(err, fs.ErrNotExist) { // it may just be made anew
		m.noRoom = "no request arrives: " + err.Error()
		m.warn(m.noRoom)
	} else {
		delete(m.warned, m.noRoom)
	}
}

func (m *Monitor) hint() {
	select {
	case m.changes <- struct{}{}:
	default:
	}
}

// warn says a thing once until the situation changes.
func (m *Monitor) warn(s string) {
	if m.warned[s] {
		return
	}
	m.warned[s] = true
	select {
	case m.warnings <- s:
	default:
	}
}
