package agents

// kimiForm is Kimi Code's protocol: Claude's event, exit 2 with the reason as
// the answer. Every decision but deny counts as allow, ask included.
type kimiForm struct{ claudeForm }

func kimi() protocol {
	return kimiForm{}
}

func (kimiForm) deny(_ *event, _ request, msg string) reply { return exit2(msg) }
