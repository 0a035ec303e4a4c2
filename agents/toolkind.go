package agents

import "strings"

// Tools are the tools of an agent by what they do: names as its hook is told
// them, separated by spaces. What is in none of the lists is not known.
type Tools struct {
	Runs     string // run their input as a command of a shell
	Types    string // type their input into a program that is running
	Reads    string // show files
	Writes   string // make files, or put new content in the place of the old
	Edits    string // change parts of files, and show them
	Deletes  string
	Searches string // show those lines of files that match
	Loads    string // load texts that hold commands (Claude Code's skills)
	Nothing  string // run no command and show or change no file: not matched
	// Behind are names by which only the model calls: the hook is told of each
	// call by a name above.
	Behind string
	// Unheard do one of the above, and no hook is told, or not what. The guide
	// names each under "Not covered".
	Unheard string
}

type toolKind uint8

const (
	unknownTool toolKind = iota
	idleTool             // known, and nothing to be judged
	runsTool
	typesTool
	readsTool
	writesTool
	editsTool
	deletesTool
	searchesTool
	loadsTool
)

// judged lists the names of tools that are judged, by kind.
func (t Tools) judged() []struct {
	names string
	kind  toolKind
} {
	return []struct {
		names string
		kind  toolKind
	}{
		{t.Runs, runsTool}, {t.Types, typesTool}, {t.Reads, readsTool}, {t.Edits, editsTool}, {t.Writes, writesTool},
		{t.Deletes, deletesTool}, {t.Searches, searchesTool}, {t.Loads, loadsTool},
	}
}

// Matched returns the names that a hook has to be told of.
func (t Tools) Matched() []string {
	var out []string
	for _, j := range t.judged() {
		out = append(out, strings.Fields(j.names)...)
	}
	return out
}

// Known says whether the table says what the tool does.
func (t Tools) Known(tool string) bool {
	return t.kind(tool, func(a, b string) bool { return a == b }) != unknownTool
}

// kind returns what the tool of that name does. same compares names.
func (t Tools) kind(tool string, same func(a, b string) bool) toolKind {
	has := func(names string) bool {
		for n := range strings.FieldsSeq(names) {
			if same(n, tool) {
				return true
			}
		}
		return false
	}
	for _, j := range t.judged() {
		if has(j.names) {
			return j.kind
		}
	}
	if has(t.Nothing) || has(t.Unheard) || has(t.Behind) {
		return idleTool
	}
	return unknownTool
}

// kindOf returns what a tool of an agent does. Agents run each other's hooks,
// and their names agree where they overlap: one that the agent itself is not
// known to have is looked for among the others.
func kindOf(agent, tool string) toolKind {
	own := Tools{}
	all := All()
	for _, a := range all {
		if a.Name == agent {
			own = a.Tools
		}
	}
	if k := own.kind(tool, func(a, b string) bool { return a == b }); k != unknownTool {
		return k
	}
	plain := plainTool(tool)
	for _, a := range all {
		if k := a.Tools.kind(tool, func(name, _ string) bool { return plainTool(name) == plain }); k > idleTool {
			return k
		}
	}
	return unknownTool
}

// plainTool leaves out of a tool's name in what spellings differ.
func plainTool(s string) string {
	s = strings.TrimPrefix(s, "developer__")
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}
