package agents

// devinForm is the protocol of Devin CLI and Devin Local: Claude's event with
// the tool exec, answered by a decision.
type devinForm struct{ claudeForm }

func devin() protocol {
	return devinForm{claudeForm{rewrites: true}}
}

func (devinForm) deny(_ *event, _ request, msg string) reply { return blockDecision(msg) }

// blockDecision is the answer that Devin and Goose document.
func blockDecision(msg string) reply {
	return jsonReply(`{"decision":"block","reason":` + quoteJSON(msg) + `}`)
}
