package agents

import "strings"

// heard is how an agent takes an answer.
type heard struct {
	kind OutcomeKind // Pass when the command runs as it is
	text string      // the reason, or the replacement
	why  string      // for Pass: why nothing was stopped
}

// hear reads an answer the way the agent does, as far as that was measured or
// is documented: an answer that the agent would ignore is a Pass. It is the
// other end of the protocols, used by Probe.
func hear(agent string, r reply) heard {
	switch agent {
	case "claude-code", "vscode", "qwen", "droid", "copilot-claude":
		return hearClaude(agent, r)
	case "codex":
		return hearCodex(r)
	case "copilot":
		return hearCopilot(r)
	case "cursor":
		return hearCursor(r)
	case "gemini":
		return hearGemini(r)
	case "opencode", "kilo", "pi", "amp":
		return hearPlugin(r)
	case "cline", "cline-vscode":
		return hearCline(r)
	case "devin", "goose", "crush", "grok", "antigravity":
		return hearDecision(agent, r)
	case "kiro":
		if r.code != 0 {
			return heard{kind: Deny, text: r.stderr}
		}
		return heard{why: "exit 0"}
	}
	return hearExit2(r, false) // windsurf, kiro-cli, amazon-q, kimi
}

// hearExit2 is the rule that most agents share. With needText an empty stderr
// makes exit 2 worthless.
func hearExit2(r reply, needText bool) heard {
	switch {
	case r.code == 2 && needText && strings.TrimSpace(r.stderr) == "":
		return heard{why: "exit 2 without a text counts as a failed hook"}
	case r.code == 2:
		return heard{kind: Deny, text: r.stderr}
	case r.code != 0:
		return heard{why: "an exit code other than 2 lets the command run"}
	}
	return heard{why: "exit 0 without an answer"}
}

// object parses stdout as one strict JSON object; nil when it is not one.
func object(r reply) (*document, *node) {
	doc, err := parseJSON([]byte(r.stdout), strictJSON, false)
	if err != nil || doc.root.kind != '{' {
		return nil, nil
	}
	return doc, doc.root
}

func textAt(n *node, key string) string {
	s, _ := n.get(key).text()
	return s
}

func hearClaude(agent string, r reply) heard {
	if r.code == 2 {
		return hearExit2(r, agent == "qwen")
	}
	doc, o := object(r)
	if o == nil {
		if strings.TrimSpace(r.stdout) != "" {
			return heard{why: "the output is not one JSON object, so the command runs"}
		}
		return hearExit2(r, false)
	}
	if textAt(o, "decision") == "block" {
		return heard{kind: Deny, text: textAt(o, "reason")}
	}
	h := o.get("hookSpecificOutput")
	if textAt(h, "hookEventName") != "PreToolUse" && agent != "qwen" {
		return heard{why: "an answer without hookEventName is ignored"}
	}
	switch textAt(h, "permissionDecision") {
	case "deny":
		return heard{kind: Deny, text: textAt(h, "permissionDecisionReason")}
	case "ask":
		return heard{kind: Ask, text: textAt(h, "permissionDecisionReason")}
	}
	if in := h.get("updatedInput"); in.is('{') && agent != "qwen" {
		return heard{kind: Rewrite, text: string(in.raw(doc.src))}
	}
	return heard{why: "the answer holds no decision"}
}

func hearCodex(r reply) heard {
	if r.code != 0 {
		return hearExit2(r, true)
	}
	if strings.TrimSpace(r.stdout) == "" {
		return heard{why: "exit 0 without an answer"}
	}
	doc, o := object(r)
	if o == nil {
		return heard{why: "the output is not one JSON object, so the command runs"}
	}
	only := func(n *node, keys ...string) bool {
		for _, m := range n.members {
			ok := false
			for _, k := range keys {
				ok = ok || k == m.key.str
			}
			if !ok {
				return false
			}
		}
		return true
	}
	if o.has("decision") {
		if only(o, "decision", "reason") && textAt(o, "decision") == "block" && textAt(o, "reason") != "" {
			return heard{kind: Deny, text: textAt(o, "reason")}
		}
		return heard{why: "an invalid answer lets the command run"}
	}
	h := o.get("hookSpecificOutput")
	if !h.is('{') || !only(o, "hookSpecificOutput") || textAt(h, "hookEventName") != "PreToolUse" ||
		!only(h, "hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput") {
		return heard{why: "an invalid answer lets the command run"}
	}
	switch textAt(h, "permissionDecision") {
	case "deny":
		if why := textAt(h, "permissionDecisionReason"); why != "" && !h.has("updatedInput") {
			return heard{kind: Deny, text: why}
		}
		return heard{why: "a denial without a reason lets the command run"}
	case "allow":
		if in := h.get("updatedInput"); in.is('{') {
			return heard{kind: Rewrite, text: string(in.raw(doc.src))}
		}
	}
	return heard{why: "an invalid answer lets the command run"}
}

func hearCopilot(r reply) heard {
	if r.code != 0 {
		return heard{kind: Deny, text: "hook errored"} // the text is lost
	}
	doc, o := object(r)
	if o == nil {
		return heard{why: "no JSON answer"}
	}
	switch textAt(o, "permissionDecision") {
	case "deny":
		return heard{kind: Deny, text: textAt(o, "permissionDecisionReason")}
	case "ask":
		return heard{kind: Ask, text: textAt(o, "permissionDecisionReason")}
	}
	if in := o.get("modifiedArgs"); in.is('{') {
		return heard{kind: Rewrite, text: string(in.raw(doc.src))}
	}
	return heard{why: "the answer holds no permissionDecision"}
}

func hearCursor(r reply) heard {
	if r.code == 2 {
		return heard{kind: Deny, text: r.stderr}
	}
	doc, o := object(r)
	if o == nil {
		// failClosed: empty output blocks, and so does invalid JSON.
		return heard{kind: Deny, text: "the hook gave no valid answer"}
	}
	switch textAt(o, "permission") {
	case "deny":
		return heard{kind: Deny, text: textAt(o, "agent_message")}
	case "ask":
		return heard{kind: Ask, text: textAt(o, "user_message")}
	}
	if in := o.get("updated_input"); in.is('{') {
		return heard{kind: Rewrite, text: string(in.raw(doc.src))}
	}
	return heard{why: "permission " + textAt(o, "permission")}
}

func hearGemini(r reply) heard {
	out := r.stdout
	if strings.TrimSpace(out) == "" {
		out = r.stderr // parsed in its place
	}
	doc, o := object(reply{stdout: out})
	if o == nil {
		if r.code > 1 && strings.TrimSpace(out) != "" {
			return heard{kind: Deny, text: out}
		}
		return heard{why: "no JSON answer, and exit 0 or 1"}
	}
	switch textAt(o, "decision") {
	case "deny", "block":
		return heard{kind: Deny, text: textAt(o, "reason")}
	case "ask":
		return heard{kind: Ask, text: textAt(o, "reason")}
	}
	if in := o.get("hookSpecificOutput").get("tool_input"); in.is('{') {
		return heard{kind: Rewrite, text: string(in.raw(doc.src))}
	}
	return heard{why: "the answer holds no decision"}
}

func hearPlugin(r reply) heard {
	if r.code != 0 {
		return heard{kind: Deny, text: r.stderr}
	}
	if r.stdout == "" {
		return heard{why: "exit 0 without an answer"}
	}
	_, o := object(r)
	switch {
	case o != nil && o.has("command"):
		return heard{kind: Rewrite, text: textAt(o, "command")}
	case o != nil && o.has("ask"):
		return heard{kind: Ask, text: textAt(o, "ask")}
	}
	return heard{kind: Deny, text: "the plugin cannot read the answer"}
}

func hearCline(r reply) heard {
	doc, o := object(r)
	if o == nil {
		return heard{why: "no JSON answer"}
	}
	if o.get("cancel").is('t') {
		return heard{kind: Deny, text: textAt(o, "errorMessage")}
	}
	if in := o.get("overrideInput"); in.is('{') {
		if list := in.get("commands"); list.is('[') && len(list.elems) == 1 {
			if s, _ := list.elems[0].text(); strings.HasPrefix(s, "printf ") && strings.HasSuffix(s, "; exit 126") {
				return heard{kind: Deny, text: s}
			}
		}
		raw := string(in.raw(doc.src))
		if strings.Contains(raw, `"/dev/null/`) {
			return heard{kind: Deny, text: raw}
		}
		return heard{kind: Rewrite, text: raw}
	}
	return heard{why: "the answer neither cancels nor overrides"}
}

func hearDecision(agent string, r reply) heard {
	if r.code != 0 {
		return hearExit2(r, false)
	}
	doc, o := object(r)
	if o == nil {
		return heard{why: "no JSON answer"}
	}
	word := "deny"
	if agent == "devin" || agent == "goose" {
		word = "block"
	}
	if textAt(o, "decision") == word {
		return heard{kind: Deny, text: textAt(o, "reason")}
	}
	in := o.get("updated_input")
	if agent == "devin" {
		in = o.get("hookSpecificOutput").get("updatedInput")
	}
	if in.is('{') && (agent == "devin" || agent == "crush") {
		return heard{kind: Rewrite, text: string(in.raw(doc.src))}
	}
	return heard{why: "the answer holds no decision"}
}
