package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"safeshell/cli"
	"safeshell/internal/test/testdir"
)

// made writes everything twice, and returns the directory of one of them.
func made(t *testing.T) string {
	t.Helper()
	top := testdir.New(t)
	a, b := filepath.Join(top, "a"), filepath.Join(top, "b")
	for _, dir := range []string{a, b} {
		if err := write("v1.2.3", "2026-11-22", dir); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("diff", "-r", a, b).CombinedOutput(); err != nil {
		t.Errorf("the same version and date give other files: %s", out)
	}
	return a
}

// TestPages: safeshell and each command have their page, with all commands and
// options that --help shows and none that it hides.
func TestPages(t *testing.T) {
	dir := filepath.Join(made(t), "man", "man1")
	app, err := cli.Model()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"safeshell.1", "safeshell-wrapper.1"}
	for _, n := range app.Children {
		if !n.Hidden {
			want = append(want, "safeshell-"+n.Name+".1")
		}
	}
	var got []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("pages: %v\nwant: %v", got, want)
	}
	for _, n := range app.Leaves(false) {
		name := strings.Fields(n.Path())[0]
		b, _ := os.ReadFile(filepath.Join(dir, "safeshell-"+name+".1"))
		page := string(b)
		if has := strings.Contains(page, escape("safeshell "+n.Path())+`"`); has == n.Hidden && !n.Parent.Hidden {
			t.Errorf("%s: in the page: %v, hidden: %v", n.Path(), has, n.Hidden)
		}
		for _, f := range n.Flags {
			if has := strings.Contains(page, `\fB`+escape("--"+f.Name)+`\fR`); has == f.Hidden && !n.Hidden {
				t.Errorf("%s --%s: in the page: %v, hidden: %v", n.Path(), f.Name, has, f.Hidden)
			}
		}
		for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"} {
			if !n.Hidden && !strings.Contains(page, "\n.SH "+section+"\n") {
				t.Errorf("the page of %s has no %s", name, section)
			}
		}
	}
	b, _ := os.ReadFile(filepath.Join(dir, "safeshell.1"))
	for _, e := range append(slices.Clone(cli.Files), cli.Environment...) {
		if e.Key != "startup" && !strings.Contains(string(b), escape(e.Name)) {
			t.Errorf("safeshell(1) does not name %s", e.Name)
		}
	}
}

// TestPagesFormat has the formatters read each page.
func TestPagesFormat(t *testing.T) {
	pages, _ := filepath.Glob(filepath.Join(made(t), "man", "man1", "*.1"))
	pages = slices.DeleteFunc(pages, func(p string) bool { return strings.HasSuffix(p, "-wrapper.1") }) // leads to another
	for _, argv := range [][]string{{"mandoc", "-Tlint", "-Wstyle"}, {"groff", "-man", "-ww", "-Tutf8"}, {"man", "--warnings", "-l"}} {
		t.Run(argv[0], func(t *testing.T) {
			if _, err := exec.LookPath(argv[0]); err != nil {
				t.Skip("no " + argv[0])
			}
			if argv[0] == "man" {
				if exec.Command("man", "--warnings", "--version").Run() != nil {
					t.Skip("no man of man-db")
				}
			}
			for _, page := range pages {
				c := exec.Command(argv[0], append(slices.Clone(argv[1:]), page)...)
				c.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANWIDTH=80", "MANPAGER=cat")
				var errs strings.Builder
				c.Stderr = &errs
				out, _ := c.Output()
				said := errs.String()
				if argv[0] == "mandoc" { // says all of it on standard output
					said = otherPages.ReplaceAllString(string(out), "")
				} else if len(out) < 500 {
					t.Errorf("%s shows nothing of %s", argv[0], page)
				}
				if strings.TrimSpace(said) != "" {
					t.Errorf("%s:\n%s", strings.Join(c.Args, " "), said)
				}
			}
		})
	}
}

// otherPages are what mandoc says of references to pages that are not installed.
var otherPages = regexp.MustCompile(`(?m)^.*referenced manual not found:.*\n`)

func TestBadCalls(t *testing.T) {
	for _, c := range [][2]string{{"22.11.2026", "x"}, {"", "x"}, {"2026-11-22", ""}} {
		if err := write("v1", c[0], c[1]); err == nil || !strings.Contains(err.Error(), "usage: ") {
			t.Errorf("%q: %v", c, err)
		}
	}
}
