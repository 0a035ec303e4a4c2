package script

import (
	"strings"

	"safeshell/command"
)

// runnerTail finds the command in the arguments of development tools that run
// one: npx, uv run, bundle exec. at is 0 when there is none; code is set where
// it is given as text.
func runnerTail(name string, argv []Word) (at int, code *Word, ok bool) {
	spec := command.Of(name)
	sub, i := subcommand(argv, 1)
	switch name {
	case "npm":
		if sub == "explore" && i+3 < len(argv) && wordIs(argv[i+2], "--") {
			return i + 3, nil, true
		}
	case "nvm":
		if sub == "exec" && i+1 < len(argv) {
			at := skipOptions(argv, i+1, "")
			if at < len(argv) {
				// The version is left out where .nvmrc has it.
				if t, ok := argv[at].Text(); !ok || strings.Trim(t, "v0123456789.") == "" || strings.HasPrefix(t, "lts/") || t == "node" && at+1 < len(argv) || t == "default" || t == "system" || t == "stable" {
					at++
				}
			}
			return at, nil, true
		}
	case "pueue", "meta", "gita":
		if sub == "add" && name == "pueue" || sub == "exec" && name == "meta" || (sub == "super" || sub == "shell") && name == "gita" {
			at := skipOptions(argv, i+1, " -w --working-directory -d --delay -g --group -a --after -o --priority -l --label --include --exclude ")
			if at < len(argv) && wordIs(argv[at], "--") {
				at++
			}
			if at < len(argv) {
				w := join(argv[at:])
				return 0, &w, true
			}
		}
	case "salt-call":
		for j := 1; j+1 < len(argv); j++ {
			if t, _ := argv[j].Text(); t == "cmd.run" || t == "cmd.shell" || t == "cmd.run_all" || t == "cmd.run_stdout" {
				return 0, &argv[j+1], true
			}
		}
	case "pnpm", "yarn", "bun":
		if sub == "workspaces" || sub == "workspace" {
			// yarn workspaces foreach -A exec command, yarn workspace web exec command
			if at := afterWord(argv, i+1, "exec"); at > 0 {
				return runnerLine(&spec.Sub("exec").Line, spec, argv, at)
			}
		}
		if packageProgram(sub) {
			return i, nil, true
		}
	case "mise":
		if sub == "exec" || sub == "x" {
			return miseExec(argv, i+1)
		}
	case "uv":
		if sub == "tool" && i+1 < len(argv) && wordIs(argv[i+1], "run") {
			return runnerLine(&command.Of("uvx").Line, spec, argv, i+2)
		}
	case "nix":
		if sub == "run" && i+1 < len(argv) {
			// nix run flake#program -- arguments
			if t, ok := argv[i+1].Text(); ok && strings.Contains(t, "#") {
				if at := afterWord(argv, i+2, "--"); at > 0 && at < len(argv) {
					_, prog, _ := strings.Cut(t, "#")
					w := join(append([]Word{Lit(prog)}, argv[at:]...))
					return 0, &w, true
				}
			}
		}
	}
	if !spec.Is(command.Subcommands) {
		return runnerLine(&spec.Line, spec, argv, 1)
	}
	own := spec.Sub(sub)
	at, code, ok = runnerLine(&own.Line, spec, argv, i+1)
	if ok && name == "uv" && (hasWord(argv[i+1:min(max(at, i+1), len(argv))], "-m") || hasWord(argv[i+1:min(max(at, i+1), len(argv))], "--module")) {
		return 0, nil, true
	}
	return at, code, ok
}

// runnerLine reads the words from at on as a stanza says.
func runnerLine(line *command.Line, spec *command.Spec, argv []Word, at int) (int, *Word, bool) {
	if line.Runs == nil && line.Code == "" && line.Rest == "" {
		return 0, nil, false
	}
	dashes := line.Runs == nil || line.Runs.How&command.AfterDashes != 0
	for ; at < len(argv); at++ {
		t, ok := argv[at].Text()
		opt, value, has := strings.Cut(t, "=")
		switch {
		case !ok || len(t) < 2 || t[0] != '-':
			if !dashes {
				return at + line.Runs.Skip, nil, true
			}
		case t == "--" && line.Runs != nil:
			return at + 1, nil, true
		case command.Has(line.Rest, t):
			return at + 1, nil, true
		case command.Has(line.Code, opt) && has:
			w := Lit(value)
			return 0, &w, true
		case command.Has(line.Code, t) && at+1 < len(argv):
			return 0, &argv[at+1], true
		case command.Has(line.Options, t) || spec.Takes(t):
			at++
		}
	}
	return 0, nil, true
}

// packageProgram names programs of packages, installed with a project, that
// delete or run others: yarn, pnpm and bun run them without exec.
func packageProgram(name string) bool {
	switch name {
	case "rimraf", "del-cli", "del", "shx", "cross-env", "dotenv", "env-cmd":
		return true
	}
	return false
}

// afterWord returns the index after a word; 0 when it is not there.
func afterWord(argv []Word, at int, word string) int {
	for ; at < len(argv); at++ {
		if wordIs(argv[at], word) {
			return at + 1
		}
	}
	return 0
}

// subcommand returns the first operand and its index.
func subcommand(argv []Word, at int) (string, int) {
	for ; at < len(argv); at++ {
		t, ok := argv[at].Text()
		if !ok {
			return "", at
		}
		if !strings.HasPrefix(t, "-") {
			return t, at
		}
		switch t {
		case "-C", "--dir", "--prefix", "--filter", "-F", "--cwd", "--directory", "--project", "-p", "--color", "--cache-dir", "--config-file", "-w", "--workspace":
			at++
		}
	}
	return "", at
}

// skipOptions returns the index of the first operand; takes lists the options
// with a separate value, each between spaces.
func skipOptions(argv []Word, at int, takes string) int {
	for ; at < len(argv); at++ {
		t, ok := argv[at].Text()
		if ok && t == "--" {
			return at + 1
		}
		if !ok || len(t) < 2 || t[0] != '-' {
			return at
		}
		if strings.Contains(takes, " "+t+" ") {
			at++
		}
	}
	return at
}

// miseExec reads mise exec tool@1 -- command, and -c code.
func miseExec(argv []Word, at int) (int, *Word, bool) {
	for ; at < len(argv); at++ {
		t, ok := argv[at].Text()
		switch {
		case ok && t == "--":
			return at + 1, nil, true
		case ok && (t == "-c" || t == "--command") && at+1 < len(argv):
			return 0, &argv[at+1], true
		case ok && (t == "-C" || t == "--cd" || t == "-E" || t == "--env" || t == "-j" || t == "--jobs"):
			at++
		case ok && (strings.HasPrefix(t, "-") || strings.Contains(t, "@")):
		default:
			// mise exec node command: without -- tools need a version.
			return at, nil, true
		}
	}
	return 0, nil, true
}
