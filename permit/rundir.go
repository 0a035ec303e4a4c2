package permit

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/config"
	"safeshell/gate"
	"safeshell/script"
	"safeshell/shims"
	"safeshell/spool"
)

// RunVar names the run in the environment of its processes. It says which
// processes belong to a run, no more: nothing is allowed by it.
const RunVar = "SAFESHELL_RUN"

// Manifest is what a run's keeper knows, R/manifest.json.
type Manifest struct {
	V       int          `json:"v"`
	ID      string       `json:"id"`
	PID     int          `json:"pid"` // of the script's shell
	Start   uint64       `json:"start"`
	Paths   config.Paths `json:"paths"`
	Binary  string       `json:"binary"`
	Caller  gate.Caller  `json:"caller"`
	LimitNS int64        `json:"limit_ns,omitempty"`
	File    []byte       `json:"file"`
	Shell   string       `json:"shell"`
	// Exec are the files that the kernel lets the run execute; empty when it
	// does not restrict that.
	Exec     [][]byte `json:"exec,omitempty"`
	Confined bool     `json:"confined"`
	// Once are the keys that were permitted for this run.
	Once [][]byte `json:"once,omitempty"`
	// For a retry of the whole script.
	Script  []byte   `json:"script"`
	Args    [][]byte `json:"args,omitempty"`
	Dir     []byte   `json:"dir"`
	Environ [][]byte `json:"environ"`
	First   [][]byte `json:"first,omitempty"`
	Said    [][]byte `json:"said,omitempty"` // warnings that the run's start has printed
	// Kept is what must be so again when the run has ended, Root the project, and
	// Repositories are those that were in it.
	Kept         []kept   `json:"kept,omitempty"`
	Root         []byte   `json:"root"`
	Repositories [][]byte `json:"repositories,omitempty"`
	End          bool     `json:"end"`
}

// runDir is a run's private directory.
type runDir struct {
	path string
	id   string
	lock *os.File // held by the keeper as long as it lives
}

// newRunDir makes the directory and locks it.
func newRunDir(home string) (*runDir, error) {
	top := filepath.Join(home, "run")
	if err := makePrivateDir(top); err != nil {
		return nil, nested(err)
	}
	var b [8]byte
	spool.Random(b[:])
	id := shims.RunPrefix + hex.EncodeToString(b[:])
	d := &runDir{path: filepath.Join(top, id), id: id}
	if err := os.Mkdir(d.path, 0o700); err != nil {
		return nil, nested(err)
	}
	for _, sub := range []string{"bin", "real"} {
		if err := os.Mkdir(filepath.Join(d.path, sub), 0o700); err != nil {
			d.remove()
			return nil, err
		}
	}
	f, err := os.OpenFile(filepath.Join(d.path, "lock"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		d.remove()
		return nil, err
	}
	d.lock = f
	return d, nil
}

// nested explains a refusal by the kernel: a script inside a script.
func nested(err error) error {
	if errors.Is(err, fs.ErrPermission) && os.Getenv(RunVar) != "" {
		return fmt.Errorf("%w: this is inside another script of `safeshell run`, which may not write safeshell's own files; declare what the inner script needs in the outer one and call it directly", err)
	}
	return err
}

// link puts a command into the run's PATH.
func (d *runDir) link(name, exe, binary string) error {
	if err := symlink(exe, filepath.Join(d.path, "real", name)); err != nil {
		return err
	}
	return symlink(binary, filepath.Join(d.path, "bin", name))
}

func symlink(target, path string) error {
	err := os.Symlink(target, path)
	if errors.Is(err, fs.ErrExist) {
		if old, rerr := os.Readlink(path); rerr == nil && old == target {
			return nil
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		return os.Symlink(target, path)
	}
	return err
}

// linkNames are the names in PATH for what is permitted: a bare name its own, a
// path its last element, unless a bare name has that.
func linkNames(r Result) map[string]string {
	out := map[string]string{}
	for _, bareOnes := range []bool{true, false} {
		for _, d := range r {
			name := filepath.Base(d.Command)
			if d.Status != Allowed || d.Path == "" || bareOnes == strings.Contains(d.Command, "/") || own(name) || strings.HasPrefix(name, "safeshell") {
				continue
			}
			if _, taken := out[name]; !taken {
				out[name] = d.Path
			}
		}
	}
	return out
}

// startFiles are what bash and zsh read first: they say what to do about a
// command that is not declared. Other shells say it in their own words.
func (d *runDir) startFiles(file, binary string, declared []string) error {
	hint := script.Quote(append([]string{InitCommand}, declared...))
	text := func(handler, where string) string {
		return "# Made by safeshell run for this run alone.\n" +
			"PATH=" + script.Quote([]string{filepath.Join(d.path, "bin")}) + "\nexport PATH\n" +
			handler + "() {\n" +
			"  builtin printf '[SafeShell] UNDECLARED COMMAND\\nReason: %s%s is not declared by this script, so it is not in its PATH.\\nRule: " + Rule + "\\n\\nNothing of it has run. Add it to the declaration in %s:\\n  %s %s\\n' " +
			where + " \"$1\" " + script.Quote([]string{Show(file)}) + " " + script.Quote([]string{hint}) + " \"$1\" >&2\n" +
			"  return 127\n}\n"
	}
	bash := text("command_not_found_handle", `"${BASH_SOURCE[1]:+${BASH_SOURCE[1]}:${BASH_LINENO[0]}: }"`)
	if err := os.WriteFile(filepath.Join(d.path, "env.bash"), []byte(bash), 0o600); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(d.path, "zsh"), 0o700); err != nil {
		return err
	}
	zsh := text("command_not_found_handler", `"${funcfiletrace[1]:+${funcfiletrace[1]}: }"`)
	zsh = strings.Replace(zsh, "{\n", "{\n  zmodload -F zsh/parameter p:funcfiletrace 2>/dev/null\n", 1)
	return os.WriteFile(filepath.Join(d.path, "zsh", ".zshenv"), []byte(zsh), 0o600)
}

// environ is the script's environment: the caller's, with the run's PATH.
func (d *runDir) environ(base []string) []string {
	set := [][2]string{
		{"PATH", filepath.Join(d.path, "bin")}, {"BASH_ENV", filepath.Join(d.path, "env.bash")},
		{"ZDOTDIR", filepath.Join(d.path, "zsh")}, {RunVar, d.id},
	}
	var out []string
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		if name == "PATH" || name == "BASH_ENV" || name == "ZDOTDIR" || name == RunVar {
			continue
		}
		out = append(out, kv)
	}
	for _, kv := range set {
		out = append(out, kv[0]+"="+kv[1])
	}
	return out
}

func (d *runDir) save(m Manifest) error {
	m.V, m.ID, m.End = storeVersion, d.id, true
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	// Without fsync: after a crash of the system there is nobody to read it.
	return os.WriteFile(filepath.Join(d.path, "manifest.json"), data, 0o600)
}

func loadManifest(run string) (Manifest, error) {
	var m Manifest
	data, err := readPrivate(filepath.Join(run, "manifest.json"), maxRetry)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s: %w", Show(run), err)
	}
	if m.V != storeVersion || !m.End || m.ID != filepath.Base(run) {
		return m, fmt.Errorf("%s: not a manifest of this safeshell", Show(run))
	}
	return m, nil
}

// remove deletes what this package makes, and nothing else.
func (d *runDir) remove() { removeRun(d.path) }

func removeRun(run string) {
	for _, sub := range []string{"bin", "real", "zsh", "script"} {
		dir := filepath.Join(run, sub)
		fi, err := os.Lstat(dir)
		if err != nil || !fi.IsDir() {
			continue
		}
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.Type()&fs.ModeSymlink != 0 || sub == "zsh" && e.Name() == ".zshenv" || sub == "script" && e.Type().IsRegular() {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
		os.Remove(dir)
	}
	for _, name := range []string{"sock", "env.bash", heldFile, apartFile, "manifest.json", "lock"} {
		os.Remove(filepath.Join(run, name))
	}
	os.Remove(run)
}

// CleanRuns removes the directories of runs whose keeper and script are both
// gone. Keepers clean up after themselves; this is for those that were killed.
func CleanRuns(home string) {
	top := filepath.Join(home, "run")
	entries, _ := os.ReadDir(top)
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), shims.RunPrefix) || len(e.Name()) != len(shims.RunPrefix)+16 {
			continue
		}
		run := filepath.Join(top, e.Name())
		if fi, err := e.Info(); err != nil || time.Since(fi.ModTime()).Abs() < 10*time.Second && !isFile(filepath.Join(run, "manifest.json")) {
			continue // one that is being made
		}
		f, err := os.OpenFile(filepath.Join(run, "lock"), os.O_RDWR|unix.O_NOFOLLOW, 0)
		if err == nil {
			err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
			if err != nil {
				f.Close()
				continue // its keeper lives
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if m, err := loadManifest(run); err != nil || startOf(m.PID) != m.Start || m.Start == 0 {
			removeRun(run)
		}
		if f != nil {
			f.Close()
		}
	}
}
