package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"safeshell/permit"
	"safeshell/spool"
	"safeshell/spool/mask"
)

// canElicit reports whether the client can ask its user with a form.
func canElicit(req *sdk.CallToolRequest) bool {
	caps := req.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil {
		return false
	}
	// Neither form nor url named: form (clients of before the distinction).
	return caps.Elicitation.Form != nil || caps.Elicitation.URL == nil
}

// choices are the form's answers.
var choices = map[string]spool.Choice{"once": spool.Once, "session": spool.Session, "always": spool.Always, "deny": spool.Refuse}

// choiceSchema is the form. deny is what is chosen by who only confirms.
var choiceSchema = json.RawMessage(`{
	"type": "object",
	"properties": {"choice": {
		"type": "string",
		"title": "Permit these commands?",
		"description": "once: this run; session: also later ones of this session; always: every script of this project; deny: nothing runs",
		"enum": ["once", "session", "always", "deny"],
		"default": "deny"
	}},
	"required": ["choice"]
}`)

// elicit lets the client ask its user. A result that is not nil asks the client
// by the end of this call (protocol versions from 2026-07-28 on); the error says
// that the user was not asked. No choice (the user closed the form) is 0.
func (s *server) elicit(ctx context.Context, req *sdk.CallToolRequest, id string, v judged, claim spool.Choice, j job) (spool.Choice, *sdk.CallToolResult, error) {
	p := &sdk.ElicitParams{Mode: "form", Message: elicitText(v, claim, j), RequestedSchema: choiceSchema}
	if req.ProtocolVersion() >= multiRound {
		res, ok := req.Params.InputResponses[choiceKey].(*sdk.ElicitResult)
		// Only the answer to the question about this very script counts.
		if ok && req.Params.RequestState == id {
			return choiceOf(res), nil, nil
		}
		return 0, &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{choiceKey: p}, RequestState: id}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, permit.RetryTTL)
	defer cancel()
	res, err := req.Session.Elicit(ctx, p)
	if err != nil {
		return 0, nil, err
	}
	return choiceOf(res), nil, nil
}

// choiceOf is what a form's end means. Declined is a no; closed is no answer;
// what is not understood permits nothing.
func choiceOf(r *sdk.ElicitResult) spool.Choice {
	switch r.Action {
	case "accept":
		word, _ := r.Content["choice"].(string)
		if c, ok := choices[word]; ok {
			return c
		}
		return spool.Refuse
	case "decline":
		return spool.Refuse
	}
	return 0
}

// elicitText is the question.
func elicitText(v judged, claim spool.Choice, j job) string {
	var b strings.Builder
	who := "An agent's script"
	if v.caller.Agent != "" {
		who = fmt.Sprintf("A script of %s", spool.Visible(v.caller.Agent))
	}
	fmt.Fprintf(&b, "%s wants to use commands that are not permitted yet:\n", who)
	for _, d := range v.result.Permittable() {
		fmt.Fprintf(&b, "  %s", permit.Show(d.Command))
		if d.Path != "" && d.Path != d.Command {
			fmt.Fprintf(&b, "  (%s)", permit.Show(d.Path))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "Directory: %s\n", spool.Visible(j.dir))
	if j.file != "" {
		fmt.Fprintf(&b, "File: %s\n", spool.Visible(j.file))
	}
	if claim != 0 {
		fmt.Fprintf(&b, "The agent says that you chose %d (%s).\n", claim, claim)
	}
	if len(j.code) > 0 {
		b.WriteString("\n" + excerpt(j.code))
	}
	return b.String()
}

// excerpt is the beginning of a script, made safe to show.
func excerpt(code []byte) string {
	const maxLines, maxWidth = 30, 200
	lines := strings.Split(strings.TrimRight(mask.Text(string(code)), "\n"), "\n")
	var b strings.Builder
	for i, l := range lines {
		if i == maxLines {
			fmt.Fprintf(&b, "... %d more lines\n", len(lines)-maxLines)
			break
		}
		if r := []rune(l); len(r) > maxWidth {
			l = string(r[:maxWidth]) + "..."
		}
		b.WriteString(spool.Visible(strings.ReplaceAll(l, "\t", "    ")) + "\n")
	}
	return b.String()
}
