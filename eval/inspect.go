package eval

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"safeshell/command"
	"safeshell/config"
	"safeshell/internal/files"
)

// Name is a command that rules name.
type Name struct {
	Name string
	// FromUser is set when a rule of the user, the system or a repository
	// names it, not only the built-in packs.
	FromUser bool
}

// Programs that scripts start by the thousand. What the built-in packs say of
// them is about texts (pipes, code in arguments, redirections), which hooks and
// the wrapper see; a shim of each would cost more than it could find. A user's
// rule that names one gets its shim.
const withoutShim = "cat echo printf print grep egrep fgrep rg ag ack ugrep awk gawk mawk nawk sed sh bash dash zsh ksh fish ash mksh env xargs parallel tee cp ln mv install mkdir touch tar zip make gmake head tail less more man ps pgrep pidof printenv " +
	"set export unset alias unalias source . eval trap declare typeset hash enable complete bind history " +
	"python python2 python3 node nodejs ruby perl php lua deno bun pwsh jq yq vim vi nvim nano emacs ed ex pico micro code strace gdb lldb tmux screen osascript expect go"

// Names returns the commands that the rules in force in dir name, sorted: those
// that need a shim. Rules for every command ("*") name none.
func (r *Rules) Names(dir string) []Name {
	user := map[string]bool{}
	r.each(dir, func(x *rule, s *source) {
		if s == nil && (!r.packOn(packIndex(x.pack)) || r.overrideOf(x.name).disabledNow()) {
			return
		}
		for _, c := range x.commands {
			if c != "" && c != "*" && (s != nil || !command.Has(withoutShim, c)) {
				user[c] = user[c] || s != nil
			}
		}
	})
	out := make([]Name, 0, len(user))
	for n, u := range user {
		out = append(out, Name{n, u})
	}
	sort.Slice(out, func(i, k int) bool { return out[i].Name < out[k].Name })
	return out
}

// UserNames returns, sorted, the names that the rules of the system, the user and
// dir's repository give: those of Names that are FromUser, without reading the
// built-in packs.
func (r *Rules) UserNames(dir string) []string {
	seen := map[string]bool{}
	r.eachOf(nil, dir, func(x *rule, _ *source) {
		for _, c := range x.commands {
			if c != "" && c != "*" {
				seen[c] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(seen))
}

// each calls f for every rule, in order of loading; s is nil for built-in ones.
func (r *Rules) each(dir string, f func(x *rule, s *source)) { r.eachOf(r.builtin, dir, f) }

func (r *Rules) eachOf(builtin *blob, dir string, f func(x *rule, s *source)) {
	walk := func(b *blob, s *source) {
		if b == nil {
			return
		}
		rules, err := b.all()
		if err != nil {
			return // said where the rules are judged
		}
		for _, x := range rules {
			f(x, s)
		}
	}
	walk(builtin, nil)
	for _, s := range r.global {
		walk(s.blob, s)
	}
	for _, s := range r.repoSources(dir) {
		walk(s.blob, s)
	}
}

// overrideOf returns the last override of a built-in rule; nil when none is.
func (r *Rules) overrideOf(name string) (found *override) {
	for _, g := range r.global {
		for i := range g.overrides {
			if g.overrides[i].name == name {
				found = &g.overrides[i]
			}
		}
	}
	return found
}

func (o *override) disabledNow() bool { return o != nil && o.disabled }

// RuleInfo describes a rule for lists.
type RuleInfo struct {
	Name     string   `json:"name"`
	Action   string   `json:"action"`
	Context  string   `json:"context"` // all, ai_only, human_only
	Source   string   `json:"source"`  // a file, or built-in:<pack>
	Commands []string `json:"commands"`
	Message  string   `json:"message"`
	// Disabled says why the rule is not in force; empty when it is.
	Disabled string `json:"disabled,omitempty"`
}

// List returns all rules that are known in dir, in order of loading, also those
// that are not in force.
func (r *Rules) List(dir string) []RuleInfo {
	var out []RuleInfo
	r.each(dir, func(x *rule, s *source) {
		h := hit{action: x.action, message: x.message, over: x.override}
		context := x.context
		info := RuleInfo{Name: x.name, Commands: x.commands}
		switch {
		case s == nil:
			info.Source = "built-in:" + x.pack
			if o := r.overrideOf(x.name); o != nil {
				o.apply(&h, &context)
				if o.disabled {
					info.Disabled = "disabled by an override"
				}
			}
			if !r.packOn(packIndex(x.pack)) {
				info.Disabled = "its pack is off"
			}
		default:
			info.Source = s.path
			if s.kind == fromRepo && !s.trusted && x.runsCode() {
				info.Disabled = "waits for trust: " + trustCommand(s.path)
			}
		}
		info.Action, info.Message, info.Context = h.action.String(), h.message, contextName(context)
		out = append(out, info)
	})
	return out
}

// contextName is a context as rule files write it.
func contextName(c Context) string {
	switch c {
	case AI:
		return "ai_only"
	case Human:
		return "human_only"
	}
	return "all"
}

// Show explains one rule: where it comes from, what is done with it here, and
// its text as written, with its examples. ok is false when there is no such
// rule.
func (r *Rules) Show(dir, name string) (text string, ok bool) {
	var b strings.Builder
	for _, info := range r.List(dir) {
		if info.Name != name {
			continue
		}
		fmt.Fprintf(&b, "# %s\n# from %s; action %s; context %s\n", info.Name, oneLine(info.Source), info.Action, info.Context)
		if info.Disabled != "" {
			fmt.Fprintf(&b, "# not in force: %s\n", info.Disabled)
		}
		if info.Message != "" {
			fmt.Fprintf(&b, "# %s\n", oneLine(info.Message))
		}
		b.WriteString(r.written(info) + "\n")
	}
	return b.String(), b.Len() > 0
}

// written returns a rule's own lines of its file.
func (r *Rules) written(info RuleInfo) string {
	var data []byte
	var f *ruleFile
	if pack, ok := strings.CutPrefix(info.Source, "built-in:"); ok {
		var err error
		if data, err = PackYAML(pack); err != nil {
			return ""
		}
		f, _ = parsePack(pack, data)
	} else {
		var err error
		if data, err = files.ReadRegular(info.Source, MaxFileSize); err != nil {
			return "# (the file cannot be read now; its last good version is in force)"
		}
		f, _ = parseRules(info.Source, data, fromUser)
	}
	if f == nil {
		return "# (the file has changed and is broken; its last good version is in force)"
	}
	lines := strings.Split(string(data), "\n")
	for _, x := range f.rules {
		if x.name == info.Name && x.node.first >= 1 && x.node.first <= len(lines) {
			return strings.TrimRight(strings.Join(lines[x.node.first-1:min(x.node.last, len(lines))], "\n"), "\n")
		}
	}
	return ""
}

// RuleFiles returns where rules files may be for commands in dir, in order of
// loading: the system's, the user's, and the repository's from its root down.
func RuleFiles(p config.Paths, dir string) []string {
	r := &Rules{o: Options{Paths: p}, repos: map[string][]*source{}, dirs: map[string]dirInfo{}}
	out := []string{p.System, p.Rules}
	top := r.gitTopOf(dir)
	if top == "" {
		top = dir
	}
	for _, d := range between(top, dir) {
		if f := filepath.Join(d, ".safeshell", "rules.yaml"); !r.isGlobal(f) && d+"/.safeshell" != p.Home {
			out = append(out, f)
		}
	}
	return out
}
