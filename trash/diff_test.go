package trash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// diffCase is a command line that GNU rm and Put must answer alike.
type diffCase struct {
	tree  []string
	args  string // separated by blanks; '' is an empty argument
	stdin string
	env   string // NAME=value, separated by blanks
}

func (c diffCase) argv() []string {
	a := strings.Fields(c.args)
	for i := range a {
		switch a[i] {
		case "''":
			a[i] = ""
		case "<300>":
			a[i] = strings.Repeat("n", 300)
		}
		a[i] = strings.NewReplacer("<sp>", " ", "<nl>", "\n", "<ff>", "\xff", "<e>", "é").Replace(a[i])
	}
	return a
}

var names = []string{"a", "b", "it's", "x y", "d/1", "d/2", "d/s/3", "e/", "l->d", "lf->a", "dang->nope", "loop->loop", "-x", "-foo", "p|"}

// diffCases are operands, dots, options, prompts, quoting and permissions; the
// root directory and links with a slash behind them have tests of their own.
var diffCases = []diffCase{
	// operands
	{args: ""}, {args: "-r"}, {args: "-v"}, {args: "--"}, {args: "-f"}, {args: "-f --"}, {args: "-fr"}, {args: "-rf"}, // automake tries these
	{args: "nope"}, {args: "''"}, {args: "-f nope"}, {args: "-f ''"},
	{args: "-f a/ a/sub dang/ loop/"}, {args: "a/ a/sub dang/ loop/"}, {args: "a/"}, {args: "a/sub"},
	{args: "a/ b"}, {args: "-f loop/x"}, {args: "loop/x"}, {args: "loop/x b"},
	{args: "<300>"}, {args: "-f <300>"}, {args: "-f <300> a"},
	{args: "dang"}, {args: "l"}, {args: "loop"}, {args: "lf"}, {args: "-r l"}, {args: "-v l lf dang"},
	{args: "d"}, {args: "-f d"}, {args: "-i d"}, {args: "d a"}, {args: "-f d a"}, {args: "-i d a", stdin: "y\n"},
	{args: "-d e"}, {args: "-d d"}, {args: "-df d"}, {args: "-df d a"}, {args: "-dv e a"}, {args: "-di e", stdin: "y"},
	{args: "-di d", stdin: "y\n"}, {args: "-di d a", stdin: "y\ny\n"},
	{args: "a nope b"}, {args: "-f a nope b"}, {args: "a a"}, {args: "-f a a"}, {args: "-r d d/1"}, {args: "-rf d d/1"},
	{args: "-r d/1 d"}, {args: "l l/1"}, {args: "a a/x"}, {args: "d/1 l/1"}, {args: "-r d/s/../s"},
	{args: "-rf ../w/d"}, {args: "-v ./a d/../b"}, {args: "-rv d"}, {args: "-rv d/"}, {args: "-rv d///"}, {args: "-rv ./d//s"},
	{args: "-r d a e l"}, {args: "d/1/ a"}, {args: "-r e/ a"},
	// dots
	{args: "-r ."}, {args: "-r .."}, {args: "-r ./"}, {args: "-r ../"}, {args: "-r e/."}, {args: "-r e/.."}, {args: "-rf e/. a"},
	{args: "-r d/./ a"}, {args: "-r d/../ a"}, {args: "."}, {args: ".."}, {args: ". a"}, {args: "a/.."}, {args: "a/.. b"}, {args: "-r a/."},
	{args: "-d e/."}, {args: "-d ."}, {args: "-d e/. a"}, {args: "-r d/s/.. a"}, {args: "-ri . a", stdin: "y"},
	// options
	{args: "-x a"}, {args: "-x -foo"}, {args: "-Z -foo -x"}, {args: "-xyz"}, {args: "-foo"}, {args: "-- -foo"}, {args: "./-foo"}, {args: "--nope a"}, {args: "--nope=1 a"},
	{args: "--rec d"}, {args: "--i a", stdin: "y\n"}, {args: "--r d"}, {args: "--d e"}, {args: "--f nope"}, {args: "--o a"},
	{args: "--no-pres a"}, {args: "--no-preserve-root a"}, {args: "--preserve-root=foo a"}, {args: "--preserve-root=all -r d a"},
	{args: "--preserve-root a"}, {args: "--p a"}, {args: "--interactive=foo a"}, {args: "--interactive= a"}, {args: "--interactive=n a"},
	{args: "--interactive=no a"}, {args: "--interactive=a a", stdin: "y\n"}, {args: "--interactive=never nope a"},
	{args: "--interactive=once a b lf"}, {args: "--interactive=once a b lf dang", stdin: "y\n"}, {args: "--interactive=yes a", stdin: "n\n"},
	{args: "--interactive a", stdin: "y\n"}, {args: "--force=x a"}, {args: "--recursive=1 d"}, {args: "--v a"}, {args: "--ver a"}, {args: "--verb a"}, {args: "--vers"},
	{args: "--help"}, {args: "--version a"}, {args: "a --help"}, {args: "--he a"}, {args: "---presume-input-tty a"},
	{args: "a -v"}, {args: "d -rv"}, {args: "a -v", env: "POSIXLY_CORRECT=1"}, {args: "-v a -v", env: "POSIXLY_CORRECT=1"}, {args: "-v -- a", env: "POSIXLY_CORRECT=1"},
	{args: "a -- -v"}, {args: "a -"}, {args: "-"}, {args: "-f -"},
	{args: "-fi nope"}, {args: "-if nope"}, {args: "-fI nope"}, {args: "-If nope"}, {args: "-f --interactive=never nope"},
	{args: "-f --interactive=once nope a"}, {args: "-f --interactive nope a", stdin: "y\n"}, {args: "-i --interactive=never a"},
	{args: "-fi a", stdin: "n\n"}, {args: "-if a", stdin: "n\n"}, {args: "-rR -dfv d e a"}, {args: "-vv a"},
	// prompts
	{args: "-i a", stdin: "y\n"}, {args: "-i a", stdin: "n\n"}, {args: "-i a"}, {args: "-i a b lf p e", stdin: "y\nn\ny\ny\n"},
	{args: "-i a", stdin: "yes\n"}, {args: "-i a b", stdin: "Yup\n\n"}, {args: "-i a", stdin: " y\n"}, {args: "-i a b", stdin: "y"},
	{args: "-ri d", stdin: "y\ny\ny\ny\ny\ny\ny\n"}, {args: "-riv d", stdin: "y\ny\ny\ny\ny\ny\ny\n"}, {args: "-ri d", stdin: "n\n"},
	{args: "-ri d a", stdin: "y\nn\ny\ny\ny\nn\nn\ny\n"}, {args: "-riv d e", stdin: "y\ny\nn\ny\ny\ny\ny\ny\n"}, {args: "-ri d/ e/", stdin: "y\ny\ny\n"},
	{args: "-ri e", stdin: "y\n"}, {args: "-ri d a", stdin: "y\nn\ny\ny\ny\nn\ny\ny\n"}, {args: "-riv d a", stdin: "y\nn\nn\nn\ny\ny\n"}, {args: "-ri d a", stdin: "y\ny\ny\ny\nn\ny\ny\ny\n"}, {args: "-ri e", stdin: "n\n"}, {args: "-ri d"}, {args: "-I a b lf"}, {args: "-I a b lf dang", stdin: "n\n"},
	{args: "-I a b lf dang", stdin: "y\n"}, {args: "-Ir a"}, {args: "-Ir d", stdin: "y\n"}, {args: "-Ir a d", stdin: "y\n"}, {args: "-Ir nope a", stdin: "y\n"},
	{args: "-i nope a/ loop/ dang/ b", stdin: "y\n"}, {args: "-i '' b", stdin: "y\n"}, {args: "-i a/x b", stdin: "y\n"},
	{args: "---presume-input-tty ro", tree: []string{"ro 0444"}, stdin: "y\n"}, {args: "---presume-input-tty -f ro", tree: []string{"ro 0444"}},
	{args: "---presume-input-tty ro", tree: []string{"ro=x 0444"}, stdin: "n\n"}, {args: "ro", tree: []string{"ro=x 0444"}},
	{args: "---presume-input-tty -r t", tree: []string{"t/a 0444", "t/b", "t/ro/c", "t/ro/ 0555"}, stdin: "y\ny\ny\ny\n"},
	{args: "---presume-input-tty -r t", tree: []string{"t/b", "t/e/ 0555", "t/l->b"}, stdin: "y\ny\ny\ny\n"},
	{args: "---presume-input-tty -rv t", tree: []string{"t/a 0444", "t/b"}, stdin: "n\ny\n"},
	{args: "---presume-input-tty -r t", tree: []string{"t/ 0555"}, stdin: "y\n"},
	{args: "---presume-input-tty -r t a", tree: []string{"t/x", "t/ 0555"}, stdin: "n\ny\n"},
	{args: "---presume-input-tty --interactive=never ro", tree: []string{"ro 0444"}}, {args: "---presume-input-tty nope a"},
	{args: "-ri t", tree: []string{"t/a 0444", "t/b"}, stdin: "y\ny\ny\ny\n"},
	// -v and quoting
	{args: "-v a it's x<sp>y"}, {args: "it's<sp>nope x<nl>y it's$ ''"}, {args: "-v x<ff>y", tree: []string{"x\xffy"}},
	{args: "-v <e>", tree: []string{"é"}}, {args: "-v <e>", tree: []string{"é"}, env: "LC_ALL=C.UTF-8"}, {args: "<e>'", env: "LC_CTYPE=C.UTF-8"},
	{args: "<e> x", env: "LC_ALL=xx_YY.UTF-8"}, {args: "-v x<ff>y", tree: []string{"x\xffy"}, env: "LC_ALL=C.UTF-8"},
	// permissions (they bind other users than root)
	{args: "q/f", tree: []string{"q/f", "q/ 0555"}}, {args: "-f q/f a", tree: []string{"q/f", "q/ 0555"}}, {args: "-rf q/d", tree: []string{"q/d/x", "q/ 0555"}},
	{args: "-r t", tree: []string{"t/ 0555"}}, {args: "-r t", tree: []string{"t/ 0000"}}, {args: "-rf t", tree: []string{"t/ 0300"}}, {args: "-rv t", tree: []string{"t/ 0400"}},
	{args: "-rf t", tree: []string{"t/x", "t/ 0000"}}, {args: "-rf t", tree: []string{"t/x", "t/ 0300"}}, {args: "-rf t", tree: []string{"t/x", "t/y/z", "t/ 0400"}},
	{args: "-rf t", tree: []string{"t/x", "t/ 0600"}}, {args: "-rf t a", tree: []string{"t/x", "t/y/z", "t/y/w", "t/ 0555"}}, {args: "-rv t a", tree: []string{"t/x", "t/y/z", "t/ 0555"}},
	{args: "t/x", tree: []string{"t/x", "t/ 0600"}}, {args: "-f t/x a", tree: []string{"t/x", "t/ 0000"}}, {args: "-d t", tree: []string{"t/ 0000"}}, {args: "-d t", tree: []string{"t/ 0555"}},
	{args: "-ri t", tree: []string{"t/x", "t/ 0000"}, stdin: "y\ny\ny\n"}, {args: "-ri t", tree: []string{"t/ 0000"}, stdin: "y\ny\ny\n"}, {args: "-ri t", tree: []string{"t/x", "t/ 0555"}, stdin: "y\ny\ny\n"},
	// scratch goes to the real rm, in its turn
	{args: "-v a p b"}, {args: "-v p"}, {args: "-v p nope a"}, {args: "-v conftest.c a conftest.o", tree: []string{"conftest.c", "conftest.o"}},
	{args: "-iv a p b", stdin: "y\ny\ny\n"}, {args: "-iv p b", stdin: "n\ny\n"}, {args: "-rv p d nope"}, {args: "-f p nope a"},
}

// differ runs one case both ways and compares.
func differ(t *testing.T, c diffCase) {
	t.Helper()
	gnuRm(t)
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		code           int
		out, err, tree string
	}
	var res [2]result
	for i, side := range []string{"real", "ours"} {
		e, out, errw := envIn(t, filepath.Join(root, side))
		build(t, e.Dir, append(append([]string{}, names...), c.tree...)...)
		e.Environ = []string{"PATH=" + os.Getenv("PATH")}
		if !strings.Contains(c.env, "LC_") {
			e.Environ = append(e.Environ, "LC_ALL=C")
		}
		e.Environ = append(e.Environ, strings.Fields(c.env)...)
		e.Getenv = func(k string) string {
			for _, kv := range e.Environ {
				if v, ok := strings.CutPrefix(kv, k+"="); ok {
					return v
				}
			}
			return ""
		}
		e.Stdin = strings.NewReader(c.stdin)
		r := &res[i]
		if side == "real" {
			r.code = runReal(t, e, c.argv())
		} else {
			r.code, _ = run(t, e, c.argv()...)
		}
		r.out, r.err, r.tree = out.String(), errw.String(), tree(t, e.Dir)
		if there(filepath.Join(e.Dir, "../home/.local/share/Trash/files/p")) {
			t.Error("a fifo went to the trash")
		}
	}
	real, ours := res[0], res[1]
	if real != ours {
		t.Errorf("rm %q\nreal: %d\n%s%s%s\nours: %d\n%s%s%s", c.argv(), real.code, real.out, real.err, real.tree, ours.code, ours.out, ours.err, ours.tree)
	}
}

func TestDifferential(t *testing.T) {
	for _, c := range diffCases {
		name := c.args
		if c.env != "" {
			name += " " + c.env
		}
		t.Run(name, func(t *testing.T) { differ(t, c) })
	}
}
