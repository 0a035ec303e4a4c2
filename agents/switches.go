package agents

import (
	"path/filepath"
	"slices"
	"strings"
)

// switches looks for what turns hooks off as a whole, and for folders that the
// agent does not trust.
func (d *doctor) switches(hooks []hook) {
	env := d.env
	home := func(p string) string { return filepath.Join(env.Home, p) }
	project := func(p string) string {
		if !filepath.IsAbs(env.ProjectDir) {
			return ""
		}
		return filepath.Join(env.ProjectDir, p)
	}
	inProject := false
	for _, h := range hooks {
		inProject = inProject || h.project
	}
	switch d.a.Name {
	case "claude-code":
		user, _ := env.path(d.a, d.a.UserFile)
		managed := env.system("etc/claude-code/managed-settings.json")
		parts, _ := filepath.Glob(env.system("etc/claude-code/managed-settings.d/*.json")) // the pattern is sound
		for _, f := range append(parts, user, project(".claude/settings.json"), project(".claude/settings.local.json"), managed) {
			d.isTrue(f, "disableAllHooks")
		}
		for _, f := range append(parts, managed) {
			d.isTrue(f, "allowManagedHooksOnly")
		}
		if v := env.getenv("CLAUDE_CODE_SIMPLE"); v != "" && v != "0" {
			d.add(Fail, "unset CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SIMPLE is set: Claude Code runs no hooks")
		}
	case "codex":
		if path, err := env.codexConfig(d.a); err == nil {
			d.codexSwitch(path, []string{"features", "hooks"}, "false")
		}
		if p := project(".codex/config.toml"); p != home(".codex/config.toml") {
			d.codexSwitch(p, []string{"features", "hooks"}, "false")
		}
		d.codexSwitch(env.system("etc/codex/requirements.toml"), []string{"allow_managed_hooks_only"}, "true")
	case "copilot":
		for _, f := range []string{"~/.copilot/settings.json", "~/.copilot/config.json", ".github/copilot/settings.json",
			".github/copilot/settings.local.json", ".claude/settings.json", ".claude/settings.local.json"} {
			if path, err := env.path(d.a, f); err == nil {
				d.isTrue(path, "disableAllHooks")
			}
		}
		for _, h := range hooks {
			d.isTrue(h.file, "disableAllHooks")
		}
		if inProject && !d.lists(home(".copilot/config.json"), "trusted_folders") {
			d.add(Warn, "", "Copilot runs a project's hooks in -p only in trusted folders: add this one to \"trusted_folders\" in %s", home(".copilot/config.json"))
		}
	case "gemini", "qwen":
		var files []string
		for _, f := range []string{d.a.UserFile, d.a.ProjectFile} {
			if path, err := env.path(d.a, f); err == nil && !slices.Contains(files, path) {
				files = append(files, path)
			}
		}
		system := env.system("etc/" + map[string]string{"gemini": "gemini-cli", "qwen": "qwen-code"}[d.a.Name] + "/settings.json")
		if v := env.getenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH"); d.a.Name == "gemini" && v != "" {
			system = v
		}
		for _, path := range append(files, system) {
			d.isTrue(path, "disableAllHooks")
			d.isFalse(path, "hooksConfig", "enabled")
			d.isFalse(path, "hooks", "enabled") // the key's older place
			d.namesUs(path, hooks)
		}
		trusted, _ := env.path(d.a, "~/.gemini/trustedFolders.json")
		if d.a.Name == "gemini" && inProject && env.getenv("GEMINI_CLI_TRUST_WORKSPACE") != "true" && !d.trusts(trusted) {
			d.add(Fail, "", "Gemini CLI runs a project's hooks only in trusted folders, and %s does not list this one", trusted)
		}
	case "opencode":
		if v := env.getenv("OPENCODE_PURE"); v != "" && v != "0" && v != "false" {
			d.add(Fail, "unset OPENCODE_PURE", "OPENCODE_PURE is set: opencode loads no plugins")
		}
	case "vscode":
		d.isFalse(home(".config/Code/User/settings.json"), "chat.useHooks")
		d.isFalse(project(".vscode/settings.json"), "chat.useHooks")
	case "droid":
		d.isTrue(home(".factory/settings.json"), "hooksDisabled")
		d.isTrue(project(".factory/settings.json"), "hooksDisabled")
	}
}

// settings reads a JSON file leniently; nil when there is none to be read.
func settings(path string) *node {
	if path == "" {
		return nil
	}
	data, found, err := readConfig(path)
	if err != nil || !found {
		return nil
	}
	doc, serr := parseJSON(data, looseJSON, true)
	if serr != nil {
		return nil
	}
	return doc.root
}

func (d *doctor) isTrue(path string, keys ...string) {
	if settings(path).lookup(keys).is('t') {
		d.add(Fail, "", "%s sets %s: no hooks run; remove it there", path, strings.Join(keys, "."))
	}
}

func (d *doctor) isFalse(path string, keys ...string) {
	if settings(path).lookup(keys).is('f') {
		d.add(Fail, "", "%s sets %s to false: no hooks run; remove it there", path, strings.Join(keys, "."))
	}
}

// namesUs looks for our hook in lists of disabled ones, which hold a hook's
// name or its command.
func (d *doctor) namesUs(path string, hooks []hook) {
	for _, keys := range [][]string{{"hooksConfig", "disabled"}, {"hooks", "disabled"}} {
		list := settings(path).lookup(keys)
		if !list.is('[') {
			continue
		}
		for _, el := range list.elems {
			name, _ := el.text()
			for _, h := range hooks {
				if name != "" && (name == "safeshell" || name == h.text) {
					d.add(Fail, "", "%s lists safeshell in %s; remove it there", path, strings.Join(keys, "."))
					return
				}
			}
		}
	}
}

// lists says whether a list of folders holds the project or one above it.
func (d *doctor) lists(path, key string) bool {
	list := settings(path).lookup([]string{key})
	if !list.is('[') {
		return false
	}
	for _, el := range list.elems {
		if s, ok := el.text(); ok && d.within(s) {
			return true
		}
	}
	return false
}

// trusts says whether Gemini's list of folders trusts the project.
func (d *doctor) trusts(path string) bool {
	root := settings(path)
	if !root.is('{') {
		return false
	}
	for _, m := range root.members {
		switch v, _ := m.val.text(); v {
		case "TRUST_FOLDER":
			if d.within(m.key.str) {
				return true
			}
		case "TRUST_PARENT":
			if d.within(filepath.Dir(m.key.str)) {
				return true
			}
		}
	}
	return false
}

func (d *doctor) within(dir string) bool {
	dir = filepath.Clean(dir)
	return d.env.ProjectDir == dir || strings.HasPrefix(d.env.ProjectDir, strings.TrimSuffix(dir, "/")+"/")
}

// codexSwitch looks for a key with a value in a TOML file.
func (d *doctor) codexSwitch(path string, keys []string, value string) {
	data, found, err := readConfig(path)
	if err != nil || !found {
		return
	}
	items, serr := parseTOML(data)
	if serr != nil {
		return // said elsewhere, where the hook is looked for
	}
	var table []string
	for _, it := range items {
		if it.header {
			table = it.keys
			continue
		}
		at := append(table[:len(table):len(table)], it.keys...)
		if sameKeys(at, keys) && string(data[it.val.start:it.val.end]) == value {
			line, _ := position(data, it.start)
			d.add(Fail, "", "%s:%d sets %s = %s: the hook does not run; remove it there", path, line, strings.Join(keys, "."), value)
		}
	}
}
