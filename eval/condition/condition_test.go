package condition

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"safeshell/script"

	"pgregory.net/rapid"
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
		if _, _, err := Compile(bad); err == nil {
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
		if _, fix, err := Compile(good); err != nil {
			t.Errorf("refused: %s: %v (%s)", good, err, fix)
		}
	}
	if _, _, err := Compile(strings.Repeat("a", maxText+1)); err == nil {
		t.Error("too long a condition is accepted")
	}
}

// A single-quoted value is what real bash gives for the same text with the
// value written into the quotes, properly quoted.
func TestQuotedValuesEqualBash(t *testing.T) {
	needs(t, "bash")
	values := []string{"plain", "a b", "it's", `"double"`, "`tick`", "$(x)", "${x}", `back\slash`, "*", "~", "é", "new\nline", "-n", "--", "!", "a;b", "#", "'''", `\'`, "$CMD", ""}
	texts := []string{
		`printf '%s' '$ARGS'`, `printf '%s' '${ARGS}'`, `printf '%s' '<$ARGS>'`, `printf '%s' 'a"b$ARGS\n'`, `printf '%s' '$ARGS$ARGS'`, `printf '%s' "$(printf '%s' '[$ARGS]')"`,
		`x='$ARGS'; printf '%s' "$x"`, `case '$ARGS' in *) printf '%s' '$ARGS';; esac`, `[[ '$ARGS' == * ]] && printf '%s' '$ARGS'`, `printf '%s' 'lit $HOME $ARGSX ${ARGS:-x} '`, `printf '%s' $'$ARGS'`,
	}
	for _, text := range texts {
		c, _, err := Compile(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, v := range values {
			// The value in a variable, our text.
			ours := bash(t, "ARGS="+Quote(v)+"\n"+c.Script)
			// The value pasted by hand at each reference inside single quotes.
			want := bash(t, "ARGS=unused\n"+pasteIntoQuotes(text, v))
			if ours != want {
				t.Errorf("%s with %q: %q, want %q (%s)", text, v, ours, want, c.Script)
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

var plainEnv = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"}

// inBash judges one condition for a command, in real bash.
func inBash(t *testing.T, dir string, env []string, text string, argv []string, timeout time.Duration) (holds bool, err error) {
	t.Helper()
	c, _, err := Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	j := &Judge{Env: Env{Environ: env}, Timeout: timeout}
	h, _, err := j.firstInBash([][]Condition{{c}}, Values{Name: filepath.Base(argv[0]), Args: script.Quote(argv[1:]), Dir: dir})
	return h == 0, err
}

func TestConditionsInBash(t *testing.T) {
	needs(t, "bash", "grep")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "here"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
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
		env := append(plainEnv, "BASH_ENV=/nonexistent", "ENV=/nonexistent", "CDPATH=/", "BASH_FUNC_grep%%=() { true; }", "SHELLOPTS=noexec")
		got, err := inBash(t, dir, env, c.cond, c.argv, time.Minute)
		if got != c.want || err != nil {
			t.Errorf("%s: %v, want %v (%v)", c.cond, got, c.want, err)
		}
	}
}

// A condition that does not end, or writes without end, is stopped with all it
// started.
func TestConditionLimits(t *testing.T) {
	needs(t, "bash")
	dir := t.TempDir()
	pid := filepath.Join(dir, "pid")
	for _, cond := range []string{
		`while :; do :; done`, `sleep 1000`, `(sleep 1000)`, `sleep 1000 | cat`, `yes`, `cat /dev/zero`, `yes | cat`, `(trap "" TERM INT HUP; sleep 1000)`,
		`sh -c 'echo $$ > pid; exec sleep 1000'`,
	} {
		began := time.Now()
		holds, err := inBash(t, dir, plainEnv, cond, []string{"x"}, 300*time.Millisecond)
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
			if _, err := os.Stat("/proc/" + p); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		if state, _ := os.ReadFile("/proc/" + p + "/stat"); !strings.Contains(string(state), ") Z ") {
			t.Errorf("process %s was left behind", p)
		}
	}
}

// The forms that need no bash are found as bash finds them, for patterns and texts
// of every kind.
func TestMatchEqualsBash(t *testing.T) {
	needs(t, "bash", "grep", "git")
	repo := t.TempDir()
	git := func(args ...string) {
		if out, err := exec.Command("git", append([]string{"-C", repo}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	git("init", "-q", "-b", "main")
	branches := []string{"main", "release/1.2", "feature-login", "develop"}
	pieces := []string{"a", "b", "git", "commit", " ", "-", "--force", ".", `\.`, `\s`, `\w`, `\S`, `\b`, "^", "$", "*", "+", "?", "{2}", "{1,}", "{,2}", "(", ")", "|", "[a-c]", "[^ ]", "[[:space:]]", "[]a]", "[a-]", "[a-Z]", `[\.]`, "]", "{", "}", `\`, `\1`, `\(`, `\{`, "main", "release/", "é"}
	texts := []string{"", "commit -m x", "a b", "aa", "-n", "-e", "-rf a", "push --force origin main", "abc ab", `a\b`, "a]b", "{a}", "a.b", "x|y", "^a$", "'a b' c", "é", `$'a\nb'`, "(a)", "a_b-c"}
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 7).Draw(t, "pattern"), "")
		if strings.Contains(pattern, "'") {
			return
		}
		value := rapid.SampledFrom([]string{"CMD", "ARGS", "PWD"}).Draw(t, "value")
		flags := rapid.SampledFrom([]string{"-qE", "-q", "-E", "-q --", "-Eq"}).Draw(t, "flags")
		text := rapid.SampledFrom([]string{
			`echo '$` + value + `' | grep ` + flags + ` '` + pattern + `'`,
			`! echo "$` + value + `" | grep ` + flags + ` '` + pattern + `'`,
			`git branch --show-current | grep ` + flags + ` '` + pattern + `'`,
			`[[ $` + value + ` =~ ` + pattern + ` ]]`,
			`! [[ "$` + value + `" =~ ` + pattern + ` ]]`,
		}).Draw(t, "form")
		c, _, err := Compile(text)
		if err != nil || c.Match.Of == "" {
			return
		}
		branch := rapid.SampledFrom(branches).Draw(t, "branch")
		if out, err := exec.Command("git", "-C", repo, "symbolic-ref", "HEAD", "refs/heads/"+branch).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		j := &Judge{Env: Env{Environ: plainEnv}, Timeout: time.Minute, Branch: func(string) (string, bool) { return branch, true }}
		v := Values{Name: rapid.SampledFrom([]string{"git", "a", "-n"}).Draw(t, "name"), Args: rapid.SampledFrom(texts).Draw(t, "args"), Dir: repo}
		holds, ok := j.match([]Condition{c}, v)
		if !ok {
			return
		}
		taken++
		in, _, err := j.firstInBash([][]Condition{{c}}, v)
		if err != nil || holds != (in == 0) {
			t.Fatalf("%s with %+v on %s: %v, in bash %v (%v); as %q", text, v, branch, holds, in == 0, err, c.Match.Regexp)
		}
	})
	if taken == 0 {
		t.Error("no condition was judged without bash")
	}
}

// Which conditions need no bash.
func TestForms(t *testing.T) {
	for text, want := range map[string]string{
		`echo '$CMD' | grep -qE '^git\s+commit'`:                               `^git[\t-\r ]+commit`,
		`git branch --show-current | grep -qE '^(main|master|develop)$'`:       `^(?:main|master|develop)$`,
		`echo "$ARGS" | grep -qE '(^|[[:space:]])(-f|--force)([[:space:]]|$)'`: `(?:^|[[:space:]])(?:-f|--force)(?:[[:space:]]|$)`,
		`echo "${CMD}" | grep -q -- --force`:                                   `--force`,
		`[[ $CMD =~ rm.*-rf ]]`:                                                `rm.*-rf`,
		`! [[ "$PWD" =~ ^/home/[a-z]+/work ]]`:                                 `^/home/[a-z]+/work`,
		`echo $CMD | grep -q x`:                                                "",
		`echo "$CMD" | grep -qi x`:                                             "",
		`echo "$CMD" | grep -q x f`:                                            "",
		`echo "$CMD" | grep -q "$ARGS"`:                                        "",
		`echo "$CMD" | grep -q '$ARGS'`:                                        "",
		`echo "$CMD" | grep -qE 'a|'`:                                          "",
		`echo "$CMD" | grep -qE '(a)\1'`:                                       "",
		`echo "$CMD" | grep -qE '*a'`:                                          "",
		`echo "$CMD" | grep -qE 'é'`:                                           "",
		`echo "$CMD" | grep -qE '[[.a.]]'`:                                     "",
		`echo "$CMD" | grep -qE '[a-Z]'`:                                       "",
		`echo "$CMD" x | grep -q x`:                                            "",
		`LC_ALL=C echo "$CMD" | grep -q x`:                                     "",
		`echo "$CMD" | grep -q x > f`:                                          "",
		`echo "$CMD" | grep -q x; true`:                                        "",
		`echo "$CMD" | grep -q x &`:                                            "",
		`echo "$CMD" |& grep -q x`:                                             "",
		`[[ $CMD =~ "a.b" ]]`:                                                  "",
		`[[ $CMD == *x* ]]`:                                                    "",
		`git -C x branch --show-current | grep -q main`:                        "",
	} {
		c, _, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Match.Regexp; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A rule that bash has to judge does not keep the others from being judged here,
// and the order of the rules decides.
func TestOrder(t *testing.T) {
	needs(t, "bash", "grep")
	dir := t.TempDir()
	of := func(texts ...string) (list []Condition) {
		for _, text := range texts {
			c, _, err := Compile(text)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, c)
		}
		return list
	}
	no, yes := of(`[[ $CMD =~ y ]]`), of(`[[ $CMD =~ x ]]`, `echo "$CMD" | grep -q x`)
	bashNo, bashYes, slow := of("exit 1"), of("true", "exit 0"), of("sleep 9")
	for i, c := range []struct {
		rules     [][]Condition
		holds, at int
		failed    bool
	}{
		{[][]Condition{no, no}, -1, 2, false},
		{[][]Condition{no, yes, bashYes}, 1, 3, false},
		{[][]Condition{no, bashNo, yes}, 2, 3, false},
		{[][]Condition{no, bashYes, yes}, 1, 0, false},
		{[][]Condition{bashNo, no, bashNo}, -1, 3, false},
		{[][]Condition{no, bashNo, slow, yes}, -1, 2, true},
	} {
		j := &Judge{Env: Env{Environ: plainEnv}, Timeout: DefaultTimeout / 2}
		holds, at, err := j.First(c.rules, Values{Name: "x", Dir: dir})
		if holds != c.holds || (err != nil) != c.failed || holds < 0 && at != c.at {
			t.Errorf("%d: holds %d at %d %v, want %d %d", i, holds, at, err, c.holds, c.at)
		}
	}
	// Without a directory, what does not look at it can still be judged.
	j := &Judge{Env: Env{Environ: plainEnv}}
	if holds, _, err := j.First([][]Condition{of("[ -f x ] && false"), yes}, Values{Name: "x"}); holds != -1 || err == nil {
		t.Errorf("a file without a directory: %d %v", holds, err)
	}
	if holds, _, err := j.First([][]Condition{no, yes}, Values{Name: "x"}); holds != 1 || err != nil {
		t.Errorf("text without a directory: %d %v", holds, err)
	}
}

func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
}
