package agents

import "fmt"

// notes lists what only the user can do after Install, or must know.
func notes(env Env, a Agent, o InstallOptions, plans []*plan) []string {
	var out []string
	changed := false
	for _, p := range plans {
		changed = changed || p.change != Unchanged
	}
	if changed && a.Name != "cline" && a.Name != "cline-vscode" {
		out = append(out, fmt.Sprintf("restart %s: running sessions keep the hooks that they started with", a.Display))
	}
	if a.Comments == Unknown {
		for _, p := range plans {
			if doc, err := parseJSON(p.new, looseJSON, true); err == nil && (doc.comment >= 0 || doc.trailing >= 0) {
				out = append(out, fmt.Sprintf("%s has comments or trailing commas; whether %s reads such a file is not known: try it there", p.path, a.Display))
			}
		}
	}
	switch a.Name {
	case "codex":
		if !o.TrustCodex {
			out = append(out, "Codex skips the hook without a word until you accept it: run /hooks in Codex, or: safeshell agents install codex --trust-codex")
		}
		if path, err := env.codexConfig(a); err == nil && codexHasHooks(path) {
			out = append(out, path+" holds hooks too: Codex runs those of both files, and warns at each start")
		}
		if o.Project {
			out = append(out, "Codex runs a project's hooks only where config.toml has [projects.\"…\"] trust_level = \"trusted\"")
		}
	case "gemini":
		if o.Project {
			out = append(out, "Gemini CLI runs a project's hooks only in a folder that ~/.gemini/trustedFolders.json trusts")
		}
	case "copilot":
		if o.Project {
			out = append(out, "Copilot runs a project's hooks in -p only in trusted folders; check that \"trusted_folders\" in ~/.copilot/config.json lists this one")
		}
	case "cursor":
		if o.Project {
			out = append(out, "Cursor runs a project's hooks in trusted workspaces only")
		}
	case "windsurf":
		out = append(out, "Cascade runs no hooks in restricted mode: trust the workspace")
	case "cline-vscode":
		out = append(out, `switch on "Enable Hooks" in Cline's settings in VS Code`)
	case "vscode":
		out = append(out, "hooks are a preview in VS Code: check that chat.hookFilesLocations holds the directory and that no policy switches them off")
	case "kiro-cli", "amazon-q":
		out = append(out, "the built-in default agent has no file and so no hook: make one of these agents the default")
	case "grok":
		if o.Project {
			out = append(out, "Grok Build runs a project's hooks only after /hooks-trust")
		}
	case "opencode", "kilo":
		out = append(out, "without a network the first start with a plugin directory can take more than a minute; npm_config_fetch_retries=0 shortens it")
	case "droid":
		out = append(out, "this form of hooks.json is documented, but not proven: look for safeshell under /hooks in Droid")
	}
	if o.Project && !a.OwnFile {
		out = append(out, "the hook names this machine's path to safeshell: keep the file out of version control or let each colleague install")
	}
	if a.FixedTimeout && o.TimeoutSeconds > 0 {
		out = append(out, fmt.Sprintf("%s does not let the time limit be set; a person has %s", a.Display, waitFor(a.Timeout)))
	}
	return out
}
