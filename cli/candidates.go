package cli

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"safeshell/agents"
	"safeshell/permit"
	"safeshell/shims"
	"safeshell/spool"
	"safeshell/trash"
)

// sources are where the values of options and arguments come from, by their tag
// "complete" in the grammar. Each gets what is typed of the value. Nothing is
// made for them, and what cannot be read is passed over.
var sources = map[string]func(a *app, typed string) []candidate{
	"agents":   func(*app, string) []candidate { return agentNames() },
	"callers":  func(*app, string) []candidate { return append(agentNames(), candidate{"human", "only people's"}) },
	"grants":   (*app).grantIDs,
	"pending":  (*app).pendingIDs,
	"permits":  (*app).permitted,
	"retries":  (*app).retryIDs,
	"rules":    (*app).ruleNames,
	"sessions": (*app).sessionIDs,
	"shells": func(*app, string) []candidate {
		return []candidate{{"bash", ""}, {"zsh", ""}, {"fish", ""}, {"sh", "any POSIX shell"}, {"pwsh", "PowerShell"}}
	},
	"script":         func(*app, string) []candidate { return []candidate{{"-", "print the script for eval"}} },
	"shims":          (*app).shimNames,
	"trash":          (*app).trashNames,
	"trash-groups":   (*app).trashGroups,
	"trash-sessions": (*app).trashSessions,
	"verdicts": func(*app, string) (list []candidate) {
		for _, v := range slices.Sorted(maps.Keys(verdicts)) {
			list = append(list, candidate{v, strings.Join(verdicts[v], ", ")})
		}
		return list
	},
}

func agentNames() (list []candidate) {
	for _, ag := range agents.All() {
		list = append(list, candidate{ag.Name, ag.Display})
	}
	return list
}

func (a *app) grantIDs(string) (list []candidate) {
	if a.open() != nil {
		return nil
	}
	gs, err := spool.OpenGrants(a.paths.Grants)
	if err != nil {
		return nil
	}
	all, _ := gs.List()
	for _, g := range all {
		list = append(list, candidate{g.ID, g.Command + " in " + a.tilde(g.Dir)})
	}
	return list
}

func (a *app) pendingIDs(string) (list []candidate) {
	if a.open() != nil {
		return nil
	}
	if _, err := os.Lstat(a.paths.Spool); err != nil {
		return nil // opening would make it
	}
	s, err := spool.Open(a.paths.Spool)
	if err != nil {
		return nil
	}
	all, _ := s.Pending()
	for i, id := range shortIDs(all) {
		list = append(list, candidate{id, cmp.Or(all[i].Agent, all[i].Context) + ": " + requestText(all[i].Request)})
	}
	return list
}

func (a *app) permitted(string) (list []candidate) {
	_, set, err := a.permitSet()
	if err != nil {
		return nil
	}
	for _, l := range set.List() {
		if l.Scope == permit.Session || l.Scope == permit.Always {
			list = append(list, candidate{l.Command, string(l.Scope)})
		}
	}
	return list
}

func (a *app) retryIDs(string) (list []candidate) {
	if a.open() != nil {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(a.paths.Home, "retries", "rt*.json"))
	store := permit.OpenRetries(a.paths)
	for _, f := range files {
		id := strings.TrimSuffix(filepath.Base(f), ".json")
		if r, err := store.Peek(id); err == nil {
			list = append(list, candidate{id, cmp.Or(r.File, string(r.Kind)) + ": " + strings.Join(r.Commands, " ")})
		}
	}
	return list
}

func (a *app) ruleNames(string) (list []candidate) {
	if a.open() != nil {
		return nil
	}
	r, _ := a.g.Rules()
	for _, info := range r.List(a.dir()) {
		list = append(list, candidate{info.Name, info.Action + ": " + info.Message})
	}
	for _, name := range slices.Sorted(maps.Keys(ownRules)) {
		list = append(list, candidate{name, ownRules[name]})
	}
	return list
}

// sessionIDs are those of the journal's end.
func (a *app) sessionIDs(string) (list []candidate) {
	if a.open() != nil {
		return nil
	}
	entries, _ := spool.OpenJournal(a.paths.Journal).Read(spool.ReadOptions{Limit: 2000, Keep: func(e *spool.Entry) bool { return e.Session != "" }})
	slices.Reverse(entries)
	for _, e := range entries {
		list = append(list, candidate{e.Session, cmp.Or(e.Agent, e.Context) + ", last " + e.Time.Local().Format("2006-01-02 15:04")})
	}
	return list
}

func (a *app) shimNames(string) (list []candidate) {
	if a.open() != nil {
		return nil
	}
	entries, _ := os.ReadDir(a.paths.Shims)
	for _, e := range entries {
		list = append(list, candidate{e.Name(), shims.Which(e.Name(), a.lookup)})
	}
	return list
}

// trashed lists the trash for candidates.
func (a *app) trashed() []trash.Item {
	if a.open() != nil {
		return nil
	}
	items, _ := trash.List(a.trashEnv())
	return items
}

// trashNames are names, each the newest item's; ids, where an id is being typed,
// and of what has no name that can be typed.
func (a *app) trashNames(typed string) (list []candidate) {
	var ids []candidate
	for _, it := range a.trashed() {
		name := filepath.Base(it.Path)
		about := a.tilde(it.Path) + ", " + it.Deleted.Format("2006-01-02 15:04")
		if it.Path == "" || strings.HasPrefix(name, "-") || visible(name) != name {
			list = append(list, candidate{it.ID, about})
			continue
		}
		list = append(list, candidate{name, about + ", " + it.ID})
		ids = append(ids, candidate{it.ID, about})
	}
	if typed != "" && !slices.ContainsFunc(list, func(c candidate) bool { return strings.HasPrefix(c.word, typed) }) {
		return ids
	}
	return list
}

func (a *app) trashGroups(string) (list []candidate) {
	for _, it := range a.trashed() {
		list = append(list, candidate{it.Group, it.Deleted.Format("2006-01-02 15:04") + " in " + a.tilde(it.Cwd)})
	}
	return list
}

func (a *app) trashSessions(string) (list []candidate) {
	for _, it := range a.trashed() {
		if len(list) == 0 {
			list = append(list, candidate{"last", "that of the newest item"})
		}
		list = append(list, candidate{it.Session, "last " + it.Deleted.Format("2006-01-02 15:04")})
	}
	return list
}

// tilde shortens a path in the home directory.
func (a *app) tilde(path string) string {
	if below, ok := strings.CutPrefix(path, a.paths.User+"/"); ok {
		return "~/" + below
	}
	return path
}
