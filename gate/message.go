package gate

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"safeshell/eval"
	"safeshell/script"
	"safeshell/spool"
	"safeshell/spool/mask"
)

// Messages to the agent or person whose command was stopped. The first is
// exact (docs/design.md "Command line"); the others follow its shape: a tagged header,
// one fact a line, then what to do.

const blockedEnd = "\nThis operation has been intentionally prevented by SafeShell policy.\nDo not attempt to work around this restriction.\n"

func blockedText(reason, rule, suggest string) string {
	return head("BLOCKED", reason, rule) + blockedEnd + instead(suggest)
}

func head(tag, reason, rule string) string { return "[SafeShell] " + tag + "\n" + facts(reason, rule) }

func facts(reason, rule string) string {
	var b strings.Builder
	if reason != "" {
		fmt.Fprintf(&b, "Reason: %s\n", spool.Visible(mask.Text(reason)))
	}
	if rule != "" {
		fmt.Fprintf(&b, "Rule: %s\n", spool.Visible(rule))
	}
	return b.String()
}

// headAll is head with every rule that stops the request, each behind its part
// where there are several.
func headAll(tag string, req Request, v Verdict) string {
	parts := v.parts(req)
	if len(parts) < 2 {
		return head(tag, v.Message, v.Rule)
	}
	var b strings.Builder
	b.WriteString("[SafeShell] " + tag + "\n")
	for _, p := range parts {
		if what := p.What(); what != "" {
			fmt.Fprintf(&b, "Command: %s\n", spool.Visible(what))
		}
		b.WriteString(facts(p.Reason, p.Rule) + instead(p.Suggest))
	}
	return b.String()
}

// alsoText names what else stops a denied request than the rule that denies it.
func alsoText(req Request, v Verdict) string {
	var b strings.Builder
	for _, p := range v.parts(req) {
		if p.Rule == v.Rule && p.Reason == v.Message {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("Stopped as well:\n")
		}
		fmt.Fprintf(&b, "  %s: %s (rule %s)\n", spool.Visible(cmp.Or(p.What(), "the whole")), spool.Visible(p.Reason), spool.Visible(p.Rule))
	}
	return b.String()
}

// insteadOf is the suggestion, where it does not stand beside its part.
func insteadOf(v Verdict) string {
	if len(v.Met) > 1 {
		return ""
	}
	return instead(v.Suggest)
}

// aliasesText says what a command's aliases stand for: nothing else on the
// screen does.
func aliasesText(aliases []script.GitAlias) string {
	var b strings.Builder
	for i, al := range aliases {
		if i == 3 {
			fmt.Fprintf(&b, " (%d more aliases)", len(aliases)-i)
			break
		}
		text := []rune(al.Text)
		if len(text) > 200 {
			text = append(text[:197:197], []rune("...")...)
		}
		fmt.Fprintf(&b, " (git %s is an alias: %s)", al.Name, string(text))
	}
	return b.String()
}

func instead(suggest string) string {
	if suggest == "" {
		return ""
	}
	return "Instead: " + spool.Visible(mask.Text(suggest)) + "\n"
}

func userDeniedText(reason string, v Verdict) string {
	if reason == "" {
		reason = "the user said no and gave no reason"
	}
	return head("USER DENIED", reason, strings.Join(v.rules(), ", ")) +
		"\nThe user has seen this command and refused it.\nDo not retry it, rephrase it or reach the same end another way. Ask the user what to do instead.\n" +
		insteadOf(v)
}

func timedOutText(waited string, req Request, v Verdict) string {
	return headAll("APPROVAL TIMED OUT", req, v) +
		"\nNobody answered within " + waited + ". The command has not run.\nThe request stays open for ten minutes: tell the user to answer it in `safeshell watch`, then run exactly the same command again.\n"
}

func cancelledText(req Request, v Verdict) string {
	return headAll("APPROVAL CANCELLED", req, v) +
		"\nThe command was interrupted while it waited for approval. It has not run.\n"
}

func waitingText(id, limit string, req Request, v Verdict) string {
	id = id[max(len(id)-spool.ShortID, 0):]
	return headAll("APPROVAL REQUIRED", req, v) +
		fmt.Sprintf("Request: %s\n", id) +
		"\nThe command waits for the user, for up to " + limit + ".\nTell the user: answer in `safeshell watch`, or in another terminal with `safeshell approve " + id + "` or `safeshell deny " + id + "`.\n"
}

func noMonitorText(req Request, v Verdict) string {
	return headAll("NO MONITOR", req, v) +
		"\nThis command needs the user's approval, but no monitor is running, so nobody can be asked. It has not run.\nTell the user: run `safeshell watch` in another terminal, then run exactly the same command again.\nDo not attempt to work around this restriction.\n" +
		insteadOf(v)
}

func cannotAskText(why string, req Request, v Verdict) string {
	return headAll("BLOCKED", req, v) +
		"\nThis command needs the user's approval, but the request could not be made: " + spool.Visible(why) + ". It has not run.\nTell the user: run `safeshell doctor`.\nDo not attempt to work around this restriction.\n"
}

func askText(req Request, v Verdict) string {
	return headAll("APPROVAL REQUIRED", req, v) + lossText(req, v) + lookOut(req) + insteadOf(v)
}

// lossText says what would be lost, to who decides.
func lossText(req Request, v Verdict) string {
	var b strings.Builder
	for _, p := range v.parts(req) {
		for l := range strings.Lines(p.Loss) {
			fmt.Fprintf(&b, "Would lose: %s\n", spool.Visible(strings.TrimSpace(l)))
		}
	}
	return b.String()
}

// lookOut is the line for a person who decides by what they read.
func lookOut(req Request) string {
	out := spool.LookOut(nil, append([]string{req.Line, req.Dir}, req.Argv...)...)
	if len(out) == 0 {
		return ""
	}
	return "Look out: " + strings.Join(out, "; ") + "\n"
}

// editHint tells how a rules file is mended while it stops every guarded
// command, editors among them.
func (g *Gate) editHint(p eval.Problem) string {
	if strings.HasPrefix(p.Fix, "/") || strings.Contains(p.Fix, ": /bin/") || p.File == "" {
		return "" // the fix is such a command already
	}
	for _, name := range []string{g.env.Getenv("VISUAL"), g.env.Getenv("EDITOR"), "nano", "vi"} {
		for _, dir := range []string{"/usr/bin", "/bin", "/usr/local/bin"} {
			editor := filepath.Join(dir, filepath.Base(name))
			if fi, err := os.Stat(editor); name != "" && err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
				return "Tell the user: guarded commands are stopped until the file is mended, so name the editor by its path: " + script.Quote([]string{editor, p.File}) + "\n"
			}
		}
	}
	return ""
}
