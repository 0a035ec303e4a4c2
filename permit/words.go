package permit

import "slices"

// bashWords are bash's builtins (compgen -b).
var bashWords = []string{
	".", ":", "[", "alias", "bg", "bind", "break", "builtin", "caller", "cd",
	"command", "compgen", "complete", "compopt", "continue", "declare", "dirs",
	"disown", "echo", "enable", "eval", "exec", "exit", "export", "false", "fc",
	"fg", "getopts", "hash", "help", "history", "jobs", "kill", "let", "local",
	"logout", "mapfile", "popd", "printf", "pushd", "pwd", "read", "readarray",
	"readonly", "return", "set", "shift", "shopt", "source", "suspend", "test",
	"times", "trap", "true", "type", "typeset", "ulimit", "umask", "unalias",
	"unset", "wait",
}

// dashWords are the builtins that every POSIX sh of today has; zsh's and dash's
// further ones are in their own lists.
var (
	dashWords = []string{"local", "hash", "type", "ulimit", "times", "kill", "fg", "bg", "jobs", "alias", "unalias", "echo", "printf", "test", "["}
	zshWords  = []string{
		"-", "autoload", "bindkey", "bye", "chdir", "compadd", "emulate", "float", "functions", "getln",
		"integer", "limit", "noglob", "nocorrect", "print", "pushln", "r", "rehash", "sched", "setopt",
		"ttyctl", "unfunction", "unhash", "unlimit", "unsetopt", "vared", "whence", "where", "which",
		"zcompile", "zle", "zmodload", "zparseopts", "zstyle",
	}
)

// posixWords are builtins of every POSIX shell.
var posixWords = []string{
	".", ":", "break", "cd", "command", "continue", "eval", "exec", "exit", "export", "false", "getopts",
	"pwd", "read", "readonly", "return", "set", "shift", "trap", "true", "umask", "unset", "wait",
}

// isShellWord reports whether a shell performs a word itself.
func isShellWord(shell, name string) bool {
	switch shell {
	case "bash":
		return slices.Contains(bashWords, name)
	case "zsh":
		return slices.Contains(zshWords, name) || slices.Contains(bashWords, name) && !slices.Contains([]string{"compgen", "complete", "compopt", "help", "mapfile", "readarray", "shopt", "caller", "bind"}, name)
	}
	return slices.Contains(posixWords, name) || slices.Contains(dashWords, name)
}
