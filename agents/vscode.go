package agents

// vscode returns the protocol of VS Code's agent mode: Claude's answers, its
// own tool names. Its matchers are not applied, so every tool arrives here.
func vscode() protocol { return claudeForm{shell: vscodeShell, asks: true, rewrites: true} }

func vscodeShell(tool string) bool {
	switch tool {
	case "run_in_terminal", "runInTerminal", "Bash", "PowerShell":
		return true
	}
	return false
}
