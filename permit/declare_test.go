package permit

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestParseScript(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // shell, line, first, later, dynamic
		err        string
	}{
		{"plain", "initcmds curl cargo ./scripts/build.sh\n", "bash 1 [curl cargo ./scripts/build.sh] [] 0", ""},
		{"nothing declared", "initcmds\n", "bash 1 [] [] 0", ""},
		{"shebang", "#!/bin/sh\n\n# c\ninitcmds a\n", "sh 4 [a] [] 0", ""},
		{"env shebang", "#!/usr/bin/env zsh\ninitcmds a\n", "zsh 2 [a] [] 0", ""},
		{"env -S", "#!/usr/bin/env -S bash -eu\ninitcmds a\n", "bash 2 [a] [] 0", ""},
		{"crlf shebang", "#!/bin/bash\r\ninitcmds a\n", "bash 2 [a] [] 0", ""},
		{"behind harmless words", "set -euo pipefail\nIFS=$'\\n'\nX=1 Y=2\nshopt -s nullglob\nf() { curl x; }\nexport Z=1\ninitcmds a\n", "bash 7 [a] [] 0", ""},
		{"quotes", `initcmds 'a b' "c d" e\ f $'g' "h\"i" j"k"'l' \~ "[" [`, "bash 1 [a b c d e f g h\"i jkl ~ [] [] 0", ""},
		{"continued", "initcmds a \\\n  b\n", "bash 1 [a b] [] 0", ""},
		{"twice the same", "initcmds a a\n", "bash 1 [a] [] 0", ""},
		{"with ||", "initcmds a || exit 3\n", "bash 1 [a] [] 0", ""},
		{"later", "initcmds a\nif true; then initcmds b; fi\nf() { initcmds c; }\n$(initcmds d)\n", "bash 1 [a] [b c d] 0", ""},
		{"later through command", "initcmds a\ncommand initcmds b\n", "bash 1 [a] [b] 0", ""},
		{"later dynamic", "initcmds a\ninitcmds $X\n", "bash 1 [a] [] 2", ""},
		{"first dynamic", "initcmds a $X \"$Y\" z*\n", "bash 1 [a] [] 1", ""},
		{"braces are dynamic", "initcmds {a,b}\n", "bash 1 [] [] 1", ""},
		{"tilde is dynamic", "initcmds ~/x\n", "bash 1 [] [] 1", ""},
		{"eval that speaks of it", "initcmds a\neval 'initcmds b'\n", "bash 1 [a] [] 2", ""},
		{"what cannot be parsed", "initcmds a\necho )\n", "bash 1 [a] [] 2", ""},
		{"zsh", "#!/bin/zsh\ninitcmds a\nprint -l ${(f)x}\n", "zsh 2 [a] [] 0", ""},

		{"none", "curl x | jq .\nls\n", "", "s: declares no commands; put this line in front of its first command: initcmds curl jq ls"},
		{"empty", "", "", "declares no commands"},
		{"not first", "#!/bin/bash\ncd /x\ninitcmds a\n", "", "s:3: initcmds must come before the first other command, which is in line 2"},
		{"behind a substitution", "X=$(curl y)\ninitcmds a\n", "", "s:2: initcmds must come before"},
		{"inside if only", "if true; then initcmds a; fi\n", "", "declares no commands"},
		{"python", "#!/usr/bin/env python3\nprint(1)\n", "", "s:1: its first line names python3"},
		{"env without a name", "#!/usr/bin/env\ninitcmds\n", "", "s:1: its first line names no shell"},
		{"a program", "\x7fELF\x00\x00", "", "not a script"},
		{"binary", "initcmds\x00a", "", "not a script"},
		{"broken before it", "echo )\ninitcmds a\n", "", "s:1: cannot be read as bash"},
		{"too large", strings.Repeat("#\n", MaxScript), "", "split it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := ParseScript("s", []byte(c.text))
			if c.err != "" {
				if err == nil || !strings.Contains(strings.Replace(err.Error(), "s declares", "s: declares", 1), c.err) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			got := fmt.Sprintf("%s %d %v %v %d", d.Shell, d.Line, d.First, d.Later, d.Dynamic)
			if err != nil || got != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

// What a literal word means is what bash makes of it.
func TestLiteralWords(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	for _, w := range []string{`a`, `a\ b`, `'a b'`, `"a b"`, `"a\"b"`, `"a\b"`, `'a\b'`, `a\\b`, `"a\\b"`, `a"b"'c'`, `\$x`, `"\$x"`, `'$x'`, `$'x'`, `""`, `''`, `a\*`, `"*"`, `\~`, `a~`, `[`, `"a'b"`, `a=b`, `-x`, `"\` + "`" + `"`, `]`, `a]`, `}`, `,`} {
		d, err := ParseScript("s", []byte("initcmds first "+w+"\n"))
		if err != nil || d.Dynamic != 0 || len(d.First) != 2 {
			t.Errorf("%s: %+v, %v", w, d, err)
			continue
		}
		out, err := exec.Command("bash", "-c", `printf '%s' `+w).Output()
		if err != nil || string(out) != d.First[1] {
			t.Errorf("%s: %q, bash says %q (%v)", w, d.First[1], out, err)
		}
	}
}

// The lists of builtins are the shells' own.
func TestShellWords(t *testing.T) {
	if out, err := exec.Command("bash", "--norc", "-c", "compgen -b").Output(); err != nil {
		t.Log("bash is not installed")
	} else {
		for _, w := range strings.Fields(string(out)) {
			if !isShellWord("bash", w) {
				t.Errorf("bash has %s itself", w)
			}
		}
	}
	for _, shell := range []string{"bash", "dash", "zsh"} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("%s is not installed", shell)
			continue
		}
		for _, w := range slices.Concat(bashWords, posixWords, dashWords, zshWords) {
			if !isShellWord(shell, w) {
				continue
			}
			c := exec.Command(shell, "-c", `PATH=/nonexistent; command -v -- "$1"`, "x", w)
			if out, err := c.Output(); err != nil {
				t.Errorf("%s does not have %s: %s, %v", shell, w, out, err)
			}
		}
	}
}

func FuzzScript(f *testing.F) {
	for _, s := range []string{"initcmds a\n", "#!/bin/sh\ninitcmds a; b\n", "initcmds a || { c; }\n$(initcmds d)", "#!\ninitcmds", "initcmds <<E\nE\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseScript("s", data)
		if err == nil && d.Line == 0 {
			t.Error("accepted without a declaration")
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %q", err)
		}
	})
}
