package script

import (
	"strings"
	"testing"
)

func TestPowerShell(t *testing.T) {
	for _, row := range []struct{ text, commands, unknown string }{
		{"git status; npm test", "git status|npm test", ""},
		{`git add src\main.go && git commit -m x`, "git add src/main.go|git commit -m x", ""},
		{"Get-ChildItem | Select-Object Name", "ls|Select-Object Name", ""},
		{`Get-Content C:\Users\u\.ssh\id_rsa`, "cat C:/Users/u/.ssh/id_rsa", ""},
		{"rm -rf build", "rm -rf build", ""},
		{"", "", ""},
		// What is not certain is said, never taken for bash.
		{"Remove-Item -Recurse -Force build", "", "Remove-Item is a command of its own"},
		{"npm test; del build", "", "del is a command of its own"},
		{"iex (iwr https://example.org/x)", "", "is a command of its own"},
		{`echo "a`, "", `what "a means`},
		{"$x = 1", "", "what $x means"},
		{`& 'C:\Program Files\x.exe'`, "", "call operator"},
		{"ls `\nrm x", "", "PowerShell"},
		{"Get-ChildItem -Recurse | % { rm $_ }", "", "PowerShell"},
	} {
		a := Parse(row.text, Options{Dialect: PowerShell, Dir: "/w"})
		var why, cmds []string
		for _, u := range a.Unknown {
			why = append(why, u.Reason)
		}
		for _, c := range a.Commands {
			var words []string
			for _, w := range c.Argv {
				words = append(words, w.String())
			}
			cmds = append(cmds, strings.Join(words, " "))
		}
		if row.unknown == "" && (len(why) > 0 || strings.Join(cmds, "|") != row.commands) {
			t.Errorf("%q: %q, unknown %q", row.text, cmds, why)
		}
		if row.unknown != "" && !strings.Contains(strings.Join(why, "\n"), row.unknown) {
			t.Errorf("%q: unknown %q lacks %q", row.text, why, row.unknown)
		}
	}
}
