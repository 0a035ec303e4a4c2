// Package installtest installs what `make release` made, as people do: packages in a fresh
// Debian, npm packages from a registry, the README word for word. `make install-test` runs it.
package installtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// A table of what was tried: a row for each part of a scenario.
type table struct {
	sync.Mutex
	rows []string
}

func (b *table) add(format string, args ...any) {
	b.Lock()
	defer b.Unlock()
	b.rows = append(b.rows, fmt.Sprintf(format, args...))
}

// recorder is a T that notes each part of a scenario in the table.
type recorder struct {
	*testing.T
	name  string
	table *table
	why   *string // it is skipped
}

func (r recorder) Run(name string, f func(testscript.T)) {
	r.T.Run(name, func(t *testing.T) { f(recorder{t, name, r.table, new(string)}) })
}

func (r recorder) Verbose() bool { return true } // else the log has no parts

func (r recorder) Skip(args ...any) {
	*r.why = ": skipped, " + fmt.Sprint(args...)
	r.T.Skip(args...)
}

var part = regexp.MustCompile(`(?m)^# (.*) \(([0-9.]+s)\)$`)

func (r recorder) Log(args ...any) {
	text := fmt.Sprint(args...)
	parts := part.FindAllStringSubmatch(text, -1)
	for i, p := range parts {
		result, why := "good", ""
		if i == len(parts)-1 && *r.why != "" {
			result, why = "skipped", *r.why
		} else if i == len(parts)-1 && strings.Contains(text, "\nFAIL: ") {
			result = "FAILED"
		}
		r.table.add("%-12s %-7s %7s  %s%s", r.name, result, p[2], p[1], why)
	}
	r.T.Log(args...)
}

// TestInstall runs the scenarios in testdata with the packages in SAFESHELL_DIST, and those
// of an older version in SAFESHELL_OLD_DIST; what else they need is in SAFESHELL_INSTALLTEST.
func TestInstall(t *testing.T) {
	dist, old, tools := os.Getenv("SAFESHELL_DIST"), os.Getenv("SAFESHELL_OLD_DIST"), os.Getenv("SAFESHELL_INSTALLTEST")
	if dist == "" {
		t.Skip("needs packages: make install-test")
	}
	bin, err := filepath.Abs("testdata/bin")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := filepath.Abs("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(tools, "root.tar")
	var b table
	t.Run("all", func(t *testing.T) {
		testscript.RunT(recorder{t, "", &b, new(string)}, testscript.Params{
			Dir:                 "testdata",
			RequireExplicitExec: true,
			RequireUniqueNames:  true,
			Condition: func(cond string) (bool, error) {
				switch cond {
				case "machine":
					_, err := os.Stat(archive)
					return err == nil && (os.Getuid() == 0 || exec.Command("unshare", "--map-root-user", "--map-auto", "--mount", "true").Run() == nil), nil
				case "old":
					return old != "", nil
				case "verdaccio":
					_, err := os.Stat(filepath.Join(tools, "node_modules/.bin/verdaccio"))
					return err == nil, nil
				}
				return false, fmt.Errorf("unknown condition %q", cond)
			},
			Setup: func(e *testscript.Env) error {
				e.Setenv("PATH", bin+":"+os.Getenv("PATH"))
				e.Setenv("DIST", dist)
				e.Setenv("OLD", old)
				e.Setenv("TOOLS", tools)
				e.Setenv("README", readme)
				e.Setenv("VERSION", version(dist))
				e.Setenv("OLD_VERSION", version(old))
				e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
				return errors.Join(os.MkdirAll(e.Getenv("HOME"), 0o700), packages(e, dist, old))
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"machine": func(ts *testscript.TestScript, _ bool, _ []string) { machine(ts, archive) },
			},
		})
	})
	slices.SortStableFunc(b.rows, func(x, y string) int { return strings.Compare(x[:12], y[:12]) })
	if err := os.WriteFile(filepath.Join(tools, "table"), []byte(strings.Join(b.rows, "\n")+"\n"), 0o644); err != nil {
		t.Error(err)
	}
}

// packages gives scenarios the names of this machine's packages: DEB, RPM, APK and, of the older
// version, OLD_DEB and so on.
func packages(e *testscript.Env, dist, old string) error {
	uname := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	for prefix, dir := range map[string]string{"": dist, "OLD_": old} {
		for kind, pattern := range map[string]string{"DEB": "*" + runtime.GOARCH + ".deb", "RPM": "*" + uname + ".rpm", "APK": "*" + uname + ".apk"} {
			found, _ := filepath.Glob(filepath.Join(dir, pattern))
			if len(found) != 1 && dir != "" {
				return fmt.Errorf("%d files are %s in %s", len(found), pattern, dir)
			}
			e.Setenv(prefix+kind, strings.Join(found, ""))
		}
	}
	return nil
}

// machine starts the scenario's machine; it ends with the scenario.
func machine(ts *testscript.TestScript, archive string) {
	top, err := os.MkdirTemp("", "safeshell-install")
	ts.Check(err)
	root, share := filepath.Join(top, "root"), ts.MkAbs("share")
	ts.Check(os.MkdirAll(share, 0o755))
	ts.Check(os.Chmod(share, 0o755))
	c := exec.Command("machine", archive, root, share)
	c.Path = filepath.Join(strings.Split(ts.Getenv("PATH"), ":")[0], "machine")
	c.Err = nil
	var said bytes.Buffer
	c.Stderr = &said
	_, err = c.StdinPipe() // it ends with this process, too
	ts.Check(err)
	out, err := c.StdoutPipe()
	ts.Check(err)
	ts.Check(c.Start())
	ts.Defer(func() {
		_ = c.Process.Kill() // and with it all that runs there
		_ = c.Wait()
		if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(mounts), top) {
			ts.Logf("%s is not removed: something is mounted there (%v)", top, err)
			return
		}
		args := []string{"rm", "-rf", "--one-file-system", top}
		if os.Getuid() != 0 {
			args = append([]string{"unshare", "--map-root-user", "--map-auto"}, args...)
		}
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			ts.Logf("%s: %v", out, err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		_ = c.Wait()
		ts.Fatalf("the machine did not start: %s%s%v", line, &said, err)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", c.Process.Pid))
	ts.Check(err)
	ts.Setenv("ROOT", root)
	ts.Setenv("MACHINE", strings.TrimSpace(string(children)))
}

// version is that of the packages in a directory, without the v.
func version(dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, "*_"+runtime.GOARCH+".deb"))
	if len(found) == 0 {
		return ""
	}
	number, _, _ := strings.Cut(strings.Split(filepath.Base(found[0]), "_")[1], "-")
	return number
}
