package agents

// droid returns Factory Droid's protocol, Claude's schema with its own tool
// name. Asking and rewriting are not proven, so neither is used.
func droid() protocol {
	return claudeForm{}
}
