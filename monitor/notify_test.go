package monitor

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"safeshell/internal/test/testdir"
	"safeshell/spool"
)

func newTestAttention(kv ...string) *attention {
	a := newAttention(Options{Getenv: env(kv...), Now: newClock().now, Notify: []string{"bell", "desktop"}})
	a.terminal = true
	return a
}

func TestNotifierIsFoundOnPath(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("macOS has osascript at a fixed place")
	}
	dir := testdir.New(t)
	tool := filepath.Join(dir, "notify-send")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	a := newTestAttention("DISPLAY", ":0", "PATH", ".:"+testdir.New(t)+":"+dir)
	p := full("r1")
	p.Argv = []string{"rm", "<b>", "x;y", "\x1b]0;t\a"}
	seq, argv := a.compose(p, 3)
	want := []string{tool, "--app-name=safeshell", "--", "safeshell: 3 approvals waiting",
		"claude-code asks: rm &#39;&lt;b&gt;&#39; &#39;x;y&#39; $&#39;\\x1b]0;t\\x07&#39; (rule block-force-push)"}
	if seq != "" || !slices.Equal(argv, want) {
		t.Errorf("%q %q\nwant %q", seq, argv, want)
	}
	// Within ssh the desktop is elsewhere.
	a = newTestAttention("DISPLAY", ":0", "PATH", dir, "SSH_CONNECTION", "1 2 3 4")
	if _, argv := a.compose(p, 1); argv != nil {
		t.Errorf("ran %q within ssh", argv)
	}
}

func TestNotificationSequences(t *testing.T) {
	p := full("r1")
	p.Argv = []string{"x\x1b\\y;z\u202e\a"}
	for _, c := range []struct {
		kv    []string
		start string
	}{
		{[]string{"TERM", "xterm-256color"}, ""},
		{[]string{"TERM", "rxvt-unicode"}, "\x1b]777;notify;safeshell: approval waiting;"},
		{[]string{"TERM", "foot"}, "\x1b]777;notify;"},
		{[]string{"TERM", "xterm-kitty"}, "\x1b]9;safeshell: approval waiting: "},
		{[]string{"TERM_PROGRAM", "WezTerm"}, "\x1b]9;"},
		{[]string{"TERM", "tmux-256color", "TERM_PROGRAM", "WezTerm"}, ""},
		{[]string{"TERM", "foot", "TMUX", "/tmp/x"}, ""},
	} {
		a := newTestAttention(c.kv...)
		seq := a.sequence(a.text(p, 1))
		if !strings.HasPrefix(seq, c.start) || (c.start == "") != (seq == "") {
			t.Errorf("%v: %q", c.kv, seq)
		}
		if inner := strings.TrimSuffix(strings.TrimPrefix(seq, "\x1b]"), "\x1b\\"); strings.ContainsAny(inner, "\x1b\a\u202e") {
			t.Errorf("%v: a request's text breaks out: %q", c.kv, seq)
		}
	}
	a := newTestAttention("TERM", "foot")
	a.terminal = false
	if seq, argv := a.compose(p, 1); seq != "" || argv != nil {
		t.Errorf("sequence %q although the output is no terminal", seq)
	}
}

func TestNotificationIsShort(t *testing.T) {
	a := newTestAttention()
	if _, body := a.text(long(""), 1); width(body) > notifyText {
		t.Errorf("%d characters", width(body))
	}
}

func TestCallsAreFew(t *testing.T) {
	c := newClock()
	a := newAttention(Options{Getenv: env("TERM", "foot"), Now: c.now, Notify: []string{"bell", "desktop"}})
	a.terminal = true
	ps := []spool.Pending{full("r1"), full("r2")}
	if a.call(nil, 0) != nil {
		t.Error("called for nothing")
	}
	cmd := a.call(ps, 2)
	batch, ok := cmd().(tea.BatchMsg)
	if !ok || len(batch) != 2 {
		t.Fatalf("not a bell and a notification: %v", batch)
	}
	if m, _ := batch[0]().(tea.RawMsg); m.Msg != "\a" {
		t.Errorf("not a bell: %v", m)
	}
	if m, _ := batch[1]().(tea.RawMsg); !strings.HasPrefix(m.Msg.(string), "\x1b]777") {
		t.Errorf("not a notification: %v", m)
	}
	c.add(callGap - time.Millisecond)
	if a.call(ps, 2) != nil {
		t.Error("called again too soon")
	}
	c.add(time.Millisecond)
	if a.call(ps, 2) == nil {
		t.Error("did not call again")
	}
	none := newAttention(Options{Getenv: env(), Now: c.now})
	none.terminal = true
	if cmd := none.call(ps, 2); cmd != nil {
		t.Error("called although nothing was asked for")
	}
}

// A notifier that hangs or fails holds nothing up and is ended.
func TestNotifierRuns(t *testing.T) {
	dir := testdir.New(t)
	mark := filepath.Join(dir, "mark")
	tool := filepath.Join(dir, "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\nprintf '%s|' \"$@\" >'"+mark+"'\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	runNotifier([]string{tool, "a", "b c"}, []string{"PATH=/usr/bin:/bin"})
	if got, _ := os.ReadFile(mark); string(got) != "a|b c|" {
		t.Errorf("ran with %q", got)
	}
	runNotifier([]string{filepath.Join(dir, "none")}, nil)
}
