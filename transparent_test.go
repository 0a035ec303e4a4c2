package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"

	"safeshell/internal/test/testdir"
)

// recorder tells everything that a program can see of how it was started.
const recorder = `#!/bin/bash
printf 'arg %q\n' "$@"
env | grep -vE '^(SAFESHELL_EXEC|SAFESHELL_DEPTH|_|SHLVL|PATH)=' | sort
echo "cwd $PWD"
umask
for f in /proc/$$/fd/*; do n=${f##*/}; [ "$n" = 255 ] || echo "fd $n $(readlink "$f" 2>/dev/null | sed 's/:\[.*//')"; done
grep -E '^(SigIgn|SigBlk)' /proc/self/status
tty <&0 | sed 's,/[0-9]*$,,'
ulimit -n; ulimit -c
[ "$1" = fail ] && exit 9
[ "$1" = die ] && kill -KILL $$
[ "$1" = cat ] && cat
exit 0
`

// transparentCalls are the kinds of call for which a shimmed program must see
// what it sees without a shim. rec is the recorder.
var transparentCalls = map[string]string{
	"plain":                 `rec a 'b  c' '' $'new\nline' '*' '$HOME' '\\'`,
	"exit status":           `rec fail; echo $?`,
	"killed":                `rec die; echo $?`,
	"pipe in":               `echo data | rec cat`,
	"pipe out":              `rec | cat`,
	"pipe both, pipefail":   `set -o pipefail; echo data | rec cat | cat; rec fail | cat; echo $?`,
	"here-document":         "rec cat <<'X'\nline 1\n  line 2\nX\n",
	"here-string":           `rec cat <<< data`,
	"file in and out":       `echo data > in; rec cat < in > out 2>&1; cat out`,
	"further descriptors":   `rec 3</dev/null 7>seven`,
	"closed stdin":          `rec <&-`,
	"closed stdout":         `rec >&- 2>&1; echo $?`,
	"closed stderr":         `rec 2>&-`,
	"all closed but one":    `rec <&- 2>&-`,
	"background job":        `rec & wait $!; echo $?`,
	"exec":                  `exec rec a`,
	"exec with a name":      `exec -a other rec a`,
	"subshell and env":      `(export X='1 2'; Y=3 rec a)`,
	"command substitution":  `x=$(rec a); echo "$x"`,
	"process substitution":  `cat <(rec a)`,
	"trap ignored":          `trap '' TERM PIPE USR1 QUIT; rec a`,
	"trap set":              `trap 'echo trapped' TERM USR1; rec a`,
	"interrupted":           `bash -c 'kill -INT $$; rec a' ; echo $?; trap '' INT; rec b`,
	"nohup":                 `nohup rec a 2>/dev/null </dev/null`,
	"other directory":       `mkdir -p "d e"; cd "d e"; rec a`,
	"through a link":        `ln -s "$PWD" l; cd l; rec a`,
	"umask and limits":      `umask 027; ulimit -n 200; ulimit -c 0; rec a`,
	"long argument":         `rec "$(printf '%0100000d' 0)"`,
	"200 KB of arguments":   `rec $(seq 1 33000) | sha256sum`,
	"own processor count":   `export GOMAXPROCS=7; rec a`,
	"no processor count":    `unset GOMAXPROCS; rec a`,
	"large environment":     `export BIG=$(printf '%050000d' 0); rec a | sha256sum`,
	"xargs":                 `printf 'a\0b c\0' | xargs -0 rec`,
	"find -exec":            `touch f; find . -name f -exec rec {} +`,
	"by env":                `env -i HOME="$HOME" PATH="$PATH" rec a`,
	"invalid UTF-8":         `rec $'\xff\xfe' $'\xc3\xa9'`,
	"environment not ASCII": `export A=$'\xff' B=$'x\ny'; rec a`,
	"coprocess":             `coproc rec cat; echo hi >&${COPROC[1]}; eval "exec ${COPROC[1]}>&-"; cat <&${COPROC[0]}`,
	"time and negation":     `! rec fail; echo $?`,
	"timeout":               `timeout 20 rec fail; echo $?`,
	"nested shells":         `sh -c 'sh -c "rec a"'`,
}

// A shimmed program sees the identical arguments, environment (but for the two
// documented variables), directory, descriptors, signals, limits and terminal,
// and its exit status or signal reaches the caller.
func TestTransparent(t *testing.T) {
	for _, tool := range []string{"bash", "xargs", "find", "timeout"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	root := testdir.New(t)
	home := filepath.Join(root, "home")
	tools := filepath.Join(root, "tools")
	for _, d := range []string{filepath.Join(home, ".safeshell"), tools} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(tools, "rec"), []byte(recorder), 0o755); err != nil {
		t.Fatal(err)
	}
	rules := "rules:\n- {name: r, commands: [rec], directory: nowhere, action: deny, message: m}\n"
	if err := os.WriteFile(filepath.Join(home, ".safeshell", "rules.yaml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := tools + ":/usr/local/bin:/usr/bin:/bin"
	shims := filepath.Join(home, ".safeshell", "shims")
	refresh := exec.Command(binary, "refresh")
	refresh.Env = []string{"HOME=" + home, "PATH=" + bare}
	if out, err := refresh.CombinedOutput(); err != nil {
		t.Fatalf("refresh: %v\n%s", err, out)
	}
	run := func(t *testing.T, path, script string, terminal bool) string {
		work := filepath.Join(root, "work")
		if err := os.RemoveAll(work); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(work, 0o700); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("bash", "-c", script)
		c.Dir = work
		c.Env = []string{"HOME=" + home, "PATH=" + path, "LC_ALL=C", "TERM=dumb"}
		var out bytes.Buffer
		if terminal {
			f, err := pty.Start(c)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			_, _ = out.ReadFrom(f)
			_ = c.Wait()
		} else {
			c.Stdout, c.Stderr = &out, &out
			_ = c.Run()
		}
		return ptys.ReplaceAllString(pids.ReplaceAllString(out.String(), "$1 N"), "/dev/pts/N") + c.ProcessState.String()
	}
	for name, script := range transparentCalls {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			for _, terminal := range []bool{false, true} {
				want := run(t, bare, script, terminal)
				got := run(t, shims+":"+bare, script, terminal)
				for i := 0; i < 2 && terminal && got != want; i++ {
					// A terminal whose session ends may lose the last lines.
					want, got = run(t, bare, script, terminal), run(t, shims+":"+bare, script, terminal)
				}
				if got != want {
					t.Errorf("terminal %v: %s\n--- without a shim\n%.3000s\n--- with a shim\n%.3000s", terminal, script, want, got)
				}
			}
		})
	}
}

// ptys are the terminals of one run; others of the machine take numbers, too.
var ptys = regexp.MustCompile(`/dev/pts/\d+`)

// pids are process ids in messages of the shell.
var pids = regexp.MustCompile(`(line \d+:|\[\d+\]) +\d+`)

// argv[0] is passed on as it came, whatever it is.
func TestArgvZero(t *testing.T) {
	root := testdir.New(t)
	home := filepath.Join(root, "home")
	if err := os.MkdirAll(filepath.Join(home, ".safeshell"), 0o700); err != nil {
		t.Fatal(err)
	}
	rules := "rules:\n- {name: r, commands: [cat], directory: nowhere, action: deny, message: m}\n"
	if err := os.WriteFile(filepath.Join(home, ".safeshell", "rules.yaml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
	refresh := exec.Command(binary, "refresh")
	refresh.Env = env
	if out, err := refresh.CombinedOutput(); err != nil {
		t.Fatalf("refresh: %v\n%s", err, out)
	}
	for _, argv0 := range []string{"cat", "other", "-cat", "/no/such/cat", "safeshell", ""} {
		c := &exec.Cmd{Path: filepath.Join(home, ".safeshell", "shims", "cat"), Args: []string{argv0, "/proc/self/cmdline"}, Env: env}
		out, err := c.CombinedOutput()
		if want := argv0 + "\x00/proc/self/cmdline\x00"; err != nil || string(out) != want {
			t.Errorf("argv[0] %q: got %q, %v", argv0, out, err)
		}
	}
}
