package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"

	"safeshell/internal/test/testdir"
)

func newJournal(t testing.TB) *Journal {
	return OpenJournal(filepath.Join(testdir.New(t), "home", "log", "journal.jsonl"))
}

func appendTo(t testing.TB, j *Journal, e Entry) {
	t.Helper()
	if err := j.Append(e); err != nil {
		t.Fatal(err)
	}
}

func commands(entries []Entry) string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Command)
	}
	return strings.Join(out, " ")
}

func TestJournal(t *testing.T) {
	j := newJournal(t)
	if got, err := j.Read(ReadOptions{}); err != nil || len(got) != 0 {
		t.Errorf("nothing: %v, %v", got, err)
	}
	in := Entry{
		Kind: KindAnswer, ID: "id", Action: "asked-allow", Rule: "r", Source: "built-in:git", Command: "curl -u me:secret h\n\xff", Dir: "/p",
		Layer: "shim", Context: "ai", Agent: "codex", Session: "s", Choice: Once, By: ByMonitor, Reason: "ok", Waited: 1.5, Notes: []string{"a", "--token abc"},
	}
	appendTo(t, j, in)
	got, err := j.Read(ReadOptions{})
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	e := got[0]
	if e.Command != "curl -u me:*** h\n\\xff" || e.Notes[1] != "--token ***" || e.PID != os.Getpid() || e.Time.IsZero() || e.V != 1 || e.Waited != 1.5 || e.Choice != Once {
		t.Errorf("got %+v", e)
	}
	if in.Notes[1] != "--token abc" {
		t.Error("Append changed the caller's notes")
	}
	if fi, _ := os.Stat(j.Path()); fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %o", fi.Mode().Perm())
	}
	// Bounded, whatever is in it.
	appendTo(t, j, Entry{Kind: KindNote, Command: strings.Repeat("\x01", 1<<20), Reason: strings.Repeat("\x02", 1<<20), Notes: make([]string, 100)})
	appendTo(t, j, Entry{Kind: KindNote, Command: "after"})
	data, _ := os.ReadFile(j.Path())
	for line := range bytes.Lines(data) {
		if len(line) > maxEntry {
			t.Errorf("line of %d bytes", len(line))
		}
	}
	if got, err = j.Read(ReadOptions{}); err != nil || len(got) != 3 || len(got[1].Command) > 3*maxCommand || len(got[1].Notes) > 17 {
		t.Errorf("%d entries, %v", len(got), err)
	}
}

func TestJournalReadOptions(t *testing.T) {
	j := newJournal(t)
	j.size = 400
	now := time.Now()
	for i := range 12 {
		appendTo(t, j, Entry{Kind: KindDecision, Time: now.Add(time.Duration(i) * time.Minute), Command: strconv.Itoa(i)})
	}
	if n := len(mustGlob(t, j.Path()+"*")); n < 3 {
		t.Fatalf("%d files: nothing was rotated", n)
	}
	for want, o := range map[string]ReadOptions{
		"0 1 2 3 4 5 6 7 8 9 10 11": {},
		"9 10 11":                   {Limit: 3},
		"6 7 8 9 10 11":             {Since: now.Add(6 * time.Minute)},
		"10 11":                     {Since: now.Add(6 * time.Minute), Limit: 2},
		"":                          {Since: now.Add(time.Hour)},
	} {
		got, err := j.Read(o)
		if err != nil || commands(got) != want {
			t.Errorf("%+v: got %q, want %q, %v", o, commands(got), want, err)
		}
	}
	for i := range 100 {
		appendTo(t, j, Entry{Kind: KindDecision, Command: strconv.Itoa(i)})
	}
	if n := len(mustGlob(t, j.Path()+"*")); n > 6 {
		t.Errorf("%d files", n)
	}
}

func mustGlob(t testing.TB, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestJournalTolerance(t *testing.T) {
	j := newJournal(t)
	appendTo(t, j, Entry{Kind: KindNote, Command: "first"})
	f, err := os.OpenFile(j.Path(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintln(f, `{"v":9,"time":"2030-01-01T00:00:00Z","kind":"vision","command":"newer","weight":{"kg":1}}`)
	fmt.Fprintln(f, `not json`)
	fmt.Fprintln(f, `{"v":1}`)
	fmt.Fprintln(f)
	fmt.Fprintln(f, strings.Repeat("x", 300<<10))
	fmt.Fprint(f, `{"v":1,"time":"20`) // the disk was full
	appendTo(t, j, Entry{Kind: KindNote, Command: "last"})
	var skipped int
	got, err := j.Read(ReadOptions{Skipped: &skipped})
	if err != nil || commands(got) != "first newer last" || skipped != 4 {
		t.Errorf("got %q, %d skipped, %v", commands(got), skipped, err)
	}
}

// What cannot be written is an error at once, not a wait.
func TestJournalCannotBeWritten(t *testing.T) {
	for name, f := range map[string]func(path string){
		"fifo":      func(path string) { unix.Mkfifo(path, 0o600) },
		"directory": func(path string) { os.Mkdir(path, 0o700) },
		"symlink":   func(path string) { os.Symlink(filepath.Join(filepath.Dir(path), "elsewhere"), path) },
		"mode":      func(path string) { os.WriteFile(path, nil, 0o666); os.Chmod(path, 0o666) },
		"locked": func(path string) {
			f, _ := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
			t.Cleanup(func() { f.Close() })
			unix.Flock(int(f.Fd()), unix.LOCK_EX)
		},
		"no directory": func(path string) { os.Remove(filepath.Dir(path)); os.WriteFile(filepath.Dir(path), nil, 0o600) },
	} {
		j := newJournal(t)
		os.MkdirAll(filepath.Dir(j.Path()), 0o700)
		f(j.Path())
		if err := j.Append(Entry{Kind: KindNote}); err == nil || !strings.Contains(err.Error(), "journal") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestJournalDiskFull(t *testing.T) {
	j := OpenJournal(filepath.Join(smallDisk(t), "journal.jsonl"))
	var written int
	for range 1000 {
		if err := j.Append(Entry{Kind: KindAnswer, Command: strings.Repeat("x", 1000)}); err != nil {
			if !strings.Contains(err.Error(), "make room") {
				t.Errorf("got %v", err)
			}
			break
		}
		written++
	}
	if got, err := j.Read(ReadOptions{}); err != nil || len(got) != written || written == 1000 {
		t.Errorf("%d written, %d read, %v", written, len(got), err)
	}
}

func TestJournalFollow(t *testing.T) {
	for name, watcher := range map[string]func() (*fsnotify.Watcher, error){
		"events": fsnotify.NewWatcher,
		"poll":   func() (*fsnotify.Watcher, error) { return nil, os.ErrInvalid },
	} {
		for _, before := range []int{0, 5} { // no journal yet, or one
			t.Run(fmt.Sprint(name, before), func(t *testing.T) {
				j := newJournal(t)
				j.newWatcher = watcher
				j.size, j.keep = 500, 1000
				for i := range before {
					appendTo(t, j, Entry{Kind: KindNote, Command: strconv.Itoa(i - before)})
				}
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				follow, tail := j.Follow(ctx), j.Tail(ctx, ReadOptions{Limit: 3})
				const n = 200
				go func() {
					for i := range n {
						if err := j.Append(Entry{Kind: KindNote, Command: strconv.Itoa(i)}); err != nil {
							t.Error(err)
						}
					}
				}()
				for i := max(-3, -before); i < 0; i++ {
					if e := <-tail; e.Command != strconv.Itoa(i) {
						t.Fatalf("tail: got %s, want %d", e.Command, i)
					}
				}
				for i := range n {
					if e := <-follow; e.Command != strconv.Itoa(i) {
						t.Fatalf("follow: got %s, want %d", e.Command, i)
					}
					if e := <-tail; e.Command != strconv.Itoa(i) {
						t.Fatalf("tail: got %s, want %d", e.Command, i)
					}
				}
				cancel()
				for range follow { // closed
				}
			})
		}
	}
}

func journalWriter() int {
	j := OpenJournal(os.Getenv("SPOOL_TEST_PATH"))
	j.size, j.keep, j.patience = 32<<10, 10000, 2*time.Minute
	n, _ := strconv.Atoi(os.Getenv("SPOOL_TEST_N"))
	for i := range n {
		e := Entry{Kind: KindNote, ID: os.Getenv("SPOOL_TEST_ID"), Command: strconv.Itoa(i), Reason: strings.Repeat("r", 37*(i%20))}
		if err := j.Append(e); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

// 50 processes write while files are rotated under them: no line is lost, torn
// or doubled, and each writer's lines stay in order, also for who follows.
func TestJournalManyWriters(t *testing.T) {
	j := newJournal(t)
	j.keep = 10000
	const writers, lines = 50, 60
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	follow := j.Follow(ctx)
	var cmds []*exec.Cmd
	for i := range writers {
		cmd := inRole("journal-writer", "SPOOL_TEST_PATH="+j.Path(), fmt.Sprint("SPOOL_TEST_N=", lines), fmt.Sprint("SPOOL_TEST_ID=w", i))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	written := make(chan bool)
	go func() {
		defer close(written)
		for _, cmd := range cmds {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
				cancel()
			}
		}
	}()
	next := make(map[string]int)
	for range writers * lines {
		e, ok := <-follow
		if !ok {
			break
		}
		if e.Command != strconv.Itoa(next[e.ID]) {
			t.Fatalf("follow: %s wrote line %s, expected %d", e.ID, e.Command, next[e.ID])
		}
		next[e.ID]++
	}
	<-written
	var skipped int
	got, err := j.Read(ReadOptions{Skipped: &skipped})
	if err != nil || skipped != 0 || len(got) != writers*lines {
		t.Fatalf("%d lines, %d skipped, %v", len(got), skipped, err)
	}
	clear(next)
	for _, e := range got {
		if e.Command != strconv.Itoa(next[e.ID]) {
			t.Fatalf("read: %s wrote line %s, expected %d", e.ID, e.Command, next[e.ID])
		}
		next[e.ID]++
	}
	files := mustGlob(t, j.Path()+".*")
	for _, name := range append(files, j.Path()) { // a half seen line is no fragment
		data, err := os.ReadFile(name)
		if name == j.Path() && errors.Is(err, fs.ErrNotExist) {
			continue // the last line filled the file
		}
		if err != nil || bytes.Contains(data, []byte("\n\n")) || bytes.HasPrefix(data, []byte("\n")) {
			t.Errorf("%s has an empty line (%v)", name, err)
		}
	}
	if len(files) < 10 {
		t.Errorf("only %d rotations", len(files))
	}
	t.Logf("%d rotations", len(files))
}
