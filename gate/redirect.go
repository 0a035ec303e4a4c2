package gate

import (
	"slices"
	"strings"

	"safeshell/eval"
	"safeshell/script"
)

// planReplacement works out what to run instead of what is redirected, also
// where a human is asked first. It returns why a command's redirect cannot be
// carried out, by the command's index.
func (g *Gate) planReplacement(v *Verdict, a *script.Analysis, j judgement, req Request) map[int]string {
	var edits []script.Edit
	var cannot map[int]string
	was := "" // never run; see asWritten
	first, set := false, "PATH="+script.Quote([]string{g.env.Paths.Shims})+":$PATH"
	if req.PlainWords {
		set = "eval " + script.Quote([]string{set})
	}
	for i, jd := range j.all {
		if jd.Decision.RedirectBy == nil {
			continue
		}
		why := ""
		if n := jd.Command.Swayed; n != "" && toTrash(jd.Decision) {
			why = n + " is another one there, which leads to another trash, or makes scratch of what is none"
		} else if req.Argv != nil {
			why = g.replaceArgv(v, i, jd, req)
		} else if why = g.missed(jd.Command, req); why == "" {
			name, _ := jd.Command.Argv[0].Text()
			first = first || !g.inFront(name, req) && !strings.HasPrefix(req.Line, set+"; ")
		} else {
			var e []script.Edit
			e, why = g.replaceWord(a, jd, req, why)
			if req.Layer == Hook && len(e) > 0 {
				var text string
				if text, why = asWritten(a, e[0]); why != "" {
					e = nil
				} else if !strings.Contains(was, text) {
					was += text
				}
			}
			edits = append(edits, e...)
		}
		if why != "" {
			if cannot == nil {
				cannot = map[int]string{}
			}
			cannot[i] = why
		}
	}
	if first || len(edits) > 0 {
		v.Kind = Replace
		v.Line = was + script.Rewrite(req.Line, edits)
	}
	if first {
		// The words of the command stay as they are, so that an agent's own rules
		// about them hold as they did.
		v.Line = set + "; " + v.Line
	}
	return cannot
}

// missed says why the shim of a command would not be met if the shims were first
// in the PATH that the text begins with; "" where it is certain to be met.
func (g *Gate) missed(c script.Command, req Request) string {
	name := ""
	if len(c.Argv) > 0 {
		name, _ = c.Argv[0].Text()
	}
	switch {
	case c.Remote != "":
		return "it would run on " + c.Remote + ", where safeshell has no trash"
	case name == "":
		return "the name of the command is not known"
	case strings.Contains(name, "/"):
		if g.isShim(name, req.Layer) {
			return ""
		}
		return "it is called by its path"
	case c.Astray != "":
		return c.Astray
	case c.Keyword || c.Function:
		return "it is not a program"
	case req.Dialect == script.PowerShell:
		return "PowerShell has commands of its own"
	case g.shimFor(name, req.Layer) == "":
		return "there is no shim for it (safeshell refresh makes them)"
	}
	return ""
}

// replaceArgv redirects command i of an argv; it returns why that cannot be done,
// "" on success.
func (g *Gate) replaceArgv(v *Verdict, i int, jd Judged, req Request) string {
	c, d := jd.Command, jd.Decision
	switch {
	case c.Remote != "":
		return "it would run on " + c.Remote + ", where safeshell has no trash"
	case i == 0:
		v.Kind = Replace
		v.Argv, v.Trash = trashOf(d.Redirect)
		return ""
	case v.Kind == Replace:
		return "the command around it is replaced itself"
	case c.TailOf == 0 && len(c.Argv) > 0:
		v.Kind = Replace
		v.Argv = append(append([]string{}, req.Argv[:c.TailAt]...), g.command(d.Redirect)...)
		return ""
	}
	// Found in a string of an argument: it is left to the shim below.
	why := g.missed(c, req)
	if why == "" {
		if name, _ := c.Argv[0].Text(); g.leads(name) {
			return ""
		}
		why = "PATH does not lead to the shims (safeshell init sets them up)"
	}
	return inside(c, why)
}

// replaceWord puts the path of the shim in the place of a command's word, where
// that word stands in the line itself.
func (g *Gate) replaceWord(a *script.Analysis, jd Judged, req Request, why string) ([]script.Edit, string) {
	c := jd.Command
	if c.Remote != "" || len(c.Argv) == 0 {
		return nil, why
	}
	if c.Nested {
		return nil, inside(c, why)
	}
	return g.rewriteSpans(a, c, jd.Decision, req)
}

// asWritten names the command whose word an edit changes as it was, so that a rule
// of the agent's own about `sudo rm` or /bin/rm finds it. It stands in front of the
// line and never runs.
func asWritten(a *script.Analysis, e script.Edit) (text, why string) {
	s := e.Span
	for _, c := range a.Commands {
		if !c.Nested && c.Span.Start <= s.Start && s.End <= c.Span.End {
			s = c.Span // the widest: sudo around rm
		}
	}
	text = a.Text[s.Start:s.End]
	if strings.Contains(text, "<<") || strings.Contains(text, "\\") && strings.Contains(a.Text[:s.Start], "`") {
		return "", "the command cannot be written a second time, for the agent's own rules"
	}
	return "false && " + text + "; ", ""
}

// inside says why a command inside another one's text is not replaced.
func inside(c script.Command, why string) string {
	if len(c.Via) == 0 {
		return why
	}
	return "safeshell cannot put the replacement into " + strings.Join(c.Via, " ") + ", and " + why
}

// trashOf splits a redirect to safeshell's own trash from other commands.
func trashOf(redirect []string) (argv []string, trash bool) {
	if len(redirect) > 0 && redirect[0] == "trash" {
		return redirect[1:], true
	}
	return redirect, false
}

func toTrash(d eval.Decision) bool {
	return len(d.RedirectBefore) > 0 && d.RedirectBefore[0] == "trash"
}

// command returns the argv to execute for a redirect.
func (g *Gate) command(redirect []string) []string {
	if argv, ok := trashOf(redirect); ok {
		return append([]string{g.env.Binary, "trash", "put"}, argv...)
	}
	return redirect
}

// shimmedPath is PATH with the shims in front, as a line has it where something in
// it is redirected.
func (g *Gate) shimmedPath() string { return g.env.Paths.Shims + ":" + g.env.Getenv("PATH") }

// lookup gives the variables that a request's text finds.
func (g *Gate) lookup(req Request) func(string) (string, bool) {
	if req.Argv != nil {
		return g.env.Lookup
	}
	return func(name string) (string, bool) {
		if v, ok := g.env.Lookup(name); name != "PATH" || !ok {
			return v, ok
		}
		return g.shimmedPath(), true
	}
}

// shimsComeFirst reports whether a line is to be judged again as the shims will
// judge what it starts: they are not in PATH yet, will be for its sake, and it sets
// PATH itself.
func (g *Gate) shimsComeFirst(a *script.Analysis, j judgement, req Request) bool {
	if req.Argv != nil || len(a.Commands) == 0 || strings.Contains(g.env.Getenv("PATH"), g.env.Paths.Shims) {
		return false
	}
	redirects := slices.ContainsFunc(j.all, func(d Judged) bool { return d.Decision.RedirectBy != nil })
	return redirects && strings.Contains(a.Text, "PATH")
}
