// Command release makes dist/: what people install, for each platform, with the
// sums and the signature by which they check it. The same commit, version and
// toolchain give the same bytes, wherever and whenever it runs.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// platform is one that a release is built for.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "_" + p.arch }

var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// release is what one run makes, and from what.
type release struct {
	version    string // v1.2.3, v1.2.3-rc1
	repository string // owner/name on the forge
	commit     string
	date       time.Time // every file's
	platforms  []platform
	out        string // all of it, until it is complete
	work       string // removed in the end
}

// The parts of a version; pre is "rc1", and numbers compare as numbers in no
// package manager but after a name that all of them know.
var versionForm = regexp.MustCompile(`^v((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*))(?:-((?:alpha|beta|rc)[1-9]\d*))?$`)

// placeholder stands where no repository is given: packages and formula then
// name an address that is nobody's.
const placeholder = "owner/safeshell"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) (err error) {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "the release's `VERSION`: v1.2.3 or v1.2.3-rc1")
	out := flags.String("out", "dist", "the `DIRECTORY` to replace")
	repository := flags.String("repository", placeholder, "the `OWNER/NAME` on GitHub that downloads are named after")
	only := flags.String("platforms", "", "only these, as `OS_ARCH,...`, as a trial")
	dirty := flags.Bool("allow-dirty", false, "also build what is not committed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r := &release{version: *version, repository: *repository, platforms: platforms}
	if err := r.check(*only, *dirty); err != nil {
		return err
	}
	if left, err := os.ReadDir(*out); len(left) > 0 {
		if _, sums := os.Stat(filepath.Join(*out, "SHA256SUMS")); err != nil || sums != nil {
			return fmt.Errorf("%s is no earlier release, and would be replaced; look at it, and move it away", *out)
		}
	}
	// Complete or not at all: what was there stays until all is made.
	// Relative, as make knows no names with spaces.
	r.out = filepath.Clean(*out) + ".new"
	r.work = filepath.Join(r.out, ".work")
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.work, 0o755)); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(r.out)
		}
	}()
	for _, step := range []func() error{r.key, r.stage, r.archives, r.packages, r.npm, r.formula, r.sbom, r.sign} {
		if err := step(); err != nil {
			return err
		}
	}
	return errors.Join(os.RemoveAll(r.work), os.RemoveAll(*out), os.Rename(r.out, *out))
}

// check refuses what must not be released, and finds commit and date.
func (r *release) check(only string, dirty bool) error {
	if !versionForm.MatchString(r.version) {
		return fmt.Errorf("VERSION=%q is no version; give one such as: make release VERSION=v0.1.0 (or v0.1.0-rc1)", r.version)
	}
	if !regexp.MustCompile(`^[\w.-]+/[\w.-]+$`).MatchString(r.repository) {
		return fmt.Errorf("REPOSITORY=%q is no owner/name on GitHub", r.repository)
	}
	if r.repository == placeholder {
		fmt.Fprintf(os.Stderr, "release: packages and formula name the placeholder %s; a real release gives REPOSITORY=OWNER/NAME\n", placeholder)
	}
	if only != "" {
		r.platforms = nil
		for _, name := range strings.Split(only, ",") {
			i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
			if i < 0 {
				return fmt.Errorf("-platforms %s: there are %v", name, platforms)
			}
			r.platforms = append(r.platforms, platforms[i])
		}
	}
	state, err := output("git", "status", "--porcelain")
	if err != nil {
		return fmt.Errorf("a release is made from a git checkout: %w", err)
	}
	if state != "" && !dirty {
		return fmt.Errorf("these are not committed, so the release could not be made again; commit them or put them away with: git stash -u (a trial: ALLOW_DIRTY=1)\n%s", state)
	}
	if r.commit, err = output("git", "rev-parse", "HEAD"); err != nil {
		return err
	}
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		if epoch, err = output("git", "log", "-1", "--format=%ct"); err != nil {
			return err
		}
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH=%q is no number of seconds; the commit's date is taken with: unset SOURCE_DATE_EPOCH", epoch)
	}
	r.date = time.Unix(seconds, 0).UTC()
	return nil
}

// number is the version without its v; npm's form, and that of file names.
func (r *release) number() string { return r.version[1:] }

// tool is a program of a fixed version from .ci/release.mod.
func (r *release) tool(name string, args ...string) *exec.Cmd {
	c := exec.Command("go", append([]string{"tool", "-modfile=.ci/release.mod", name}, args...)...)
	c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.date.Unix(), 10), "TZ=UTC0")
	return c
}

// perform runs a command and returns what it said, if it failed, as the error.
func perform(c *exec.Cmd) error {
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, out)
	}
	return nil
}

func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			return "", fmt.Errorf("%s %s: %s", name, args[0], cmp.Or(strings.TrimSpace(string(failed.Stderr)), err.Error()))
		}
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}
