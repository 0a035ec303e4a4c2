package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/config/yamltree"
)

// Config is config.yaml (docs/design.md "Config"). The zero value is not useful; Load
// fills in the defaults.
type Config struct {
	// Unreachable is fail_closed or fail_open: what happens when nobody can be
	// asked or the rules cannot be read.
	Unreachable      string
	DelegateShell    string // the shell behind safeshell -c
	LogLevel         string // debug, info, warn, error
	ConditionTimeout time.Duration
	Approval         Approval
	Trash            Trash
	Permissions      Permissions
}

// Approval says how humans are asked.
type Approval struct {
	Timeout        time.Duration // how long a request waits
	WaitForMonitor time.Duration // how long to hope for a monitor
	Notify         []string      // how watch calls: bell, desktop
	// Via is monitor, or agent: let an agent that can ask its own user do so.
	Via string
}

// Trash says how long and how much the trash keeps.
type Trash struct {
	KeepDays int
	MaxBytes int64
}

// Permissions are the commands that scripts may declare without a question.
type Permissions struct {
	Commands             []string
	AllowProjectCommands bool
	StrictPaths          bool
}

// FailOpen reports whether commands run when nobody can be asked.
func (c Config) FailOpen() bool { return c.Unreachable == "fail_open" }

// Default returns the configuration of an empty config.yaml.
func Default() Config {
	return Config{
		Unreachable:      "fail_closed",
		DelegateShell:    "/bin/bash",
		LogLevel:         "info",
		ConditionTimeout: time.Second,
		Approval:         Approval{Timeout: 300 * time.Second, Notify: []string{"bell", "desktop"}, Via: "monitor"},
		Trash:            Trash{KeepDays: 30, MaxBytes: 10 << 30},
	}
}

// maxSize bounds config.yaml.
const maxSize = 1 << 20

// file is config.yaml as written.
type file struct {
	Unreachable      *string `yaml:"unreachable_behavior"`
	DelegateShell    *string `yaml:"delegate_shell"`
	LogLevel         *string `yaml:"log_level"`
	ConditionTimeout *int    `yaml:"condition_timeout_ms"`
	Approval         struct {
		Timeout        *float64  `yaml:"timeout_seconds"`
		WaitForMonitor *float64  `yaml:"wait_for_monitor_seconds"`
		Notify         *[]string `yaml:"notify"`
		Via            *string   `yaml:"via"`
	} `yaml:"approval"`
	Trash struct {
		KeepDays *int    `yaml:"keep_days"`
		MaxBytes *string `yaml:"max_bytes"`
	} `yaml:"trash"`
	Permissions struct {
		Commands             []string `yaml:"commands"`
		AllowProjectCommands bool     `yaml:"allow_project_commands"`
		StrictPaths          bool     `yaml:"strict_paths"`
	} `yaml:"permissions"`
}

// Load reads config.yaml. A file that is not there gives the defaults. A file
// that is wrong gives the defaults too, all of them, beside an error that names
// file, line and column: half of a broken configuration is never in force. Only
// a wrong log_level leaves the rest as written (LevelError).
func Load(path string) (Config, error) {
	data, err := read(path)
	if err != nil || len(data) == 0 {
		return Default(), err
	}
	fault := func(line, col int, msg string) (Config, error) {
		return Default(), fmt.Errorf("%s:%d:%d: %s", path, line, col, msg)
	}
	root, err := yamltree.Parse(data)
	var bad *yamltree.Fault
	switch {
	case errors.As(err, &bad):
		return fault(bad.Line, bad.Column, bad.Message)
	case err != nil:
		return Default(), fmt.Errorf("%s: %w", path, err)
	case root == nil:
		return Default(), nil
	}
	var f file
	if n, what := fill(root, reflect.ValueOf(&f).Elem(), ""); n != nil {
		return fault(n.Line, n.Column, what)
	}
	c, key, err := f.config()
	if err != nil {
		line, col := locate(root, key)
		if !errors.As(err, new(*LevelError)) {
			c = Default()
		}
		return c, fmt.Errorf("%s:%d:%d: %s: %w", path, line, col, key, err)
	}
	return c, nil
}

// read returns the file's content, nil when there is none. Only a regular file
// of the user or of root that nobody else can write is obeyed.
func read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, fmt.Errorf("%s is not a regular file; run: /bin/mv %s %s", path, shellWord(path), shellWord(path+".old"))
	case st.Size > maxSize:
		return nil, fmt.Errorf("%s is larger than 1 MiB; shorten it", path)
	case st.Mode&0o022 != 0:
		return nil, fmt.Errorf("%s can be written by others; run: /bin/chmod go-w %s", path, shellWord(path))
	case int(st.Uid) != os.Geteuid() && st.Uid != 0:
		return nil, fmt.Errorf("%s belongs to another user (uid %d); make it your own", path, st.Uid)
	}
	return io.ReadAll(io.LimitReader(f, maxSize))
}

// config checks what was written and puts it over the defaults. The key of an
// error is dotted: approval.timeout_seconds.
func (f file) config() (c Config, key string, err error) {
	c = Default()
	oneOf := func(k string, v *string, to *string, allowed ...string) {
		if v == nil || err != nil {
			return
		}
		word := strings.ToLower(strings.TrimSpace(*v))
		if !slices.Contains(allowed, word) {
			key, err = k, fmt.Errorf("%q is none of %s", *v, strings.Join(allowed, ", "))
			return
		}
		*to = word
	}
	seconds := func(k string, v *float64, to *time.Duration, low, high float64) {
		if v == nil || err != nil {
			return
		}
		if !(*v >= low && *v <= high) {
			key, err = k, fmt.Errorf("%v is not from %v to %v", *v, low, high)
			return
		}
		*to = time.Duration(*v * float64(time.Second))
	}
	oneOf("unreachable_behavior", f.Unreachable, &c.Unreachable, "fail_closed", "fail_open")
	oneOf("approval.via", f.Approval.Via, &c.Approval.Via, "monitor", "agent")
	seconds("approval.timeout_seconds", f.Approval.Timeout, &c.Approval.Timeout, 1, 86400)
	seconds("approval.wait_for_monitor_seconds", f.Approval.WaitForMonitor, &c.Approval.WaitForMonitor, 0, 3600)
	if err != nil {
		return c, key, err
	}
	if v := f.DelegateShell; v != nil {
		if *v == "" || strings.ContainsRune(*v, 0) {
			return c, "delegate_shell", errors.New("it is empty; name a shell, for example /bin/bash")
		}
		c.DelegateShell = *v
	}
	if v := f.ConditionTimeout; v != nil {
		if *v < 10 || *v > 60000 {
			return c, "condition_timeout_ms", fmt.Errorf("%d is not from 10 to 60000", *v)
		}
		c.ConditionTimeout = time.Duration(*v) * time.Millisecond
	}
	if v := f.Approval.Notify; v != nil {
		c.Approval.Notify = slices.Clone(*v)
		for i := range *v {
			oneOf("approval.notify", &(*v)[i], &c.Approval.Notify[i], "bell", "desktop")
		}
		if err != nil {
			return c, key, err
		}
	}
	if v := f.Trash.KeepDays; v != nil {
		if *v < 1 || *v > 36500 {
			return c, "trash.keep_days", fmt.Errorf("%d is not from 1 to 36500", *v)
		}
		c.Trash.KeepDays = *v
	}
	if v := f.Trash.MaxBytes; v != nil {
		n, err := ParseSize(*v)
		if err != nil {
			return c, "trash.max_bytes", err
		}
		c.Trash.MaxBytes = n
	}
	p := f.Permissions
	for _, cmd := range p.Commands {
		if cmd == "" || strings.ContainsRune(cmd, 0) {
			return c, "permissions.commands", errors.New("an empty name; write a command or a path")
		}
	}
	c.Permissions = Permissions{Commands: p.Commands, AllowProjectCommands: p.AllowProjectCommands, StrictPaths: p.StrictPaths}
	// Last: it decides about no command, so a wrong one leaves the rest in force.
	if v := f.LogLevel; v != nil && strings.EqualFold(strings.TrimSpace(*v), "warning") {
		c.LogLevel = "warn"
		return c, "", nil
	}
	oneOf("log_level", f.LogLevel, &c.LogLevel, Levels...)
	if err != nil {
		err = &LevelError{err}
	}
	return c, key, err
}

// Levels are the values of log_level, the most talkative first.
var Levels = []string{"debug", "info", "warn", "error"}

// LevelError is a log_level that is none: the rest of the file is in force, and
// info holds.
type LevelError struct{ error }

func (e *LevelError) Unwrap() error { return e.error }

// ParseSize reads a number of bytes: 1048576, 500MB, 10GiB.
func ParseSize(s string) (int64, error) {
	s = strings.TrimSpace(s)
	i := strings.LastIndexAny(s, "0123456789.") + 1
	n, err := strconv.ParseFloat(s[:i], 64)
	units := map[string]float64{"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
		"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}
	u, ok := units[strings.ToUpper(strings.TrimSpace(s[i:]))]
	if err != nil || !ok || n < 0 || n*u > 1<<62 {
		return 0, fmt.Errorf("%q is no size; write for example 500MB or 10GiB", s)
	}
	return int64(n * u), nil
}

// locate returns line and column of a dotted key's value.
func locate(n *yamltree.Node, key string) (line, col int) {
	line, col = 1, 1
	for _, part := range strings.Split(key, ".") {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				n = n.Content[i+1]
				line, col = n.Line, n.Column
				break
			}
		}
	}
	return line, col
}

// fill sets v from n. It returns the first node that cannot be read, and what it
// should be. Null stands for "not given".
func fill(n *yamltree.Node, v reflect.Value, key string) (at *yamltree.Node, what string) {
	named := func(format string, a ...any) string {
		if key != "" {
			format = key + ": " + format
		}
		return fmt.Sprintf(format, a...)
	}
	switch {
	case n.Kind == yamltree.Alias || n.Anchor != "":
		return n, named("write the value out, without an alias")
	case n.Null():
		return nil, ""
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(n, v.Elem(), key)
	case v.Kind() == reflect.Struct:
		return fillStruct(n, v, key, named)
	case v.Kind() == reflect.Slice:
		if n.Kind != yamltree.Sequence {
			return n, named("write a list, for example [a, b], not %s", n.Show())
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, c := range n.Content {
			if at, what := fill(c, v.Index(i), key); at != nil {
				return at, what
			}
		}
		return nil, ""
	}
	want, ok := "", n.Kind == yamltree.Scalar
	switch v.Kind() {
	case reflect.String:
		want = "one value"
		v.SetString(n.Value)
	case reflect.Bool:
		want = "true or false"
		word := strings.ToLower(n.Value)
		v.SetBool(word == "true" || word == "yes" || word == "on")
		ok = ok && (v.Bool() || word == "false" || word == "no" || word == "off")
	case reflect.Int:
		want = "a whole number"
		i, err := strconv.ParseInt(n.Value, 0, 64)
		ok = ok && err == nil
		v.SetInt(i)
	case reflect.Float64:
		want = "a number"
		f, err := strconv.ParseFloat(n.Value, 64)
		ok = ok && err == nil
		v.SetFloat(f)
	}
	if !ok {
		return n, named("write %s, not %s", want, n.Show())
	}
	return nil, ""
}

// fillStruct sets the fields of v that n names.
func fillStruct(n *yamltree.Node, v reflect.Value, key string, named func(string, ...any) string) (at *yamltree.Node, what string) {
	if n.Kind != yamltree.Mapping {
		return n, named("write keys and values below it, not %s", n.Show())
	}
	fields, lines := map[string]reflect.Value{}, map[string]int{}
	var known []string
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("yaml")
		fields[name], known = v.Field(i), append(known, name)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		f, ok := fields[k.Value]
		if !ok {
			return k, fmt.Sprintf("unknown key %q; known here: %s", k.Value, strings.Join(known, ", "))
		}
		if line, twice := lines[k.Value]; twice {
			return k, fmt.Sprintf("mapping key %q already defined at line %d", k.Value, line)
		}
		lines[k.Value] = k.Line
		if at, what := fill(n.Content[i+1], f, strings.TrimPrefix(key+"."+k.Value, ".")); at != nil {
			return at, what
		}
	}
	return nil, ""
}
