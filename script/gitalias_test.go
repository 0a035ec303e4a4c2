package script

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// aliasOptions knows aliases in /w, others in /w/sub, and those of the user.
func aliasOptions(asked *[]string) Options {
	o := testOptions(Bash)
	user := map[string]string{"st": "status", "w.x": "reset --hard", "loop": "pool", "pool": "loop", "Wide": "clean -f"}
	o.GitAliases = func(dir string, options, environ []string) GitAliases {
		*asked = append(*asked, strings.TrimSpace(fmt.Sprint(dir, " ", strings.Join(options, " "), " ", strings.Join(environ, " "))))
		found := GitAliases{Text: map[string]string{}, Top: "/w"}
		for k, v := range user {
			found.Text[k] = v
		}
		switch {
		case len(options) > 0 || len(environ) > 0:
			found.Text["pf"], found.Top = "push --force", ""
		case dir == "/w" || dir == "/w/src":
			found.Text["pf"] = "push --force-with-lease 'a b'"
			found.Text["nuke"] = "!rm -rf build"
			found.Text["status"] = "reset --hard"
		case dir == "/w/sub":
			found.Text["pf"] = "push -f"
		case dir == "/broken":
			return GitAliases{Err: errors.New("no answer")}
		}
		return found
	}
	return o
}

// Aliases of git's configuration are what they stand for; git's own subcommands
// are nobody's alias.
func TestGitAliases(t *testing.T) {
	for _, r := range []row{
		{text: "git st -s", want: []string{"git st -s", "git: git status -s"}},
		{text: "git ST", want: []string{"git: git status"}},
		{text: "git Wide", want: []string{"git: git clean -f"}},
		{text: "git wide", not: []string{"git: git clean -f"}},
		{text: "git w.x", want: []string{"git: git reset --hard"}},
		{text: "git status", want: []string{"git status"}, not: []string{"git: git reset --hard"}},
		{text: "git pf origin", want: []string{"git: git push --force-with-lease 'a b' origin"}},
		{text: "git nuke -v x", want: []string{"git: rm -rf build -v x"}},
		{text: "cd src && git nuke", want: []string{"git: rm -rf build"}},
		{text: "git -C sub pf", want: []string{"git: git push -f @/w/sub"}},
		{text: "cd sub; git pf", want: []string{"git: git push -f @/w/sub"}},
		{text: "cd $X; git pf; git st", want: []string{"git: git status @<$X>"}, not: []string{"git: git push -f @<$X>"}},
		{text: "git --git-dir=/r/.git pf", want: []string{"git: git --git-dir=/r/.git push --force"}},
		{text: "git --git-dir /r/.git pf", want: []string{"git: git --git-dir /r/.git push --force"}},
		{text: "GIT_DIR=/r/.git git pf", want: []string{"git: GIT_DIR=/r/.git git push --force"}},
		{text: "sudo git nuke", want: []string{"sudo>git: rm -rf build"}},
		{text: "xargs git pf", want: []string{"xargs>git: git push --force-with-lease 'a b' <xargs>"}},
		{text: "ssh host git nuke", not: []string{"ssh>git: rm -rf build @host"}},
		{text: "git loop", want: []string{"git loop"}, unknown: true},
		{text: "git other", want: []string{"git other"}},
		{text: "git -C /broken other", unknown: true},
		{text: "git -C /broken log"},
	} {
		var asked []string
		checkRow(t, Parse(r.text, aliasOptions(&asked)), r)
		if !strings.ContainsAny(r.text, ";&$|") {
			asked = nil
			checkRow(t, FromArgv(strings.Fields(r.text), aliasOptions(&asked)), row{text: r.text, want: argvSpelling(r.want), not: r.not, unknown: r.unknown})
		}
	}
}

// argvSpelling leaves out assignments: an argv has none in front.
func argvSpelling(want []string) (out []string) {
	for _, w := range want {
		if !strings.Contains(w, "GIT_DIR=") {
			out = append(out, w)
		}
	}
	return out
}

// Each directory is asked about once, and not many in one text.
func TestGitAliasesAskedOnce(t *testing.T) {
	var asked []string
	Parse("git st; git st; git other; git status; git -C sub st; cd sub; git st; HOME=/h GIT_DIR=g X=y git st", aliasOptions(&asked))
	if want := []string{"/w", "/w/sub", "/w/sub  HOME=/h GIT_DIR=g"}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, not %q", asked, want)
	}
	asked = nil
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "git -C /d%d st\n", i)
	}
	a := Parse(b.String(), aliasOptions(&asked))
	if len(asked) > maxAliasDirs || len(a.Unknown) == 0 {
		t.Errorf("asked about %d directories, %d unknown", len(asked), len(a.Unknown))
	}
}

// What is called git's own is that to the real git; no alias replaces it.
func TestGitOwn(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git")
	}
	out, err := exec.Command(git, "--list-cmds=builtins,main").Output()
	if err != nil {
		t.Skip("git --list-cmds: ", err)
	}
	theirs := strings.Fields(string(out))
	for _, name := range []string{"add", "am", "commit", "diff", "push", "reset", "clean", "checkout", "stash", "status", "log", "rebase", "bisect",
		"submodule", "filter-branch", "restore", "switch", "hook", "worktree", "maintenance", "sparse-checkout", "write-tree", "stage", "version"} {
		if slices.Contains(theirs, name) && !gitOwn(name) {
			t.Errorf("%s is git's own", name)
		}
	}
	old := 0
	for _, name := range theirs {
		if !gitOwn(name) {
			old++ // it is looked up and found to be none
		}
	}
	if old > len(theirs)/3 {
		t.Errorf("%d of git's %d subcommands are looked up", old, len(theirs))
	}
}
