package cli

import (
	"go/doc/comment"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Page is what --help and the manual say of a command beside its grammar.
type Page struct {
	// Detail is text in paragraphs; what is typed stands in backquotes.
	Detail string
	// Exit says the exit codes that tell more than that it failed (1) or was
	// called wrongly (2).
	Exit string
	// Examples are command lines, each below what it is for.
	Examples []Example
	// Files and Environment name lines of Files and Environment, apart by spaces.
	Files, Environment string
	// See are other commands, apart by spaces.
	See string
}

// Example is a command line that a reader can take over.
type Example struct{ For, Line string }

const (
	exitAnswered = "0 answered, 1 not, 2 it does not say which of them, or none waits, 126 refused: an answer is for the user at a terminal alone."
	exitHealthy  = "0 nothing is wrong, 1 something is."
)

// manual has the page of each command, by its words; "" is safeshell itself.
var manual = map[string]Page{
	"": {
		Detail: "Each command that an AI agent runs is judged by rules before it runs: allowed, redirected (`rm` goes to a trash), held until you answer in another terminal, or denied with a reason that the agent can act on. There is no daemon: shims in front of PATH, hooks of the agents, a wrapper for shells, and functions for builtins all ask the same rules, and you are asked once.\n\n" +
			"To begin: `safeshell init` sets up your shells, `safeshell watch` in another terminal is where you answer, `safeshell agents install` guards the agents on this machine, `safeshell doctor` shows that it works.\n\n" +
			"It guards against mistakes, not against malice: an agent runs as the same user as you.\n\n" +
			"As a shell, `safeshell -c` and `safeshell-wrapper` judge a command line and then let the configured shell (`delegate_shell`) take their place, with the options of a shell: `-l`, `-i`, `-lc`. `SHELL=safeshell-wrapper`, or `~/.safeshell/shell/bash` for tools that insist on a name, makes a tool use it.",
		Exit:        "126 stopped by safeshell, 127 no such command, 2 a wrong call, 1 another failure; otherwise that of the command which ran.",
		Files:       "config.yaml rules.yaml /etc/safeshell/rules.yaml .safeshell/rules.yaml .safeshell/permissions.yaml shims shell spool trust grants journal.jsonl Trash",
		Environment: "SAFESHELL_HOME SAFESHELL_SPOOL SAFESHELL_CONTEXT NO_COLOR XDG_DATA_HOME",
		Examples: []Example{
			{"Guard one shell only, without touching any file", `eval "$(safeshell init -)"`},
			{"See what would happen to a command", `safeshell check -- 'git push --force'`},
			{"Judge a line, then run it", `safeshell -c 'git status'`},
		},
	},
	"init": {
		Detail: "Each start-up file gets one marked block, which sources a static file; no process is started for it. It shows the files and asks first, is safe to repeat, and `--undo` takes it out byte for byte. With `-` it prints what a shell is to evaluate: bash, zsh, fish, sh or PowerShell.",
		Files:  "startup rules.yaml shims", Environment: "SAFESHELL_HOME", See: "refresh doctor uninstall",
		Examples: []Example{
			{"Set up all shells of this user without a question", "safeshell init --yes"},
			{"In fish", "safeshell init - --shell fish | source"},
			{"In PowerShell", "safeshell init - --shell pwsh | Out-String | Invoke-Expression"},
			{"Take it out again", "safeshell init --undo"},
		},
	},
	"refresh": {
		Detail: "To be run after a change of the rules: each command that a rule names gets a shim, where it is installed. What is installed later gets its own at the next prompt or guarded command.",
		Files:  "shims rules.yaml", See: "rules which",
		Examples: []Example{{"After rules.yaml was edited", "safeshell refresh"}},
	},
	"watch": {
		Detail: "To be run in a terminal of your own. 1 allows once, 2 for the rest of the session, 3 always, 4 denies; `?` shows the other keys. Without a monitor a command that is to be asked about is denied at once. What waits is shown with every rule that it meets, what it would lose and who asks. Answers are taken from a terminal only, never from the agent that asked.",
		Files:  "config.yaml spool", Environment: "NO_COLOR", See: "pending approve deny log",
		Examples: []Example{{"For a screen reader", "safeshell watch --plain"}},
	},
	"pending": {
		See:      "watch approve deny",
		Files:    "spool",
		Examples: []Example{{"As JSON, one object a line", "safeshell pending --json"}},
	},
	"approve": {
		Detail: "Without an ID the only one that waits is meant; any beginning or end of an ID that only one has suffices. It is for a person at a terminal.",
		Exit:   exitAnswered, See: "pending deny grants",
		Examples: []Example{{"The only one that waits, once", "safeshell approve"}, {"One of several, for the rest of the session", "safeshell approve h3k9x2 --session"}},
	},
	"deny": {
		Exit: exitAnswered, See: "pending approve",
		Examples: []Example{{"With what to do instead", `safeshell deny --reason 'use a feature branch'`}},
	},
	"check": {
		Detail: "Says the verdict, the rule, why, what would be lost and what to do instead, for a person and for an agent. Nothing runs and nobody is asked. A command line with quotes or operators is one argument.",
		Exit:   "0 it would run (allowed, or redirected), 1 it would be stopped, 2 an error.",
		Files:  "rules.yaml /etc/safeshell/rules.yaml .safeshell/rules.yaml", Environment: "SAFESHELL_CONTEXT", See: "rules exec",
		Examples: []Example{
			{"As for an agent", `safeshell check --context ai -- 'rm -rf src && git push --force'`},
			{"For a script", "safeshell check --json -- git commit -m wip"},
		},
	},
	"exec": {
		Detail: "The command takes the place of safeshell: the same process, terminal, signals and environment.",
		Exit:   "126 stopped by safeshell, 127 no such command, 2 a wrong call; otherwise that of the command.", See: "check run",
		Examples: []Example{{"Judge and run git", "safeshell exec -- git status"}},
	},
	"trash": {
		Detail: "The trash follows the FreeDesktop.org specification: file managers and trash-cli show and restore the same items. One call of `rm` is one group, which is restored together. Items are kept for 30 days (`trash.keep_days`), and nothing younger than a day is ever evicted.",
		Files:  "Trash config.yaml", Environment: "XDG_DATA_HOME", See: "log",
	},
	"trash put": {
		Detail:   "Takes the options of GNU `rm` and answers as it does. `/`, home directories, mount points and what the system needs are refused.",
		Examples: []Example{{"What rm does where safeshell is on", "safeshell trash put -rf src"}},
	},
	"trash list":    {Examples: []Example{{"What was deleted in the last two hours, with sizes", "safeshell trash list --since 2h --size"}}},
	"trash restore": {Detail: "A name or path means its newest item. Nothing is overwritten without `--overwrite`.", Examples: []Example{{"All of the last rm call", "safeshell trash restore --last"}, {"One by its name, to another place", "safeshell trash restore notes.txt --to /tmp"}}},
	"trash purge":   {Examples: []Example{{"What is older than two weeks, as a trial", "safeshell trash purge --older 14d --dry-run"}}},
	"log": {
		Detail: "One line each: when, what became of it, the command, the rule, who and how long it waited. Secrets are masked. What shells' prompts run is folded into one line.",
		Files:  "journal.jsonl", Environment: "NO_COLOR", See: "watch trash",
		Examples: []Example{
			{"What was stopped today", "safeshell log --since 24h --verdict deny,refused"},
			{"Follow one agent", "safeshell log --follow --agent claude-code"},
		},
	},
	"rules": {
		Detail: "Rules are YAML: the built-in packs, then `/etc/safeshell/rules.yaml`, yours, and those of the repository, which can only add restrictions. All are added together and the most restrictive that matches wins. docs/rules.md has the schema.",
		Files:  "rules.yaml /etc/safeshell/rules.yaml .safeshell/rules.yaml", See: "check refresh trust",
		Examples: []Example{{"A first rule of your own", "cat >>~/.safeshell/rules.yaml <<'EOF'\nrules:\n  - name: no-force-on-release\n    commands: [git]\n    match: {subcommand: [push], flags: [--force, -f], args: '^release/'}\n    action: deny\n    message: \"Release branches are never rewritten.\"\nEOF\nsafeshell rules lint && safeshell refresh"}},
	},
	"rules show": {Examples: []Example{{"Where a rule comes from, and what it says", "safeshell rules show block-commit-protected"}}},
	"rules test": {Exit: "0 all hold, 1 some do not."},
	"trust": {
		Detail: "Rules of a repository that run code (bash conditions, redirects) and its lists of permitted commands wait until a person trusts exactly this content; a change asks anew.",
		Files:  ".safeshell/rules.yaml .safeshell/permissions.yaml trust", See: "untrust rules permit",
		Examples: []Example{{"After the files were read", "safeshell trust ."}},
	},
	"untrust": {Files: "trust", See: "trust"},
	"grants": {
		Detail: "What was answered with session or always holds for exactly that command, directory and rule.",
		Files:  "grants", See: "approve watch",
	},
	"grants revoke": {Examples: []Example{{"Be asked again about everything", "safeshell grants revoke --all"}}},
	"permit": {
		Detail: "A script that an agent writes declares every external command before its first line of work; all that is not permitted is reported at once. docs/permit.md has the lists and who may add to them.",
		Files:  "config.yaml .safeshell/permissions.yaml", See: "run mcp trust",
	},
	"permit check": {Exit: "0 all may be declared, 1 some may not, 2 an error.", Examples: []Example{{"Before a script is written", "safeshell permit check --json curl cargo ./scripts/build.sh"}}},
	"permit allow": {Examples: []Example{{"For all scripts of this project", "safeshell permit allow curl"}}},
	"permit retry": {Exit: "126 nothing has run, 2 a wrong call; otherwise that of what goes on.", Examples: []Example{{"Once, as the user chose", "safeshell permit retry rt1 --choice 1"}}},
	"run": {
		Detail: "The script's first command is `initcmds` with the commands that it needs. The shell of its first line takes the place of safeshell; PATH holds what was declared alone, and where the kernel has Landlock it executes nothing else and writes only below the project and in temporary directories.",
		Exit:   "126 stopped by safeshell, 127 no such script or command, 2 a wrong call; otherwise that of the script. With --explain 1 means that it would be stopped.",
		Files:  "config.yaml .safeshell/permissions.yaml", See: "permit mcp",
		Examples: []Example{{"What would be permitted and enforced", "safeshell run --explain release.sh"}, {"With a time limit", "safeshell run --time-limit 10m release.sh v1.2"}},
	},
	"hook": {
		Detail: "Agents call it: `safeshell agents install` writes it into their configuration. Allow is silence; a failure of safeshell blocks.",
		Exit:   "What the agent expects: docs/agents has each.", See: "agents",
	},
	"agents": {
		Detail: "A hook has the agent ask safeshell before it runs a command. docs/agents has a page for each: what it covers, and what it cannot.",
		See:    "hook doctor",
	},
	"agents install": {Examples: []Example{{"All that are on this machine", "safeshell agents install"}, {"One, for this project alone", "safeshell agents install claude-code --project"}}},
	"agents doctor":  {Exit: exitHealthy},
	"mcp": {
		Detail:   "Lets an agent run whole scripts whose commands were permitted before their first line. docs/mcp.md has the tools.",
		See:      "permit run",
		Examples: []Example{{"Name it to Claude Code", "claude mcp add safeshell -- safeshell mcp"}},
	},
	"status": {Exit: "0 all is on, 1 something is off.", Environment: "NO_COLOR", See: "doctor"},
	"doctor": {
		Detail: "Looks at shells, PATH, shims, rules, hooks, the trash and versions, and fires probes that must be denied. Each finding names the command that mends it.",
		Exit:   exitHealthy, Environment: "NO_COLOR", See: "status agents",
	},
	"which":      {Examples: []Example{{"The git that the shim leads to", "safeshell which git"}}},
	"completion": {Detail: "Packages install them as files; this is for where they did not.", Examples: []Example{{"In .bashrc; for zsh the same in .zshrc, after compinit", `eval "$(safeshell completion bash)"`}, {"In config.fish", "safeshell completion fish | source"}}},
	"uninstall": {
		Detail: "Takes safeshell's blocks out of the shells' start-up files, its hooks out of the agents' configuration, and its links, completions and caches out of your home directory: byte for byte where nothing else was changed since, else just what is safeshell's. It shows a list first, and what waits for an answer is refused.\n\n" +
			"Rules, journal and remembered answers stay in `~/.safeshell`, and the trash stays, unless `--purge` is given. What stands in the way is named with the command that mends it, and the rest is done; then run it again. At the end it says what removes the program itself.",
		Exit:  "0 it is out, or there was nothing to do, 1 not all of it, 126 refused: a person at a terminal does this alone.",
		Files: "startup", See: "init agents",
		Examples: []Example{{"All of it, with rules, journal and trash, without a question", "safeshell uninstall --purge --yes"}},
	},
	"version": {See: "doctor"},
}

// Line is one of the manual's lists: what pages call it, its name, what it does.
type Line struct{ Key, Name, Does string }

// Files are what safeshell reads and writes, by the names that pages give.
var Files = []Line{
	{"config.yaml", "~/.safeshell/config.yaml", "The configuration; docs/configuration.md has the keys."},
	{"rules.yaml", "~/.safeshell/rules.yaml", "Your rules, overrides of built-in ones, and the packs that are on."},
	{"/etc/safeshell/rules.yaml", "/etc/safeshell/rules.yaml", "Rules for all users."},
	{".safeshell/rules.yaml", ".safeshell/rules.yaml", "Rules of a repository, which only add restrictions; those that run code wait for `safeshell trust`."},
	{".safeshell/permissions.yaml", ".safeshell/permissions.yaml", "What scripts of a repository may declare, once it is trusted."},
	{"startup", "~/.bashrc, ~/.profile, ~/.zshrc and others", "Start-up files; docs/shell-setup.md lists them. They have a marked block; `~/.safeshell/backup` has them as they were."},
	{"shims", "~/.safeshell/shims", "A link for each guarded command, first in PATH."},
	{"shell", "~/.safeshell/shell", "Links for tools that insist on a shell called bash, zsh or sh."},
	{"spool", "~/.safeshell/spool", "Requests and answers."},
	{"trust", "~/.safeshell/trust", "Hashes of trusted files of repositories."},
	{"grants", "~/.safeshell/grants", "Remembered answers."},
	{"journal.jsonl", "~/.safeshell/log/journal.jsonl", "One line for each decision."},
	{"Trash", "~/.local/share/Trash", "The trash; on other filesystems `.Trash-UID` in their top directory."},
}

// Environment are the variables that safeshell goes by.
var Environment = []Line{
	{"SAFESHELL_HOME", "SAFESHELL_HOME", "Where safeshell keeps its files instead of `~/.safeshell`; an absolute path."},
	{"SAFESHELL_SPOOL", "SAFESHELL_SPOOL", "Where requests and answers are kept: a directory on a local disk."},
	{"SAFESHELL_CONTEXT", "SAFESHELL_CONTEXT", "`ai`: judge as for an agent. `human` never overrules an agent's own marker."},
	{"NO_COLOR", "NO_COLOR, CLICOLOR_FORCE", "No colours; colours also where the output is no terminal."},
	{"XDG_DATA_HOME", "XDG_DATA_HOME", "Where the home trash is, instead of `~/.local/share`."},
}

// ManualPage returns the page of a command, by its words.
func ManualPage(command string) Page { return manual[command] }

// Model returns the grammar, for what is made from it.
func Model() (*kong.Application, error) {
	k, err := newParser(io.Discard, io.Discard, func(int) {})
	if err != nil {
		return nil, err
	}
	return k.Model, nil
}

// document joins what the manual says to the grammar's nodes.
func document(n *kong.Node) {
	// The program's own help is what it can do, on one screen.
	if page := manual[n.Path()]; page.Detail != "" && n.Parent != nil {
		n.Detail = page.Detail
	}
	for _, ch := range n.Children {
		document(ch)
	}
}

// end is what --help says below the options.
func (p Page) end() string {
	var b strings.Builder
	if len(p.Examples) > 0 {
		b.WriteString("\nExamples:\n")
	}
	for _, e := range p.Examples {
		b.WriteString("\n  # " + e.For + "\n  " + strings.ReplaceAll(e.Line, "\n", "\n  ") + "\n")
	}
	if p.Exit != "" {
		b.WriteString("\n" + wrapped("Exit code: "+p.Exit))
	}
	return b.String()
}

// wrapped breaks a text into lines.
func wrapped(text string) string {
	return string((&comment.Printer{TextWidth: 80}).Text(new(comment.Parser).Parse(text)))
}
