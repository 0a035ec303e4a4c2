package agents

// qwen returns Qwen Code's protocol. updatedInput has no effect, against its
// documentation (measured with 0.24.4): the original command would run.
func qwen() protocol {
	return claudeForm{
		dirKeys: []string{"directory"},
		asks:    true,
	}
}
