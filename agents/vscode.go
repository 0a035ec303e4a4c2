package agents

// vscode returns the protocol of VS Code's agent mode: Claude's answers, its
// own tool names. Its matchers are not applied, so every tool arrives here.
func vscode() protocol { return claudeForm{asks: true, rewrites: true} }
