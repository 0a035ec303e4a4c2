package eval

import (
	"fmt"
	"path/filepath"
	"safeshell/internal/files"
	"strings"
	"testing"
)

// What is lost is said in a person's terms: counts, names, sizes, commits.
func TestLoss(t *testing.T) {
	needs1(t, "git")
	w := newWorld(t)
	origin := filepath.Join(w.home, "origin.git")
	w.git(w.home, "init", "-q", "--bare", "-b", "f", origin)
	w.git(w.proj, "init", "-q", "-b", "f")
	w.git(w.proj, "remote", "add", "origin", origin)
	w.write("kept.txt", "a\n")
	w.git(w.proj, "add", "-A")
	w.git(w.proj, "commit", "-q", "-m", "zero")
	w.git(w.proj, "commit", "-q", "--allow-empty", "-m", "theirs")
	w.git(w.proj, "push", "-q", "origin", "f")
	w.git(w.proj, "reset", "-q", "--hard", "HEAD~1")
	w.git(w.proj, "checkout", "-q", "-b", "feat")
	w.git(w.proj, "commit", "-q", "--allow-empty", "-m", "one")
	w.git(w.proj, "commit", "-q", "--allow-empty", "-m", "two")
	w.git(w.proj, "checkout", "-q", "f")
	w.git(w.proj, "commit", "-q", "--allow-empty", "-m", "mine")
	w.write("kept.txt", "b\n")
	w.git(w.proj, "stash", "-q")
	w.write("kept.txt", "c\nd\n")
	for i := range 12 {
		w.write(fmt.Sprintf("data/row%02d.csv", i), strings.Repeat("x", 1000))
	}
	w.write("loose.txt", "0123456789")
	rows := "12 files (11.7 KiB): data/row00.csv, data/row01.csv, data/row02.csv and 9 more"
	changes := "uncommitted changes of 1 file (+2 -1 lines): kept.txt"
	for _, c := range []struct{ line, want string }{
		{"shred -u data/row01.csv", "data/row01.csv (1 file, 1000 bytes)"},
		{"shred -u data/*.csv", rows},
		{"find . -name '*.csv' -delete", rows},
		{"find data -exec shred -u {} +", rows},
		{"find . -name '*.csv' | xargs shred -u", rows},
		{"rsync -a --delete empty/ data/", rows},
		{`python3 -c "import shutil; shutil.rmtree('data')"`, rows},
		{"cd data && find . -delete", "12 files (11.7 KiB): row00.csv, row01.csv, row02.csv and 9 more"},
		{"rm -rf data", "12 files (11.7 KiB), to the trash: data/row00.csv, data/row01.csv, data/row02.csv and 9 more"},
		{"shred -u loose.txt data/row03.csv", "2 files (1010 bytes): loose.txt, data/row03.csv"},
		{": > loose.txt", "loose.txt (1 file, 10 bytes)"},
		{"truncate -s 0 loose.txt", "loose.txt (1 file, 10 bytes)"},
		{`shred -u "$X"`, `what '"$X"' stands for is not known`},
		{"git clean -fd", "13 files (11.7 KiB) that git does not hold: data/row00.csv, data/row01.csv, data/row02.csv and 10 more"},
		{"git clean -f", "loose.txt (1 file, 10 bytes) that git does not hold"},
		{"git checkout -- .", changes},
		{"git restore kept.txt", changes},
		{"git switch -f feat", changes},
		{"git reset --hard", changes},
		{"git reset --hard HEAD~1", changes + "; 1 commit of this branch that no other has: * mine"},
		{"git branch -D feat", "2 commits that only feat has: * two, * one"},
		{"git push --force", "1 commit of origin/f, as it was last fetched: * theirs"},
		{"git push -f origin HEAD:f", "1 commit of origin/f, as it was last fetched: * theirs"},
		{"git push origin +f", "1 commit of origin/f, as it was last fetched: * theirs"},
		{"git push origin --delete f", "1 commit of origin/f, as it was last fetched: * theirs"},
		{"git push origin '+--output=pwned:f'", ""},
		{"git stash drop", "1 stash: stash@{0} WIP on f: * mine"},
		{"git stash clear", "1 stash: stash@{0} WIP on f: * mine"},
		{"ls", ""},
		{"unlink kept.txt.not-there", ""},
		{"ssh prod 'shred -u loose.txt'", ""},
	} {
		r, _ := w.rules()
		a := w.parse(c.line)
		got := ""
		for i := range a.Commands {
			if loss := r.Loss(&a, i); len(loss) > 0 {
				got = strings.Join(loss, "; ")
			}
		}
		words := strings.Fields(got)
		for i, s := range words { // a commit's name
			if len(s) == 7 && strings.Trim(s, "0123456789abcdef") == "" {
				words[i] = "*"
			}
		}
		if got = strings.Join(words, " "); got != c.want {
			t.Errorf("%s:\n  %s\n  want %s", c.line, got, c.want)
		}
	}
	if files.Exists(filepath.Join(w.proj, "pwned")) {
		t.Error("git was given an option")
	}
}
