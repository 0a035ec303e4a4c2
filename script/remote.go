package script

import (
	"safeshell/command"
	"strings"
)

// away is the surrounding of a command on another machine.
func (k *call) away(via, where string) (*ctx, *call) {
	c := k.inner(via)
	if k.c.remote != "" {
		where = k.c.remote + " " + where
	}
	c.remote = where
	k2 := *k
	k2.noEnv, k2.dir, k2.assigns = true, noDir(), nil
	k2.c = c
	return c, &k2
}

// awayState is the shell of another machine, of which nothing is known.
func awayState() *state {
	return &state{dir: noDir(), noEnv: true, paramsLost: true}
}

// ssh follows ssh host command: the words are joined and read by a shell over
// there; without a command it reads standard input.
func (a *analyzer) ssh(k *call, i int, name string) {
	k.c.sink.lose()
	opts, at, _ := scan(k.argv, 1, command.Of("ssh"))
	for _, o := range opts {
		if o.name == "-o" && o.value != nil {
			a.sshOption(k, *o.value, o.at, name)
		}
	}
	if at >= len(k.argv) {
		return
	}
	host := wordName(k.argv[at])
	more, rest, _ := scan(k.argv, at+1, command.Of("ssh")) // options may follow the host
	for _, o := range more {
		if o.name == "-o" && o.value != nil {
			a.sshOption(k, *o.value, o.at, name)
		}
	}
	c, _ := k.away(name, host)
	if rest < len(k.argv) {
		a.codeWord(join(k.argv[rest:]), Bash, awayState(), c, "the command given to "+name)
		return
	}
	if k.c.stdin != nil && !hasOpt(opts, "-N", "-n", "-G") {
		in := *k.c.stdin
		c.stdin, c.fedBy = nil, nil
		a.codeWord(in, Bash, awayState(), c, "the input of "+name)
	}
}

// sshOption follows -o ProxyCommand=...
func (a *analyzer) sshOption(k *call, w Word, at int, name string) {
	if t, ok := w.Text(); ok && (t == "-o") && at+1 < len(k.argv) {
		w = k.argv[at+1]
	}
	if len(w.Parts) == 0 || w.Parts[0].Kind != Literal {
		return
	}
	t := strings.TrimPrefix(w.Parts[0].Text, "-o")
	low := strings.ToLower(strings.TrimLeft(t, " "))
	for _, key := range []string{"proxycommand", "localcommand", "knownhostscommand", "remotecommand"} {
		if !strings.HasPrefix(low, key) {
			continue
		}
		n := len(w.Parts[0].Text) - len(low) + len(key)
		v := trimWord(w, n)
		if len(v.Parts) > 0 && v.Parts[0].Kind == Literal {
			v.Parts[0].Text = strings.TrimLeft(v.Parts[0].Text, " =\"")
		}
		if key == "remotecommand" {
			c, _ := k.away(name, "remote")
			a.codeWord(v, Bash, awayState(), c, "the command given to "+name)
			return
		}
		c := k.inner(name + " -o")
		c.sink, c.stdin, c.fedBy = nil, nil, nil
		a.codeWord(v, POSIX, a.child(k), c, "the command given to "+name)
	}
}

// there runs the words from at on in another machine or container.
func (a *analyzer) there(k *call, i, at int, via, where string, prefix ...Word) {
	if at > len(k.argv) || at == len(k.argv) && len(prefix) == 0 {
		return
	}
	c, k2 := k.away(via, where)
	t := *k2
	t.c, t.st, t.outside = c, awayState(), true
	t.argv, t.tail, t.tailAt = k.argv[at:], i+1, at
	t.redirs = nil
	if len(prefix) > 0 {
		t.argv, t.tail = append(append([]Word(nil), prefix...), k.argv[at:]...), 0
	}
	if len(t.argv) > 0 && t.argv[0].Span.Start >= k.span.Start && t.argv[0].Span.End > 0 {
		t.span = Span{t.argv[0].Span.Start, k.span.End}
	}
	a.run(&t)
}

// docker follows exec and run, also of compose.
func (a *analyzer) docker(k *call, i int, name string) {
	k.c.sink.lose()
	at := skipOptions(k.argv, 1, " -H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey -f --file -p --project-name --profile --env-file --project-directory --ansi --parallel --url --connection --identity --root --runroot --namespace -n -a --address ")
	if at >= len(k.argv) {
		return
	}
	sub, _ := k.argv[at].Text()
	compose := strings.HasSuffix(name, "-compose")
	switch sub {
	case "compose":
		compose = true
		at = skipOptions(k.argv, at+1, " -f --file -p --project-name --profile --env-file --project-directory --ansi --parallel --progress ")
	case "container":
		at++
	}
	if at >= len(k.argv) {
		return
	}
	sub, _ = k.argv[at].Text()
	at++
	if sub != "exec" && sub != "run" && sub != "create" {
		return
	}
	var entry []Word
	for ; at < len(k.argv); at++ {
		t, ok := k.argv[at].Text()
		if !ok {
			if p := k.argv[at].Parts[0]; p.Kind == Literal && strings.HasPrefix(p.Text, "-") {
				continue // --name=$X
			}
			break
		}
		if len(t) < 2 || t[0] != '-' {
			break
		}
		if t == "--" {
			at++
			break
		}
		if v, is := strings.CutPrefix(t, "--entrypoint="); is {
			entry = entryWords(v)
			continue
		}
		if t == "--entrypoint" && at+1 < len(k.argv) {
			if v, known := k.argv[at+1].Text(); known {
				entry = entryWords(v)
			}
			at++
			continue
		}
		if !dockerFlag(t, sub == "exec", compose) {
			at++
		}
	}
	if at >= len(k.argv) {
		return
	}
	where := wordName(k.argv[at])
	via := name + " " + sub
	if compose && !strings.HasSuffix(name, "-compose") {
		via = name + " compose " + sub
	}
	a.there(k, i, at+1, via, where, entry...)
}

func entryWords(v string) []Word {
	if v == "" {
		return nil
	}
	return []Word{Lit(v)}
}

// dockerFlag reports whether an option of run or exec stands alone.
func dockerFlag(t string, exec, compose bool) bool {
	if strings.HasPrefix(t, "--") {
		if strings.Contains(t, "=") {
			return true
		}
		switch t {
		case "--rm", "--detach", "--interactive", "--tty", "--init", "--privileged", "--read-only", "--publish-all", "--no-healthcheck",
			"--sig-proxy", "--oom-kill-disable", "--disable-content-trust", "--quiet", "--help", "--no-TTY", "--no-deps", "--service-ports",
			"--use-aliases", "--build", "--quiet-pull", "--remove-orphans", "--latest", "--no-tty", "--replace", "--rmi", "--tls-verify",
			"--http-proxy", "--no-hosts", "--no-hostname", "--rootfs", "--read-only-tmpfs", "--quiet-build":
			return true
		}
		return false
	}
	alone := "dit"
	switch {
	case compose:
		alone = "ditTPq"
	case !exec:
		alone = "ditPq"
	}
	for j := 1; j < len(t); j++ {
		if strings.IndexByte(alone, t[j]) < 0 {
			return j+1 < len(t) // the value is attached
		}
	}
	return true
}

// remote follows the other tools that run commands elsewhere.
func (a *analyzer) remote(k *call, i int, name string) {
	sub, at := subcommand(k.argv, 1)
	switch name {
	case "kubectl", "oc", "lxc", "incus", "multipass", "crictl", "distrobox", "toolbox":
		if name == "kubectl" || name == "oc" {
			sub, at = kubeSub(k.argv)
		}
		switch sub {
		case "exec", "run", "debug", "enter", "rsh":
		default:
			return
		}
		pod := ""
		for j := at + 1; j < len(k.argv); j++ {
			t, ok := k.argv[j].Text()
			if ok && t == "--" {
				a.there(k, i, j+1, name+" "+sub, pod)
				return
			}
			if afterValue(k.argv[j-1]) && j-1 > at {
				continue
			}
			if pod == "" && (!ok || !strings.HasPrefix(t, "-")) {
				pod = wordName(k.argv[j])
				if name == "toolbox" {
					a.there(k, i, j, name+" "+sub, "toolbox")
					return
				}
				if name == "crictl" || sub == "rsh" {
					a.there(k, i, j+1, name+" "+sub, pod)
					return
				}
				continue
			}
			if pod != "" && (!ok || !strings.HasPrefix(t, "-")) && (name == "kubectl" || name == "oc") && sub == "exec" {
				a.there(k, i, j, name+" "+sub, pod) // the old form without --
				return
			}
		}
	case "limactl", "lima":
		if name == "lima" {
			a.there(k, i, 1, name, "default")
		} else if sub == "shell" {
			at = skipOptions(k.argv, at+1, " --workdir --shell ")
			if at < len(k.argv) {
				a.there(k, i, at+1, name+" shell", wordName(k.argv[at]))
			}
		}
	case "machinectl":
		if sub == "shell" && at+1 < len(k.argv) {
			a.there(k, i, at+2, name+" shell", wordName(k.argv[at+1]))
		}
	case "adb":
		if _, j := subcommand(k.argv, 1); j < len(k.argv) {
			for j = 1; j < len(k.argv); j++ {
				if wordIs(k.argv[j], "shell") && j+1 < len(k.argv) {
					c, _ := k.away(name+" shell", "device")
					a.codeWord(join(k.argv[j+1:]), POSIX, awayState(), c, "the command given to adb")
					return
				}
			}
		}
	case "vagrant", "gcloud", "heroku", "ansible", "pdsh", "devpod", "doctl":
		a.remoteCode(k, name, sub, at)
	case "gh":
		switch {
		case sub == "codespace" || sub == "cs":
			if sub, at = subcommand(k.argv, at+1); sub == "ssh" {
				a.overSSH(k, skipOptions(k.argv, at+1, " -c --codespace -R --repo --repo-owner --profile --server-port --debug-file "), "codespace")
			}
		case sub == "alias":
			if sub, at = subcommand(k.argv, at+1); sub == "set" {
				a.ghAlias(k, at+1)
			}
		}
	case "coder", "tailscale", "tsh":
		if sub == "ssh" {
			if at = skipOptions(k.argv, at+1, " -l --login -p --port -i --identity --proxy --user --cluster -L -R -D -o -J -e --env --workspace --stdio "); at < len(k.argv) {
				a.overSSH(k, at+1, wordName(k.argv[at]))
			}
		}
	}
}

// overSSH follows the arguments of a program that hands them to ssh: options of
// ssh, then a command for the machine that the program knows.
func (a *analyzer) overSSH(k *call, at int, where string) {
	if at >= len(k.argv) {
		return
	}
	_, at, _ = scan(k.argv, at, command.Of("ssh"))
	if at < len(k.argv) {
		c, _ := k.away("ssh", where)
		a.codeWord(join(k.argv[at:]), Bash, awayState(), c, "the command given to ssh")
	}
}

// ghAlias follows gh alias set name expansion: code after ! or with --shell,
// else words of gh.
func (a *analyzer) ghAlias(k *call, at int) {
	var ops []Word
	shell := false
	for _, w := range k.argv[min(at, len(k.argv)):] {
		switch t, _ := w.Text(); t {
		case "-s", "--shell":
			shell = true
		case "--clobber", "--":
		default:
			ops = append(ops, w)
		}
	}
	if len(ops) < 2 {
		return
	}
	text, known := ops[1].Text()
	if !known || text == "-" {
		a.unknown("what a gh alias stands for is not known", k.c.src, k.span)
		return
	}
	code, bang := strings.CutPrefix(text, "!")
	if !bang && !shell {
		code = "gh " + code
	}
	st := a.child(k)
	st.dir, st.params, st.paramsLost = noDir(), nil, true // whenever it is called
	c := k.inner("gh")
	c.sink, c.stdin, c.fedBy = nil, nil, nil
	a.codeWord(Lit(code), POSIX, st, c, "a gh alias")
}

// kubeSub finds kubectl's subcommand after its global options.
func kubeSub(argv []Word) (string, int) {
	at := skipOptions(argv, 1, " -n --namespace --context --cluster --kubeconfig --user -s --server --token --as --as-group --request-timeout -v ")
	if at >= len(argv) {
		return "", at
	}
	t, _ := argv[at].Text()
	return t, at
}

// afterValue reports whether a word is an option of kubectl exec that takes
// the next word.
func afterValue(w Word) bool {
	t, _ := w.Text()
	switch t {
	case "-c", "--container", "-n", "--namespace", "-f", "--filename", "--pod-running-timeout", "--context":
		return true
	}
	return false
}

// remoteCode follows tools that take the remote command as text.
func (a *analyzer) remoteCode(k *call, name, sub string, at int) {
	where := name
	var code *Word
	shellModule := false
	for j := 1; j < len(k.argv); j++ {
		w := k.argv[j]
		if len(w.Parts) == 0 || w.Parts[0].Kind != Literal {
			continue
		}
		t := w.Parts[0].Text
		next := func() *Word {
			if j+1 < len(k.argv) {
				return &k.argv[j+1]
			}
			return nil
		}
		switch {
		case name == "vagrant" && sub == "ssh" && (t == "-c" || t == "--command"), name == "gcloud" && t == "--command",
			name == "devpod" && sub == "ssh" && t == "--command", name == "doctl" && t == "--ssh-command",
			name == "ansible" && (t == "-a" || t == "--args"):
			code = next()
		case (name == "gcloud" || name == "devpod" && sub == "ssh") && strings.HasPrefix(t, "--command="), name == "doctl" && strings.HasPrefix(t, "--ssh-command="):
			v := trimWord(w, strings.IndexByte(t, '=')+1)
			code = &v
		case name == "ansible" && (t == "-m" || t == "--module-name"):
			if m := next(); m != nil {
				s, _ := m.Text()
				shellModule = s == "shell" || s == "command" || s == "raw" || strings.HasSuffix(s, ".shell") || strings.HasSuffix(s, ".command")
				if !shellModule {
					return
				}
			}
		}
	}
	switch {
	case name == "pdsh":
		at = skipOptions(k.argv, 1, " -w -x -l -t -u -f -g -X -R ")
		if at < len(k.argv) {
			w := join(k.argv[at:])
			code = &w
		}
	case name == "heroku" && sub == "run":
		if at = skipOptions(k.argv, at+1, " -a --app -r --remote -s --size -e --env -x "); at < len(k.argv) {
			w := join(k.argv[at:])
			code = &w
		}
	}
	if code != nil {
		c, _ := k.away(name, where)
		a.codeWord(*code, Bash, awayState(), c, "the command given to "+name)
	}
}
