package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// HookOptions are what Serve works with.
type HookOptions struct {
	Agent          string // as named on the command line
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Getwd is used where an event names no directory; nil means os.Getwd.
	Getwd func() (string, error)
	// Limit is the time that the agent's configuration gives this hook; 0 means
	// what Install writes by itself.
	Limit time.Duration
	// Judge decides. It gets the call with its Deadline, and a context that
	// ends a little later; an error, a panic or silence until then blocks.
	Judge func(context.Context, Call) (Outcome, error)
}

// maxEvent bounds an event; larger ones block.
const maxEvent = 16 << 20

// Serve reads one event, lets Judge decide and writes the answer in the real
// sender's protocol. It returns the exit code.
//
// It never panics, writes at most one JSON document to Stdout, in one write,
// and answers with what blocks in that protocol when anything fails: broken or
// oversized input, a failing Judge, a broken pipe, too little time.
func Serve(o HookOptions) (code int) {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Getwd == nil {
		o.Getwd = os.Getwd
	}
	s := &server{o: o, start: time.Now()}
	defer func() {
		if p := recover(); p != nil {
			code = 2
			if !s.sent {
				code = s.send(s.broken(fmt.Errorf("internal error: %v", p)))
			}
		}
	}()
	return s.send(s.answer())
}

type server struct {
	o     HookOptions
	start time.Time
	named Agent
	proto protocol // of the real sender, once known; else of the named agent
	event *event
	sent  bool
}

// broken blocks an event that could not be understood.
func (s *server) broken(err error) reply {
	msg := failure(err.Error())
	if s.proto == nil {
		return exit2(msg)
	}
	return s.proto.fail(s.event, nil, msg)
}

func (s *server) answer() reply {
	named, known := Find(s.o.Agent)
	if known {
		s.named = named
		s.proto = protocolFor(named.Name, named.Name, nil)
	}
	limit := s.limit(named)
	body, err := s.body(limit)
	if err != nil {
		return s.broken(err)
	}
	doc, serr := parseJSON(body, strictJSON, false)
	if serr != nil {
		return s.broken(fmt.Errorf("the event is broken: %w", serr))
	}
	if doc.root.kind != '{' {
		return s.broken(errNotAnEvent)
	}
	real := sender(doc.root, named.Name, s.o.Getenv)
	proto := protocolFor(real, named.Name, doc.root)
	if proto == nil {
		return s.broken(fmt.Errorf("no agent is called %q; known: %s",
			clip(s.o.Agent, 60), strings.Join(Names(), ", ")))
	}
	s.proto = proto
	s.event = &event{src: body, root: doc.root, agent: real, getenv: s.o.Getenv, getwd: s.o.Getwd}
	r := proto.read(s.event)
	if s.event.err != nil {
		return s.broken(s.event.err)
	}
	if r.skip || len(r.call.Lines) == 0 && len(r.call.Files) == 0 {
		return proto.pass(s.event, r)
	}
	if real != named.Name {
		if a, ok := Find(real); ok {
			limit = min(limit, foreignLimit(a))
		}
	}
	r.call.Agent = real
	if a, ok := Find(real); ok {
		r.call.SamePath, r.call.PlainWords = a.SamePath, a.PlainWords
	}
	r.call.Deadline = waitFor(limit)
	r.write = r.write && !r.call.PowerShell // the replacement is written for another shell
	r.call.CanAsk, r.call.CanRewrite, r.call.CanNote = r.ask, r.write, r.note
	out, err := s.judge(r.call, limit)
	if err != nil {
		return proto.fail(s.event, &r, failure(err.Error()))
	}
	return s.outcome(r, out)
}

func (s *server) outcome(r request, out Outcome) reply {
	switch out.Kind {
	case Pass:
		if out.Note != "" && r.note {
			return s.proto.note(s.event, r, reason(out.Note))
		}
		return s.proto.pass(s.event, r)
	case Ask:
		if r.ask {
			if rep, ok := s.proto.ask(s.event, r, reason(out.Message)); ok {
				return rep
			}
		}
		return s.proto.deny(s.event, r, reason(out.Message))
	case Rewrite:
		if len(out.Lines) != len(r.call.Lines) || len(out.Lines) == 0 {
			return s.proto.fail(s.event, &r, failure("the replacement does not fit the call"))
		}
		if r.write {
			if rep, ok := s.proto.rewrite(s.event, r, out.Lines); ok {
				return rep
			}
		}
		return s.proto.deny(s.event, r, instead(out.Message, out.Lines))
	case Deny:
		return s.proto.deny(s.event, r, reason(out.Message))
	}
	return s.proto.fail(s.event, &r, failure("the verdict is unknown"))
}

// limit is how long the hook may take in all.
func (s *server) limit(a Agent) time.Duration {
	limit := a.Timeout
	if limit <= 0 {
		limit = unknownTime
	}
	if s.o.Limit > 0 && (!a.FixedTimeout || s.o.Limit < limit) {
		limit = s.o.Limit
	}
	return limit
}

// foreignLimit is what an agent grants a hook that it found in the file of
// another one: whether it honours the time limit written there is not known.
func foreignLimit(a Agent) time.Duration {
	if a.DefaultTimeout > 0 {
		return a.DefaultTimeout
	}
	return unknownTime
}

// reserve is the part of a limit that is kept for starting up and answering.
func reserve(limit time.Duration) time.Duration {
	return min(max(limit/10, 3*time.Second), 30*time.Second, limit/2)
}

// waitFor is how long a person may be waited for under a limit: 300 s of 330.
func waitFor(limit time.Duration) time.Duration { return limit - reserve(limit) }

// timer starts what ends our own waiting, still before the agent's limit.
func (s *server) timer(limit time.Duration) (*time.Timer, time.Duration) {
	left := max(limit-reserve(limit)/2-time.Since(s.start), 0)
	return time.NewTimer(left), left
}

// body reads the whole event, but not for ever: an agent that keeps the pipe
// open would otherwise run into its own limit, after which the command runs.
func (s *server) body(limit time.Duration) ([]byte, error) {
	if s.o.Stdin == nil {
		return nil, errors.New("there is no event on standard input")
	}
	type result struct {
		body []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("internal error: %v", p)
			}
			done <- r
		}()
		r.body, r.err = io.ReadAll(io.LimitReader(s.o.Stdin, maxEvent+1))
	}()
	t, left := s.timer(limit)
	defer t.Stop()
	select {
	case r := <-done:
		switch {
		case r.err != nil:
			return nil, fmt.Errorf("the event cannot be read: %w", r.err)
		case len(r.body) > maxEvent:
			return nil, fmt.Errorf("the event is larger than %d MiB", maxEvent>>20)
		case len(r.body) == 0:
			return nil, errors.New("there is no event on standard input")
		}
		return r.body, nil
	case <-t.C:
		return nil, fmt.Errorf("the event was not complete after %s", left.Round(time.Second))
	}
}

func (s *server) judge(c Call, limit time.Duration) (Outcome, error) {
	if s.o.Judge == nil {
		return Outcome{}, errors.New("there is no judge")
	}
	type result struct {
		out Outcome
		err error
	}
	t, left := s.timer(limit)
	defer t.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), left)
	defer cancel()
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r = result{err: fmt.Errorf("internal error: %v", p)}
			}
			done <- r
		}()
		r.out, r.err = s.o.Judge(ctx, c)
	}()
	select {
	case r := <-done:
		return r.out, r.err
	case <-t.C:
		return Outcome{}, fmt.Errorf("no verdict after %s", left.Round(time.Second))
	}
}

// send writes the reply. If the answer cannot be written, exit 2 with a text
// is the only thing left that most agents understand.
func (s *server) send(r reply) int {
	s.sent = true
	code := r.code
	if r.stdout != "" {
		if s.o.Stdout == nil {
			r.stderr, code = failure("the answer cannot be written")+"\n", 2
		} else if n, err := io.WriteString(s.o.Stdout, r.stdout); err != nil || n != len(r.stdout) {
			r.stderr, code = failure("the answer cannot be written")+"\n", 2
		}
	}
	if r.stderr != "" && s.o.Stderr != nil {
		_, _ = io.WriteString(s.o.Stderr, r.stderr)
	}
	return code
}
