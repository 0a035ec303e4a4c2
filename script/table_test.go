package script

import (
	"slices"
	"strings"
	"testing"
)

// row is one text and what must be seen in it.
type row struct {
	text string
	// want lists commands that must be there, as render gives them.
	want []string
	// not lists commands that must not be there.
	not []string
	// unknown: the analysis must say that it does not know something; when it
	// is not set it must not.
	unknown bool
}

// render spells a command: via programs and the remote machine, then the
// words, then the directory when it is not /w.
func render(c *Command) string {
	var b strings.Builder
	if c.Guess {
		b.WriteString("?")
	}
	if len(c.Via) > 0 {
		b.WriteString(strings.Join(c.Via, ">") + ": ")
	}
	if c.Remote != "" {
		b.WriteString(c.Remote + "! ")
	}
	for i, as := range c.Assigns {
		if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(as.Name + "=" + spell(as.Value))
		if i == len(c.Assigns)-1 && len(c.Argv) > 0 {
			b.WriteString(" ")
		}
	}
	for i, w := range c.Argv {
		if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(spell(w))
	}
	for _, e := range c.Effects {
		b.WriteString(" {" + string(e.Kind) + " " + spell(e.Path))
		if e.Recursive {
			b.WriteString(" -r")
		}
		b.WriteString("}")
	}
	if d := spell(c.Dir); d != "/w" {
		b.WriteString(" @" + d)
	}
	return b.String()
}

func spell(w Word) string {
	if t, ok := w.Text(); ok {
		if t == "" || strings.ContainsAny(t, " \t\n") {
			return "'" + t + "'"
		}
		return t
	}
	var b strings.Builder
	for _, p := range w.Parts {
		switch p.Kind {
		case Literal, Glob:
			b.WriteString(p.Text)
		case TempPath:
			b.WriteString("<tmp>")
		case Operand:
			b.WriteString("<" + p.Name + ">")
		case Output:
			b.WriteString("<out:" + p.Name + ">")
		default:
			b.WriteString("<$" + p.Name + ">")
		}
	}
	return b.String()
}

func testOptions(d Dialect) Options {
	return Options{Dialect: d, Dir: "/w", Lookup: func(n string) (string, bool) {
		switch n {
		case "HOME":
			return "/home/u", true
		case "TMPDIR":
			return "/tmp", true
		}
		return "", false
	}}
}

func runRows(t *testing.T, d Dialect, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run("", func(t *testing.T) {
			t.Helper()
			checkRow(t, Parse(r.text, testOptions(d)), r)
		})
	}
}

func checkRow(t *testing.T, a Analysis, r row) {
	t.Helper()
	var got []string
	for i := range a.Commands {
		got = append(got, render(&a.Commands[i]))
	}
	for _, w := range r.want {
		if !slices.Contains(got, w) {
			t.Errorf("%s\nmissing %q in\n  %s", r.text, w, strings.Join(got, "\n  "))
		}
	}
	for _, n := range r.not {
		if slices.Contains(got, n) {
			t.Errorf("%s\nfound %q in\n  %s", r.text, n, strings.Join(got, "\n  "))
		}
	}
	if r.unknown != (len(a.Unknown) > 0) {
		t.Errorf("%s\nunknown: %v\n  %s", r.text, a.Unknown, strings.Join(got, "\n  "))
	}
	checkShape(t, r.text, a)
}

// checkShape holds for every analysis.
func checkShape(t *testing.T, text string, a Analysis) {
	t.Helper()
	for i := range a.Commands {
		c := &a.Commands[i]
		if c.Span.Start < 0 || c.Span.End < c.Span.Start || c.Span.End > len(text) {
			t.Errorf("%q: command %d has span %v", text, i, c.Span)
		}
		if c.TailOf >= 0 {
			o := &a.Commands[c.TailOf]
			if c.TailAt < 1 || c.TailAt >= len(o.Argv) || !slices.EqualFunc(o.Argv[c.TailAt:], c.Argv, sameWord) {
				t.Errorf("%q: command %d is no tail of %d at %d", text, i, c.TailOf, c.TailAt)
			}
		}
		for _, p := range c.FedBy {
			if p < 0 || p >= len(a.Commands) || p != i && !slices.Contains(a.Commands[p].FeedsTo, i) {
				t.Errorf("%q: command %d is fed by %d, which does not know", text, i, p)
			}
		}
	}
	for _, u := range a.Unknown {
		if u.Reason == "" || u.Span.Start < 0 || u.Span.End < u.Span.Start || u.Span.End > len(text) {
			t.Errorf("%q: unknown %+v", text, u)
		}
	}
}

// Section 2: parser against shell.
func TestParseErrors(t *testing.T) {
	runRows(t, Bash, []row{
		{text: "echo A\n)", want: []string{"echo A"}, unknown: true},
		{text: "echo A\nif", want: []string{"echo A"}, unknown: true},
		{text: "echo A; )", want: []string{"echo A"}, unknown: true},
		{text: "bash <<EOF\necho A", want: []string{"bash: echo A"}, unknown: true},
		{text: "bash <<EOF\nrm -rf ~", want: []string{"bash: rm -rf /home/u"}, unknown: true},
		{text: "bash <<-'E F'\n\trm x", want: []string{"bash: rm x"}, unknown: true},
		{text: "echo $((echo A); (rm b))", want: []string{"echo A", "rm b"}, unknown: true},
		{text: "((rm a); (rm b))", want: []string{"rm a", "rm b"}, unknown: true},
		{text: "rm x\n'", want: []string{"rm x"}, unknown: true},
		{text: "rm -rf x\n)", want: []string{"rm -rf x"}, unknown: true},
		{text: "rm \x00x", want: []string{"rm x"}, unknown: true},
		{text: "", want: nil},
		{text: "# rm -rf /", want: nil, not: []string{"rm -rf /"}},
		{text: "rm \xff\xfe", want: []string{"rm \xff\xfe"}},
		{text: "rm 'a\xffb' $'\\xff' \U0010FEFF", want: []string{"rm a\xffb \xff \U0010FEFF"}},
		{text: "rm a\r\ncd b\r\n", want: []string{"rm a\r", "cd b\r"}},
	})
	runRows(t, POSIX, []row{
		{text: "echo a &> f; rm b", want: []string{"echo a", "rm b"}},
		{text: "echo &> f rm -rf x", want: []string{"rm -rf x"}},
		{text: "((rm x))", want: []string{"rm x"}},
		{text: "rm {a,b}", want: []string{"rm a b", "rm {a,b}"}},
		{text: `rm $'\x61'`, want: []string{"rm a", `rm $\x61`}},
		{text: "[[ -f x && rm y ]]", want: []string{"rm y ]]"}},
	})
}

// Section 3: from word to argv.
func TestWords(t *testing.T) {
	runRows(t, Bash, []row{
		{text: `r\m x`, want: []string{"rm x"}},
		{text: "rm --outpu\\t=x", want: []string{"rm --output=x"}},
		{text: `$'\x72m' x; r''m y; "rm" z; 'r'"m" q`, want: []string{"rm x", "rm y", "rm z", "rm q"}},
		{text: "{rm,-rf,/}", want: []string{"rm -rf /"}},
		{text: "rm$IFS-rf$IFS/", want: []string{"rm -rf /"}},
		{text: "rm${IFS}-rf${IFS}x", want: []string{"rm -rf x"}},
		{text: "rm -rf $UNKNOWN", want: []string{"rm -rf <$UNKNOWN>"}},
		{text: `rm -rf "$UNSET"/*`, want: []string{"rm -rf <$UNSET>/*"}},
		{text: "cat <(ls)", want: []string{"ls", "cat <out:<(ls)>"}},
		{text: "rm $(cmd)", want: []string{"cmd", "rm <out:cmd>"}},
		{text: "rm ${x:=v}; rm $x", want: []string{"rm <$x>"}},
		{text: "rm @(a|b) !(c)", want: []string{"rm @(a|b) !(c)"}},
		{text: "rm {1..99999999}", unknown: true},
		{text: "rm {1..3}{a,b}", want: []string{"rm 1a 1b 2a 2b 3a 3b"}},
		{text: "git re\\\nset --hard", want: []string{"git reset --hard"}},
		{text: `"git">/dev/null reset --hard`, want: []string{"git reset --hard"}},
		{text: "rm ~ ~/x ~root '~' \\~", want: []string{"rm /home/u /home/u/x <$~root> ~ ~"}},
		{text: "rm -- -f ''", want: []string{"rm -- -f ''"}},
		{text: `X="a b"; rm $X "$X"`, want: []string{"rm a b 'a b'"}},
		{text: `rm "$(echo " ) " )"`, want: []string{"rm ' ) '"}},
		{text: `: ${x:=$(rm a)} "${y:-$(rm b)}" ${z:+$(rm c)}`, want: []string{"rm a", "rm b", "rm c"}},
		{text: "rm `echo a\\`echo b\\``", want: []string{"echo b", "rm ab"}},
		{text: "cat <<E\n`rm x` $(rm y) $((a[$(rm z)]))\nE", want: []string{"rm x", "rm y", "rm z"}},
		{text: "cat <<'E'\n`rm x` $(rm y)\nE", not: []string{"rm x", "rm y"}},
		{text: "x=$(rm a) y=(b $(rm c)) z[$(rm d)]=1", want: []string{"rm a", "rm c", "rm d"}},
		{text: "ls > $(rm a; echo f) 2> \"$(rm b)\"", want: []string{"rm a", "rm b"}},
		{text: "[[ -f $(rm a) && $(rm b) == $(rm c) ]]", want: []string{"rm a", "rm b", "rm c"}},
		{text: "for x in $(rm a); do :; done; case $(rm b) in $(rm c)) rm d;; esac", want: []string{"rm a", "rm b", "rm c", "rm d"}},
		{text: "export A=$(rm a); declare B=`rm b`; local c=$(rm c); let x=$(rm d)", want: []string{"rm a", "rm b", "rm c", "rm d"}},
	})
}

// Section 4: code hidden in strings.
func TestHiddenCode(t *testing.T) {
	runRows(t, Bash, []row{
		{text: `printf -v 'a[$(rm x)]' y`, want: []string{"rm x"}},
		{text: `test -v 'a[$(rm x)]'`, want: []string{"rm x"}},
		{text: `[ -v 'a[$(rm x)]' ]`, want: []string{"rm x"}},
		{text: `[[ -v a[$(rm x)] ]]`, want: []string{"rm x"}},
		{text: `x='a[$(rm x)]'; echo $((x))`, want: []string{"rm x"}},
		{text: `x='a[$(rm x)]'; [[ 1 -eq x ]]`, want: []string{"rm x"}},
		{text: `x='a[$(rm x)]'; ((x)); let x`, want: []string{"rm x"}},
		{text: `declare -n r='a[$(rm x)]'; echo $r`, want: []string{"rm x"}},
		{text: `declare -n r=$UNKNOWN`, unknown: true},
		{text: `PS4='$(rm x)'; set -x`, want: []string{"rm x"}},
		{text: `mapfile -C 'rm x' -c 1 a < f`, want: []string{"rm x <mapfile>"}},
		{text: `mapfile -C "$cb" a < f`, unknown: true},
		{text: `trap 'rm x' DEBUG`, want: []string{"trap: rm x"}},
		{text: `trap "$code" EXIT`, unknown: true},
		{text: `. <(echo rm x)`, want: []string{"source: rm x"}},
		{text: `eval 'rm x'; eval rm y`, want: []string{"eval: rm x", "eval: rm y"}},
		{text: `eval "$x"`, unknown: true},
		{text: "shopt -s expand_aliases\nalias ll='rm x'\nll y", want: []string{"rm x y"}},
		{text: `PROMPT_COMMAND='rm x'`, want: []string{"PROMPT_COMMAND: rm x"}},
		{text: `BASH_ENV=/tmp/f bash x`, unknown: true},
		{text: `BASH_ENV='$(rm x)' bash -c :`, want: []string{"rm x"}, unknown: true},
		{text: `ENV=production npm start`, want: []string{"ENV=production npm start"}},
		{text: `hash -p /bin/rm ls; ls x`, want: []string{"/bin/rm x", "ls x"}},
		{text: `hash -p "$p" ls`, unknown: true},
		{text: `enable -f ./x.so x`, unknown: true},
		{text: `command_not_found_handle() { rm "$1"; }`, want: []string{"rm <1>"}},
		{text: `exec {fd}> >(bash); echo rm x >&$fd`, unknown: true},
		{text: `coproc bash; echo rm x >&${COPROC[1]}`, unknown: true},
		{text: `read 'a[$(rm x)]'; unset 'b[$(rm y)]'; let 'c[$(rm z)]'`, want: []string{"rm x", "rm y", "rm z"}},
		{text: `x='$(rm x)'; echo "${x@P}"`, want: []string{"rm x"}},
		{text: `compgen -C 'rm x'; compgen -W '$(rm y)'`, want: []string{"rm x", "rm y"}},
		{text: `GIT_SSH_COMMAND='rm x' git fetch`, want: []string{"GIT_SSH_COMMAND: rm x"}},
		{text: `CC='rm x' make`, want: []string{"CC: rm x"}},
		{text: `GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!rm x' git x`, want: []string{"git: rm x @<$PWD>"}},
		{text: `git config diff.x.textconv 'rm x'`, want: []string{"git -c diff.x.textconv: rm x"}},
		{text: `ls | entr -s 'rm x'`, want: []string{"entr: rm x"}},
		{text: `gdb -batch -ex run --args rm x`, want: []string{"gdb: rm x"}},
		{text: `capsh -- -c 'rm x'`, want: []string{"capsh>bash -c: rm x"}},
		{text: `mytool --exec 'rm x'`, want: []string{"?mytool: rm x"}},
		{text: `env 'BASH_FUNC_ls%%=() { :; }' bash -c ls`, unknown: true},
		{text: `EDITOR=vim git commit`, want: []string{"EDITOR: vim", "EDITOR=vim git commit"}},
		{text: `eval "$(curl -s u)"`, want: []string{"curl -s u", "eval <out:curl -s u>"}},
		{text: `read x; eval "$x"`, unknown: true},
	})
}

// Section 5: how agents really invoke shells.
func TestAgents(t *testing.T) {
	claude := func(cmd string) string {
		return `source /home/u/.claude/shell-snapshots/snapshot-bash-1-x.sh 2>/dev/null || true && shopt -u extglob 2>/dev/null || true && eval ` +
			cmd + ` < /dev/null && pwd -P >| /tmp/claude-ab12-cwd`
	}
	runRows(t, Bash, []row{
		{text: claude(`'rm -rf ~'`), want: []string{"eval: rm -rf /home/u", "pwd -P"}},
		{text: claude(`'cd src && git reset --hard'`), want: []string{"eval: git reset --hard @/w/src", "pwd -P @/w/src"}},
		{text: claude(`'echo "rm -rf /"'`), want: []string{"eval: echo 'rm -rf /'"}, not: []string{"eval: rm -rf /"}},
		{text: strings.ReplaceAll(claude(`'rm x'`), "/tmp/claude-ab12-cwd", "/etc/passwd"), want: []string{"eval: rm x"}},
		{text: `. /tmp/snap; exec bash -c 'rm x'`, want: []string{"exec>bash -c: rm x"}},
		{text: `/bin/bash -lc 'git push --force'`, want: []string{"bash -c: git push --force"}},
		{text: `shopt -u promptvars nullglob extglob nocaseglob dotglob; { rm x; }; __code=$?; pgrep -g 0 >/tmp/f 2>&1; exit $__code;`, want: []string{"rm x", "pgrep -g 0"}},
		{text: `(trap 'jobs -p > /tmp/pids' EXIT; rm x)`, want: []string{"rm x"}},
		{text: `SNAPSHOT_FILE=/home/u/.claude/s.sh; echo x >| "$SNAPSHOT_FILE"`, want: []string{"echo x"}},
		{text: `bash -c -l "rm x"; bash -c -O extglob "rm y"; bash -c -o errexit "rm z"; bash -c - "rm q"`, want: []string{"bash -c: rm x", "bash -c: rm y", "bash -c: rm z", "bash -c: rm q"}},
		{text: `bash -co errexit "rm x"; bash -Oc extglob "rm y"; zsh -c -f "rm z"; dash -c -e "rm q"`, want: []string{"bash -c: rm x", "bash -c: rm y", "zsh -c: rm z", "dash -c: rm q"}},
		{text: `bash -ec "rm x"; bash --rcfile "my file" -c "rm y"; zsh -o errexit -c "rm z"; bash --norc --noprofile -c "rm q"`, want: []string{"bash -c: rm x", "bash -c: rm y", "zsh -c: rm z", "bash -c: rm q"}},
		{text: `fish -c "rm x"; fish --command="rm y"; fish -c "rm z" -c "rm q"`, want: []string{"fish -c: rm x", "fish -c: rm y", "fish -c: rm z", "fish -c: rm q"}},
		{text: `fish -c "set x (rm y)"`, unknown: true},
		{text: `bash -c 'rm $0 $1 "$@"' a b c`, want: []string{"bash -c: rm a b b c"}},
		{text: `bash -c "$X"`, want: []string{"bash -c <$X>"}, unknown: true},
		{text: `bash -c "rm $X"`, want: []string{"bash -c: rm <$X>"}, unknown: true},
		{text: `bash -c "cd $PWD && rm x"`, want: []string{"bash -c: rm x"}},
		{text: `bash -lc "$(cat x.sh)"`, want: []string{"bash -lc <out:cat x.sh>"}},
	})
}

// Section 6: wrappers, shells, programs that run programs.
func TestWrappers(t *testing.T) {
	runRows(t, Bash, []row{
		{text: "sudo rm x; sudo -u root -E rm y; sudo -n -- rm z; sudo A=1 rm q; sudo --user=root rm r", want: []string{"sudo: rm x", "sudo: rm y", "sudo: rm z", "sudo: A=1 rm q", "sudo: rm r"}},
		{text: "sudo -l rm; sudo -v", not: []string{"sudo: rm"}},
		{text: "doas -u root rm x; pkexec --user root rm y; su -c 'rm z'; su - bob -c 'rm q'; runuser -u bob -- rm r; runuser bob -c 'rm s'", want: []string{"doas: rm x", "pkexec: rm y", "su: rm z", "su: rm q @<$PWD>", "runuser: rm r", "runuser: rm s"}},
		{text: "env rm x; env -i A=1 rm y; env -u A rm z; env -C /d rm q; env -S 'rm -f r'; env - rm s; env -S'rm t' u", want: []string{"env: rm x", "env: A=1 rm y", "env: rm z", "env: rm q @/d", "env: rm -f r", "env: rm s", "env: rm t u"}},
		{text: `env -S "bash -c 'rm x'"`, want: []string{"env>bash -c: rm x"}},
		{text: "timeout -k 5 10 rm x; timeout --signal=9 1m rm y; nice rm z; nice -n 10 rm q; nice -10 rm r; ionice -c 3 rm s", want: []string{"timeout: rm x", "timeout: rm y", "nice: rm z", "nice: rm q", "nice: rm r", "ionice: rm s"}},
		{text: "nohup rm x & setsid -w rm y; stdbuf -oL rm z; stdbuf -o 0 rm q; time rm r; time -p rm s; /usr/bin/time -f %e rm t", want: []string{"nohup: rm x", "setsid: rm y", "stdbuf: rm z", "stdbuf: rm q", "rm r", "rm s", "time: rm t"}},
		{text: "chrt -f 10 rm x; strace -f -o /tmp/o rm y; taskset -c 0 rm z; watch -n 1 rm q '*'; watch -x rm r", want: []string{"chrt: rm x", "strace: rm y", "taskset: rm z", "watch: rm q *", "watch: rm r"}},
		{text: "command rm x; command -v rm; command -p rm y; builtin cd z; exec -a n rm q", want: []string{"command: rm x", "command: rm y", "exec: rm q @/w/z"}, not: []string{"command: rm"}},
		{text: "npx shx rm x; yarn rimraf y; npx -y rimraf@5 z; pnpm shx rm q; bun rimraf r", want: []string{"npx>shx: rm x", "yarn: rimraf y", "npx: rimraf z", "pnpm>shx: rm q", "bun: rimraf r"}},
		{text: "gh codespace ssh -c s -- -p 22 rm x; gh cs ssh -- 'cd /d && rm y'; tailscale ssh host rm z; coder ssh ws rm q; tsh ssh u@h rm r", want: []string{"ssh: codespace! rm x @<$PWD>", "ssh: codespace! rm y @/d", "ssh: host! rm z @<$PWD>", "ssh: ws! rm q @<$PWD>", "ssh: u@h! rm r @<$PWD>"}},
		{text: "gh alias set x '!rm x'; gh alias set -s y 'rm y'; gh alias set z 'repo delete'", want: []string{"gh: rm x @<$PWD>", "gh: rm y @<$PWD>", "gh: gh repo delete @<$PWD>"}},
		{text: "gh alias set x \"$Y\"", want: []string{"gh alias set x <$Y>"}, unknown: true},
		{text: "busybox rm x; toybox rm y; busybox sh -c 'rm z'", want: []string{"busybox: rm x", "toybox: rm y", "busybox>sh -c: rm z"}},
		{text: "find . -exec rm {} \\; -execdir unlink {} + -ok shred {} ';'", want: []string{"find -exec: rm <{}>", "find -execdir: unlink <{}> @<$PWD>", "find -ok: shred <{}>"}},
		{text: `find . -exec sh -c 'rm "$1"' _ {} \;`, want: []string{"find -exec>sh -c: rm <{}>"}},
		{text: "find . -name -delete; find . -name -exec -o -name rm", not: []string{"find -exec: -o -name rm"}},
		{text: "find . -exec echo rm {} \\;", want: []string{"find -exec: echo rm <{}>"}, not: []string{"find -exec: rm <{}>"}},
		{text: "fd -x rm; fd pat -X rm -f; fd -e txt --exec rm {.}.o", want: []string{"fd -x: rm <{}>", "fd -X: rm -f <{}>", "fd --exec: rm <{}>.o"}},
		{text: "git ls-files -o | xargs rm -rf", want: []string{"xargs: rm -rf <xargs>"}},
		{text: "ls | xargs -I{} bash -c '{}'", want: []string{"xargs: bash -c <xargs>"}, unknown: true},
		{text: "ls | xargs -I{} sh -c 'cd {} && git pull'", want: []string{"xargs>sh -c: git pull @<$PWD>"}},
		{text: "ls | xargs grep rm; ls | xargs -0 -n 1 -P4 rm", want: []string{"xargs: grep rm <xargs>", "xargs: rm <xargs>"}},
		{text: "echo a b | xargs rm; printf '%s\\0' 'c d' | xargs -0 rm", want: []string{"xargs: rm a b"}},
		{text: "echo /etc | xargs -I X rm -rf X/y", want: []string{"xargs: rm -rf /etc/y"}},
		{text: "parallel rm ::: a b; parallel 'rm {}' ::: c; ls | parallel rm", want: []string{"parallel: rm a", "parallel: rm b", "parallel: rm c", "parallel: rm <parallel>"}},
		{text: "parallel rm ::: *", want: []string{"parallel: rm <parallel>"}},
		{text: "ssh host rm x; ssh -p 22 u@host 'cd /d && rm y'; ssh host <<E\nrm z\nE", want: []string{"ssh: host! rm x @<$PWD>", "ssh: u@host! rm y @/d", "ssh: host! rm z @<$PWD>"}},
		{text: "ssh -o ProxyCommand='rm x' host; ssh -oProxyCommand='rm y' host", want: []string{"ssh -o: rm x", "ssh -o: rm y"}},
		{text: "docker exec -it -u root web rm x; docker run --rm -v /:/h alpine rm -rf /h; docker compose exec -T db rm y; docker-compose run --rm app rm z", want: []string{
			"docker exec: web! rm x @<$PWD>", "docker run: alpine! rm -rf /h @<$PWD>", "docker compose exec: db! rm y @<$PWD>", "docker-compose run: app! rm z @<$PWD>"}},
		{text: "docker run --entrypoint sh img -c 'rm x'; podman exec c sh -c 'rm y'; docker run --rm img; docker rm x", want: []string{"docker run>sh -c: img! rm x @<$PWD>", "podman exec>sh -c: c! rm y @<$PWD>"}},
		{text: "kubectl exec -n ns pod -- rm x; kubectl exec pod -c c -- sh -c 'rm y'; kubectl delete pod x", want: []string{"kubectl exec: pod! rm x @<$PWD>", "kubectl exec>sh -c: pod! rm y @<$PWD>"}},
		{text: "chroot /mnt rm x; unshare -m rm y; nsenter -t 1 -m rm z; systemd-run --user -p A=b rm q", want: []string{"chroot: rm x @<$PWD>", "unshare: rm y", "nsenter: rm z @<$PWD>", "systemd-run: rm q"}},
		{text: "tmux new -d 'rm x'; tmux send-keys -t 0 'rm y' Enter; screen -dmS s rm z; screen -S s -X stuff 'rm q^M'", want: []string{"tmux new: rm x", "tmux send-keys: rm y @<$PWD>", "screen: rm z", "screen stuff: rm q @<$PWD>"}},
		{text: "script -c 'rm x' /dev/null; script -q /dev/null rm y; flock /tmp/l rm z; flock /tmp/l -c 'rm q'", want: []string{"script: rm x", "script: rm y", "flock: rm z", "flock: rm q"}},
		{text: "git -c alias.x='!rm -rf y' x; git -c alias.w='reset --hard' w; git -c core.pager='rm z' log; git -c core.editor=vim commit", want: []string{"git: rm -rf y @<$PWD>", "git: git reset --hard", "git -c core.pager: rm z"}},
		{text: "git submodule foreach 'rm x'; git rebase -x 'rm y' main; git rebase --exec='rm z' main; git bisect run rm q", want: []string{"git submodule foreach: rm x @<$PWD>", "git rebase --exec: rm y", "git rebase --exec: rm z", "git bisect run: rm q"}},
		{text: "tar --to-command='rm x' -xf a; tar -I 'rm y' -cf a b; tar --checkpoint-action=exec='rm z' -cf a b; rg --pre 'rm q' x", want: []string{"tar: rm x", "tar: rm y", "tar: rm z", "rg: rm q"}},
		{text: "npx rimraf x; npx -y -p a rm y; npx -c 'rm z'; pnpm exec rm q; bunx rm r; npm exec -- rm s; yarn dlx rm t", want: []string{"npx: rimraf x", "npx: rm y", "npx: rm z", "pnpm: rm q", "bunx: rm r", "npm: rm s", "yarn: rm t"}},
		{text: "bash.exe -c 'rm x'; powershell.exe -NoProfile -Command git reset --hard", want: []string{"bash -c: rm x", "powershell: git reset --hard"}},
		{text: "powershell.exe -ExecutionPolicy Bypass 'Remove-Item x'", want: []string{"powershell.exe -ExecutionPolicy Bypass 'Remove-Item x'"}, unknown: true},
		{text: "nvm exec 20 rm x; nvm exec rm y; fnm exec --using 20 rm z; volta run --node 20 rm q; nx exec -- rm r", want: []string{"nvm: rm x", "nvm: rm y", "fnm: rm z", "volta: rm q", "nx: rm r"}},
		{text: "yarn workspaces foreach -A exec rm x; yarn workspace web exec rm y; pueue add -- rm z; meta exec 'rm q'; tsp rm r; runcon t rm s", want: []string{"yarn: rm x", "yarn: rm y", "pueue: rm z", "meta: rm q", "tsp: rm r", "runcon: rm s"}},
		{text: "mise exec node@20 -- rm x; poetry run rm y; uv run --with a rm z; bundle exec rm q; conda run -n e rm r; direnv exec . rm s", want: []string{"mise: rm x", "poetry: rm y", "uv: rm z", "bundle: rm q", "conda: rm r", "direnv: rm s"}},
		{text: "make -C sub SHELL=/bin/zsh; make X='$(shell rm y)'", want: []string{"make -C sub SHELL=/bin/zsh @/w/sub", "make: /bin/zsh @/w/sub", "make: rm y"}},
		{text: "mywrap rm -rf x; mywrap git push --force", want: []string{"?mywrap: rm -rf x", "?mywrap: git push --force"}},
		{text: "npm run rm-cache; docker run --rm x; man rm; which rm; apt install rm; mytool remove", not: []string{"?npm: rm-cache", "?man: rm", "?which: rm"}},
		{text: "sed '1e rm x' f; sed 's/a/rm y/e' f; sed 's/e/x/' f; sed -n '/e rm/p' f", want: []string{"sed: rm x", "sed: rm y"}, not: []string{"sed: rm/p"}},
		{text: "echo 'rm x' | at now; vim -c '!rm y'; sqlite3 db '.shell rm z'; psql -c '\\! rm q'", want: []string{"at: rm x", "vim: rm y", "sqlite3: rm z", "psql: rm q"}},
		{text: "$SUDO rm -rf x", want: []string{"?$SUDO: rm -rf x"}, unknown: true},
		{text: "$(which rm) -rf x; `command -v rm` y", want: []string{"<out:which rm> -rf x"}},
		{text: "cat x | ssh host 'rm y'; echo 'rm q' | ssh host bash", want: []string{"ssh: host! rm y @<$PWD>"}},
	})
	o := testOptions(Bash)
	o.Wrappers = []string{"mine"}
	checkRow(t, Parse("mine -v rm x", o), row{text: "mine -v rm x", want: []string{"mine: rm x"}})
}

// Section 7: data, not code.
func TestData(t *testing.T) {
	quiet := []string{
		`echo "rm -rf /"`, `printf '%s\n' 'rm -rf ~'`, `grep -rn "git reset --hard" .`, `git commit -m "rm -rf /"`, `nice git commit -m "rm -rf /"`,
		`gh pr create --body "rm -rf /"`, `ls # rm -rf /`, `git reset -- --hard`, `find . -name 'rm'`, `docker run --rm img`, `command -v rm`,
		"cat > notes.md <<'EOF'\nrm -rf /\nEOF", "git commit -F - <<'EOF'\nrm -rf /\nEOF", "git commit -m \"$(cat <<'EOF'\nrm -rf /\nEOF\n)\"",
		"git apply <<'EOF'\nrm -rf /\nEOF", `[ -f "$f" ]`, `bash -lc 'echo "rm -rf /"'`, `python -c "print('rm -rf /')"`,
		"python3 <<'EOF'\nx = 'os.remove(1)'\nEOF", `rm --help`, `git log --grep "reset --hard"`, `echo 'a => b'`, `awk '{print "rm -rf /"}' f`,
		`class="truncate line-through"`, `npm run rm-cache`, `jq '.rm' x.json`, `curl -d 'rm -rf /' u`, `echo x >/dev/tcp/h/22`,
	}
	for _, text := range quiet {
		a := Parse(text, testOptions(Bash))
		for i := range a.Commands {
			c := &a.Commands[i]
			if n := c.Name(); (n == "rm" && !strings.Contains(text, "--help")) || c.Guess || len(c.Effects) > 0 {
				t.Errorf("%s: %s", text, render(c))
			}
		}
		if len(a.Unknown) > 0 {
			t.Errorf("%s: %v", text, a.Unknown)
		}
	}
	runRows(t, Bash, []row{
		{text: "cat <<'E' | bash\nrm -rf ~\nE", want: []string{"bash: rm -rf /home/u"}},
		{text: "cat > f <<E\n$(rm -rf ~)\nE", want: []string{"rm -rf /home/u"}},
		{text: "git commit -m\nrm -rf ~", want: []string{"rm -rf /home/u"}},
	})
}

// Section 8: state along the line.
func TestState(t *testing.T) {
	runRows(t, Bash, []row{
		{text: "cd a; rm x; cd ..; rm y; cd /d/e; rm z; cd - ; rm q", want: []string{"rm x @/w/a", "rm y", "rm z @/d/e", "rm q"}},
		{text: "pushd a; rm x; pushd /b; rm y; popd; rm z; popd; rm q; popd; rm r", want: []string{"rm x @/w/a", "rm y @/b", "rm z @/w/a", "rm q", "rm r @<$PWD>"}},
		{text: "(cd a; rm x); rm y; cd a | rm z; cd b & rm q; $(cd c; rm r)", want: []string{"rm x @/w/a", "rm y", "rm z", "rm q", "rm r @/w/c"}},
		{text: "cd a && rm x || rm y; rm z", want: []string{"rm x @/w/a", "rm y @<$PWD>", "rm z @<$PWD>"}},
		{text: "test -d a && cd a; rm x", want: []string{"rm x @<$PWD>"}},
		{text: "if c; then cd a; fi; rm x", want: []string{"rm x @<$PWD>"}},
		{text: "if c; then cd a; else cd a; fi; rm x", want: []string{"rm x @/w/a"}},
		{text: "cd $X; rm x; cd sub; rm y; cd ..; rm z; cd /; rm q", want: []string{"rm x @<$X>", "rm y @<$X>/sub", "rm z @<$X>", "rm q @/"}},
		{text: "CDPATH=/d; cd a; rm x; cd ./b; rm y", want: []string{"rm x @<$PWD>", "rm y @<$PWD>/b"}},
		{text: "for d in a b; do cd $d; rm x; cd ..; done; rm y", want: []string{"rm x @/w/a", "rm x @/w/b", "rm y"}},
		{text: "while c; do cd a; rm x; done", want: []string{"rm x @<$PWD>/a"}},
		{text: "git -C a -C b reset; make -C d; make --directory=e; env -C f rm x; git -C /g log", want: []string{"git -C a -C b reset @/w/a/b", "make -C d @/w/d", "make --directory=e @/w/e", "env: rm x @/w/f", "git -C /g log @/g"}},
		{text: "cd ~ && rm -rf .; cd && rm y", want: []string{"rm -rf . @/home/u", "rm y @/home/u"}},
		{text: "cd / && rm -rf ./*", want: []string{"rm -rf ./* @/"}},
		{text: "cd a || exit 1; rm x", want: []string{"rm x @/w/a"}},
		{text: "cd a || { echo no; exit 1; }; rm x", want: []string{"rm x @/w/a"}},
		{text: "die() { echo no; exit 1; }; cd a || die; rm x", want: []string{"rm x @/w/a"}},
		{text: "D=/; rm -rf $D", want: []string{"rm -rf /"}},
		{text: "X=rm; $X -rf ~", want: []string{"rm -rf /home/u"}},
		{text: `p=/tmp/s; printf -v p /; rm -rf "$p"`, want: []string{"rm -rf /"}},
		{text: `p=/tmp/s; read p <<< /; rm -rf "$p"`, want: []string{"rm -rf /"}},
		{text: `p=/tmp/s; read p; rm "$p"; mapfile p < f; rm $p`, want: []string{"rm <$p>"}},
		{text: "x=a; if c; then x=b; fi; rm $x", want: []string{"rm <$x>"}, not: []string{"rm a", "rm b"}},
		{text: "x=a; while c; do rm $x; x=b; done; rm $x", want: []string{"rm <$x>"}, not: []string{"rm a"}},
		{text: "for x in a b; do rm $x; done", want: []string{"rm a", "rm b"}},
		{text: "for f in *.txt; do rm \"$f\"; done", want: []string{"rm *.txt"}},
		{text: "x=a; local -n r=x; r=b; rm $x", want: []string{"rm b"}},
		{text: "x=a; eval \"$code\"; rm $x", want: []string{"rm <$x>"}, unknown: true},
		{text: "HOME=/tmp/x true; rm ~; HOME=/q; rm ~/z", want: []string{"rm /home/u", "rm /q/z"}},
		{text: `TMPDIR="/tmp/x /"; rm -rf $TMPDIR/y`, want: []string{"rm -rf /tmp/x //y"}},
		{text: `D=$(mktemp -d); rm -rf "$D/work" $D`, want: []string{"rm -rf <tmp>/work <tmp>"}},
		{text: `rm -rf "$(mktemp -d)" "$(pwd)/x" $PWD/y "$(echo z)" $(printf %s q)`, want: []string{"rm -rf <tmp> /w/x /w/y z q"}},
		{text: `rm -rf "$(git rev-parse --show-toplevel)/x"`, want: []string{"rm -rf <out:git rev-parse --show-toplevel>/x"}},
		{text: `$(echo rm) -rf x; $(printf rm) y`, want: []string{"rm -rf x", "rm y"}},
		{text: "rm(){ command rm -rf ~; }; rm x", want: []string{"command: rm -rf /home/u"}},
		{text: "f() { rm \"$@\"; }; f a 'b c'; g() { f \"$1\"; }; g d", want: []string{"rm a 'b c'", "rm d"}},
		{text: "f() { local D=$1; rm -rf \"$D\"; }; D=x; f /; rm $D", want: []string{"rm -rf /", "rm x"}},
		{text: `f() { f; rm x; }; f`, want: []string{"rm x"}},
		{text: `\cd a; rm x; cd() { builtin cd b; }; cd c; rm y; command cd d; rm z; builtin cd e; rm q`, want: []string{"rm x @/w/a", "rm y @/w/a/b", "rm z @/w/a/b/d", "rm q @/w/a/b/d/e"}},
		{text: "set -- a b; rm \"$@\" $1; shift; rm $1", want: []string{"rm a b a", "rm b"}},
		{text: "A=(a 'b c'); rm \"${A[@]}\" ${#A[@]}; A+=(d); rm ${A[2]}", want: []string{"rm a 'b c' 2", "rm d"}},
		{text: "rm \"${X:-/}\" ${Y:=z}", want: []string{"rm <$X> <$Y>"}},
		{text: "X=1; export X; bash -c 'rm $X'; Y=2; bash -c 'rm $Y'; Z=3 bash -c 'rm $Z'", want: []string{"bash -c: rm 1", "bash -c: rm <$Y>", "bash -c: rm 3"}},
		{text: "export D=/x; sudo bash -c 'rm -rf $D/y'", want: []string{"sudo>bash -c: rm -rf <$D>/y"}},
		{text: "printf 'rm -rf ~\\n' > x.sh; bash x.sh", want: []string{"bash: rm -rf /home/u"}},
		{text: "cat > x.sh <<'E'\n#!/bin/bash\nrm -rf \"$1\"\nE\nchmod +x x.sh; ./x.sh /", want: []string{"x.sh: rm -rf /"}},
		{text: "curl -o x.sh u; sh x.sh", unknown: true},
		{text: "curl u > x.sh && bash ./x.sh", unknown: true},
		{text: "echo 'rm x' | tee a.sh; cp a.sh b.sh; source b.sh", want: []string{"source: rm x"}},
		{text: "bash x.sh; ./y.sh; source .venv/bin/activate; . ./env", want: []string{"bash x.sh"}},
		{text: `bash "$f"`, unknown: true},
		{text: `bash "$DIR/build.sh"; for f in *.sh; do sh "$f"; done`, want: []string{"bash <$DIR>/build.sh"}},
		{text: "cat > e.py <<'E'\nimport shutil; shutil.rmtree('x')\nE\npython3 e.py", want: []string{"python3 e.py {delete x -r}"}},
		{text: "$CMD foo", want: []string{"<$CMD> foo"}, unknown: true},
		{text: "/bin/r? x", unknown: true},
		{text: "trap 'rm $D' EXIT; D=x", want: []string{"trap: rm <$D>"}},
		{text: "D=x; trap 'rm $D' EXIT", want: []string{"trap: rm x"}},
		{text: "echo 'rm -rf ~' | cat | bash; echo cm0gLXJmIH4= | base64 -d | sh", want: []string{"bash: rm -rf /home/u", "sh: rm -rf /home/u"}},
		{text: "bash <<< 'rm x'; bash < <(echo rm y); bash <(echo rm z); bash /dev/stdin <<< 'rm q'; echo 'rm r' | bash --norc 2>/dev/null; bash -s a <<< 'rm $1'", want: []string{"bash: rm x", "bash: rm y", "bash: rm z", "bash: rm q", "bash: rm r", "bash: rm a"}},
		{text: "while read -r l; do rm \"$l\"; done < list", want: []string{"rm <$l>"}},
		{text: "x=$(($RANDOM)); rm $x; i=3; rm $((i+1)) ${i}", want: []string{"rm 4 3"}},
	})
}

// Section 9: dialects.
func TestDialects(t *testing.T) {
	runRows(t, Zsh, []row{
		{text: "rm lo(g|x)", want: []string{"rm lo(g|x)"}},
		{text: "=rm -rf x", want: []string{"<out:which rm> -rf x"}},
		{text: "X='a b'; rm $X", want: []string{"rm 'a b'"}},
		{text: "X='$(rm y)'; echo ${(e)X}", want: []string{"rm y"}},
		{text: "echo ${(e)X}", unknown: true},
		{text: "ls *(e:'rm x':)", unknown: true},
		{text: "repeat 2 rm x; noglob rm *; - rm y", want: []string{"repeat: rm x", "noglob: rm *", "-: rm y"}},
		{text: "for f (a b) rm $f", unknown: true},
		{text: "() { rm $1 } x", want: []string{"rm <1>"}, unknown: true},
		{text: "functions[f]='rm x'; f", unknown: true},
		{text: "TRAPEXIT() { rm x }", want: []string{"rm x"}},
		{text: "emulate sh -c 'rm x'", want: []string{"rm x"}},
		{text: "rec | xargs -I{} rm x <<<''", want: []string{"xargs: rm x"}},
	})
	runRows(t, AnyDialect, []row{
		{text: "X='a b'; rm $X", want: []string{"rm a b", "rm 'a b'"}},
		{text: "rm -rf x && ls", want: []string{"rm -rf x"}},
		{text: "rm lo(g|x)", want: []string{"rm lo(g|x)"}},
		{text: "noglob rm x; ls", want: []string{"noglob rm x", "?noglob: rm x", "noglob: rm x", "ls"}},
		{text: "- rm x", want: []string{"- rm x", "?-: rm x", "-: rm x"}},
		{text: "repeat 2 rm x", want: []string{"repeat 2 rm x", "?repeat: rm x", "repeat 2 rm x", "repeat: rm x"}},
		{text: "echo $(/opt/safeshell trash put x)y", want: []string{"echo y"}},
	})
	if n := len(Parse("cd a && rm $X; ls | sort", testOptions(AnyDialect)).Commands); n != 4 {
		t.Errorf("%d commands for 4", n)
	}
}
