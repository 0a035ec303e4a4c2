package eval

import (
	"bufio"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// bashStatuses returns the exit status of each compiled condition, as one real
// bash, started as conditions are, gives it.
func bashStatuses(t *testing.T, j *bashJudge, scripts []string, v commandValues) []int {
	t.Helper()
	var out []int
	for begin := 0; begin < len(scripts); {
		var b strings.Builder
		b.WriteString(condPrologue)
		end := begin
		for ; end < len(scripts) && b.Len() < maxScript-maxCondition; end++ {
			b.WriteString(strings.Replace(condRun, "%s", singleQuote(scripts[end]), 1) + "\necho $? >&4\n")
		}
		out = append(out, bashBatch(t, j, b.String(), v)...)
		if len(out) != end {
			t.Fatalf("bash answered %d of %d conditions", len(out), end)
		}
		begin = end
	}
	return out
}

func bashBatch(t *testing.T, j *bashJudge, script string, v commandValues) (out []int) {
	t.Helper()
	valuesR, valuesW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	resultR, resultW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer resultR.Close()
	size := "large"
	if len(v.args)+len(v.name) < exportLimit {
		size = "small"
	}
	cmd := exec.Command(findBash(), "--norc", "--noprofile", "-p", "-c", script, "safeshell-condition", v.name, size)
	cmd.Dir, cmd.Env = v.dir, j.env(v.dir)
	cmd.ExtraFiles = []*os.File{valuesR, resultW}
	err = cmd.Start()
	valuesR.Close()
	resultW.Close()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		io.WriteString(valuesW, v.args)
		valuesW.Close()
	}()
	for lines := bufio.NewScanner(resultR); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	cmd.Wait()
	return out
}

// judgeScene is what conditions are judged in.
type judgeScene struct {
	j *bashJudge
	v commandValues
}

func (s judgeScene) String() string {
	return fmt.Sprintf("CMD=%.200q ARGS=%.200q dir=%s env=%q", s.v.name, s.v.args, filepath.Base(s.v.dir), s.j.environ[1:])
}

// compare judges the conditions both ways, and returns how many were taken.
func (s judgeScene) compare(t *testing.T, conditions []string) (taken int) {
	t.Helper()
	var texts, scripts []string
	var got []int
	for _, text := range conditions {
		script, _, err := compileCondition(text)
		if err != nil {
			continue
		}
		if status, ok := s.j.inProcess(script, s.v); ok {
			texts, scripts, got = append(texts, text), append(scripts, script), append(got, status)
		}
	}
	if len(scripts) == 0 {
		return 0
	}
	for i, want := range bashStatuses(t, s.j, scripts, s.v) {
		if got[i] != want {
			t.Errorf("%q\n  bash %d, in process %d; %v", texts[i], want, got[i], s)
		}
	}
	return len(scripts)
}

// places makes directories of all kinds that git knows.
func places(t *testing.T, w *world) map[string]string {
	t.Helper()
	out := map[string]string{}
	add := func(name string) string {
		d := filepath.Join(w.proj, name)
		w.mkdir(d)
		out[name] = d
		return d
	}
	repo := func(name, branch string) string {
		d := add(name)
		w.git(d, "init", "-q", "-b", branch)
		return d
	}
	commit := func(d string) { w.git(d, "commit", "-q", "--allow-empty", "-m", "x") }
	commit(repo("main", "main"))
	repo("unborn", "master")
	commit(repo("feature", "feature/x-1"))
	d := repo("detached", "main")
	commit(d)
	w.git(d, "checkout", "-q", "--detach")
	d = repo("packed", "develop")
	commit(d)
	w.git(d, "pack-refs", "--all")
	d = repo("ambiguous", "main")
	commit(d)
	w.git(d, "tag", "main")
	d = repo("withtree", "main")
	commit(d)
	out["tree"] = filepath.Join(w.proj, "tree")
	w.git(d, "worktree", "add", "-q", "-b", "side", out["tree"])
	d = repo("deep", "main")
	commit(d)
	out["deep"] = filepath.Join(d, "a b", "c")
	w.mkdir(out["deep"])
	out["inside"] = filepath.Join(d, ".git", "refs")
	d = repo("odd", "main")
	w.git(d, "config", "core.worktree", w.proj)
	d = repo("symbolic", "other")
	commit(d)
	w.git(d, "symbolic-ref", "refs/heads/main", "refs/heads/other")
	w.write(filepath.Join(d, ".git", "HEAD"), "ref: refs/heads/main\n")
	d = repo("broken", "main")
	w.write(filepath.Join(d, ".git", "HEAD"), "rubbish\n")
	out["unicode"] = repo("unicode", "grün")
	out["none"] = filepath.Join(w.root, "nowhere")
	w.mkdir(out["none"])
	w.git(out["none"], "init", "-q", "--bare", "bare.git")
	out["bare"] = filepath.Join(out["none"], "bare.git")
	for _, d := range out {
		if !strings.Contains(d, ".git") {
			w.write(filepath.Join(d, "file.txt"), "first line\n\"private\": true\n\ngit push\n")
			w.write(filepath.Join(d, "empty"), "")
			w.mkdir(filepath.Join(d, "sub"))
			os.Symlink("file.txt", filepath.Join(d, "link"))
			os.Symlink("gone", filepath.Join(d, "broken"))
		}
	}
	return out
}

var sceneValues = []struct{ name, args string }{
	{"git", "commit -m x"}, {"git", "commit -m 'it'\\''s \"done\"'"}, {"git", "push --force origin main"}, {"git", ""},
	{"rm", "-rf node_modules '*.o' ~/x"}, {"cat", "/home/u/.ssh/id_rsa"}, {"echo", "-n -e"}, {"-e", "-n x"}, {"-n", ""}, {"-neE", "x\\ty"},
	{"git", "commit -m 'grün — “fertig” 🎉 é'"}, {"git", "commit -m $'a\\nb\\tc'"}, {"git", "commit -m a\nb\n\n"}, {"printf", "%s\\n 'a b'"},
	{"git", "\xff\xfe broken \xe3\x28 \xc3"}, {"a[$(id)]", "$(touch x) `id` ${HOME}"}, {"", ""}, {"\\", "\\\\ \\n \\."}, {"[", "a = b ]"},
	{"!", "("}, {"git", "  two   blanks\t tab "}, {"KELVIN", "\u212a \u017f \u0130 \u0131 K s i I"}, {"x", "\u00a0\u2003nbsp\u3000 caf\u00e9s"},
	{"git", "commit -m '" + strings.Repeat("long é ", 9000) + "'"}, {"foo_bar-baz", "foo.bar foo,bar foofoo foo1 1foo"}, {"npm", "publish --tag=latest"},
	{"git", "reset --hard HEAD~3"}, {"kubectl", "delete ns prod"}, {"main", "master|develop"}, {"git", "-c user.name='a b' commit"},
}

var sceneLocales = [][]string{{"LANG=C.UTF-8"}, {"LANG=C.UTF-8"}, {}, {"LANG=en_US.UTF-8"}, {"LC_ALL=C", "LANG=C.UTF-8"}, {"LC_CTYPE=C.UTF-8"}, {"LANG=tr_TR.UTF-8"}, {"LANG=POSIX", "LC_COLLATE=C.utf8"}, {"LANG=C", "LC_CTYPE=C.utf8"}}

func newJudgeScene(w *world, dir string, rng *rand.Rand) judgeScene {
	v := sceneValues[rng.Intn(len(sceneValues))]
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "PLAIN=main", "EMPTY=", "TWO=a  b", "STAR=*", "WORDS= -n x ", "lower=git push"}
	env = append(env, sceneLocales[rng.Intn(len(sceneLocales))]...)
	return judgeScene{&bashJudge{environ: env}, commandValues{v.name, v.args, dir}}
}

func TestInProcessEqualsBash(t *testing.T) {
	needs1(t, "bash", "grep", "git")
	w := newWorld(t)
	dirs := places(t, w)
	names := make([]string, 0, len(dirs))
	for n := range dirs {
		names = append(names, n)
	}
	rounds := 22
	if testing.Short() {
		rounds = 5
	}
	total, taken := 0, 0
	for round := range rounds {
		rng := rand.New(rand.NewSource(testSeed(1)*1000 + int64(round)))
		// Each kind of place, in a stable order.
		dir := dirs[sortedAt(names, round)]
		s := newJudgeScene(w, dir, rng)
		var list []string
		g := conditionGen{rng}
		for range 250 {
			list = append(list, g.finish(g.condition(2)))
		}
		total += len(list)
		taken += s.compare(t, list)
	}
	t.Logf("%d of %d conditions judged in process", taken, total)
	if taken < total/4 {
		t.Errorf("only %d of %d conditions were judged in process", taken, total)
	}
}

// testSeed lets CONDITION_SEED try others.
func testSeed(usual int64) int64 {
	if s, err := strconv.ParseInt(os.Getenv("CONDITION_SEED"), 10, 64); err == nil {
		return s
	}
	return usual
}

func sortedAt(names []string, i int) string {
	sorted := append([]string(nil), names...)
	for a := range sorted {
		for b := a; b > 0 && sorted[b] < sorted[b-1]; b-- {
			sorted[b], sorted[b-1] = sorted[b-1], sorted[b]
		}
	}
	return sorted[i%len(sorted)]
}
