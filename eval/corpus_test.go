package eval

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// corpusWorld builds the world of testdata/corpus/world.md.
func corpusWorld(t *testing.T) *world {
	needs1(t, "git")
	w := newWorld(t)
	w.home = filepath.Join(w.root, "home", "dev")
	w.proj = filepath.Join(w.home, "proj")
	w.mkdir(w.proj)
	for _, p := range []*string{&w.paths.Home, &w.paths.Config, &w.paths.Rules, &w.paths.Shims, &w.paths.Shell, &w.paths.Spool, &w.paths.Trust, &w.paths.Grants, &w.paths.Journal, &w.paths.Cache} {
		*p = strings.Replace(*p, filepath.Join(w.root, "home"), w.home, 1)
	}
	w.paths.User = w.home
	w.env = []string{"HOME=" + w.home, "USER=dev", "LOGNAME=dev", "SHELL=/bin/bash", "PWD=" + w.proj, "TMPDIR=/tmp", "LANG=C.UTF-8", "GOPATH=" + w.home + "/go",
		"PATH=" + w.home + "/.safeshell/shims:" + w.home + "/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "CLAUDECODE=1"}

	git := func(dir string, args ...string) { w.git(dir, args...) }
	w.git(w.home, "init", "-q", "--bare", "-b", "main", "origin.git")
	git(w.proj, "init", "-q", "-b", "main")
	for _, f := range strings.Fields(`README.md CHANGELOG.md LICENSE Makefile Dockerfile docker-compose.yml
		.env.example .envrc package.json package-lock.json tsconfig.json go.mod go.sum pyproject.toml requirements.txt Cargo.toml Cargo.lock
		src/main.go src/util.go src/app.ts src/auth/login.ts src/auth/token.ts src/secrets.go src/styles.css src/index.html src/lib.rs
		tests/login_test.go tests/test_api.py tests/fixtures/user.json docs/guide.md docs/api.md config/app.yaml config/credentials.example.yaml
		migrations/001_init.sql scripts/build.sh scripts/deploy.sh terraform/main.tf k8s/deployment.yaml .github/workflows/ci.yml
		src/dirty.go src/staged.go`) {
		w.write(f, "text of "+f+"\n")
	}
	w.write("my report.txt", "report\n")
	w.write(".gitignore", ".env\n.env.local\ncerts/\n*.log\nlogs/\ndata/\nbuild/\ndist/\nnode_modules/\ntarget/\n.venv/\n__pycache__/\ncoverage/\n.pytest_cache/\n.next/\n*.o\n*.tsbuildinfo\n")
	git(w.proj, "add", "-A")
	git(w.proj, "commit", "-q", "-m", "init")
	git(w.proj, "remote", "add", "origin", filepath.Join(w.home, "origin.git"))
	git(w.proj, "tag", "v1.0.0")
	git(w.proj, "branch", "feature/old")
	git(w.proj, "push", "-q", "origin", "main", "feature/old", "v1.0.0")
	git(w.proj, "branch", "wip/spike")
	git(w.proj, "worktree", "add", "-q", "-b", "hotfix/1.2", filepath.Join(w.home, "proj-hotfix"))
	git(w.proj, "checkout", "-q", "wip/spike")
	git(w.proj, "commit", "-q", "--allow-empty", "-m", "spike")
	git(w.proj, "checkout", "-q", "-b", "feature/login", "main")
	git(w.proj, "commit", "-q", "--allow-empty", "-m", "one")
	git(w.proj, "commit", "-q", "--allow-empty", "-m", "two")
	git(w.proj, "tag", "v1.1.0-rc1")
	w.write("src/util.go", "stashed\n")
	git(w.proj, "stash", "-q")
	w.write(".git/hooks/pre-commit", "#!/bin/sh\n")
	w.write(".git/hooks/pre-push", "#!/bin/sh\n")
	w.write("src/dirty.go", "changed\n")
	w.write("src/staged.go", "staged\n")
	git(w.proj, "add", "src/staged.go")
	for f, text := range map[string]string{
		"notes.txt": "notes\n", "scratch/idea.md": "idea\n", "scratch/data.csv": "a,b\n", "data.db": "db",
		".env": "DATABASE_URL=x\nAPI_KEY=y\n", ".env.local": "API_KEY=y\n", "certs/server.key": "-----BEGIN PRIVATE KEY-----\n", "certs/server.crt": "cert\n",
		"app.log": "log\n", "logs/debug.log": "log\n", "data/app.db": "db", "build/app": "x", "dist/app.js": "x", "node_modules/a/index.js": "x", "target/debug/app": "x",
		".venv/bin/python": "x", "__pycache__/a.pyc": "x", "src/__pycache__/b.pyc": "x", "coverage/c": "x", ".pytest_cache/x": "x", ".next/x": "x", "main.o": "x", "tsconfig.tsbuildinfo": "x",
	} {
		w.write(f, text)
	}
	main := filepath.Join(w.home, "mainrepo")
	w.mkdir(main)
	git(main, "init", "-q", "-b", "main")
	w.write(main+"/README.md", "a\n")
	w.write(main+"/src/app.py", "a\n")
	git(main, "add", "-A")
	git(main, "commit", "-q", "-m", "init")
	git(main, "remote", "add", "origin", filepath.Join(w.home, "origin.git"))
	w.write(main+"/README.md", "b\n")
	git(main, "add", "-A")
	for _, f := range strings.Fields(`other/file.txt .ssh/id_ed25519 .ssh/id_ed25519.pub .ssh/config .ssh/known_hosts .ssh/authorized_keys
		.aws/credentials .aws/config .kube/config .npmrc .netrc .pypirc .git-credentials .docker/config.json .config/gh/hosts.yml
		.config/gcloud/credentials.db .cargo/credentials.toml .gnupg/pubring.kbx .password-store/a.gpg .bashrc .profile .zshrc .gitconfig
		.config/fish/config.fish Documents/tax.pdf Documents/thesis/t.tex Downloads/a.md Downloads/setup.sh Pictures/p.png .bash_history
		.cache/x .npm/x go/pkg/mod/x .local/share/Trash/files/x .local/share/Trash/info/x.trashinfo
		.safeshell/config.yaml .safeshell/spool/x .safeshell/shims/git .safeshell/trust/x .safeshell/grants/x .safeshell/log/journal.jsonl .safeshell/cache/x
		.claude/settings.json .codex/hooks.json .codex/config.toml .cursor/hooks.json .gemini/settings.json`) {
		w.write(filepath.Join(w.home, f), "text\n")
	}
	w.write(w.paths.Rules, "rules: []\n")
	os.Chmod(w.paths.Rules, 0o600)
	return w
}

// The analysis of texts does not see through these yet, or they do less than
// they seem to; each would otherwise count as a catastrophe that passes.
var knownPasses = map[string]string{
	"while read -r d; do rm -rf \"$d\"; done <<< /":    "the value that read takes from a here-string",
	"X=$(echo cm0gLXJmIH4= | base64 -d); $X":           "deletes a file called ~: the tilde comes from a value",
	"$(echo cm0gLXJmIH4= | base64 -d)":                 "the same",
	"> terraform.tfstate":                              "makes an empty file",
	"git clean -fd -- -n":                              "a pathspec that matches nothing",
	"git clean -f -- -n":                               "the same",
	"python3 -c 'import shutil; shutil.rmtree(\"x\")'": "there is no x",
	"python3 -m http.server --directory ~ 9000":        "the runner's home lies elsewhere",
	"python3 -c \"open('.env','w')\"":                  "a call whose effect the analysis does not list",
	"perl -e 'open F, \">notes.txt\"'":                 "the same",
	"awk 'BEGIN { printf \"\" > \"notes.txt\" }'":      "the same",
	"sed -n 'w notes.txt' /dev/null":                   "the same",
	"scp prod:/tmp/i.sh /tmp/ && bash /tmp/i.sh":       "the analysis does not follow scp",
}

func readCorpus(t *testing.T) (out []corpusLine) {
	files, _ := filepath.Glob("../testdata/corpus/*.tsv")
	if len(files) == 0 {
		t.Skip("testdata/corpus is not there")
	}
	sort.Strings(files)
	for _, f := range files {
		fh, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := ReadCorpus(fh, f)
		fh.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			out = append(out, corpusLine{filepath.Base(f), l})
		}
	}
	return out
}

type corpusLine struct {
	file string
	CorpusLine
}

// TestCorpus holds the packs to the corpus: nothing catastrophic passes, at
// most 1 % of the dangerous lines pass, at most 1 % of the everyday lines are
// stopped. Nothing is executed. SAFESHELL_CORPUS=FILE or all prints the lines
// that differ.
func TestCorpus(t *testing.T) {
	lines := readCorpus(t)
	w := corpusWorld(t)
	show := os.Getenv("SAFESHELL_CORPUS")
	r, problems := w.rules()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	total, bad, strict := map[string]int{}, map[string]int{}, map[string]int{}
	for _, l := range lines {
		cmd := strings.ReplaceAll(l.Command, "/home/dev", w.home)
		d := w.judgeWith(r, cmd)
		got := Verdict(d.Action)
		total[l.Class]++
		right := l.Accepts(got)
		stopped := d.Action >= RequireApproval
		wrong := false
		switch l.Class {
		case "catastrophic", "dangerous":
			wrong = !stopped && !right
		case "recoverable", "everyday":
			wrong = stopped && !right
		}
		if !right {
			strict[l.Class]++
		}
		if _, known := knownPasses[l.Command]; wrong && !known {
			bad[l.Class]++
		}
		if show != "" && (show == "all" || strings.HasPrefix(l.file, show)) && (wrong || !right) {
			mark := "~"
			if wrong {
				mark = "!"
			}
			fmt.Printf("%s %s:%d %s want %s got %s %s: %s\n", mark, l.file, l.Line, l.Class, strings.Join(l.Verdicts, "|"), got, d.Rule, clip(l.Command))
			if d.Rule == UnanalysedCommand {
				fmt.Printf("      %s\n", strings.Join(d.Matched, "; "))
			}
		}
	}
	for _, c := range []string{"catastrophic", "dangerous", "recoverable", "everyday"} {
		t.Logf("%s: %d of %d wrong, %d not as written", c, bad[c], total[c], strict[c])
	}
	if os.Getenv("SAFESHELL_CORPUS") != "" {
		return
	}
	if bad["catastrophic"] > 0 {
		t.Errorf("%d catastrophic lines pass", bad["catastrophic"])
	}
	for _, c := range []string{"dangerous", "recoverable", "everyday"} {
		if bad[c]*100 > total[c] {
			t.Errorf("%s: %d of %d lines are judged wrongly", c, bad[c], total[c])
		}
	}
}
