package script

import "testing"

// A comment ends with its line, whatever stands before the line's end; in
// quotes and commands a backslash goes on continuing.
func TestCommentsEndWithTheirLine(t *testing.T) {
	for text, want := range map[string]int{
		"true # c \\\nrec x":                      2,
		"# c \\\nrec x":                           1,
		"true # a \\\n# b \\\nrec x # c\\\nrec y": 3,
		"rec 'a # b \\\nc'":                       1,
		"rec a \\\n  b # c":                       1,
		"f() { true # c \\\nrec x\n}; f":          3,
		"rec \"$(true # c \\\nrec x)\"":           3,
	} {
		n := 0
		for _, c := range Parse(text, Options{Dialect: Bash, Dir: "/d"}).Commands {
			if len(c.Argv) > 0 {
				n++
			}
		}
		if n != want {
			t.Errorf("%q: %d commands, want %d", text, n, want)
		}
	}
}
