package eval

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"safeshell/script"
)

// Conditions in which a value could become code are refused; others are not.
func TestConditionValues(t *testing.T) {
	for _, bad := range []string{
		`eval "$CMD"`, `eval true`, `eval 'echo $CMD'`, `bash -c "$CMD"`, `bash -c '$CMD'`, `sh -c "echo $ARGS"`, `bash -c 'echo $CMD'`,
		`bash -lc "$CMD"`, `bash -o pipefail -c "$CMD"`, `bash -co errexit "$CMD"`, `bash "$CMD"`, `echo "$CMD" | bash`, `echo "$CMD" | sh -s`, `bash <<< "$CMD"`, `bash < "$CMD"`,
		`python3 -c "$CMD"`, `python3 -X dev -c "$CMD"`, `perl -e "$ARGS"`, `node -e '$CMD'`, `awk "/$CMD/"`, `awk '$CMD'`, `sed "s/a/$CMD/" f`, `sed -n -e "$CMD" f`,
		`source "$CMD"`, `. <(echo "$CMD")`, `trap "$CMD" EXIT`, `alias x="$CMD"`, `compgen -W "$CMD"`,
		`$CMD`, `"$CMD"`, `$ARGS --dry-run`, `command $CMD`, `env $CMD`, `sudo "$CMD"`, `timeout 1 $CMD`, `xargs $CMD`, `exec $CMD`, `echo "$ARGS" | xargs bash -c`, `echo "$ARGS" | xargs -I{} sh -c '{}'`,
		`find . -exec bash -c "$CMD" \;`, `env -i bash -c "$CMD"`, `nice bash -c "$CMD"`,
		`[[ $CMD -eq 1 ]]`, `[[ 1 -lt $ARGS ]]`, `(( CMD ))`, `(( $CMD > 1 ))`, `echo $((CMD))`, `[[ -v $CMD ]]`, `[[ -v "$CMD" ]]`, `test -v "$CMD"`, `[ -v "$CMD" ]`, `[[ -R $CMD ]]`,
		`printf -v "$CMD" x`, `declare "$CMD"`, `declare -i x="$CMD"`, `declare -n x="$CMD"`, `export $CMD`, `local "$CMD"`, `read "$CMD"`, `unset "$CMD"`, `mapfile -C "$CMD" x`, `let "$CMD"`,
		`echo ${!CMD}`, `echo ${CMD@P}`, `echo ${x:$CMD}`, `echo ${a[$CMD]}`, `a[$CMD]=1`, `a=([$CMD]=1)`, `for ((i=0;i<CMD;i++)); do :; done`,
		`x=$CMD; eval "$x"`, `x="$CMD"; bash -c "$x"`, `read -r x <<< "$CMD"; bash -c "$x"`, `for x in $CMD; do $x; done`, `while read x; do eval "$x"; done <<< "$CMD"`, `y=$(echo "$CMD"); $y`, `f() { $1; }; f "$CMD"`, `printf -v x %s "$CMD"; $x`, `x=a; y=${x:+$CMD}; $y`, `: ${z:=$CMD}; $z`,
		`echo x > "$CMD"`, `PATH="$CMD" ls`, `BASH_ENV="$ARGS" true`, `git $ARGS`, `git -C $PWD status`, `rm $ARGS`,
		`[[ $x =~ a ]]; echo "${BASH_REMATCH[$CMD]}"`,
	} {
		if _, _, err := compileCondition(bad); err == nil {
			t.Errorf("accepted: %s", bad)
		}
	}
	for _, good := range []string{
		`echo '$CMD' | grep -qE '^git\s+commit'`, `echo "$CMD" | grep -q x`, `echo $CMD | grep -q x`, `printf '%s\n' "$CMD" | grep -q x`, `grep -q x <<< "$CMD"`, `grep -qF -- "$ARGS" list.txt`,
		`[[ $CMD == *--force* ]]`, `[[ "$ARGS" =~ ^-[a-z]*f ]]`, `case "$CMD" in git*) true;; *) false;; esac`, `[ "$ARGS" = x ]`, `test -n "$ARGS"`, `[ -f "$PWD/Makefile" ]`, `test -d '$PWD/.git'`,
		`git branch --show-current | grep -qx main`, `git -C "$PWD" status`, `cd "$PWD" && git status`, `bash -c 'grep -q x <<< "$1"' _ "$CMD"`, `awk -v c="$CMD" 'BEGIN { exit c !~ /x/ }'`, `python3 -c 'import sys; sys.exit("x" not in sys.argv[1])' "$CMD"`, `sed -n '/x/p' "$PWD/f"`,
		`x="$CMD"; [[ $x == a ]]`, `for w in $ARGS; do [ "$w" = x ] && exit 0; done; exit 1`, `n=${#CMD}; [ "$n" -gt 5 ]`, `! echo "$CMD" | grep -q y`, `(( 1 + 1 ))`, `echo "${CMD%% *}" | grep -q git`, `[ "${ARGS/x/y}" != "$ARGS" ]`, `find "$PWD" -maxdepth 1 -name x | grep -q .`, `timeout 1 grep -q x <<< "$CMD"`, `command -v git`, `true # $CMD`, `echo '$CMDLINE $CMD_X $USER'`,
		`wc -c < "$PWD/f"`, `export X="$CMD"; true`, `[[ -f $PWD/x ]]`,
	} {
		if _, fix, err := compileCondition(good); err != nil {
			t.Errorf("refused: %s: %v (%s)", good, err, fix)
		}
	}
	if _, _, err := compileCondition(strings.Repeat("a", maxCondition+1)); err == nil {
		t.Error("too long a condition is accepted")
	}
}

// A single-quoted value is what real bash gives for the same text with the
// value written into the quotes, properly quoted.
func TestQuotedValuesEqualBash(t *testing.T) {
	needs1(t, "bash")
	values := []string{"plain", "a b", "it's", `"double"`, "`tick`", "$(x)", "${x}", `back\slash`, "*", "~", "é", "new\nline", "-n", "--", "!", "a;b", "#", "'''", `\'`, "$CMD", ""}
	texts := []string{
		`printf '%s' '$ARGS'`, `printf '%s' '${ARGS}'`, `printf '%s' '<$ARGS>'`, `printf '%s' 'a"b$ARGS\n'`, `printf '%s' '$ARGS$ARGS'`, `printf '%s' "$(printf '%s' '[$ARGS]')"`,
		`x='$ARGS'; printf '%s' "$x"`, `case '$ARGS' in *) printf '%s' '$ARGS';; esac`, `[[ '$ARGS' == * ]] && printf '%s' '$ARGS'`, `printf '%s' 'lit $HOME $ARGSX ${ARGS:-x} '`, `printf '%s' $'$ARGS'`,
	}
	for _, text := range texts {
		out, _, err := compileCondition(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, v := range values {
			// The value in a variable, our text.
			ours := bash(t, "ARGS="+singleQuote(v)+"\n"+out)
			// The value pasted by hand at each reference inside single quotes.
			want := bash(t, "ARGS=unused\n"+pasteIntoQuotes(text, v))
			if ours != want {
				t.Errorf("%s with %q: %q, want %q (%s)", text, v, ours, want, out)
			}
		}
	}
}

// pasteIntoQuotes puts a quoted value in the place of $ARGS and ${ARGS} between
// single quotes; the texts of the test have no other single quotes.
func pasteIntoQuotes(text, value string) string {
	var b strings.Builder
	in := false
	for i := 0; i < len(text); {
		if text[i] == '\'' && (i == 0 || text[i-1] != '$' || in) {
			in = !in
		}
		if n, name := valueAt(text, i); in && n > 0 && name == "ARGS" {
			b.WriteString(strings.ReplaceAll(value, "'", `'\''`))
			i += n
			continue
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

func bash(t *testing.T, text string) string {
	t.Helper()
	cmd := exec.Command("bash", "--norc", "--noprofile", "-c", text)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("bash: %v\n%s\n%s", err, text, out)
	}
	return string(out)
}

// $CMD and $ARGS read by bash give the words again.
func TestQuoteEqualsBash(t *testing.T) {
	needs1(t, "bash")
	for _, s := range []string{"plain", "", "a b", "it's", "new\nline", "tab\t", "\x01\x7f", "é", "\xff\xfe", `\`, "$x", "`", "~", "#", "=", "a=b", "{a,b}", "*", "!", "-n", "a\r", "'\n'", "\u202e"} {
		q := quote(s)
		if strings.ContainsAny(q, "\n\r") {
			t.Errorf("%q: not one line: %q", s, q)
		}
		if got := bash(t, "printf '%s' "+q); got != s {
			t.Errorf("%q: %s gives %q", s, q, got)
		}
	}
}

// condition judges one condition for a command, in real bash.
func (w *world) condition(cond string, argv []string, timeout time.Duration) (holds bool, err error) {
	w.t.Helper()
	script1, _, err := compileCondition(cond)
	if err != nil {
		w.t.Fatal(err)
	}
	j := &bashJudge{environ: w.env, timeout: timeout, avoid: []string{w.paths.Shims}}
	r := &rule{name: "r", conditions: []condition{{cond, script1}}}
	a := script.FromArgv(argv, script.Options{Dir: w.proj})
	rules, _ := w.rules()
	h, _, err := j.firstInBash([]*rule{r}, newView(rules, &a, 0).values())
	return h == 0, err
}

func TestConditionsInBash(t *testing.T) {
	needs1(t, "bash", "grep")
	w := newWorld(t)
	w.write("here", "")
	big := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		cond string
		argv []string
		want bool
	}{
		{"true", []string{"x"}, true},
		{"false", []string{"x"}, false},
		{"exit 0", []string{"x"}, true},
		{"exit 3", []string{"x"}, false},
		{"no-such-command-at-all", []string{"x"}, false},
		{`[ "$CMD" = "x a 'b c'" ]`, []string{"/usr/bin/x", "a", "b c"}, true},
		{`[ "$ARGS" = "a 'b c' ''" ]`, []string{"x", "a", "b c", ""}, true},
		{`[ "$CMD" = x ] && [ -z "$ARGS" ]`, []string{"x"}, true},
		{`[ "$PWD" = "$(pwd)" ] && [ -e here ]`, []string{"x"}, true},
		{`[ "$CMD" = "$(printenv CMD)" ] && [ "$ARGS" = "$(printenv ARGS)" ]`, []string{"x", "a\nb"}, true},
		{`[ "${#ARGS}" = 1048576 ]`, []string{"x", big}, true},
		{`printf '%s' "$ARGS" | grep -q 'x$'`, []string{"x", big}, true},
		{`grep -q -- '^x -n$' <<< "$CMD"`, []string{"x", "-n"}, true},
		{`read -r line; [ -z "$line" ]`, []string{"x"}, true},
		{`[ -t 0 ] || [ -t 1 ]`, []string{"x"}, false},
		{`[ -z "$BASH_ENV$ENV$CDPATH" ]`, []string{"x"}, true},
		{`{ : >&3; } 2>/dev/null || { : >&4; } 2>/dev/null`, []string{"x"}, false},
		{`set -e; false; true`, []string{"x"}, false},
		{`exec 1>&2; kill -9 $BASHPID`, []string{"x"}, false},
		{`sleep 30 & true`, []string{"x"}, true},
	} {
		w.env = append(w.env, "BASH_ENV=/nonexistent", "ENV=/nonexistent", "CDPATH=/", "BASH_FUNC_grep%%=() { true; }", "SHELLOPTS=noexec")
		got, err := w.condition(c.cond, c.argv, time.Minute)
		if got != c.want || err != nil {
			t.Errorf("%s: %v, want %v (%v)", c.cond, got, c.want, err)
		}
	}
}

// A condition that does not end, or writes without end, is stopped with all it
// started.
func TestConditionLimits(t *testing.T) {
	needs1(t, "bash")
	w := newWorld(t)
	pid := filepath.Join(w.proj, "pid")
	for _, cond := range []string{
		`while :; do :; done`, `sleep 1000`, `(sleep 1000)`, `sleep 1000 | cat`, `yes`, `cat /dev/zero`, `yes | cat`, `(trap "" TERM INT HUP; sleep 1000)`,
		`sh -c 'echo $$ > pid; exec sleep 1000'`,
	} {
		began := time.Now()
		holds, err := w.condition(cond, []string{"x"}, 300*time.Millisecond)
		if holds || err == nil || !strings.Contains(err.Error(), "time limit") {
			t.Errorf("%s: %v %v", cond, holds, err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s took %v", cond, took)
		}
	}
	data, _ := os.ReadFile(pid)
	if p := strings.TrimSpace(string(data)); p != "" {
		for range 100 {
			if !exists("/proc/" + p) {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		if state, _ := os.ReadFile("/proc/" + p + "/stat"); !strings.Contains(string(state), ") Z ") {
			t.Errorf("process %s was left behind", p)
		}
	}
}

// What a condition that cannot be judged counts as.
func TestUnjudged(t *testing.T) {
	needs1(t, "bash")
	for _, c := range []struct {
		action string
		open   bool
		want   Action
	}{
		{"deny", false, Deny}, {"require_approval", false, RequireApproval}, {"redirect", false, Allow}, {"allow", false, Allow},
		{"deny", true, Allow}, {"require_approval", true, Allow},
	} {
		w := newWorld(t)
		more := ""
		if c.action == "redirect" {
			more = ", redirect_to: y"
		}
		w.user("rules:\n" + one("r", "x", c.action, more+", conditions: ['sleep 1000']"))
		w.open = func(o *Options) {
			o.Settings = func() (time.Duration, bool) { return 200 * time.Millisecond, c.open }
		}
		d := w.argv("x")
		if d.Action != c.want {
			t.Errorf("%s, fail open %v: %v", c.action, c.open, d.Action)
		}
		if len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "could not be judged") {
			t.Errorf("%s: notes %q", c.action, d.Notes)
		}
	}
}

// A milder verdict that is certain stays when a stricter rule does not hold.
func TestConditionsAndOthers(t *testing.T) {
	needs1(t, "bash")
	w := newWorld(t)
	w.user("rules:\n" + one("no", "x", "deny", ", conditions: [false]") + one("yes", "x", "require_approval", ", conditions: [true, true]") + one("plain", "x", "redirect", ", redirect_to: y"))
	if d := w.argv("x"); d.Rule != "yes" {
		t.Errorf("%+v", d)
	}
	// Conditions that cannot change the verdict are not run.
	w.user("rules:\n" + one("plain", "x", "deny", "") + one("cond", "x", "deny", ", conditions: ['touch ran']") + one("ask", "x", "require_approval", ", conditions: ['touch ran']"))
	if d := w.argv("x"); d.Rule != "plain" {
		t.Errorf("%+v", d)
	}
	// Nor when another key does not hold.
	w.user("rules:\n  - {name: c, commands: [x], match: {flags: [-f]}, conditions: ['touch ran'], action: deny, message: m}\n")
	w.argv("x")
	if exists(filepath.Join(w.proj, "ran")) {
		t.Error("a condition ran for nothing")
	}
	// All must hold, in order; the first that fails ends it.
	w.user("rules:\n  - {name: c, commands: [x], conditions: [true, false, 'touch ran'], action: deny, message: m}\n")
	if d := w.argv("x"); d.Action != Allow || exists(filepath.Join(w.proj, "ran")) {
		t.Errorf("%+v", d)
	}
}

// Conditions never run the shims.
func TestConditionsAvoidShims(t *testing.T) {
	needs1(t, "bash")
	w := newWorld(t)
	shims := w.paths.Shims
	w.mkdir(shims)
	os.WriteFile(filepath.Join(shims, "probe"), []byte("#!/bin/sh\nexit 0\n"), 0o755)
	other := filepath.Join(w.root, "othershims") // of another home: links to the running program
	w.mkdir(other)
	self, _ := os.Executable()
	os.Symlink(self, filepath.Join(other, "rm"))
	os.WriteFile(filepath.Join(other, "probe"), []byte("#!/bin/sh\nexit 0\n"), 0o755)
	link := filepath.Join(w.root, "link")
	os.Symlink(shims, link)
	w.env = []string{"PATH=" + shims + "/:" + other + ":" + link + ":.:/usr/bin:/bin", "HOME=" + w.home}
	w.user("rules:\n" + one("r", "x", "deny", ", conditions: [probe]"))
	if d := w.argv("x"); d.Action != Allow {
		t.Errorf("a shim was run: %+v", d)
	}
}
