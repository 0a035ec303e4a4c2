package script

import (
	"slices"
	"strings"
)

// git follows what git's own arguments make it run: aliases and pagers given
// with -c, submodule foreach, rebase --exec, bisect run and their kin.
func (a *analyzer) git(k *call, i int) {
	k.c.sink.lose()
	at := 1
	aliases := a.gitEnvironment(k)
	var options []Word // that say which repository
	for at < len(k.argv) {
		t, ok := k.argv[at].Text()
		if !ok {
			if p := k.argv[at].Parts[0]; p.Kind != Literal || !strings.HasPrefix(p.Text, "-") {
				break
			}
			at++
			continue
		}
		if len(t) < 2 || t[0] != '-' {
			break
		}
		at++
		switch t {
		case "-c":
			if at < len(k.argv) {
				aliases = a.gitConfig(k, k.argv[at], aliases)
			}
			at++
		case "--git-dir", "--work-tree", "--namespace":
			if options = append(options, k.argv[at-1]); at < len(k.argv) {
				options = append(options, k.argv[at])
			}
			at++
		case "-C", "--exec-path", "--super-prefix", "--attr-source", "--list-cmds":
			at++
		case "--config-env":
			at++
		}
		if strings.HasPrefix(t, "--git-dir=") || strings.HasPrefix(t, "--work-tree=") || t == "--bare" {
			options = append(options, k.argv[at-1])
		}
		if v, is := strings.CutPrefix(t, "--config-env="); is && strings.HasPrefix(v, "alias.") {
			a.unknown("a git alias comes from a variable", k.c.src, k.span)
		}
	}
	if at >= len(k.argv) {
		return
	}
	sub, ok := k.argv[at].Text()
	if !ok {
		return
	}
	for _, al := range aliases {
		if al[0] == sub {
			a.gitAlias(k, options, al[1], at+1, noDir())
		}
	}
	a.gitConfiguredAlias(k, options, sub, at+1)
	a.gitSub(k, i, sub, at+1)
}

// gitConfig looks at one -c name=value.
func (a *analyzer) gitConfig(k *call, w Word, aliases [][2]string) [][2]string {
	if len(w.Parts) == 0 || w.Parts[0].Kind != Literal {
		return aliases
	}
	key, val, ok := strings.Cut(w.Parts[0].Text, "=")
	low := strings.ToLower(key)
	full, known := w.Text()
	switch {
	case strings.HasPrefix(low, "alias."):
		if !known {
			a.unknown("the text of a git alias is not known", k.c.src, k.span)
			return aliases
		}
		_, val, _ = strings.Cut(full, "=")
		name := key[len("alias."):]
		name = strings.TrimSuffix(name, ".command")
		return append(aliases, [2]string{name, val})
	case !ok || val == "" && known:
	case low == "core.pager", low == "core.editor", low == "sequence.editor", low == "core.sshcommand", low == "core.askpass",
		low == "core.fsmonitor", low == "core.gitproxy", low == "diff.external", low == "interactive.difffilter", low == "gpg.program", low == "gpg.ssh.program",
		strings.HasPrefix(low, "pager."), strings.HasPrefix(low, "credential.") && strings.HasSuffix(low, "helper"), low == "credential.helper",
		strings.HasPrefix(low, "filter."), strings.HasPrefix(low, "difftool."), strings.HasPrefix(low, "mergetool."), strings.HasPrefix(low, "merge.") && strings.HasSuffix(low, ".driver"),
		strings.HasPrefix(low, "diff.") && (strings.HasSuffix(low, ".command") || strings.HasSuffix(low, ".textconv")), strings.HasPrefix(low, "uploadpack."), strings.HasPrefix(low, "gpg."),
		strings.HasPrefix(low, "browser."), strings.HasPrefix(low, "man."), strings.HasPrefix(low, "trailer."), low == "uploadpack.packobjectshook", strings.HasPrefix(low, "remote.") && (strings.HasSuffix(low, ".uploadpack") || strings.HasSuffix(low, ".receivepack") || strings.HasSuffix(low, ".vcs")):
		v := trimWord(w, len(key)+1)
		if known {
			t, _ := v.Text()
			t = strings.TrimPrefix(t, "!")
			switch t {
			case "true", "false", "yes", "no", "0", "1", "store", "cache", "osxkeychain", "manager", "manager-core", "libsecret", "required":
				return aliases
			}
			v = Lit(t)
		}
		c := k.inner("git -c " + low)
		c.sink, c.stdin, c.fedBy = nil, nil, nil
		a.codeWord(v, POSIX, a.child(k), c, "the command in git -c "+low)
	}
	return aliases
}

// gitEnvironment reads the configuration that variables in front of git give.
func (a *analyzer) gitEnvironment(k *call) (aliases [][2]string) {
	for _, key := range k.assigns {
		n, is := strings.CutPrefix(key.Name, "GIT_CONFIG_KEY_")
		name, known := key.Value.Text()
		if key.Name == "GIT_CONFIG_PARAMETERS" && known {
			words, _ := splitAlias(name)
			for _, w := range words {
				aliases = a.gitConfig(k, w, aliases)
			}
		}
		if !is || !known {
			continue
		}
		for _, val := range k.assigns {
			if val.Name == "GIT_CONFIG_VALUE_"+n {
				aliases = a.gitConfig(k, Word{Parts: merge(append([]Part{{Text: name + "="}}, val.Value.Parts...))}, aliases)
			}
		}
	}
	return aliases
}

// gitConfigured looks at git config name value: what git would run later.
// Aliases are left to the rules.
func (a *analyzer) gitConfigured(k *call, args []Word) {
	j := skipOptions(args, 0, " -f --file --blob --type --default --comment ")
	if j < len(args) && wordIs(args[j], "set") {
		j = skipOptions(args, j+1, " -f --file --blob --type --value --comment ")
	}
	if j+1 >= len(args) {
		return
	}
	if key, ok := args[j].Text(); ok && strings.Contains(key, ".") && !strings.HasPrefix(strings.ToLower(key), "alias.") && args[j+1].Known() {
		v, _ := args[j+1].Text()
		a.gitConfig(k, Lit(key+"="+v), nil)
	}
}

// gitAlias runs an alias: !code, which runs in the directory top, or words of
// git. options are those of git that say which repository.
func (a *analyzer) gitAlias(k *call, options []Word, text string, rest int, top Word) {
	if a.nest >= maxCode/2 {
		a.exhaust("too much code inside code to analyse")
		return
	}
	if code, is := strings.CutPrefix(text, "!"); is {
		c := k.inner("git")
		w := Lit(code)
		if rest < len(k.argv) {
			w.Parts = append(w.Parts, Part{Text: " \"$@\""})
		}
		st := a.child(k)
		st.params, st.paramsLost = k.argv[rest:], false
		st.dir = top
		w.Parts = merge(w.Parts)
		a.codeWord(w, POSIX, st, c, "a git alias")
		return
	}
	words, ok := splitAlias(text)
	if !ok || len(words) == 0 {
		a.unknown("a git alias is not understood: "+clip(text), k.c.src, k.span)
		return
	}
	t := *k
	t.argv = slices.Concat(k.argv[:1], options, words, k.argv[rest:])
	t.tail = 0
	c := *k.c
	c.via = append(c.via[:len(c.via):len(c.via)], "git")
	k.pass(&c)
	t.c, t.outside, t.keyword = &c, true, false
	a.nest++
	defer func() { a.nest-- }()
	a.program(&t, "git")
}

// splitAlias splits an alias as git does: blanks, quotes, backslashes.
func splitAlias(s string) (out []Word, ok bool) {
	var b strings.Builder
	has, quote := false, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if has {
				out = append(out, Lit(b.String()))
				b.Reset()
				has = false
			}
		case quote == 0 && (c == '"' || c == '\''):
			quote, has = c, true
		case c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
			has = true
		default:
			b.WriteByte(c)
			has = true
		}
	}
	if has {
		out = append(out, Lit(b.String()))
	}
	return out, quote == 0
}

// gitSub follows the subcommands that run commands.
func (a *analyzer) gitSub(k *call, i int, sub string, at int) {
	code := func(w Word, via string) {
		c := k.inner(via)
		c.sink, c.stdin, c.fedBy = nil, nil, nil
		a.codeWord(w, POSIX, a.child(k), c, "the command given to "+via)
	}
	args := k.argv[min(at, len(k.argv)):]
	value := func(j int, opt string) (Word, bool) {
		w := args[j]
		if len(w.Parts) == 0 || w.Parts[0].Kind != Literal {
			return Word{}, false
		}
		switch t := w.Parts[0].Text; {
		case t == opt && len(w.Parts) == 1 && j+1 < len(args):
			return args[j+1], true
		case strings.HasPrefix(t, opt+"="):
			return trimWord(w, len(opt)+1), true
		}
		return Word{}, false
	}
	switch sub {
	case "config":
		a.gitConfigured(k, args)
	case "submodule":
		j := skipOptions(args, 0, "")
		if j < len(args) && wordIs(args[j], "foreach") {
			j = skipOptions(args, j+1, "")
			if j < len(args) {
				c := k.inner("git submodule foreach")
				c.sink, c.stdin, c.fedBy, c.loop = nil, nil, nil, true
				st := a.child(k)
				st.dir = noDir()
				for _, n := range []string{"name", "sm_path", "displaypath", "sha1", "toplevel"} {
					st.forget(n)
				}
				w := args[j]
				if len(args) > j+1 {
					w = join(args[j:])
				}
				a.codeWord(w, POSIX, st, c, "the command given to git submodule foreach")
			}
		}
	case "rebase":
		for j := range args {
			for _, o := range []string{"-x", "--exec"} {
				if w, ok := value(j, o); ok {
					code(w, "git rebase --exec")
				}
			}
			if t, _ := args[j].Text(); strings.HasPrefix(t, "-x") && len(t) > 2 {
				code(Lit(t[2:]), "git rebase --exec")
			}
		}
	case "bisect":
		if len(args) > 1 && wordIs(args[0], "run") {
			a.tailAt(k, i, at+1, "git bisect run")
		}
	case "filter-branch":
		for j := range args {
			t, _ := args[j].Text()
			if strings.HasSuffix(t, "-filter") && strings.HasPrefix(t, "--") && j+1 < len(args) && t != "--subdirectory-filter" {
				code(args[j+1], "git filter-branch")
			}
			if t == "--setup" && j+1 < len(args) {
				code(args[j+1], "git filter-branch")
			}
		}
	case "difftool", "mergetool":
		for j := range args {
			for _, o := range []string{"-x", "--extcmd"} {
				if w, ok := value(j, o); ok {
					code(w, "git "+sub)
				}
			}
		}
	case "grep":
		for j := range args {
			for _, o := range []string{"-O", "--open-files-in-pager"} {
				if t, _ := args[j].Text(); strings.HasPrefix(t, o) && len(t) > len(o) {
					code(Lit(strings.TrimPrefix(t[len(o):], "=")), "git grep")
				}
			}
		}
	case "clone", "fetch", "pull", "push", "ls-remote", "fetch-pack", "send-pack":
		for j := range args {
			for _, o := range []string{"--upload-pack", "--receive-pack", "--exec", "-u"} {
				if o == "-u" && sub != "clone" {
					continue
				}
				if w, ok := value(j, o); ok {
					code(w, "git "+sub)
				}
			}
			if t, _ := args[j].Text(); strings.HasPrefix(t, "ext::") {
				code(Lit(t[len("ext::"):]), "git "+sub)
			}
			if sub == "clone" {
				for _, o := range []string{"-c", "--config"} {
					if w, ok := value(j, o); ok {
						a.gitConfig(k, w, nil)
					}
				}
			}
		}
	case "for-each-repo":
		for j := range args {
			if t, ok := args[j].Text(); ok && t == "--" && j+1 < len(args) {
				t := k.after(i, at+j+1, "git for-each-repo")
				t.argv = append([]Word{Lit("git")}, t.argv...)
				t.tail, t.outside = 0, true
				a.program(t, "git")
			}
		}
	}
}
