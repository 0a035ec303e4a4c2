package script

import (
	"slices"
	"strings"
)

// wrapper describes a program that runs the command given as its arguments.
type wrapper struct {
	short string // its options as for getopt: x none, x: a value, x? a value when attached
	long  string // its long options that take a separate value, each between spaces
	pos   int    // operands before the command
	flags wflag
}

type wflag uint16

const (
	assigns   wflag = 1 << iota // NAME=value before the command
	cleanEnv                    // the environment is another one
	shellLine                   // the arguments are joined to a shell line
	dashNum                     // -10 is an option
	oneDash                     // long options begin with one dash
	needDash                    // the command comes after --
	anyOpts                     // skip every option; values are attached
	ownShell                    // without a command it runs a shell
	feeds                       // standard input is not passed on as code
)

// Wrappers whose arguments follow one scheme. Sources: their manual pages
// (util-linux 2.38, coreutils 9.1, sudo 1.9.13, strace 6.1).
var (
	wSudo       = wrapper{short: "ABbC:D:Eeg:HhiKklNnPp:R:r:SsT:t:U:u:Vv", long: " --close-from --chdir --group --host --prompt --chroot --role --type --command-timeout --other-user --user ", flags: assigns | cleanEnv | ownShell}
	wDoas       = wrapper{short: "aC:Lnsu:", flags: cleanEnv | ownShell}
	wEnv        = wrapper{short: "0iu:C:S:vP:", long: " --unset --chdir --split-string ", flags: assigns}
	wTimeout    = wrapper{short: "k:s:vfp", long: " --kill-after --signal ", pos: 1}
	wNice       = wrapper{short: "n:", long: " --adjustment ", flags: dashNum}
	wIonice     = wrapper{short: "c:n:tp:P:u:hV", long: " --class --classdata --pid --pgid --uid "}
	wNone       = wrapper{short: ""}
	wSetsid     = wrapper{short: "cfwhV"}
	wStdbuf     = wrapper{short: "i:o:e:", long: " --input --output --error "}
	wTime       = wrapper{short: "apvqlhf:o:V", long: " --format --output "}
	wChrt       = wrapper{short: "abdfimoprRvhVT:P:D:", long: " --sched-runtime --sched-period --sched-deadline ", pos: 1}
	wTaskset    = wrapper{short: "acphV", pos: 1}
	wNumactl    = wrapper{short: "ai:p:P:m:w:N:C:lsSHhV", long: " --interleave --preferred --membind --cpunodebind --physcpubind --weighted-interleave "}
	wStrace     = wrapper{short: "a:b:cCdDe:E:fFhiI:kno:O:p:P:qrs:S:tTu:U:vVwxX:yYzZ", long: " --trace --output --attach --user --string-limit --columns --env ", flags: assigns}
	wLtrace     = wrapper{short: "a:A:bcCD:e:fF:hil:L:n:o:p:rs:StTu:Vw:x:X:", long: " --output --align --config --library --indent --where "}
	wChroot     = wrapper{short: "u:g:nG:", long: " --userspec --groups ", pos: 1, flags: ownShell}
	wNsenter    = wrapper{short: "aehVm?u?i?n?p?C?U?T?S:G:r?w?W:FZt:c", long: " --target --setuid --setgid --wdns ", flags: ownShell}
	wUnshare    = wrapper{short: "hVm?u?i?n?p?U?C?T?frcw:S:G:R:", long: " --propagation --setgroups --root --wd --setuid --setgid --map-user --map-group --monotonic --boottime ", flags: ownShell}
	wSystemd    = wrapper{short: "H:M:u:p:E:dGPqrStTh", long: " --unit --property --description --slice --uid --gid --nice --working-directory --setenv --on-active --on-boot --on-startup --on-unit-active --on-unit-inactive --on-calendar --host --machine --service-type --timer-property --path-property --socket-property ", flags: cleanEnv}
	wPkexec     = wrapper{short: "", long: " --user ", flags: cleanEnv}
	wRunuser    = wrapper{short: "u:g:G:mplfPc:s:w:hV", long: " --user --group --supp-group --command --shell --whitelist-environment --session-command ", flags: cleanEnv}
	wSetpriv    = wrapper{flags: anyOpts}
	wFakeroot   = wrapper{short: "l:s:i:ub:hv", long: " --lib --faked ", flags: ownShell}
	wXvfb       = wrapper{short: "ae:f:hln:p:s:w:", long: " --error-file --auth-file --server-num --xauth-protocol --server-args --wait "}
	wDbus       = wrapper{long: " --config-file --dbus-daemon "}
	wProxy      = wrapper{short: "qf:"}
	wTini       = wrapper{short: "svwgp:e:hlV", long: " --rewrite "}
	wGosu       = wrapper{pos: 1, flags: cleanEnv}
	wCaffeine   = wrapper{short: "dimsut:w:"}
	wArch       = wrapper{short: "c e:d:36", flags: oneDash | anyOpts}
	wSetarch    = wrapper{short: "vhVRFZLXBIST3", long: " --uname-2.6 ", pos: 1}
	wSetarchNow = wrapper{short: "vhVRFZLXBIST3", long: " --uname-2.6 "}
	wCgexec     = wrapper{short: "g:h", long: " --sticky "}
	wRlwrap     = wrapper{flags: anyOpts}
	wUnbuffer   = wrapper{short: "p"}
	wDashDash   = wrapper{flags: needDash}
	wEntr       = wrapper{short: "acdnprsxz", flags: feeds}
	wDotenv     = wrapper{short: "f:e:c:v:oq", long: " --file "}
	wPosOne     = wrapper{pos: 1}
	wWatch      = wrapper{short: "bcCd?egtn:pq:rs:wxh", long: " --interval --equexit --shotsdir ", flags: shellLine}
)

// wrapperOf returns how a program runs its arguments; nil when it does not, or
// in a way of its own.
func wrapperOf(name string) *wrapper {
	switch name {
	case "sudo", "sudo-rs":
		return &wSudo
	case "doas":
		return &wDoas
	case "env", "genv":
		return &wEnv
	case "timeout", "gtimeout":
		return &wTimeout
	case "nice", "gnice":
		return &wNice
	case "ionice":
		return &wIonice
	case "nohup", "gnohup", "torsocks", "torify", "tsocks", "chronic", "softlimit", "eatmydata", "rtk":
		return &wNone
	case "setsid":
		return &wSetsid
	case "stdbuf", "gstdbuf":
		return &wStdbuf
	case "time", "gtime":
		return &wTime
	case "chrt":
		return &wChrt
	case "taskset":
		return &wTaskset
	case "numactl":
		return &wNumactl
	case "strace":
		return &wStrace
	case "ltrace":
		return &wLtrace
	case "chroot":
		return &wChroot
	case "nsenter":
		return &wNsenter
	case "unshare":
		return &wUnshare
	case "systemd-run":
		return &wSystemd
	case "pkexec":
		return &wPkexec
	case "runuser":
		return &wRunuser
	case "setpriv", "prlimit":
		return &wSetpriv
	case "fakeroot", "fakechroot":
		return &wFakeroot
	case "xvfb-run":
		return &wXvfb
	case "dbus-run-session", "dbus-launch":
		return &wDbus
	case "proxychains", "proxychains4":
		return &wProxy
	case "tini", "dumb-init", "catatonit", "docker-init":
		return &wTini
	case "gosu", "su-exec", "setuidgid", "chpst", "s6-setuidgid":
		return &wGosu
	case "caffeinate":
		return &wCaffeine
	case "arch":
		return &wArch
	case "setarch":
		return &wSetarch
	case "linux32", "linux64", "i386", "x86_64", "i686":
		return &wSetarchNow
	case "cgexec":
		return &wCgexec
	case "rlwrap", "valgrind", "heaptrack", "firejail", "catchsegv":
		return &wRlwrap
	case "unbuffer":
		return &wUnbuffer
	case "aws-vault", "op", "doppler", "infisical", "chamber", "teller", "lerna", "watchexec", "onchange", "chokidar":
		return &wDashDash
	case "entr":
		return &wEntr
	case "dotenv", "dotenvx":
		return &wDotenv
	case "faketime", "setlock", "envdir", "envchain":
		return &wPosOne
	case "watch":
		return &wWatch
	}
	return nil
}

// option is one option that was read.
type option struct {
	name  string // -x or --long
	value *Word
	at    int // index of the word
}

// scan reads options from word at on; it returns them and the index of the
// first operand. unsure is set when a word there is not known.
func scan(argv []Word, at int, w *wrapper) (opts []option, next int, unsure bool) {
	for at < len(argv) {
		t, ok := argv[at].Text()
		if !ok {
			p := argv[at].Parts[0]
			if p.Kind == Literal && strings.HasPrefix(p.Text, "-") && len(p.Text) > 1 {
				// --flag=$X
				at++
				continue
			}
			return opts, at, true
		}
		if len(t) < 2 || t[0] != '-' {
			if t == "-" && w == &wEnv {
				opts = append(opts, option{"-i", nil, at})
				at++
				continue
			}
			return opts, at, false
		}
		if t == "--" {
			return opts, at + 1, false
		}
		at++
		if w.flags&anyOpts != 0 {
			continue
		}
		if w.flags&dashNum != 0 && (t[1] >= '0' && t[1] <= '9' || len(t) > 2 && t[1] == '-' && t[2] >= '0' && t[2] <= '9') {
			continue
		}
		if strings.HasPrefix(t, "--") || w.flags&oneDash != 0 {
			name, val, has := strings.Cut(t, "=")
			o := option{name: name, at: at - 1}
			if has {
				v := Lit(val)
				o.value = &v
			} else if longTakes(w.long, &name) {
				o.name = name
				if at < len(argv) {
					o.value = &argv[at]
				}
				at++
			}
			opts = append(opts, o)
			continue
		}
		opts, at = scanShort(opts, argv, at, t, w.short)
	}
	return opts, min(at, len(argv)), false
}

// longTakes reports whether a long option, perhaps abbreviated, takes the next
// word; it completes the name.
func longTakes(long string, name *string) bool {
	if long == "" || len(*name) < 4 {
		return false
	}
	if strings.Contains(long, " "+*name+" ") {
		return true
	}
	i := strings.Index(long, " "+*name)
	if i < 0 {
		return false
	}
	full := long[i+1:]
	*name = full[:strings.IndexByte(full, ' ')]
	return true
}

// scanShort reads a cluster of short options.
func scanShort(opts []option, argv []Word, at int, t, short string) ([]option, int) {
	for j := 1; j < len(t); j++ {
		o := option{name: "-" + t[j:j+1], at: at - 1}
		i := strings.IndexByte(short, t[j])
		takes := byte(0)
		if i >= 0 && i+1 < len(short) {
			takes = short[i+1]
		}
		if takes == ':' || takes == '?' {
			if j+1 < len(t) {
				v := Lit(t[j+1:])
				o.value = &v
			} else if takes == ':' {
				if at < len(argv) {
					o.value = &argv[at]
				}
				at++
			}
			return append(opts, o), at
		}
		opts = append(opts, o)
	}
	return opts, at
}

// value returns the last value given for any of the names.
func optValue(opts []option, names ...string) *Word {
	for _, o := range slices.Backward(opts) {
		if slices.Contains(names, o.name) && o.value != nil {
			return o.value
		}
	}
	return nil
}

func hasOpt(opts []option, names ...string) bool {
	return slices.ContainsFunc(opts, func(o option) bool { return slices.Contains(names, o.name) })
}

// wrap follows a program of the table.
func (a *analyzer) wrap(k *call, i int, name string, w *wrapper) {
	if w.flags&needDash != 0 {
		a.afterDashes(k, i, name)
		return
	}
	opts, at, unsure := scan(k.argv, 1, w)
	if wrapperStops(name, opts) {
		k.c.sink.lose()
		return
	}
	pos := w.pos
	inner := *k
	inner.dir, inner.noEnv = k.dir, k.noEnv || w.flags&cleanEnv != 0
	inner.assigns = slices.Clone(k.assigns)
	if name == "env" || name == "genv" {
		if a.envOptions(k, i, &inner, opts, at) {
			return
		}
	}
	if d := optValue(opts, "-D", "--chdir"); d != nil && (name == "sudo" || name == "sudo-rs") {
		inner.dir = under(k.dir, *d)
	}
	if name == "runuser" {
		a.runuser(&inner, k, i, opts, at)
		return
	}
	if name == "chroot" || name == "nsenter" && hasOpt(opts, "-a", "-m", "--all", "--mount", "-r", "-w") {
		inner.dir = noDir()
	}
	for ; pos > 0 && at < len(k.argv); pos-- {
		at++
	}
	if w.flags&assigns != 0 {
		at = a.readAssigns(&inner, at)
	}
	if at >= len(k.argv) {
		if w.flags&ownShell != 0 || hasOpt(opts, "-s", "-i") {
			a.ownShell(&inner, name)
		}
		k.c.sink.lose()
		return
	}
	if unsure && mayBeMany(k.argv[at]) && len(k.argv) > at+1 {
		a.unknown("what "+name+" runs is not known: "+clip(wordName(k.argv[at])), k.c.src, k.span)
		a.guessTail(k, i, name, at+1)
		k.c.sink.lose()
		return
	}
	if w.flags&shellLine != 0 && !hasOpt(opts, "-x", "--exec") {
		c := k.inner(name)
		c.sink, c.stdin, c.fedBy = nil, nil, nil
		k.c.sink.lose()
		a.codeWord(join(k.argv[at:]), POSIX, a.child(&inner), c, "the line given to "+name)
		return
	}
	t := inner.after(i, at, name)
	t.assigns, t.outside = inner.assigns, true
	if w.flags&feeds != 0 {
		t.c.stdin, t.c.fedBy = nil, nil
	}
	a.run(t)
}

// wrapperStops reports options with which a wrapper runs nothing.
func wrapperStops(name string, opts []option) bool {
	switch name {
	case "sudo", "sudo-rs":
		return hasOpt(opts, "-l", "-v", "-K", "-V", "-e", "--list", "--validate", "--remove-timestamp", "--version", "--help", "--edit")
	case "chrt", "taskset":
		return hasOpt(opts, "-p", "--pid")
	case "ionice":
		return hasOpt(opts, "-p", "-P", "-u")
	}
	return hasOpt(opts, "--version", "--help")
}

// readAssigns takes NAME=value words.
func (a *analyzer) readAssigns(k *call, at int) int {
	for at < len(k.argv) {
		p := k.argv[at].Parts
		if len(p) == 0 || p[0].Kind != Literal {
			break
		}
		name, val, ok := strings.Cut(p[0].Text, "=")
		if !ok || name == "" || strings.ContainsAny(name, "/ ") {
			break
		}
		v := Word{Parts: merge(append([]Part{{Text: val}}, p[1:]...))}
		k.assigns = append(k.assigns, Assign{name, v})
		a.assigned(name, v, k.st.clone(), k.c)
		at++
	}
	return at
}

// envOptions handles env's own options; true when -S took everything.
func (a *analyzer) envOptions(k *call, i int, inner *call, opts []option, at int) bool {
	if hasOpt(opts, "-i", "--ignore-environment") {
		inner.noEnv = true
		inner.assigns = nil
	}
	if d := optValue(opts, "-C", "--chdir"); d != nil {
		inner.dir = under(k.dir, *d)
	}
	for _, o := range opts {
		if (o.name == "-u" || o.name == "--unset") && o.value != nil {
			if n, ok := o.value.Text(); ok {
				st := inner.st.clone()
				st.set(n, value{kind: isUnset, exported: true})
				inner.st = st
				inner.assigns = slices.DeleteFunc(inner.assigns, func(as Assign) bool { return as.Name == n })
			}
		}
	}
	s := optValue(opts, "-S", "--split-string")
	if s == nil {
		return false
	}
	t, ok := s.Text()
	words, okSplit := splitEnvS(t)
	if !ok || !okSplit {
		a.unknown("what env -S runs is not known", k.c.src, k.span)
		return true
	}
	next := inner.after(i, len(k.argv), "env")
	next.argv = append([]Word{Lit("env")}, append(words, k.argv[at:]...)...)
	next.assigns, next.outside, next.tail, next.span = inner.assigns, true, 0, k.span
	a.envAgain(next)
	return true
}

// envAgain follows the words of env -S, which env reads as its own arguments.
func (a *analyzer) envAgain(k *call) {
	opts, at, _ := scan(k.argv, 1, &wEnv)
	inner := *k
	inner.assigns = slices.Clone(k.assigns)
	if a.nest >= maxCode {
		a.exhaust("too much code inside code to analyse")
		return
	}
	a.nest++
	defer func() { a.nest-- }()
	if a.envOptions(k, len(a.cmds)-1, &inner, opts, at) {
		return
	}
	at = a.readAssigns(&inner, at)
	if at >= len(k.argv) {
		return
	}
	inner.argv = k.argv[at:]
	a.run(&inner)
}

// splitEnvS splits as env -S does.
func splitEnvS(s string) (out []Word, ok bool) {
	var b strings.Builder
	has := false
	flush := func() {
		if has {
			out = append(out, Lit(b.String()))
			b.Reset()
			has = false
		}
	}
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'):
			flush()
		case quote == 0 && (c == '"' || c == '\''):
			quote, has = c, true
		case quote == c:
			quote = 0
		case c == '#' && !has && quote == 0:
			return out, true
		case c == '$' && quote != '\'':
			return nil, false
		case c == '\\' && quote != '\'' && i+1 < len(s):
			i++
			has = true
			switch s[i] {
			case '_':
				if quote == 0 {
					flush()
				} else {
					b.WriteByte(' ')
				}
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'c':
				flush()
				return out, true
			default:
				b.WriteByte(s[i])
			}
		case c == '\\' && quote == '\'' && i+1 < len(s) && (s[i+1] == '\\' || s[i+1] == '\''):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
			has = true
		}
	}
	flush()
	return out, quote == 0
}

// ownShell follows sudo -s and the like: a shell that reads standard input.
func (a *analyzer) ownShell(k *call, name string) {
	if k.c.stdin == nil {
		return
	}
	c := k.inner(name)
	c.stdin, c.fedBy = nil, nil
	a.codeWord(*k.c.stdin, POSIX, a.child(k), c, "the input of "+name)
}

// runuser follows runuser -u user command, and its su form.
func (a *analyzer) runuser(inner, k *call, i int, opts []option, at int) {
	if hasOpt(opts, "-u", "--user") {
		if at < len(k.argv) {
			t := inner.after(i, at, "runuser")
			t.outside = true
			a.run(t)
		}
		return
	}
	a.su(inner, k, "runuser")
}

// afterDashes follows programs whose command comes after --.
func (a *analyzer) afterDashes(k *call, i int, name string) {
	for at := 1; at < len(k.argv); at++ {
		if t, ok := k.argv[at].Text(); ok && t == "--" {
			if at+1 < len(k.argv) {
				t := k.after(i, at+1, name)
				t.outside = true
				a.run(t)
			}
			return
		}
	}
	a.output(k, name)
}
