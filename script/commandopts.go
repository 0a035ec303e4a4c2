package script

import "strings"

// Options whose value is a command line, and programs that start one in a way
// that no other table describes. Sources: the programs' manual pages and --help.

// commandOptions names the options of a program whose value a shell reads;
// away is set where that shell is on another machine.
func commandOptions(name string) (opts string, away bool) {
	switch name {
	case "doppler":
		return " --command ", false
	case "bazel", "bazelisk":
		return " --run_under ", false
	case "fly", "flyctl":
		return " -C --command ", true
	case "aws":
		return " --command ", true
	case "cf", "et":
		return " -c --command ", true
	}
	return "", false
}

// optionValues calls f with the values of options, each of which stands
// between spaces in opts: --opt value and --opt=value.
func optionValues(argv []Word, opts string, f func(Word)) {
	for j := 1; j < len(argv); j++ {
		w := argv[j]
		if len(w.Parts) == 0 || w.Parts[0].Kind != Literal || !strings.HasPrefix(w.Parts[0].Text, "-") {
			continue
		}
		opt, _, has := strings.Cut(w.Parts[0].Text, "=")
		if !strings.Contains(opts, " "+opt+" ") {
			continue
		}
		if has {
			f(trimWord(w, len(opt)+1))
		} else if len(w.Parts) == 1 && j+1 < len(argv) {
			f(argv[j+1])
			j++
		}
	}
}

// optionCommands follows the programs of commandOptions.
func (a *analyzer) optionCommands(k *call, i int, name string) {
	opts, away := commandOptions(name)
	optionValues(k.argv, opts, func(w Word) {
		c, st, d := k.typed(name), a.child(k), POSIX
		if away {
			c, _ = k.away(name, name)
			c.sink, c.stdin, c.fedBy = nil, nil, nil
			st, d = awayState(), Bash
		}
		a.codeWord(w, d, st, c, "the command given to "+name)
	})
	if name == "doppler" {
		a.afterDashes(k, i, name)
	}
}

// spawn runs a program with the arguments from at on, as name starts it.
func (a *analyzer) spawn(k *call, at int, name string, program ...Word) {
	t := *k
	t.argv = append(append([]Word(nil), program...), k.argv[min(at, len(k.argv)):]...)
	t.c, t.outside, t.tail = k.typed(name), true, 0
	t.redirs, t.keyword, t.fn = nil, false, false
	if len(t.argv) > 0 {
		a.run(&t)
	}
}

// launcher follows programs that take the program and its arguments apart.
func (a *analyzer) launcher(k *call, i int, name string) {
	k.c.sink.lose()
	sub, at := subcommand(k.argv, 1)
	switch name {
	case "capsh": // -- hands the rest to bash
		for j := 1; j < len(k.argv); j++ {
			if wordIs(k.argv[j], "--") || wordIs(k.argv[j], "==") {
				a.spawn(k, j+1, name, Lit("bash"))
				return
			}
		}
	case "flatpak":
		if sub == "run" {
			entry := Word{}
			optionValues(k.argv, " --command ", func(w Word) { entry = w })
			if at = skipOptions(k.argv, at+1, " --command "); len(entry.Parts) > 0 {
				a.spawn(k, at+1, name+" run", entry)
			}
		}
	case "snap":
		if sub == "run" && hasWord(k.argv, "--shell") {
			a.spawn(k, skipOptions(k.argv, at+1, "")+1, name+" run", Lit("bash"))
		}
	case "start-stop-daemon":
		optionValues(k.argv, " -x --exec -a --startas ", func(w Word) {
			for j := 1; j < len(k.argv); j++ {
				if wordIs(k.argv[j], "--") {
					a.spawn(k, j+1, name, w)
					return
				}
			}
			a.spawn(k, len(k.argv), name, w)
		})
	case "gdb", "lldb", "rr", "gdbserver", "cgdb":
		for j := 1; j < len(k.argv); j++ {
			if t, _ := k.argv[j].Text(); t == "--args" || t == "-args" || t == "--" {
				a.tailAt(k, i, j+1, name)
				return
			}
		}
	case "just":
		for j := 1; j < len(k.argv); j++ {
			if t, _ := k.argv[j].Text(); t == "-c" || t == "--command" {
				a.tailAt(k, i, j+1, name)
				return
			}
		}
	case "start-server-and-test", "server-test", "start-test":
		for _, w := range k.argv[1:] {
			if t, _ := w.Text(); strings.Contains(t, " ") { // else the name of a script, or an address
				a.codeWord(w, POSIX, a.child(k), k.typed(name), "the command given to "+name)
			}
		}
	case "mvn", "mvnw":
		a.mavenExec(k, name)
	}
}

// mavenExec follows the exec plugin: -Dexec.executable and -Dexec.args.
func (a *analyzer) mavenExec(k *call, name string) {
	var line []Word
	for _, key := range []string{"-Dexec.executable=", "-Dexec.args=", "-Dexec.commandlineArgs="} {
		for _, w := range k.argv[1:] {
			if len(w.Parts) > 0 && w.Parts[0].Kind == Literal && strings.HasPrefix(w.Parts[0].Text, key) {
				line = append(line, trimWord(w, len(key)))
			}
		}
		if len(line) == 0 {
			return
		}
	}
	a.codeWord(join(line), POSIX, a.child(k), k.typed(name), "the command given to "+name)
}

// guessOptions looks, in the options of a program that is not known, for a
// value that is a command line: mytool -c 'git reset --hard'.
func (a *analyzer) guessOptions(k *call, name string) {
	if k.guess || k.c.guess {
		return
	}
	const opts = " -c -C -e -x --cmd --command --exec --execute --run --shell --script --eval --on-change --before --after --pre --post --hook "
	optionValues(k.argv, opts, func(w Word) {
		if t, ok := w.Text(); ok && holdsDestructive(t) {
			c := k.typed(name)
			c.guess = true
			a.codeWord(w, POSIX, a.child(k), c, "the command given to "+name)
		}
	})
}

// holdsDestructive reports whether a text, read as simple commands, names a
// program that commonly destroys.
func holdsDestructive(t string) bool {
	for _, part := range strings.FieldsFunc(t, func(r rune) bool { return strings.ContainsRune(";&|\n()", r) }) {
		f := strings.Fields(part)
		if len(f) < 2 {
			continue
		}
		args := make([]Word, 0, len(f)-1)
		for _, s := range f[1:] {
			args = append(args, Lit(s))
		}
		if destructive(base(f[0]), firstOperand(args), args) {
			return true
		}
	}
	return false
}
