package initscript

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// builtinsOf are the builtins of each shell (bash 5.2, zsh 5.9, fish 3.6, where
// umask, pushd and popd are functions, and dash for sh).
var builtinsOf = map[string]string{
	"bash": ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait",
	"zsh":  "- . : [ alias autoload bg bindkey break builtin bye cd chdir command compcall compctl continue declare dirs disable disown echo echotc echoti emulate enable eval exec exit export false fc fg float functions getln getopts hash history integer jobs kill let limit local log logout noglob popd print printf private pushd pushln pwd r read readonly rehash return sched set setopt shift source suspend test times trap true ttyctl type typeset ulimit umask unalias unfunction unhash unlimit unset unsetopt vared wait whence where which zcompile zformat zle zmodload zparseopts zregexparse zstyle",
	"fish": ". : [ abbr and argparse begin bg bind block break breakpoint builtin case cd command commandline complete contains continue count disown echo else emit end eval exec exit false fg for function functions history if jobs math not or path popd printf pushd pwd random read realpath return set set_color source status string switch test time true type ulimit umask wait while",
	"sh":   ". : [ alias bg break cd command continue echo eval exec exit export false fg getopts hash jobs kill local printf pwd read readonly return set shift test times trap true type ulimit umask unalias unset wait",
}

// functionOf lists the builtins in whose place a function changes nothing for
// the caller; tests compare each with the builtin itself.
var functionOf = map[string]string{
	"bash": "cd disown echo history kill mapfile popd printf pushd pwd read readarray test ulimit umask",
	"zsh":  "cd chdir disown echo kill popd print printf pushd pwd read test ulimit umask",
	"fish": "cd popd pushd ulimit umask",
}

// never are builtins that no function can stand for, by reason.
var never = []struct{ names, why string }{
	{"eval", "in a function its text would run in the function's scope (set --, local, return, break)"},
	{". source", "fish's autoloader calls it too, and what the file sets would become local"},
	{": break continue exec exit export readonly return set shift times trap unset", "it is a special builtin, which works on the scope or the process that it is called in"},
	{"alias declare float integer local private typeset", "the shell reads its arguments as assignments, for a function it would not"},
	{"caller getopts", "it works on the caller's own parameters or frame"},
	{"bg fg jobs logout suspend wait", "a job that is stopped would stop the function in its place too"},
}

// hasWord says whether a list of words has the word.
func hasWord(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

func isSource(name string) bool { return name == "source" || name == "." }

// Coverable says whether a rule that names a builtin can be enforced when a
// shell runs the builtin itself. why is the reason when it cannot, and the
// limits when it can; it is a clause for people. A name that is no builtin of
// the shell is covered by its shim.
//
// Where the builtin is not coverable, the text of a command is still judged by
// the agent's hook or the wrapper, and every program that the builtin starts by
// the shims.
func Coverable(builtin, shell string) (ok bool, why string) {
	switch {
	case !slices.Contains(Shells, shell):
		return false, fmt.Sprintf("nothing is known of the shell %q", shell)
	case !hasWord(builtinsOf[shell], builtin):
		return true, "it is no builtin of " + shell + ": the shim of that name judges it"
	case shell == "sh":
		return false, "no way to override a builtin is safe in every POSIX shell"
	case hasWord(functionOf[shell], builtin):
		why = "by a function, in a " + shell + " that reads its start-up files; `builtin " + builtin + "` goes past it"
		if shell == "bash" {
			why += ", and there is none in posix mode"
		}
		return true, why
	case isSource(builtin) && shell != "fish":
		return true, "by an alias, in an interactive " + shell + " only; a file that is read without arguments sees none of the caller's"
	}
	for _, n := range never {
		if hasWord(n.names, builtin) {
			return false, n.why
		}
	}
	return false, "the shell's own functions use it all the time, or no test shows that a function in its place changes nothing"
}

// covered returns the builtins of the rules that get a function or alias in a
// shell, sorted, each once; source and . count as one.
func (p Params) covered(shell string) []string {
	var out []string
	for _, b := range p.Builtins {
		ok, _ := Coverable(b, shell)
		if !ok || !hasWord(builtinsOf[shell], b) {
			continue
		}
		if isSource(b) {
			b = p.sourceName()
		}
		out = append(out, b)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sourceName is the name under which a sourced file is judged: the one that
// the rules use.
func (p Params) sourceName() string {
	if slices.Contains(p.Builtins, "source") {
		return "source"
	}
	return "."
}

// gate is the file that the alias of source reads in a shell.
func (p Params) gate(shell string) string { return filepath.Join(p.Home, "gate."+shell) }

// alias returns the quoted value of the alias for source or the dot. The name
// goes along, because a file that is read without arguments has its caller's.
func (p Params) alias(shell, name string) string {
	builtin := `\builtin source `
	if shell == "bash" {
		builtin = `\source ` // see gate.bash
	}
	return quoteSh(builtin + quoteSh(p.gate(shell)) + " " + name)
}
