package script

import "strings"

// runnerTail finds the command in the arguments of development tools that run
// one: npx, uv run, bundle exec. at is 0 when there is none; code is set where
// it is given as text.
func runnerTail(name string, argv []Word) (at int, code *Word, ok bool) {
	sub, i := subcommand(argv, 1)
	switch name {
	case "npx", "pnpx":
		return npx(argv, 1)
	case "bunx", "uvx":
		if name == "uvx" {
			return skipOptions(argv, 1, " -p --python --from --with --with-editable --with-requirements --index --index-url -i --default-index --extra-index-url --directory --project --cache-dir --env-file -c --constraints "), nil, true
		}
		return skipOptions(argv, 1, " -p --package "), nil, true
	case "npm":
		switch sub {
		case "exec", "x":
			return npx(argv, i+1)
		case "explore":
			if i+3 < len(argv) && wordIs(argv[i+2], "--") {
				return i + 3, nil, true
			}
		}
	case "tox":
		if sub == "exec" || sub == "e" {
			return afterWord(argv, i+1, "--"), nil, true
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
	case "fnm":
		if sub == "exec" {
			return skipOptions(argv, i+1, " --using --fnm-dir --node-dist-mirror --log-level --arch --version-file-strategy "), nil, true
		}
	case "volta":
		if sub == "run" {
			return skipOptions(argv, i+1, " --node --npm --pnpm --yarn --env "), nil, true
		}
	case "nx":
		if sub == "exec" {
			return afterWord(argv, i+1, "--"), nil, true
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
	case "guix", "devenv":
		if sub == "shell" || sub == "environment" {
			if at := afterWord(argv, i+1, "--"); at > 0 || name == "guix" {
				return at, nil, true
			}
			return i + 1, nil, true
		}
	case "pnpm", "yarn":
		if sub == "exec" || sub == "dlx" {
			return npx(argv, i+1)
		}
		if sub == "workspaces" || sub == "workspace" {
			// yarn workspaces foreach -A exec command, yarn workspace web exec command
			if at := afterWord(argv, i+1, "exec"); at > 0 {
				return npx(argv, at)
			}
		}
		if packageProgram(sub) {
			return i, nil, true
		}
	case "bun":
		if sub == "x" {
			return skipOptions(argv, i+1, " -p --package "), nil, true
		}
		if packageProgram(sub) {
			return i, nil, true
		}
		return 0, nil, false
	case "mise":
		if sub == "exec" || sub == "x" {
			return miseExec(argv, i+1)
		}
	case "asdf", "rbenv", "pyenv", "nodenv":
		if sub == "exec" {
			return i + 1, nil, true
		}
	case "bundle":
		if sub == "exec" {
			return skipOptions(argv, i+1, ""), nil, true
		}
	case "perf":
		if sub == "stat" || sub == "record" || sub == "trace" {
			return skipOptions(argv, i+1, " -e -o -p -t -C -F -c -r -D -I -x -G -M --event --output --repeat --delay --cgroup --metrics --count --freq "), nil, true
		}
	case "direnv":
		if sub == "exec" {
			return i + 2, nil, true
		}
	case "poetry", "pipenv", "pdm", "rye", "hatch":
		if sub == "run" {
			return skipOptions(argv, i+1, " -p --project -e --env "), nil, true
		}
	case "uv":
		if sub == "run" {
			at := skipOptions(argv, i+1, " -p --python --with --with-editable --with-requirements --extra --group --only-group --no-group --env-file --index --index-url -i --default-index --extra-index-url --directory --project --package -C --config-setting --refresh-package -P --upgrade-package --cache-dir --config-file --color --link-mode --resolution --prerelease ")
			if hasWord(argv[i+1:min(at, len(argv))], "-m") || hasWord(argv[i+1:min(at, len(argv))], "--module") {
				return 0, nil, true
			}
			return at, nil, true
		}
		if sub == "tool" && i+1 < len(argv) && wordIs(argv[i+1], "run") {
			return skipOptions(argv, i+2, " --from --with --python -p "), nil, true
		}
	case "pipx":
		if sub == "run" {
			return skipOptions(argv, i+1, " --spec --python --pip-args "), nil, true
		}
	case "conda", "mamba", "micromamba":
		if sub == "run" {
			return skipOptions(argv, i+1, " -n --name -p --prefix --cwd -r --root-prefix "), nil, true
		}
	case "rustup":
		if sub == "run" {
			return skipOptions(argv, i+1, "") + 1, nil, true
		}
	case "devbox":
		if sub == "run" {
			return skipOptions(argv, i+1, " -c --config -e --env --env-file --environment "), nil, true
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
		if sub == "develop" || sub == "shell" {
			for j := i + 1; j+1 < len(argv); j++ {
				if t, _ := argv[j].Text(); t == "-c" || t == "--command" {
					return j + 1, nil, true
				}
			}
		}
	case "nix-shell":
		for j := 1; j+1 < len(argv); j++ {
			if t, _ := argv[j].Text(); t == "--run" || t == "--command" {
				return 0, &argv[j+1], true
			}
		}
	}
	return 0, nil, false
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

// npx reads the options of npx and npm exec.
func npx(argv []Word, at int) (int, *Word, bool) {
	for ; at < len(argv); at++ {
		t, ok := argv[at].Text()
		switch {
		case !ok:
			return at, nil, true
		case t == "--":
			return at + 1, nil, true
		case t == "-c" || t == "--call" || t == "--shell-mode":
			if t != "--shell-mode" && at+1 < len(argv) {
				return 0, &argv[at+1], true
			}
		case strings.HasPrefix(t, "--call="):
			w := Lit(t[len("--call="):])
			return 0, &w, true
		case t == "-p" || t == "--package" || t == "-w" || t == "--workspace" || t == "--prefix" || t == "--userconfig" || t == "--cache":
			at++
		case len(t) > 1 && t[0] == '-':
		default:
			return at, nil, true
		}
	}
	return 0, nil, true
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
