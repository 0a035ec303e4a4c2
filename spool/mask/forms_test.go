package mask

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var secretMarks = regexp.MustCompile("«(.*?)»")

func lines(t *testing.T, file string) (out []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.SplitSeq(string(b), "\n") {
		if l != "" && !strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return out
}

// Every form of a secret that is known is masked, and all else of its line stays.
func TestForms(t *testing.T) {
	forms := lines(t, "testdata/secrets.txt")
	if len(forms) < 800 {
		t.Errorf("only %d forms", len(forms))
	}
	for _, l := range forms {
		in := secretMarks.ReplaceAllString(l, "$1")
		breaks := strings.NewReplacer(`\n`, "\n")
		if !strings.Contains(l, "printf") && !strings.Contains(l, "tr -d") {
			in = breaks.Replace(in)
		}
		got := Text(in)
		for _, m := range secretMarks.FindAllStringSubmatch(l, -1) {
			secret := m[1]
			if shown, _ := tokenAt(secret); shown > 0 {
				secret = secret[shown:]
			}
			if strings.Contains(got, secret) {
				t.Errorf("%s\n  shown: %s", in, got)
			}
		}
		if again := Text(got); again != got {
			t.Errorf("masking twice changes\n%q to\n%q", got, again)
		}
		if !strings.ContainsAny(in, "|<>;&'\"\n(){}\\$") {
			argv := strings.Fields(in)
			for i, a := range Argv(argv) {
				for _, m := range secretMarks.FindAllStringSubmatch(l, -1) {
					if shown, _ := tokenAt(m[1]); strings.Contains(a, m[1][shown:]) && argv[i] != "oauth2" {
						t.Errorf("Argv(%q) shows %q", argv, a)
					}
				}
			}
		}
		if strings.Contains(l, "printf") || strings.Contains(l, "sed ") {
			continue // the \n behind a value may go with it
		}
		// What is outside of the marks is shown, in its order.
		at := 0
		for _, part := range secretMarks.Split(l, -1) {
			if !strings.Contains(l, "printf") && !strings.Contains(l, "tr -d") {
				part = breaks.Replace(part)
			}
			n := strings.Index(got[at:], part)
			if n < 0 {
				t.Errorf("%s\n  lost %q: %s", in, part, got)
				break
			}
			at += n + len(part)
		}
	}
}

// Everyday commands stay as they are.
func TestEveryday(t *testing.T) {
	everyday := lines(t, "testdata/everyday.txt")
	if len(everyday) < 220 {
		t.Errorf("only %d lines", len(everyday))
	}
	for _, l := range everyday {
		in := strings.ReplaceAll(l, `\n`, "\n")
		if strings.Contains(l, "printf") {
			in = l
		}
		if got := Text(in); got != in {
			t.Errorf("%s\n  became: %s", in, got)
		}
		if argv := strings.Fields(in); strings.Join(Argv(argv), " ") != strings.Join(argv, " ") {
			t.Errorf("%q\n  became: %q", argv, Argv(argv))
		}
	}
}
