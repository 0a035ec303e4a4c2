package permit

import (
	"context"
	"errors"
	"fmt"

	"safeshell/shims"
	"safeshell/spool"
)

// Asker puts a question to a human: Ask (the monitor alone), AskHuman (a person
// at their terminal too), or the caller's own way. ErrNobody says that there was
// nobody to ask.
type Asker func(context.Context, Question) (Answer, error)

// Outcome is what became of a declaration.
type Outcome struct {
	OK     bool
	Result Result   // as it stands now
	Once   []string // keys that were permitted for this run
	// Blocked is set when something may not be used and nobody could be asked;
	// it is what goes to the agent.
	Blocked *Blocked
	// Text says it for a terminal; empty when OK.
	Text string
	Code int // exit code: 0, 126, 127
	// Warnings are lines for the user that stop nothing.
	Warnings []string
}

// Settle decides about a declaration: permitted, or asked about, or blocked with
// a retry id. stopped is what is kept for that id, under the one that it has or a
// new one; its Commands are filled in by the caller. Nothing runs by Settle.
func Settle(ctx context.Context, set *Set, r Result, q Question, stopped Retry, ask Asker) Outcome {
	o := Outcome{Result: r}
	note := func(err error) {
		if err != nil {
			o.Warnings = append(o.Warnings, err.Error())
		}
	}
	if r.OK() {
		o.OK = true
		return o
	}
	blocked := r.Blocked()
	q.Blocked = blocked
	can := blocked.Permittable()
	o.Code = blockedCode(r)
	block := func() {
		id := stopped.ID
		if len(can) > 0 && id == "" {
			var err error
			id, err = OpenRetries(q.Paths).Put(stopped)
			note(err)
		}
		b := NewBlocked(r, id, "")
		o.Blocked, o.Text = &b, b.Text()
	}
	if len(can) < len(blocked) {
		// What is not found must be corrected first; no answer could help.
		block()
		note(q.Journal("deny", Answer{}))
		return o
	}
	a, err := ask(ctx, q)
	switch {
	case errors.Is(err, ErrNobody):
		block()
		note(q.Journal("nomonitor", a))
		return o
	case err != nil:
		o.Text = fmt.Sprintf("safeshell: nothing has run: %v\n", err)
		o.Code = shims.CodeStopped
		note(q.Journal("deny", a))
		return o
	case a.Choice < spool.Once || a.Choice > spool.Always:
		o.Text, o.Code = DeniedText(a), shims.CodeStopped
		note(q.Journal("asked-deny", a))
		return o
	}
	note(set.Apply(blocked, a))
	note(q.Journal("asked-allow", a))
	o.Result = set.Check(commandsOf(r))
	for _, d := range can {
		o.Once = append(o.Once, d.Key)
	}
	if o.OK = o.Result.OK(); !o.OK {
		// Permitted, but not there: a bare name that PATH does not give.
		b := NewBlocked(o.Result, "", "")
		o.Blocked, o.Text, o.Code = &b, b.Text(), blockedCode(o.Result)
		return o
	}
	o.Code = 0
	return o
}

func commandsOf(r Result) []string {
	out := make([]string, len(r))
	for i, d := range r {
		out[i] = d.Command
	}
	return out
}
