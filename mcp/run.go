package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"safeshell/permit"
	"safeshell/spool"
)

// retryCall is how a client goes on, in the hint of a refusal.
const retryCall = `{"retry_id": "ID", "userChoice": N} with the tool run`

// askTime is more than a script's own process waits for a human (package permit).
const askTime = 2 * time.Minute

// toolRun is the tool run.
func (s *server) toolRun(ctx context.Context, req *sdk.CallToolRequest, in runInput) (*sdk.CallToolResult, any, error) {
	s.noteClient(req.ClientInfo())
	limit, ok := seconds(in.Timeout, 0)
	if !ok {
		return failedf("timeout %v is no time limit: give seconds, up to a week; nothing has run", in.Timeout), nil, nil
	}
	if in.UserChoice < 0 || in.UserChoice > 4 {
		return failedf("userChoice %d is not a choice: 1 once, 2 session, 3 always, 4 deny; nothing has run", in.UserChoice), nil, nil
	}
	if in.RetryID != "" {
		return s.retry(ctx, req, in, limit), nil, nil
	}
	if in.UserChoice != 0 {
		return failedf("userChoice needs the retry_id that it is about; nothing has run"), nil, nil
	}
	base, ask, err := s.projectDir(ctx, req)
	if err != nil {
		return failed(err), nil, nil
	}
	if ask != nil {
		return ask, nil, nil
	}
	dir, err := workDir(base, in.Cwd)
	if err != nil {
		return failed(err), nil, nil
	}
	j, err := s.source(in.Code, in.Language, in.File, dir)
	if err != nil {
		return failed(err), nil, nil
	}
	j.args = in.Args
	j.limit, j.asked = limit, limit
	if limit == 0 && !in.Background {
		j.limit = defaultLimit
	}
	if j.env, err = s.environOf(in.Env); err != nil {
		return failed(err), nil, nil
	}
	v, err := s.judge(j.commands, j.env, dir)
	if err != nil {
		return failedf("%w; nothing has run", err), nil, nil
	}
	if err := v.set.CheckCalls(j.name(), j.decl); err != nil {
		return failed(err), nil, nil
	}
	// Where a human watches, the script's own process asks there.
	if !v.result.OK() && !(onlyPermittable(v.result) && s.monitorAlive()) {
		if res := s.settle(ctx, req, j, v, in.Background); res != nil {
			return res, nil, nil
		}
	}
	file, remove := j.file, func() {}
	if file == "" {
		if file, remove, err = s.keep(j); err != nil {
			return failedf("the script cannot be stored: %w; nothing has run", err), nil, nil
		}
	}
	argv := []string{s.o.Binary, "run"}
	if !v.result.OK() && j.limit > 0 {
		// The time in which the human thinks is not the script's.
		argv = append(argv, "--time-limit", j.limit.String())
		j.limit += askTime
	}
	argv = append(append(argv, "--", file), j.args...)
	return s.execute(ctx, req, argv, j, in.Background, remove, v.warnings), nil, nil
}

func onlyPermittable(r permit.Result) bool { return len(r.Permittable()) == len(r.Blocked()) }

func (s *server) monitorAlive() bool {
	sp, err := spool.Open(s.o.Paths.Spool)
	return err == nil && sp.MonitorAlive()
}

// settle answers a job whose commands are not all permitted: with the refusal,
// or, if the client asks its user and the user permits, with the run's result.
func (s *server) settle(ctx context.Context, req *sdk.CallToolRequest, j job, v judged, background bool) *sdk.CallToolResult {
	if len(v.result.Permittable()) == 0 {
		return withWarnings(blocked(permit.NewBlocked(v.result, "", "")), v.warnings)
	}
	// In a later round of one call the id is there already.
	id := req.Params.RequestState
	if id == "" {
		var err error
		if id, err = s.put(j, v, j.kind); err != nil {
			return failedf("what was stopped cannot be stored: %w; nothing has run", err)
		}
	}
	if !onlyPermittable(v.result) {
		return withWarnings(blocked(permit.NewBlocked(v.result, id, retryCall)), v.warnings)
	}
	return s.choose(ctx, req, id, v, 0, j, background)
}

// put stores what was stopped.
func (s *server) put(j job, v judged, kind permit.Kind) (string, error) {
	return permit.OpenRetries(s.o.Paths).Put(permit.Retry{
		Kind: kind, Commands: j.commands, Script: j.code, File: j.file, Args: j.args, Dir: j.dir, Environ: j.env,
		Limit: j.asked, Session: v.caller.Session, Agent: v.caller.Agent, Context: string(v.caller.Context),
	})
}

// retry goes on with what was stopped.
func (s *server) retry(ctx context.Context, req *sdk.CallToolRequest, in runInput, limit time.Duration) *sdk.CallToolResult {
	if in.Code != "" || in.File != "" || in.Language != "" || in.Cwd != "" || len(in.Args) > 0 || len(in.Env) > 0 {
		return failedf("a retry_id keeps script, directory and environment exactly: call run with retry_id and userChoice alone; nothing has run")
	}
	r, err := permit.OpenRetries(s.o.Paths).Peek(in.RetryID)
	if err != nil {
		return failed(err)
	}
	// The environment is kept, but it is this session that asks.
	env := r.Environ
	for _, name := range []string{"SAFESHELL_SESSION", "AI_AGENT"} {
		env = unset(env, name)
	}
	env = append(env, s.sessionVars()...)
	env = set(env, "SAFESHELL_HOME", s.o.Paths.Home)
	env = set(env, "SAFESHELL_SPOOL", s.o.Paths.Spool)
	env = set(env, "SAFESHELL_CONTEXT", "ai") // also where a person's run was stopped
	j := job{kind: r.Kind, code: r.Script, file: r.File, args: r.Args, dir: r.Dir, env: env, commands: r.Commands, limit: r.Limit}
	if limit > 0 {
		j.limit = limit
	}
	if j.limit == 0 && !in.Background {
		j.limit = defaultLimit
	}
	v, err := s.judge(r.Commands, env, r.Dir)
	if err != nil {
		return failedf("%w; nothing has run", err)
	}
	if in.UserChoice == int(spool.Refuse) {
		return s.deny(in.RetryID, v, "agent", j)
	}
	switch {
	case v.result.OK() && in.UserChoice == 0:
		return failedf("all its commands are permitted by now, but no choice was given, so nothing has run; run the script again without retry_id")
	case len(v.result.Permittable()) < len(v.result.Blocked()):
		// What is not found must be corrected first; the id stays good.
		return withWarnings(blocked(permit.NewBlocked(v.result, in.RetryID, retryCall)), v.warnings)
	case v.result.OK():
		// Nothing is left to choose.
		return s.carryOut(ctx, req, in.RetryID, spool.Choice(in.UserChoice), v, j, in.Background)
	case s.monitorAlive():
		// The child asks the human there; the agent's word is shown, no more.
		if j.limit > 0 {
			j.limit += askTime
		}
		return s.carryOut(ctx, req, in.RetryID, spool.Choice(in.UserChoice), v, j, in.Background)
	}
	return s.choose(ctx, req, in.RetryID, v, spool.Choice(in.UserChoice), j, in.Background)
}

// sessionVars are the variables that say whose session this is.
func (s *server) sessionVars() []string {
	var out []string
	for _, kv := range s.environ() {
		if strings.HasPrefix(kv, "SAFESHELL_SESSION=") || strings.HasPrefix(kv, "AI_AGENT=") {
			out = append(out, kv)
		}
	}
	return out
}

// choose finds out what the user chooses for a stopped script, and does it.
// claim is what the agent says.
func (s *server) choose(ctx context.Context, req *sdk.CallToolRequest, id string, v judged, claim spool.Choice, j job, background bool) *sdk.CallToolResult {
	choice, by := claim, "agent"
	if canElicit(req) {
		got, res, err := s.elicit(ctx, req, id, v, claim, j)
		switch {
		case res != nil:
			return res
		case err == nil:
			choice, by = got, "elicitation"
		case ctx.Err() != nil:
			return failedf("cancelled while the user was asked; nothing has run")
		}
	}
	switch choice {
	case 0:
		return withWarnings(blocked(permit.NewBlocked(v.result, id, retryCall)), v.warnings)
	case spool.Refuse:
		return s.deny(id, v, by, j)
	}
	if j.kind == permit.CheckOnly {
		return s.permitOnly(id, v, choice, by, j)
	}
	return s.carryOut(ctx, req, id, choice, v, j, background)
}

// carryOut starts the stopped script, with a choice.
func (s *server) carryOut(ctx context.Context, req *sdk.CallToolRequest, id string, choice spool.Choice, v judged, j job, background bool) *sdk.CallToolResult {
	argv := []string{s.o.Binary, "permit", "retry", id}
	if choice != 0 {
		argv = append(argv, "--choice", strconv.Itoa(int(choice)))
	}
	return s.execute(ctx, req, argv, j, background, func() {}, v.warnings)
}

// deny carries out the choice 4: nothing runs, now or later.
func (s *server) deny(id string, v judged, by string, j job) *sdk.CallToolResult {
	if _, err := permit.OpenRetries(s.o.Paths).Take(id, permit.UserDeny); err != nil {
		return failed(err)
	}
	_ = s.question(v, j).Journal("asked-deny", permit.Answer{Choice: spool.Refuse, By: by})
	return failedf("[SafeShell] USER DENIED\nReason: the user refused the commands of this script\nRule: %s\n\nNothing has run and nothing will: %s is used up. Do not retry the script, rephrase it or reach the same end another way. Ask the user what to do instead.", permit.Rule, id)
}

// permitOnly carries out a choice about commands alone.
func (s *server) permitOnly(id string, v judged, choice spool.Choice, by string, j job) *sdk.CallToolResult {
	if choice == spool.Once {
		return failedf("once permits one run, and %s is about no script: choose 2 (session) or 3 (always), or run the script; nothing has changed", id)
	}
	if _, err := permit.OpenRetries(s.o.Paths).Take(id, permit.UsedUp); err != nil {
		return failed(err)
	}
	a := permit.Answer{Choice: choice, By: by}
	if err := v.set.Apply(v.result.Blocked(), a); err != nil {
		return failed(err)
	}
	_ = s.question(v, j).Journal("agent-chose", a)
	after, err := s.judge(j.commands, j.env, j.dir)
	if err != nil {
		return failed(err)
	}
	return withWarnings(asJSON(checkAnswer(after.result), false), after.warnings)
}

func (s *server) question(v judged, j job) permit.Question {
	return permit.Question{
		Paths: s.o.Paths, Approval: v.cfg.Approval, Caller: v.caller, Dir: j.dir, File: j.file, Blocked: v.result.Blocked(),
	}
}

// withWarnings puts what does not count behind a result.
func withWarnings(r *sdk.CallToolResult, warnings []string) *sdk.CallToolResult {
	for _, w := range warnings {
		r.Content = append(r.Content, &sdk.TextContent{Text: "warning: " + w})
	}
	return r
}

// execute runs a command line: to its end, or in the background.
func (s *server) execute(ctx context.Context, req *sdk.CallToolRequest, argv []string, j job, background bool, cleanup func(), warnings []string) *sdk.CallToolResult {
	p, err := s.launch(argv, j.env, j.dir)
	if err != nil {
		cleanup()
		return failed(err)
	}
	clean := make(chan struct{}) // before the answer, so that nothing is left when it comes
	go func() {
		<-p.done
		cleanup()
		close(clean)
	}()
	if j.limit > 0 {
		t := time.AfterFunc(j.limit, func() { p.end(endedByLimit) })
		go func() { <-p.done; t.Stop() }()
	}
	if background {
		r := s.register(p, j)
		res := resultOf(p, r.id, 0, 0)
		res.Notes = append(res.Notes, fmt.Sprintf(`it runs in the background; read it with the tool scripts: {"action": "read", "id": %q}`, r.id))
		return withWarnings(res.answer(), warnings)
	}
	stop := s.progress(ctx, req, p)
	select {
	case <-p.done:
	case <-ctx.Done():
		p.end(endedByClient)
	}
	<-clean
	stop()
	return withWarnings(resultOf(p, "", 0, 0).answer(), warnings)
}

// Streaming of a run's output as progress notifications.
const (
	progressEvery = 250 * time.Millisecond
	progressAlive = 10 * time.Second // without output: so that the client does not give up
	progressMax   = 8 << 10          // bytes of a message
)

// progress sends the output while it comes, if the client asked for progress.
// The function that it returns stops that.
func (s *server) progress(ctx context.Context, req *sdk.CallToolRequest, p *process) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var outAt, errAt int64
		last := time.Now()
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for final := false; !final; {
			select {
			case <-tick.C:
			case <-quit:
				final = true
			case <-ctx.Done():
				return
			}
			out, errs := p.stdout.from(outAt, progressMax), p.stderr.from(errAt, progressMax)
			outAt, errAt = out.Next, errs.Next
			text := out.Text + errs.Text
			if text == "" && (final || time.Since(last) < progressAlive) {
				continue
			}
			last = time.Now()
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: token, Progress: time.Since(p.started).Seconds(), Message: text,
			})
		}
	}()
	return func() { close(quit); <-done }
}

// checkAnswer is the good answer of permit_check.
func checkAnswer(r permit.Result) any {
	type one struct {
		Command string       `json:"command"`
		Status  string       `json:"status"`
		Scope   permit.Scope `json:"scope,omitempty"`
		Path    string       `json:"path,omitempty"`
	}
	list := []one{}
	for _, d := range r {
		list = append(list, one{d.Command, d.Status.String(), d.Scope, d.Path})
	}
	return map[string]any{"permitted": r.OK(), "commands": slices.Clip(list)}
}

// toolCheck is the tool permit_check.
func (s *server) toolCheck(ctx context.Context, req *sdk.CallToolRequest, in checkInput) (*sdk.CallToolResult, any, error) {
	s.noteClient(req.ClientInfo())
	base, ask, err := s.projectDir(ctx, req)
	if err != nil {
		return failed(err), nil, nil
	}
	if ask != nil {
		return ask, nil, nil
	}
	dir, err := workDir(base, in.Cwd)
	if err != nil {
		return failed(err), nil, nil
	}
	j := job{dir: dir, commands: in.Commands}
	if len(in.Commands) == 0 {
		if j, err = s.source(in.Code, in.Language, in.File, dir); err != nil {
			return failed(err), nil, nil
		}
	} else if in.Code != "" || in.File != "" {
		return failedf("give commands, or a script as code or file; not both"), nil, nil
	}
	if j.env, err = s.environOf(nil); err != nil {
		return failed(err), nil, nil
	}
	v, err := s.judge(j.commands, j.env, dir)
	if err != nil {
		return failed(err), nil, nil
	}
	if err := v.set.CheckCalls(j.name(), j.decl); err != nil {
		return failed(err), nil, nil
	}
	if v.result.OK() {
		return withWarnings(asJSON(checkAnswer(v.result), false), v.warnings), nil, nil
	}
	id := ""
	if len(v.result.Permittable()) > 0 {
		if id, err = s.put(j, v, permit.CheckOnly); err != nil {
			return failed(err), nil, nil
		}
	}
	return withWarnings(blocked(permit.NewBlocked(v.result, id, retryCall)), v.warnings), nil, nil
}
