package ts_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"safeshell/internal/test/denotest"
	"safeshell/internal/test/testbinary"
	"safeshell/internal/test/testdir"
	"safeshell/permit/ts"
)

var binary string

func TestMain(m *testing.M) { os.Exit(testbinary.Run(m, &binary)) }

// world is a scratch home and project, with the real Deno in PATH.
type world struct {
	t               *testing.T
	home, proj, bin string
	env             []string
}

func newWorld(t *testing.T, allowed string) *world {
	t.Helper()
	deno := denotest.Path(t)
	top := testdir.New(t)
	w := &world{t, filepath.Join(top, "home"), filepath.Join(top, "proj"), filepath.Join(top, "bin"), nil}
	for _, d := range []string{w.home + "/.safeshell", w.proj + "/.git", w.proj + "/scripts", w.bin, top + "/tmp"} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.write(w.home+"/.safeshell/config.yaml", "permissions: {commands: ["+allowed+"], allow_project_commands: true}\n", 0o600)
	w.write("scripts/build.sh", "#!/bin/sh\necho built \"$@\"\n", 0o755)
	if err := os.Symlink(deno, w.bin+"/deno"); err != nil {
		t.Fatal(err)
	}
	w.env = []string{"HOME=" + w.home, "PATH=" + w.bin + ":/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TMPDIR=" + top + "/tmp", "AI_AGENT=test", "GONE=x", "NO_COLOR=1"}
	return w
}

func (w *world) write(path, text string, mode os.FileMode) {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.proj, path)
	}
	if err := testdir.WriteFile(path, []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) command(args ...string) *exec.Cmd {
	c := exec.Command(binary, append([]string{"run"}, args...)...)
	c.Env, c.Dir = w.env, w.proj
	return c
}

// run returns the output and the exit code.
func (w *world) run(stdin string, args ...string) (stdout, stderr string, code int) {
	w.t.Helper()
	c := w.command(args...)
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &errs
	err := c.Run()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		w.t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

func TestModule(t *testing.T) {
	w := newWorld(t, "sh, yes, sleep")
	src, err := os.ReadFile("testdata/module.ts")
	if err != nil {
		t.Fatal(err)
	}
	// sh calls these by name, which PATH has only when they are declared.
	text := strings.Replace(string(src), `"./scripts/build.sh"]);`, `"./scripts/build.sh"]);`+"\nawait initCmds([\"yes\", \"sleep\", \"head\"]);", 1)
	w.write("m.ts", text, 0o600)
	out, errs, code := w.run("", "m.ts")
	if code != 0 || out != "" {
		t.Errorf("exit code %d\n%s\n%s", code, out, errs)
	}
	if !strings.Contains(errs, "safeshell: cat forgotten did not run") {
		t.Errorf("stderr: %s", errs)
	}
}

// The module's own files are right, as Deno's type checker sees them.
func TestTypes(t *testing.T) {
	deno := denotest.Path(t)
	dir, err := ts.Install(testdir.New(t))
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "user.ts")
	if err := os.WriteFile(script, []byte("/// <reference path=\"./globals.d.ts\" />\nimport { type CmdResult } from \"safeshell\";\n"+
		"const [a] = await initCmds([\"a\"]);\nconst r: CmdResult = await a(\"x\", { cwd: \"/\" });\nconsole.log(r.code, await a().pipe(a()).text(), path.join(\"a\"), await glob(\"*\"), env.get(\"A\"));\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(deno, "check", "--no-config", "--no-lock", "--import-map", filepath.Join(dir, "import_map.json"), script, filepath.Join(dir, "safeshell.ts"), filepath.Join(dir, "preload.ts"))
	c.Env = append(os.Environ(), "DENO_DIR="+testdir.New(t), "NO_COLOR=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAsDenoItself(t *testing.T) {
	w := newWorld(t, "")
	w.write("lib.ts", "export const x: number = 41;\n", 0o600)
	w.write("io.ts", `import { x } from "./lib.ts";
const input = await new Response(Deno.stdin.readable).text();
console.log(input.length, x + 1, Deno.args, Deno.cwd(), import.meta.filename);
Deno.exit(42);
`, 0o600)
	out, errs, code := w.run("hello", "io.ts", "a b", "--x", "--")
	if want := fmt.Sprintf("5 42 [ \"a b\", \"--x\", \"--\" ] %s %s/io.ts\n", w.proj, w.proj); code != 42 || out != want {
		t.Errorf("%d %q %s; want %q", code, out, errs, want)
	}
	w.write("throw.ts", "throw new Error('oh no')", 0o600)
	if _, errs, code = w.run("", "throw.ts"); code != 1 || !strings.Contains(errs, "oh no") {
		t.Errorf("%d %s", code, errs)
	}
	w.write("syntax.ts", "const = ;", 0o600)
	if _, errs, code = w.run("", "syntax.ts"); code != 1 || !strings.Contains(errs, "syntax.ts:1") {
		t.Errorf("%d %s", code, errs)
	}
	// Signals reach Deno, whose pid is that of the command.
	w.write("signal.ts", `Deno.addSignalListener("SIGUSR1", () => { console.log("got it"); Deno.exit(9); });
setInterval(() => {}, 1000);
Deno.writeTextFileSync("pid", String(Deno.pid));
`, 0o600)
	c := w.command("signal.ts")
	var buf bytes.Buffer
	c.Stdout = &buf
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if b, _ := os.ReadFile(w.proj + "/pid"); len(b) > 0 {
			if string(b) != fmt.Sprint(c.Process.Pid) {
				t.Errorf("pid %s, want %d", b, c.Process.Pid)
			}
			break
		}
	}
	_ = c.Process.Signal(syscall.SIGUSR1)
	_ = c.Wait()
	if c.ProcessState.ExitCode() != 9 || buf.String() != "got it\n" {
		t.Errorf("%v %q", c.ProcessState, buf.String())
	}
}

// A configuration of the project cannot change what the script may do.
func TestProjectConfiguration(t *testing.T) {
	w := newWorld(t, "")
	w.write("deno.json", `{"imports": {"safeshell": "./fake.ts"}, "permissions": {"default": {"all": true}}}`, 0o600)
	w.write("fake.ts", "export const initCmds = 'fake'; console.log('fake');", 0o600)
	w.write("a.ts", "import { initCmds } from 'safeshell'; await initCmds(['cat']); console.log(typeof initCmds); Deno.readTextFileSync('/etc/passwd');", 0o600)
	out, errs, code := w.run("", "a.ts")
	if code != 1 || out != "function\n" || !strings.Contains(errs, "NotCapable") {
		t.Errorf("%d %q %s", code, out, errs)
	}
	if _, err := os.Stat(w.proj + "/deno.lock"); err == nil {
		t.Error("deno.lock was written")
	}
}

func TestRefusals(t *testing.T) {
	w := newWorld(t, "")
	for src, want := range map[string]string{
		"await initCmds(names)":            "a.ts:1:16: ",
		"await initCmds(['curl-x'])":       "curl-x: not allowed",
		"await initCmds(['sudo', 'cat'])":  "sudo: not ",
		"await initCmds(['./nope.sh'])":    "./nope.sh: not found",
		"await initCmds(['safeshell'])":    "safeshell",
		"await initCmds(['cat', 'umask'])": "umask: not ",
	} {
		w.write("a.ts", src+"; Deno.writeTextFileSync('ran', 'x');", 0o600)
		_, errs, code := w.run("", "a.ts")
		if code != 126 && code != 127 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s; want %s", src, code, errs, want)
		}
		if _, err := os.Stat(w.proj + "/ran"); err == nil {
			t.Errorf("%s: ran", src)
		}
	}
	// Without Deno: one line that says how to get it.
	w.env[1] = "PATH=" + filepath.Join(w.proj, "scripts")
	w.write("a.ts", "console.log(1)", 0o600)
	_, errs, code := w.run("", "a.ts")
	if code != 127 || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "npm install -g deno") {
		t.Errorf("%d %q", code, errs)
	}
}

// Rules judge each call of a permitted command.
func TestRulesApply(t *testing.T) {
	w := newWorld(t, "git, rm")
	w.write("a.ts", `const [git, rm] = await initCmds(["git", "rm"]);
const r = await git("push", "--force");
console.log(r.code, r.stderr.split("\n")[0]);
Deno.writeTextFileSync("precious.txt", "x");
console.log((await rm("precious.txt")).code);
`, 0o600)
	out, errs, code := w.run("", "a.ts")
	if code != 0 || !strings.HasPrefix(out, "126 [SafeShell]") || !strings.HasSuffix(out, "\n0\n") {
		t.Errorf("%d %q %s", code, out, errs)
	}
	list := exec.Command(binary, "trash", "list")
	list.Env, list.Dir = w.env, w.proj
	if b, err := list.Output(); err != nil || !strings.Contains(string(b), "precious.txt") {
		t.Errorf("rm did not go to the trash: %v %s", err, b)
	}
}
