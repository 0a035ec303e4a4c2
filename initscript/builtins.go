package initscript

import (
	"fmt"
	"path/filepath"
	"slices"
)

// functionOf lists the builtins in whose place a function changes nothing for
// the caller, per shell; tests compare each with the builtin itself.
var functionOf = map[string][]string{
	"bash": {"cd", "disown", "echo", "history", "kill", "mapfile", "popd", "printf", "pushd", "pwd", "read", "readarray", "test", "ulimit", "umask"},
	"zsh":  {"cd", "chdir", "disown", "echo", "kill", "popd", "print", "printf", "pushd", "pwd", "read", "test", "ulimit", "umask"},
	"fish": {"cd", "popd", "pushd", "ulimit", "umask"},
}

// others are builtins of bash, zsh or fish that are not overridden, by reason.
var others = []struct {
	why   string
	names []string
}{
	{"a function cannot stand for it: its text would run in the function's scope (set --, local, return, break)", []string{"eval"}},
	{"it is a special builtin, which works on the scope or the process that it is called in", []string{":", "break", "continue", "exec", "exit", "export", "readonly", "return", "set", "shift", "times", "trap", "unset"}},
	{"the shell reads its arguments as assignments, for a function it would not", []string{"alias", "declare", "float", "integer", "local", "typeset"}},
	{"it works on the caller's own parameters or frame", []string{"caller", "getopts"}},
	{"a job that is stopped would stop the function in its place too", []string{"bg", "fg", "jobs", "logout", "suspend", "wait"}},
	{"the shell's own functions and every condition use it", []string{"[", "[[", "false", "true"}},
	{"no test shows that a function in its place changes nothing", []string{"autoload", "bind", "bindkey", "builtin", "command", "compgen", "complete", "compopt", "dirs", "emulate", "enable", "disable", "fc", "functions", "hash", "help", "let", "limit", "noglob", "rehash", "sched", "setopt", "shopt", "status", "string", "type", "unalias", "unfunction", "unlimit", "unsetopt", "whence", "where", "which", "zmodload"}},
}

func isSource(name string) bool { return name == "source" || name == "." }

// Coverable says whether a rule that names a builtin can be enforced when a
// shell runs the builtin itself. why is the reason when it cannot, and the
// limits when it can; it is a clause for people.
//
// Where it is not, the text of a command is still judged by the agent's hook
// or the wrapper, and every program that the builtin starts by the shims.
func Coverable(builtin, shell string) (ok bool, why string) {
	switch {
	case !slices.Contains(Shells, shell):
		return false, fmt.Sprintf("nothing is known of the shell %q", shell)
	case !isBuiltin(builtin):
		return false, "it is no shell builtin: the shim of that name judges it"
	case shell == "sh":
		return false, "sh has no way to override a builtin that is safe in every POSIX shell"
	case isSource(builtin) && shell == "fish":
		return false, "fish's autoloader calls it too, and what the file sets would become local"
	case isSource(builtin):
		return true, "by an alias, in interactive " + shell + " only; a file that is read without arguments sees none of the caller's"
	case slices.Contains(functionOf[shell], builtin):
		why = "by a function, in a " + shell + " that reads its start-up files; `builtin " + builtin + "` goes past it"
		if shell == "bash" {
			why += ", and there is none in posix mode"
		}
		return true, why
	}
	for _, o := range others {
		if slices.Contains(o.names, builtin) {
			return false, o.why
		}
	}
	if shell == "fish" && builtin == "kill" {
		return false, "it is no builtin of fish: the shim of that name judges it"
	}
	return false, "it is no builtin of " + shell + ", or " + shell + "'s own functions use it all the time"
}

// isBuiltin says whether the name is a builtin of some shell.
func isBuiltin(name string) bool {
	if isSource(name) {
		return true
	}
	for _, names := range functionOf {
		if slices.Contains(names, name) {
			return true
		}
	}
	for _, o := range others {
		if slices.Contains(o.names, name) {
			return true
		}
	}
	return false
}

// covered returns the builtins of the rules that get a function or alias in a
// shell, sorted, each once; source and . count as one.
func (p Params) covered(shell string) []string {
	var out []string
	for _, b := range p.Builtins {
		if ok, _ := Coverable(b, shell); !ok {
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

// gate is the file that the alias of source reads; bash and zsh share it.
func (p Params) gate() string { return filepath.Join(p.Home, "gate.sh") }

// alias returns the quoted value of the alias for source or the dot.
func (p Params) alias(name string) string {
	return quoteSh(`\builtin source ` + quoteSh(p.gate()) + " " + name)
}
