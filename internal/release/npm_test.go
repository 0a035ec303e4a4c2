package main

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"safeshell/internal/test/testdir"
)

// registry serves the packages of a release as npm's does.
func registry(t *testing.T, dist string) string {
	tarballs, err := filepath.Glob(filepath.Join(dist, "npm/*.tgz"))
	if err != nil || len(tarballs) < 2 {
		t.Fatal(tarballs, err)
	}
	server := httptest.NewServer(nil)
	t.Cleanup(server.Close)
	pages := map[string]any{}
	for _, path := range tarballs {
		m := packed(t, path)
		whole, _ := os.ReadFile(path)
		sum := sha512.Sum512(whole)
		m["dist"] = map[string]string{"tarball": server.URL + "/-/" + filepath.Base(path), "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		version := m["version"].(string)
		pages["/"+m["name"].(string)] = map[string]any{"name": m["name"], "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: m}}
	}
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page := pages[r.URL.Path]; page != nil {
			json.NewEncoder(w).Encode(page)
			return
		}
		http.ServeFile(w, r, filepath.Join(dist, "npm", filepath.Base(r.URL.Path)))
	})
	return server.URL
}

// packed is the manifest in a package.
func packed(t *testing.T, path string) (m map[string]any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if h.Name == "package/package.json" {
			text, _ := io.ReadAll(r)
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			return m
		}
	}
}

// A person's machine with npm and the registry.
type npmUser struct {
	t    *testing.T
	home string
	env  []string
}

// command is a line for sh in a directory of the home.
func (u npmUser) command(dir, line string) *exec.Cmd {
	c := exec.Command("sh", "-c", line)
	c.Dir = filepath.Join(u.home, dir)
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		u.t.Fatal(err)
	}
	c.Env = u.env
	return c
}

// run wants a line to end with a code and to say something.
func (u npmUser) run(dir, line string, code int, says string) string {
	u.t.Helper()
	out, err := u.command(dir, line).CombinedOutput()
	got := 0
	if err != nil {
		got = -1
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			got = exit.ExitCode()
		}
	}
	if got != code || !regexp.MustCompile(says).Match(out) {
		u.t.Errorf("%s: code %d, want %d and %q:\n%s", line, got, code, says, out)
	}
	return string(out)
}

// testNPM: however it is installed, what runs is the program itself, as if npm and
// Node.js were not there.
func testNPM(t *testing.T, dist string) {
	node, npm := filepath.Dir(mustLook(t, "node")), filepath.Dir(mustLook(t, "npm"))
	home := testdir.New(t)
	u := npmUser{t, home, []string{"HOME=" + home, "PATH=" + node + ":" + npm + ":/usr/bin:/bin", "SHELL=/bin/bash", "TMPDIR=" + home, "npm_config_registry=" + registry(t, dist),
		"npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false"}}
	native := regexp.MustCompile(`"binary": "(\S*/@safeshell/linux-\w+/bin/safeshell)"`)

	t.Run("project", func(t *testing.T) {
		u.t = t
		u.run("project", "npm init -y && npm install --save-dev safeshell", 0, "added 2 packages")
		out := u.run("project", "npx --no-install safeshell version --json", 0, `"version": "v0.1.0-rc1"`)
		m := native.FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("not the native program: %s", out)
		}
		bin := "node_modules/.bin/"
		u.run("project", "npx --no-install safeshell check -- 'rm -rf /'", 1, "denied")
		u.run("project", "echo in | "+bin+"safeshell-wrapper -c 'cat; exit 3'", 3, "^in\n$")
		u.run("project", "echo 'echo \"from $1\"' >script; "+bin+"safeshell-wrapper script file", 0, "^from file\n$")
		u.run("project", bin+"safeshell init --yes && cmp \"$(readlink -f ~/.safeshell/shims/git)\" "+m[1]+" && echo native", 0, "native\n$")
		u.run("project", "chmod 644 "+m[1]+"; "+bin+"safeshell --version", 126, "chmod 755")
		u.run("project", "chmod 755 "+m[1], 0, "")
		signals(u, "project", bin+"safeshell")
	})
	t.Run("npx", func(t *testing.T) {
		u.t = t
		u.run("empty", "npx --yes safeshell --version", 0, `v0\.1\.0-rc1`)
	})
	t.Run("global", func(t *testing.T) {
		u.t = t
		u.run("g", "npm install -g --prefix ~/prefix safeshell && ~/prefix/bin/safeshell --version && test -f ~/prefix/share/man/man1/safeshell.1", 0, `v0\.1\.0-rc1`)
		u.run("g", "npm uninstall -g --prefix ~/prefix safeshell && find ~/prefix -type f", 0, `removed \d+ packages?[^/]*$`)
	})
	t.Run("missing", func(t *testing.T) {
		u.env = append(u.env, "npm_config_omit=optional")
		for dir, how := range map[string][2]string{
			"some o'ne's": {"npm init -y && npm install safeshell", "node_modules/.bin/safeshell"},
			// npm has the optional ones there whatever is set.
			"global": {`npm install -g --prefix "$HOME/the prefix" safeshell; rm -r "$HOME/the prefix/lib/node_modules/safeshell/node_modules"`, `"$HOME/the prefix/bin/safeshell"`},
		} {
			u.t = t
			u.run(dir, how[0], 0, "added ")
			said := u.run(dir, how[1]+" --version", 126, `^safeshell: the package @safeshell/linux-\w+ is missing`)
			_, command, _ := strings.Cut(strings.TrimSpace(said), "get it with: ")
			u.run(dir, command, 0, "added 1 package")
			u.run(dir, how[1]+" --version", 0, `v0\.1\.0-rc1`)
		}
		mixed := "some o'ne's"
		u.run(mixed, `sed -i 's/"version": "0.1.0-rc1"/"version": "0.0.9"/' node_modules/@safeshell/*/package.json; node_modules/.bin/safeshell --version`, 126, `is of version 0\.0\.9, and this is 0\.1\.0-rc1; .*npm install`)
		for os, says := range map[string]string{"win32": "no program for win32-x64, .*; on Windows, install it inside WSL", "freebsd": "no program for freebsd-x64, only for .*linux-"} {
			u.run(mixed, `node -e 'for (const [k, v] of [["platform", "`+os+`"], ["arch", "x64"]]) Object.defineProperty(process, k, {value: v}); require("./node_modules/safeshell/launch.js")("safeshell")'`, 126, says)
		}
	})
}

// signals: one sent to what npm has linked reaches the program, and one that ends
// the program ends that, too.
func signals(u npmUser, dir, safeshell string) {
	u.t.Helper()
	ended := u.command(dir, "exec "+safeshell+" exec sh -c 'kill -TERM $$'")
	if ended.Run(); !ended.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
		u.t.Errorf("the program ended by a signal, and Node.js said %v", ended.ProcessState)
	}
	u.run(dir, safeshell+" exec sh -c 'kill -PIPE $$'", 141, "")
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		c := u.command(dir, "exec "+safeshell+` exec sh -c 'trap "exit 7" TERM INT HUP; echo ready; while :; do sleep 0.05; done'`)
		out, err := c.StdoutPipe()
		if err != nil || c.Start() != nil {
			u.t.Fatal(err)
		}
		bufio.NewReader(out).ReadString('\n')
		c.Process.Signal(signal)
		if c.Wait(); c.ProcessState.ExitCode() != 7 {
			u.t.Errorf("%v did not reach the program: %v", signal, c.ProcessState)
		}
	}
}
