package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/creack/pty"

	"safeshell/internal/test/testdir"
)

// wanted says that these tests may run: they build for minutes.
const wanted = "SAFESHELL_TEST_RELEASE"

// TestRelease makes one twice and holds both side by side; then looks at it with
// the tools of those who install it.
func TestRelease(t *testing.T) {
	if os.Getenv(wanted) == "" {
		t.Skip("a release is built twice where " + wanted + "=1 (for this platform) or =all is set")
	}
	if runtime.GOOS != "linux" {
		t.Skip("packages are looked at on linux")
	}
	for _, tool := range []string{"git", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed")
		}
	}
	for _, tool := range []string{"nfpm", "minisign"} {
		c := exec.Command("go", "tool", "-modfile=.ci/release.mod", tool, "-h")
		c.Dir = "../.."
		if out, _ := c.CombinedOutput(); !bytes.Contains(bytes.ToLower(out), []byte("usage")) {
			t.Skipf("%s is not to be had here: %s", tool, out)
		}
	}
	top := testdir.New(t)
	key := filepath.Join(top, "key")
	keygen(t, key)
	one, two := filepath.Join(top, "one"), filepath.Join(top, "another", "and longer", "two")
	first := build(t, "../..", one, "umask 022", "TZ=UTC", "MINISIGN_KEY="+key, "MINISIGN_PASSWORD=throw away")
	second := build(t, one, two, "umask 077", "TZ=Asia/Tokyo", "HOME="+top, "GOFLAGS=-v", "GOAMD64=v3", "LANG=C", "MINISIGN_KEY="+key, "MINISIGN_PASSWORD=throw away")
	for name, sum := range first {
		if second[name] != sum {
			t.Errorf("%s is another when it is built elsewhere", name)
		}
	}
	if len(first) != len(second) || len(first) < 9 {
		t.Errorf("two releases have %d and %d files", len(first), len(second))
	}
	dist := filepath.Join(one, "dist")
	t.Run("packages", func(t *testing.T) { testPackages(t, dist) })
	t.Run("documents", func(t *testing.T) { testDocuments(t, dist) })
	t.Run("verify", func(t *testing.T) { testVerify(t, dist, key+".pub") })
	t.Run("npm", func(t *testing.T) { testNPM(t, dist) })
	t.Run("refused", func(t *testing.T) { testRefused(t, one) })
}

// build copies what git has or would have of a source into a checkout of its own, and makes a
// release there. It returns the sum of each file.
func build(t *testing.T, source, dir, umask string, env ...string) map[string]string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	only := "RELEASEFLAGS=-platforms linux_" + runtime.GOARCH
	if os.Getenv(wanted) == "all" {
		only = "RELEASEFLAGS="
	}
	c := exec.Command("sh", "-ec", umask+`
		git ls-files -coz --exclude-standard | while IFS= read -r -d "" f; do [ ! -e "$f" ] || printf '%s\0' "$f"; done | tar -c --null -T - | tar -x -C "$1"
		cd "$1"
		git init -q && git add -A
		git -c user.name=t -c user.email=t@invalid -c commit.gpgsign=false commit -qm "a release"
		make release VERSION=v0.1.0-rc1 REPOSITORY=some/where "$2"`, "sh", dir, only)
	c.Args[0], c.Path = "bash", mustLook(t, "bash")
	c.Dir = source
	c.Env = append(os.Environ(), "GOFLAGS=", "GIT_AUTHOR_DATE=1767225600 +0000", "GIT_COMMITTER_DATE=1767225600 +0000", "GIT_CONFIG_GLOBAL=/dev/null")
	for _, v := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB"} {
		value, err := output("go", "env", v)
		if err != nil {
			t.Fatal(err)
		}
		c.Env = append(c.Env, v+"="+value)
	}
	c.Env = append(c.Env, env...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sums := map[string]string{}
	dist := filepath.Join(dir, "dist")
	err := filepath.WalkDir(dist, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dist, path)
		sums[name], err = sumOf(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

func mustLook(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		t.Skip(tool + " is not installed")
	}
	return path
}

// keygen makes a key with a password.
func keygen(t *testing.T, key string) {
	t.Helper()
	c := exec.Command("go", "tool", "-modfile=.ci/release.mod", "minisign", "-G", "-p", key+".pub", "-s", key)
	c.Dir = "../.."
	terminal, err := pty.Start(c) // it asks twice, and reads ahead from anything else
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	io.WriteString(terminal, "throw away\nthrow away\n")
	said, _ := io.ReadAll(terminal) // ends with an error when the program does
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
}

// lookAt runs a tool and wants each of the patterns in what it says.
func lookAt(t *testing.T, want []string, tool string, args ...string) {
	t.Helper()
	out, err := exec.Command(mustLook(t, tool), args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %v: %v\n%s", tool, args, err, out)
	}
	for _, w := range want {
		if !regexp.MustCompile(`(?m)` + w).Match(out) {
			t.Errorf("%s %v does not say %q:\n%s", tool, args, w, out)
		}
	}
}

// glob returns the only file of a pattern.
func glob(t *testing.T, dist, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dist, pattern))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s: %v %v", pattern, paths, err)
	}
	return paths[0]
}

// testPackages: a pre-release is older than its release, owned by root, at the usual
// places, and runs nothing when it is installed.
func testPackages(t *testing.T, dist string) {
	usual := []string{`/usr/bin/safeshell$`, `/usr/share/man/man1/safeshell\.1\.gz$`, `/usr/share/bash-completion/completions/safeshell$`,
		`/usr/share/fish/vendor_completions\.d/safeshell\.fish$`, `/usr/share/doc/safeshell/THIRD_PARTY_LICENSES`}
	arch := map[string][3]string{"amd64": {"amd64", "x86_64", "x86_64"}, "arm64": {"arm64", "aarch64", "aarch64"}}[runtime.GOARCH]
	t.Run("deb", func(t *testing.T) {
		deb := glob(t, dist, "*_"+arch[0]+".deb")
		lookAt(t, []string{`^ Version: 0\.1\.0~rc1-1$`, `^ Architecture: ` + arch[0], `^ Homepage: https://github.com/some/where$`}, "dpkg-deb", "-I", deb)
		lookAt(t, append(usual, `^-rwxr-xr-x root/root .*/usr/bin/safeshell$`, `/usr/bin/safeshell-wrapper -> safeshell$`,
			`^drwxr-xr-x root/root .* \./usr/$`, `^-rw-r--r-- root/root .*/usr/share/zsh/vendor-completions/_safeshell$`,
			`/usr/share/doc/safeshell/(copyright|changelog\.Debian\.gz)$`), "dpkg-deb", "-c", deb)
		lookAt(t, nil, "dpkg", "--compare-versions", "0.1.0~rc1-1", "lt", "0.1.0-1")
		lookAt(t, nil, "lintian", "--allow-root", "--fail-on", "error,warning", deb)
	})
	t.Run("rpm", func(t *testing.T) {
		rpm := glob(t, dist, "*."+arch[1]+".rpm")
		lookAt(t, append(usual, `/usr/share/zsh/site-functions/_safeshell$`, `/usr/share/licenses/safeshell/LICENSE$`), "rpm", "-qpl", rpm)
		lookAt(t, []string{`^0\.1\.0~rc1 1 MIT 1767225600 localhost$`}, "rpm", "-qp", "--qf", `%{VERSION} %{RELEASE} %{LICENSE} %{BUILDTIME} %{BUILDHOST}\n`, rpm)
		lookAt(t, []string{`\A\z`}, "rpm", "-qp", "--scripts", rpm)
	})
	t.Run("apk", func(t *testing.T) {
		lookAt(t, []string{`^pkgver = 0\.1\.0_rc1-r1$`, `^arch = ` + arch[2]}, "tar", "-xzOf", glob(t, dist, "*_"+arch[2]+".apk"), ".PKGINFO")
	})
	t.Run("archive", func(t *testing.T) {
		name := "safeshell_0.1.0-rc1_linux_" + runtime.GOARCH
		lookAt(t, []string{`^-rwxr-xr-x 0/0 .* 2026-01-01 00:00 ` + name + `/safeshell$`, `^lrwxrwxrwx .* -> safeshell$`, `^-rw-r--r-- 0/0 .*/LICENSE$`,
			`/NOTICE$`, `/THIRD_PARTY_LICENSES$`, `/man/man1/safeshell-init\.1$`, `/completions/_safeshell$`},
			"env", "TZ=UTC0", "tar", "--numeric-owner", "-tvzf", filepath.Join(dist, name+".tar.gz"))
	})
}

// testDocuments: what describes the release is well-formed and names all of it.
func testDocuments(t *testing.T, dist string) {
	t.Run("formula", func(t *testing.T) {
		formula := filepath.Join(dist, "safeshell.rb")
		lookAt(t, []string{"Syntax OK"}, "ruby", "-c", formula)
		text, _ := os.ReadFile(formula)
		archive, _ := os.ReadFile(filepath.Join(dist, "safeshell_0.1.0-rc1_linux_"+runtime.GOARCH+".tar.gz"))
		if sum := fmt.Sprintf("%x", sha256.Sum256(archive)); !bytes.Contains(text, []byte(sum)) {
			t.Errorf("the formula does not have the archive's sum %s:\n%s", sum, text)
		}
	})
	t.Run("sbom", func(t *testing.T) {
		lookAt(t, []string{`^CycloneDX 1\.6 safeshell true$`}, "jq", "-r",
			`"\(.bomFormat) \(.specVersion) \(.metadata.component.name) \(([.components[]."bom-ref"] | sort) == (.dependencies[0].dependsOn | sort))"`,
			glob(t, dist, "*_sbom.cdx.json"))
	})
	// The second program, which links most, says itself with what.
	text, err := os.ReadFile(filepath.Join(dist, "THIRD_PARTY_LICENSES"))
	if err != nil {
		t.Fatal(err)
	}
	linked, err := output("go", "version", "-m", filepath.Join(filepath.Dir(dist), "program/safeshell-whole"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\s*dep\s+(\S+)\s+(\S+)`).FindAllStringSubmatch(linked, -1) {
		if !bytes.Contains(text, []byte("\n"+m[1]+" "+m[2]+": ")) {
			t.Errorf("THIRD_PARTY_LICENSES lacks %s %s", m[1], m[2])
		}
	}
	if !bytes.Contains(text, []byte("gitleaks")) {
		t.Error("THIRD_PARTY_LICENSES lacks the facts of gitleaks")
	}
}

// testVerify runs the commands of docs/verify.md.
func testVerify(t *testing.T, dist, key string) {
	page, err := os.ReadFile("../../docs/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)\n```sh\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("docs/verify.md has no commands")
	}
	signature, sum, _ := strings.Cut(strings.TrimSpace(string(block[1])), "\n")
	path := os.Getenv("PATH")
	if _, err := exec.LookPath("minisign"); err != nil {
		tool, err := output("go", "tool", "-modfile=../../.ci/release.mod", "-n", "minisign")
		if err != nil {
			t.Fatal(err)
		}
		path = filepath.Dir(tool) + ":" + path
	}
	archive := "safeshell_0.1.0-rc1_linux_" + runtime.GOARCH + ".tar.gz"
	other := filepath.Join(t.TempDir(), "other")
	keygen(t, other)
	for _, c := range []struct {
		name, command, change string
		good                  bool
		says                  string
	}{
		{"good signature", signature, "true", true, "verified.*\n*Trusted comment: safeshell v0.1.0-rc1"},
		{"good sums", sum, "true", true, archive + ": OK"},
		{"changed archive", sum, "printf x >>" + archive, false, archive + ": FAILED"},
		{"half an archive", sum, "head -c 100000 " + archive + " >half; mv half " + archive, false, archive + ": FAILED"},
		{"another directory", sum, "rm " + archive, false, "no file was verified"},
		{"changed sums", signature, "printf x >>SHA256SUMS", false, "(?i)verification failed"},
		{"no signature", signature, "rm SHA256SUMS.minisig", false, "SHA256SUMS.minisig"},
		{"another's signature", signature, "cp " + other + ".pub safeshell.pub", false, "(?i)key ids? "},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := exec.Command("sh", "-c", `cp "$1"/SHA256SUMS* "$1/$2" . && cp "$3" safeshell.pub && `+c.change+` && exec `+c.command, "sh", dist, archive, key)
			run.Dir = t.TempDir()
			run.Env = append(os.Environ(), "PATH="+path, "LC_ALL=C")
			out, err := run.CombinedOutput()
			if (err == nil) != c.good || !regexp.MustCompile(c.says).Match(out) {
				t.Errorf("%s: %v, want %q:\n%s", c.command, err, c.says, out)
			}
		})
	}
}

// testRefused: what cannot be released is said, and what was made stays.
func testRefused(t *testing.T, checkout string) {
	before, _ := sumOf(filepath.Join(checkout, "dist/SHA256SUMS"))
	if err := os.CopyFS(filepath.Join(checkout, "other"), os.DirFS(filepath.Join(checkout, "docs"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		says string
	}{
		{"no version", []string{"VERSION=0.1"}, "make release VERSION=v0.1.0"},
		{"zeros", []string{"VERSION=v0.01.0"}, "no version"},
		{"not committed", nil, `(?s)git stash -u.*other/`},
		{"no repository", []string{"REPOSITORY=x y"}, "no owner/name"},
		{"no date", []string{"ALLOW_DIRTY=1", "SOURCE_DATE_EPOCH=yesterday"}, "unset SOURCE_DATE_EPOCH"},
		{"no key", []string{"ALLOW_DIRTY=1", "MINISIGN_KEY=missing"}, "missing does not sign .*MINISIGN_KEY is"},
		{"not a key", []string{"ALLOW_DIRTY=1", "MINISIGN_KEY=LICENSE"}, "LICENSE does not sign .*MINISIGN_KEY is"},
		{"not a release", []string{"ALLOW_DIRTY=1", "RELEASEFLAGS=-out other"}, "no earlier release"},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := exec.Command("make", append([]string{"release", "VERSION=v0.1.0"}, c.args...)...)
			run.Dir = checkout
			out, err := run.CombinedOutput()
			if err == nil || !regexp.MustCompile(c.says).Match(out) {
				t.Errorf("%v, want %q:\n%s", err, c.says, out)
			}
		})
	}
	if after, _ := sumOf(filepath.Join(checkout, "dist/SHA256SUMS")); after != before {
		t.Error("a refused release has changed the earlier one")
	}
}

func TestLicences(t *testing.T) {
	for text, want := range map[string]string{
		"Permission is hereby granted,\n free of charge, to any person":                              "MIT",
		"Redistribution and use in source and binary forms":                                          "BSD-2-Clause",
		"Redistribution and use in source and binary forms ... endorse or promote\nproducts derived": "BSD-3-Clause",
		"Mozilla Public License Version 2.0":                                                         "",
		"Permission is hereby granted, free of charge; or the GNU Lesser General Public License":     "",
		"All rights reserved.": "",
	} {
		if got := strings.Join(licencesOf([]byte(text)), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
