package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// The requester wakes on a file event, or on what an answerer writes into its
// FIFO, and in any case after slowPoll: events are blind on network and 9p file
// systems. With neither it polls faster.
const (
	slowPoll  = 250 * time.Millisecond
	pollFirst = 5 * time.Millisecond
	pollMax   = 80 * time.Millisecond
)

// eventSource is a watcher, or a FIFO, whose events only mean "look again".
type eventSource struct {
	w      *fsnotify.Watcher // nil: there is a FIFO
	fifo   *os.File
	events chan fsnotify.Event
	errors chan error
}

// newEventSource returns nil when no watcher is to be had; that is never an
// error, only slower.
func newEventSource(newWatcher func() (*fsnotify.Watcher, error)) *eventSource {
	w, err := newWatcher()
	if err != nil || w == nil {
		return nil
	}
	return &eventSource{w: w, events: w.Events, errors: w.Errors}
}

// wakeName is the FIFO in a request's directory, of a requester that got no file
// watch: a user has 128 of them, for all programs together.
const wakeName = "/wake"

// newFIFO makes dir/wake and returns its reading end as a source of events; nil
// when there can be none, which is only slower.
func (s *Spool) newFIFO(dir string) *eventSource {
	if s.mkfifo(dir+wakeName, 0o600) != nil {
		return nil
	}
	// Also for writing, so that it does not end when an answerer closes it.
	f, err := os.OpenFile(dir+wakeName, os.O_RDWR|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	events := make(chan fsnotify.Event, 1)
	go func() {
		defer close(events)
		var buf [64]byte
		for {
			if n, err := f.Read(buf[:]); n == 0 || err != nil {
				return
			}
			select {
			case events <- fsnotify.Event{}:
			default: // it will look anyway
			}
		}
	}()
	return &eventSource{fifo: f, events: events}
}

// wake tells the requester that waits in dir to look. What stands there under the
// FIFO's name may be anything, and is written to only if it is one of ours.
func (s *Spool) wake(dir string) {
	fd, err := unix.Open(dir+wakeName, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil && uint32(st.Mode)&unix.S_IFMT == unix.S_IFIFO && int(st.Uid) == s.uid {
		_, _ = unix.Write(fd, []byte{1})
	}
}

// forget ends the watch on dir, before dir is renamed: fsnotify would remove the
// watch of a renamed directory by itself, at a moment when its descriptor may
// be closed and its number belong to another watcher.
func (e *eventSource) forget(dir string) {
	if e != nil && e.w != nil {
		_ = e.w.Remove(dir)
	}
}

// close does not wait: the kernel takes about 10 ms to close an inotify
// descriptor that had a watch.
func (e *eventSource) close() {
	switch {
	case e == nil:
	case e.w != nil:
		go e.w.Close()
	default:
		_ = e.fifo.Close()
	}
}

// channels are nil, and so never ready, without a watcher.
func (e *eventSource) channels() (<-chan fsnotify.Event, <-chan error) {
	if e == nil {
		return nil, nil
	}
	return e.events, e.errors
}

// watch gets a watcher before the request is published; watchDir sets it on
// the published directory, as inotify through fsnotify loses a directory that
// is renamed. The first look comes after both. Without a watcher publish makes
// a FIFO.
func (w *waiter) watch(newWatcher func() (*fsnotify.Watcher, error)) {
	w.pollStep = pollFirst
	w.events = newEventSource(newWatcher)
}

func (w *waiter) watchDir() {
	if w.events != nil && w.events.w != nil && w.events.w.Add(w.reqDir()) != nil {
		w.events.close()
		w.events = nil
	}
}

// sleep waits for an event, the end of ctx, or the next thing to do.
func (w *waiter) sleep(ctx context.Context) {
	now := w.s.boot()
	d := slowPoll
	if w.events == nil {
		d = w.pollStep
		w.pollStep = min(w.pollStep*3/2, pollMax)
	}
	d = min(d, w.start+w.o.Timeout-now, w.nextProbe-now)
	timer := time.NewTimer(max(d, time.Millisecond))
	defer timer.Stop()
	events, errs := w.events.channels()
	ok := true
	select {
	case <-timer.C:
	case <-ctx.Done():
	case _, ok = <-events:
	case _, ok = <-errs:
	}
	if !ok { // the watcher died
		w.events.close()
		w.events = nil
	}
}

// SignalError is the cause of a context that a signal ended.
type SignalError struct{ Signal syscall.Signal }

// Error names the signal.
func (e SignalError) Error() string {
	return fmt.Sprintf("signal: %s", e.Signal)
}

// WithSignals returns a context that ends with a SignalError as its cause when
// SIGINT, SIGTERM or SIGHUP arrives, so that Ask can take its question back.
// Signals that this process was started to ignore (nohup, background jobs of a
// script) stay ignored. stop gives the signals back; call Reraise after it.
func WithSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(ch, sig)
		}
	}
	go func() {
		select {
		case sig := <-ch:
			cancel(SignalError{sig.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		cancel(context.Canceled)
	}
}

// Reraise sends the signal that ended ctx to this process again, with its
// default effect, so that a parent sees how it died. It returns if no signal
// ended ctx, or if the signal does not kill.
func Reraise(ctx context.Context) {
	var e SignalError
	if !errors.As(context.Cause(ctx), &e) {
		return
	}
	signal.Reset(e.Signal)
	if syscall.Kill(os.Getpid(), e.Signal) == nil {
		time.Sleep(time.Second) // it may reach another thread first
	}
}
