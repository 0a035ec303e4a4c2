package agents

// ProtectedPaths returns the files and directories, ~/ for the user's home and
// else relative to a project, by which an agent could switch its guard off. An
// agent must not write there; the rule packs see to that, and a test can
// compare them with this list.
func ProtectedPaths() []string {
	out := []string{
		// Files beside the hooks that switch them off, or decide on trust.
		"~/.claude.json", ".claude/settings.json",
		"~/.codex/config.toml", ".codex/config.toml", "~/.codex/rules",
		"~/.copilot/settings.json", "~/.copilot/config.json", ".github/copilot/settings.json", ".github/copilot/settings.local.json",
		"~/.cursor/cli-config.json",
		"~/.gemini/trustedFolders.json", "~/.gemini/policies",
		"~/.config/opencode/opencode.json", "opencode.json",
		"~/.factory/settings.json", ".factory/settings.json",
		"~/.grok/trusted_folders.toml",
		".crush.json", ".windsurf/hooks.json",
		// Directories of which every file counts.
		".claude/hooks", ".cline/hooks", ".github/hooks", ".kilo/plugin", ".opencode/plugin", ".opencode/plugins",
	}
	for _, a := range All() {
		for _, f := range []string{a.UserFile, a.ProjectFile} {
			if f != "" {
				out = append(out, f)
			}
		}
	}
	return out
}
