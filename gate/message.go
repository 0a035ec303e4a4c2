package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"safeshell/eval"
	"safeshell/script"
	"safeshell/spool"
)

// Messages to the agent or person whose command was stopped. The first is
// exact (DESIGN "Command line"); the others follow its shape: a tagged header,
// one fact a line, then what to do.

const blockedEnd = "\nThis operation has been intentionally prevented by SafeShell policy.\nDo not attempt to work around this restriction.\n"

func blockedText(reason, rule, suggest string) string {
	return head("BLOCKED", reason, rule) + blockedEnd + instead(suggest)
}

func head(tag, reason, rule string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[SafeShell] %s\n", tag)
	if reason != "" {
		fmt.Fprintf(&b, "Reason: %s\n", spool.Visible(reason))
	}
	if rule != "" {
		fmt.Fprintf(&b, "Rule: %s\n", spool.Visible(rule))
	}
	return b.String()
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
	return "Instead: " + spool.Visible(suggest) + "\n"
}

func userDeniedText(reason, rule, suggest string) string {
	if reason == "" {
		reason = "the user said no and gave no reason"
	}
	return head("USER DENIED", reason, rule) +
		"\nThe user has seen this command and refused it.\nDo not retry it, rephrase it or reach the same end another way. Ask the user what to do instead.\n" +
		instead(suggest)
}

func timedOutText(waited, reason, rule string) string {
	return head("APPROVAL TIMED OUT", reason, rule) +
		"\nNobody answered within " + waited + ". The command has not run.\nThe request stays open for ten minutes: tell the user to answer it in `safeshell watch`, then run exactly the same command again.\n"
}

func cancelledText(reason, rule string) string {
	return head("APPROVAL CANCELLED", reason, rule) +
		"\nThe command was interrupted while it waited for approval. It has not run.\n"
}

func waitingText(id, reason, rule, limit string) string {
	return head("APPROVAL REQUIRED", reason, rule) +
		fmt.Sprintf("Request: %s\n", id) +
		"\nThe command waits for the user, for up to " + limit + ".\nTell the user: answer in `safeshell watch`, or in another terminal with `safeshell approve " + id + "` or `safeshell deny " + id + "`.\n"
}

func noMonitorText(reason, rule, suggest string) string {
	return head("NO MONITOR", reason, rule) +
		"\nThis command needs the user's approval, but no monitor is running, so nobody can be asked. It has not run.\nTell the user: run `safeshell watch` in another terminal, then run exactly the same command again.\nDo not attempt to work around this restriction.\n" +
		instead(suggest)
}

func cannotAskText(why, reason, rule string) string {
	return head("BLOCKED", reason, rule) +
		"\nThis command needs the user's approval, but the request could not be made: " + spool.Visible(why) + ". It has not run.\nTell the user: run `safeshell doctor`.\nDo not attempt to work around this restriction.\n"
}

func askText(req Request, reason, rule, suggest string) string {
	return head("APPROVAL REQUIRED", reason, rule) + lookOut(req) + instead(suggest)
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
