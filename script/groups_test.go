package script

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"safeshell/budget"
)

// The groups of lines that guards got wrong: what must be seen in each.
func TestGroups(t *testing.T) {
	runRows(t, Bash, []row{
		{text: "git checkout .; git checkout HEAD -- f; git checkout -p", want: []string{"git checkout .", "git checkout HEAD -- f", "git checkout -p"}},
		{text: "ls; git stash drop", want: []string{"git stash drop"}},
		{text: "git -C sub reset --hard; git --git-dir=x --work-tree=. clean -fd; git-reset --hard", want: []string{"git -C sub reset --hard @/w/sub", "git --git-dir=x --work-tree=. clean -fd", "git-reset --hard"}},
		{text: "git clean -fdx -- . clean -n; git push origin +main", want: []string{"git clean -fdx -- . clean -n", "git push origin +main"}},
		{text: "rm -rf /tmp/ok /etc/passwd /tmp/../etc /tmp/{a,../Users}", want: []string{"rm -rf /tmp/ok /etc/passwd /tmp/../etc /tmp/a /tmp/../Users"}},
		{text: "rm -rf $TMPDIR/x; rm -rf -- /tmp/foo", want: []string{"rm -rf /tmp/x", "rm -rf -- /tmp/foo"}},
		{text: "rm -r'f' /; {rm,-rf,/}", want: []string{"rm -rf /"}},
		{text: "FOO=1 rm -rf ~; LC_ALL=C git reset --hard", want: []string{"FOO=1 rm -rf /home/u", "LC_ALL=C git reset --hard"}},
		{text: `rm -rf "$DIR"/`, want: []string{"rm -rf <$DIR>/"}},
		{text: "pushd ~; rm -rf *", want: []string{"rm -rf * @/home/u"}},
		{text: "rm -rf ~/.* './~' ~", want: []string{"rm -rf /home/u/.* ./~ /home/u"}},
		{text: "git commit -F - <<'E'\nrm -rf /\nE\ngit apply <<E\nx\nE", not: []string{"rm -rf /"}},
		{text: `echo "$(rm -rf ~)"; echo "$(echo " ) " )"; rm -rf /x; : $((a[$(rm -rf y)]))`, want: []string{"rm -rf /home/u", "rm -rf /x", "rm -rf y"}},
		{text: `echo 'rm x' | base64 | sh; curl -s u | sudo sh; source <(curl u)`, want: []string{"sudo: sh", "source <out:<(curl u)>"}},
		{text: `source <(kubectl completion bash); eval "$(brew shellenv)"`, want: []string{"eval <out:brew shellenv>"}},
		{text: "rm(){ command rm -rf ~; }; rm x; unset -f rm; rm y", want: []string{"command: rm -rf /home/u", "rm y"}},
		{text: "enable -n test; unset -f cd; PATH=/evil rm x", want: []string{"PATH=/evil rm x"}},
		{text: "rsync --delete a b; mv * /tmp; HUSKY=0 git commit --no-verify; crontab -r", want: []string{"HUSKY=0 git commit --no-verify"}},
		{text: "printf '* * * * * rm x\\n' | crontab -", want: []string{"crontab: rm x @<$PWD>"}},
		{text: "bash <<E\nbash\nrm x\nE", want: []string{"bash: bash", "bash: rm x"}},
		{text: "ssh h bash <<'E'\nrm x\nE\ndocker exec -i c sh <<E\nrm y\nE", want: []string{"ssh>bash: h! rm x @<$PWD>", "docker exec>sh: c! rm y @<$PWD>"}},
		{text: "sudo -i <<'E'\nrm x\nE\nsu <<< 'rm y'", want: []string{"sudo: rm x", "su: rm y"}},
		{text: "make -f - <<'E'\nall:\n\trm x\nE", want: []string{"make: rm x"}},
		{text: "if rm a; then rm b; elif rm c; then rm d; else rm e; fi; while rm f; do rm g; done; until rm h; do rm i; done", want: strings.Split("rm a,rm b,rm c,rm d,rm e,rm f,rm g,rm h,rm i", ",")},
		{text: "select x in a; do rm $x; done; for ((i=0;i<2;i++)); do rm b; done; coproc rm c; time rm d; ! rm e; { rm f; } && (rm g) | rm h", want: strings.Split("rm a,rm b,rm c,rm d,rm e,rm f,rm g,rm h", ",")},
	})
}

func TestRedirects(t *testing.T) {
	for text, want := range map[string]string{
		"echo x > src/main.go":            "> src/main.go",
		"echo x 2>/dev/null >> f":         "2> /dev/null, >> f",
		": >| f":                          ">| f",
		"> f":                             "> f",
		"{ echo a; } > f":                 "> f",
		"( echo a > g ) 2> f":             "2> f, > g",
		"cat <<E\na $X\nE":                "<< a <$X>\n",
		"cat <<< 'a b'":                   "<<< a b\n",
		"a &> f":                          "&> f",
		"a &>> f":                         "&>> f",
		"a < f 3<> g":                     "< f, 3<> g",
		"a >&2":                           ">& 2",
		"a > ~/x$Y":                       "> /home/u/x<$Y>",
		"a > \"$(echo b c)\"":             "> b c",
		"while read x; do a; done < list": "< list",
		"a > f > g":                       "> f, > g",
		"eval 'echo x' > f":               "> f",
		"git show HEAD:f > f":             "> f",
		"f() { echo a; } > g; f":          "> g",
		"cat <<-E > f\n\ta\n\tE":          "<<- a\n, > f",
	} {
		a := Parse(text, testOptions(Bash))
		c := a.Commands[len(a.Commands)-1]
		var got []string
		for _, r := range c.Redirects {
			fd := ""
			if r.Fd >= 0 {
				fd = fmt.Sprint(r.Fd)
			}
			got = append(got, fd+r.Op+" "+strings.Trim(spell(r.Target), "'"))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: %q, want %q", text, s, want)
		}
		if len(a.Unknown) > 0 {
			t.Errorf("%s: %v", text, a.Unknown)
		}
	}
}

func TestPipes(t *testing.T) {
	find := func(a *Analysis, s string) int {
		i := slices.IndexFunc(a.Commands, func(c Command) bool { return render(&c) == s })
		if i < 0 {
			t.Fatalf("no %q in\n%s", s, describe(*a))
		}
		return i
	}
	for _, v := range []struct{ text, from, to string }{
		{"curl u | sh", "curl u", "sh"},
		{"curl u | sudo bash -s x", "curl u", "sudo: bash -s x"},
		{"curl u | tee f | sh", "tee f", "sh"},
		{"{ a; curl u; } | (cd x; sh)", "curl u", "sh @/w/x"},
		{"eval \"$(curl u)\"", "curl u", "eval <out:curl u>"},
		{"x=$(curl u | jq .); eval \"$x\"", "jq .", "eval <out:curl u | jq .>"},
		{"bash -c \"$(curl u)\"", "curl u", "bash -c <out:curl u>"},
		{"source <(curl u)", "curl u", "source <out:<(curl u)>"},
		{"bash <(curl u)", "curl u", "bash <out:<(curl u)>"},
		{"bash < <(curl u)", "curl u", "bash"},
		{"curl u > >(sh)", "curl u", "sh"},
		{"ls | tee >(sh)", "tee <out:>(sh)>", "sh"},
		{"curl u |& sh", "curl u", "sh"},
		{"curl u | while read l; do sh; done", "curl u", "sh"},
		{"f() { curl u; }; f | sh", "curl u", "sh"},
		{"curl u 2>/dev/null | env A=1 sh", "curl u", "env: A=1 sh"},
		{"bash -c 'curl u' | sh", "bash -c: curl u", "sh"},
		{"curl u | python3 -", "curl u", "python3 -"},
		{"python3 -c \"$(curl u)\"", "curl u", "python3 -c <out:curl u>"},
	} {
		a := Parse(v.text, testOptions(Bash))
		i, j := find(&a, v.from), find(&a, v.to)
		if !slices.Contains(a.Commands[j].FedBy, i) || !slices.Contains(a.Commands[i].FeedsTo, j) {
			t.Errorf("%s: %q does not feed %q: %v %v", v.text, v.from, v.to, a.Commands[j].FedBy, a.Commands[i].FeedsTo)
		}
		if len(a.Unknown) > 0 {
			t.Errorf("%s: %v", v.text, a.Unknown)
		}
	}
	// Output that goes to a file does not go to the pipe.
	a := Parse("curl u > f | sh", testOptions(Bash))
	if c := a.Commands[find(&a, "sh")]; len(c.FedBy) > 0 {
		t.Error("curl feeds sh through a redirected output")
	}
	for text, want := range map[string]string{
		"echo a b | cat":                    "a b\n",
		"cat <<E\nx\nE":                     "x\n",
		"printf '%s-' a b | cat":            "a-b-",
		"{ echo a; echo b; } | cat":         "a\nb\n",
		"echo a | cat | cat":                "a\n",
		"cat < /dev/null":                   "",
		"echo aGk= | base64 -d | cat":       "hi",
		"echo abc | tr a-c x-z | cat":       "xyz\n",
		"echo abc | rev | cat":              "cba\n",
		"for i in 1; do :; done; seq 3|cat": "1\n2\n3\n",
	} {
		a := Parse(text, testOptions(Bash))
		c := a.Commands[len(a.Commands)-1]
		if c.Stdin == nil {
			t.Errorf("%s: nothing known of the input", text)
		} else if s, ok := c.Stdin.Text(); !ok || s != want {
			t.Errorf("%s: input %q", text, s)
		}
	}
	for _, text := range []string{"date | cat", "if c; then echo a; fi | cat", "true || echo a | cat", "cat < f"} {
		a := Parse(text, testOptions(Bash))
		if c := a.Commands[len(a.Commands)-1]; c.Stdin != nil && text != "true || echo a | cat" {
			t.Errorf("%s: input %q", text, spell(*c.Stdin))
		}
	}
}

func TestLimits(t *testing.T) {
	deep := func(open, inside, end string, n int) string {
		return strings.Repeat(open, n) + inside + strings.Repeat(end, n)
	}
	for name, text := range map[string]string{
		"1 MB":          strings.Repeat("echo a; ", 1<<17),
		"more":          strings.Repeat("echo a; ", 1<<17) + ";",
		"brackets":      strings.Repeat("(", 400000),
		"substitutions": deep("$(", "rm x", ")", 5000),
		"subshells":     deep("(", "rm x", ")", 900),
		"ifs":           deep("if ", "rm x", "; then :; fi", 2000),
		"eval":          "x='eval \"$x$x\"'; eval \"$x\"",
		"doubling":      "x=aaaaaaaaaaaaaaaa;" + strings.Repeat("x=$x$x;", 60) + "rm $x",
		"braces":        "rm " + strings.Repeat("{a,b,c,d}", 20),
		"range":         "rm {1..2000000000}",
		"functions":     deep("f() { g() { ", "rm x", "; }; }", 90),
		"recursion":     "f() { f; g; }; g() { f; f; }; f",
		"loops":         deep("for a in 1 2 3 4 5 6 7 8; do ", "rm $a", "; done", 12),
		"while":         deep("while x=$x1; do ", "rm x", "; done", 30),
		"aliases":       "alias a='b b' b='a a'\na\nb",
		"nested code":   "bash -c 'bash <<< \"$0\"' 'bash -c \"$0\"'",
		"wrappers":      strings.Repeat("sudo env nice ", 300) + "rm x",
		"pipes":         strings.Repeat("a | ", 5000) + "b",
		"lists":         strings.Repeat("a && ", 5000) + "b",
		"heredocs":      strings.Repeat("cat <<E\n", 3000),
		"alternatives":  "if c; then x=$(a); fi;" + strings.Repeat("x=${x:-$x}; ", 2000),
		"git aliases":   "git -c alias.a='!git -c alias.b=a b' -c alias.b=a -c alias.a=b a",
		"env":           "env -S 'env -S \"env -S x\"'",
		"traps":         strings.Repeat("trap 'trap x EXIT' EXIT;", 200),
		"files":         strings.Repeat("echo 'sh f' >> f; ", 60) + "sh f",
		"self":          "echo 'sh f; sh f; sh f' > f; sh f",
		"arithmetic":    "echo $((" + strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300) + "))",
	} {
		for _, d := range []Dialect{Bash, AnyDialect} {
			a := Parse(text, testOptions(d))
			for _, u := range a.Unknown {
				if strings.Contains(u.Reason, "failed") {
					t.Errorf("%s: %s", name, u.Reason)
				}
			}
			if len(a.Commands) > budget.Reading {
				t.Errorf("%s: %d commands", name, len(a.Commands))
			}
			if name == "1 MB" && (a.Budget.Over() == "" || len(a.Commands) == 0) || name == "more" && (len(a.Unknown) != 1 || len(a.Commands) > 0) {
				t.Errorf("%s: %d commands, %v", name, len(a.Commands), a.Unknown)
			}
		}
	}
	a := Parse(strings.Repeat("sudo env nice ", 10)+"rm x", testOptions(Bash))
	if c := a.Commands[len(a.Commands)-1]; c.Name() != "rm" || len(c.Via) != 30 {
		t.Errorf("%s", render(&c))
	}
}
