package initscript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// PowerShell's profile gets its block only where pwsh is installed, and loses it
// byte for byte.
func TestPwshProfile(t *testing.T) {
	for name, text := range map[string]string{"none": "", "no newline": "Set-Alias ll ls", "crlf": "# a\r\n$x = 1\r\n", "returns": "if ($x) { return }\n"} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t, "it's ‘a’")
			e := Env{Environ: s.env(), Has: func(shell string) bool { return shell == "pwsh" }}
			profile := filepath.Join(s.p.UserHome, ".config", "powershell", "profile.ps1")
			if text != "" {
				s.write(profile, text)
			}
			before := snapshot(t, s)
			_, err := Apply(e, s.p)
			must(t, err)
			got := read(t, profile)
			if !strings.HasPrefix(got, text) || !strings.Contains(got, "/.safeshell/env.ps1' -PathType Leaf) { . '") || !strings.Contains(got, "it''s ‘‘a’’") {
				t.Errorf("the profile is\n%s", got)
			}
			if again, err := Apply(e, s.p); err != nil || read(t, profile) != got {
				t.Errorf("again: %v, %v", again, err)
			}
			_, err = Undo(Env{Environ: s.env(), Has: func(string) bool { return false }}, s.p)
			must(t, err)
			same(t, before, snapshot(t, s))
		})
	}
	s := newSandbox(t, "plain")
	_, err := Apply(Env{Environ: s.env(), Has: func(shell string) bool { return shell != "pwsh" }}, s.p)
	must(t, err)
	if exists(filepath.Join(s.p.UserHome, ".config", "powershell")) {
		t.Error("a profile without pwsh")
	}
}

// TestPwsh runs the script in a real PowerShell.
func TestPwsh(t *testing.T) {
	need(t, "pwsh")
	s := newSandbox(t, `it's ‘a’ "$HOME"`).static()
	s.write(filepath.Join(s.root, "file"), "x")
	env := append(s.env("POWERSHELL_TELEMETRY_OPTOUT=1", "POWERSHELL_UPDATECHECK=Off"), "PATH="+os.Getenv("PATH"))
	run := func(script string) result {
		t.Helper()
		line, _, err := Line("pwsh", s.p)
		must(t, err)
		r := s.run(env, "", "pwsh", "-NoProfile", "-NonInteractive", "-Command", "Invoke-Expression "+quotePwsh(line)+"; "+script)
		if r.err != "" {
			t.Errorf("%s: %s", script, r.err)
		}
		return r
	}
	first := s.p.shims() + ":"
	if r := run(`$env:PATH`); !strings.HasPrefix(r.out, first) || strings.Count(r.out, first) != 1 {
		t.Errorf("PATH is %q", r.out)
	}
	// A prompt repairs PATH, shows what it did and leaves the exit code alone.
	if r := run(`$env:PATH = "/opt/x:$env:PATH"; $global:LASTEXITCODE = 7; $p = prompt; "$($p.Length -gt 0) $LASTEXITCODE $env:PATH"`); !strings.HasPrefix(r.out, "True 7 "+first) {
		t.Errorf("after a prompt: %q", r.out)
	}
	s.judged()
	for _, c := range [][2]string{
		{"del file", "<trash><put><-d><--><"},
		{"ri -Recurse -Force file", "<trash><put><-d><-r><-f><--><"},
		{"erase f*", "<trash><put><-d><--><"},
	} {
		run(c[0])
		if got := s.judged(); !strings.Contains(got, c[1]+filepath.Join(s.root, "file")+">") {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
	run(`$env:X = 1; rd env:X; if (Test-Path env:X) { throw 'X is still there' }`)
	if got := s.judged(); strings.Contains(got, "trash") {
		t.Errorf("what is no file went to the trash: %q", got)
	}
	// Without the binary nothing changes.
	must(t, os.Remove(s.p.Binary))
	if r := run(`(Get-Alias del).Definition`); strings.TrimSpace(r.out) != "Remove-Item" {
		t.Errorf("without the binary del is %q", r.out)
	}
}
