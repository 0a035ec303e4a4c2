// Command bench measures what safeshell costs, as whole processes from fork to
// wait, beside what else could stand in its place. All cases of a table are
// run in turn, round by round, so that a busy machine is unkind to all of them
// alike; what counts are the ratios of one run.
//
//	go run ./bench -binary bin/safeshell [-runs 300] [-json file]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	binary := flag.String("binary", "bin/safeshell", "the safeshell to measure")
	runs := flag.Int("runs", 300, "rounds")
	out := flag.String("json", "", "write the figures to this file")
	flag.Parse()
	abs, err := filepath.Abs(*binary)
	if err == nil {
		err = bench(abs, *runs, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A rival is one way to run a command.
type rival struct {
	Name string
	argv []string
	env  []string
	dir  string
	// over is the rival that it is compared with: its added cost is its median
	// less that one's.
	over string
}

// figure is what was measured of a rival.
type figure struct {
	Name     string  `json:"name"`
	MedianUS float64 `json:"median_us"`
	P99US    float64 `json:"p99_us"`
	AddedUS  float64 `json:"added_us"`
	Floors   float64 `json:"floors"` // added cost in units of the floor's
}

func bench(binary string, runs int, jsonFile string) error {
	work, err := os.MkdirTemp("", "safeshell-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	rivals, err := prepare(work, binary)
	if err != nil {
		return err
	}
	times := make([][]time.Duration, len(rivals))
	for round := -5; round < runs; round++ {
		for i, r := range rivals {
			d, err := once(r)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name, err)
			}
			if round >= 0 { // the first rounds warm the caches
				times[i] = append(times[i], d)
			}
		}
	}
	figures := make([]figure, len(rivals))
	byName := map[string]*figure{}
	for i, r := range rivals {
		sort.Slice(times[i], func(a, b int) bool { return times[i][a] < times[i][b] })
		n := len(times[i])
		figures[i] = figure{Name: r.Name, MedianUS: us(times[i][n/2]), P99US: us(times[i][n*99/100])}
		byName[r.Name] = &figures[i]
	}
	floor := byName[floorName].MedianUS - byName["true"].MedianUS
	for i, r := range rivals {
		if r.over != "" {
			figures[i].AddedUS = figures[i].MedianUS - byName[r.over].MedianUS
			figures[i].Floors = figures[i].AddedUS / floor
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "case\tmedian us\tp99 us\tadded us\tover\tx floor\t\n")
	for i, f := range figures {
		added, floors := "", ""
		if rivals[i].over != "" {
			added, floors = fmt.Sprintf("%.0f", f.AddedUS), fmt.Sprintf("%.2f", f.Floors)
		}
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%s\t%s\t%s\t\n", f.Name, f.MedianUS, f.P99US, added, rivals[i].over, floors)
	}
	w.Flush()
	fmt.Printf("%d interleaved runs; floor = the smallest Go program that finds and execs the next `true` in PATH\n", runs)
	if jsonFile == "" {
		return nil
	}
	b, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(jsonFile, append(b, '\n'), 0o644)
}

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func once(r rival) (time.Duration, error) {
	c := exec.Command(r.argv[0])
	c.Args = r.argv
	if strings.Contains(r.argv[0], "\x00") {
		exe, argv0, _ := strings.Cut(r.argv[0], "\x00")
		c = exec.Command(exe)
		c.Args = append([]string{argv0}, r.argv[1:]...)
	}
	c.Env, c.Dir = r.env, r.dir
	start := time.Now()
	err := c.Run()
	return time.Since(start), err
}

const floorName = "Go floor shim"

// prepare builds the rivals and a scratch HOME.
func prepare(work, binary string) ([]rival, error) {
	home := filepath.Join(work, "home")
	env := func(path string) []string {
		return []string{"HOME=" + home, "PATH=" + path, "LC_ALL=C"}
	}
	const sys = "/usr/local/bin:/usr/bin:/bin"
	if err := os.MkdirAll(filepath.Join(home, ".safeshell"), 0o700); err != nil {
		return nil, err
	}
	// A rule for true that does not match, so that true has a shim.
	rules := "rules:\n- name: bench-true\n  commands: [\"true\"]\n  directory: '^/nowhere$'\n  action: deny\n  message: never\n"
	if err := os.WriteFile(filepath.Join(home, ".safeshell", "rules.yaml"), []byte(rules), 0o600); err != nil {
		return nil, err
	}
	refresh := exec.Command(binary, "refresh", "--quiet")
	refresh.Env = env(sys)
	if out, err := refresh.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("safeshell refresh: %w\n%s", err, out)
	}
	repo := filepath.Join(work, "repo")
	for _, argv := range [][]string{{"git", "init", "-q", "-b", "main", repo}} {
		c := exec.Command(argv[0], argv[1:]...)
		c.Env = env(sys)
		if out, err := c.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%v: %w\n%s", argv, err, out)
		}
	}
	bin := func(name string) string { return filepath.Join(work, name) }
	for _, n := range []string{"hello", "floor"} {
		c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin(n), "./bench/rivals/"+n)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building %s: %w\n%s", n, err, out)
		}
	}
	dirOf := func(name, script, link string) (string, error) {
		d := bin("dir-" + name)
		if err := os.Mkdir(d, 0o755); err != nil {
			return "", err
		}
		if link != "" {
			return d, os.Symlink(link, filepath.Join(d, "true"))
		}
		return d, os.WriteFile(filepath.Join(d, "true"), []byte(script), 0o755)
	}
	floor, err := dirOf("floor", "", bin("floor"))
	if err != nil {
		return nil, err
	}
	sh, err := dirOf("sh", "#!/bin/sh\nPATH=${PATH#*:}; exec \"${0##*/}\" \"$@\"\n", "")
	if err != nil {
		return nil, err
	}
	pyenv, err := dirOf("pyenv", pyenvShim, "")
	if err != nil {
		return nil, err
	}
	shims := filepath.Join(home, ".safeshell", "shims")
	list := []rival{
		{Name: "true", argv: []string{"/usr/bin/true\x00true"}, env: env(sys)},
		{Name: "Go hello-world", argv: []string{bin("hello")}, env: env(sys)},
		{Name: floorName, argv: []string{floor + "/true\x00true"}, env: env(floor + ":" + sys), over: "true"},
		{Name: "#!/bin/sh shim", argv: []string{sh + "/true"}, env: env(sh + ":" + sys), over: "true"},
		{Name: "pyenv-style bash shim", argv: []string{pyenv + "/true"}, env: env(pyenv + ":" + sys), over: "true"},
		{Name: "safeshell shim", argv: []string{shims + "/true\x00true"}, env: env(shims + ":" + sys), over: "true"},
		{Name: "git status", argv: []string{"/usr/bin/git\x00git", "status"}, env: env(sys), dir: repo},
		{Name: "safeshell shim, git status", argv: []string{shims + "/git\x00git", "status"}, env: env(shims + ":" + sys), dir: repo, over: "git status"},
		{Name: "bash -c true", argv: []string{"/bin/bash", "-c", "true"}, env: env(sys)},
		{Name: "safeshell -c true", argv: []string{binary, "-c", "true"}, env: env(sys), over: "bash -c true"},
	}
	return list, nil
}

// pyenvShim does what a pyenv shim does on its way: set options, look at the
// arguments, and search PATH in bash.
const pyenvShim = `#!/usr/bin/env bash
set -e
program="${0##*/}"
for arg; do case "$arg" in -c*|--) break ;; */*) [ -f "$arg" ] && export SHIM_FILE_ARG="$arg" && break ;; esac; done
IFS=: read -ra dirs <<<"$PATH"
self=$(cd "$(dirname "$0")" && pwd)
for d in "${dirs[@]}"; do [ "$d" != "$self" ] && [ -x "$d/$program" ] && exec "$d/$program" "$@"; done
exit 127
`
