package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"

	"safeshell/spool"
)

// cmdPlain runs a program with whatever exit code and demands that all it
// prints is lines of characters that draw themselves: `plain prog args...`.
// What it printed goes to the file "out". Backslash escapes in the arguments
// are undone.
func cmdPlain(ts *testscript.TestScript, neg bool, args []string) {
	for i := range args {
		args[i] = unescape(args[i])
	}
	plainRun(ts, command(ts, args))
}

func plainRun(ts *testscript.TestScript, c *exec.Cmd) {
	args := c.Args
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	timer := time.AfterFunc(60*time.Second, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	if err := c.Run(); err != nil {
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs("out"), out.Bytes(), 0o600))
	ts.Logf("[plain %q]\n%s", args, out.String())
	if bad := notDrawn(out.Bytes()); bad != "" {
		ts.Fatalf("%q prints %s", args, bad)
	}
}

// notDrawn names the first thing in a text that is no drawn character and no
// newline.
func notDrawn(b []byte) string {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 || r != '\n' && !spool.Drawn(r) {
			return fmt.Sprintf("%q after %q", b[i:i+n], b[max(0, i-30):i])
		}
		i += n
	}
	return ""
}

// cmdScreen starts `safeshell watch` with the given options on a terminal of 80
// columns and 24 lines, waits until a text is drawn, and ends it. All bytes
// that it sent go to the file "screen": `screen text [options]`.
func cmdScreen(ts *testscript.TestScript, neg bool, args []string) {
	c := command(ts, append([]string{"safeshell", "watch"}, args[1:]...))
	f, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 80})
	ts.Check(err)
	defer f.Close()
	var out bytes.Buffer
	read := make(chan []byte)
	go func() {
		defer close(read)
		for {
			buf := make([]byte, 4096)
			n, err := f.Read(buf)
			if err != nil {
				return
			}
			read <- buf[:n]
		}
	}()
	seen := false
	for limit := time.After(time.Minute); !seen; {
		select {
		case b, ok := <-read:
			out.Write(b)
			seen = !ok || bytes.Contains(out.Bytes(), []byte(args[0]))
		case <-limit:
			seen = true
		}
	}
	for late := time.After(time.Second); late != nil; { // what else it draws
		select {
		case b, ok := <-read:
			if out.Write(b); !ok {
				late = nil
			}
		case <-late:
			late = nil
		}
	}
	_ = c.Process.Kill()
	go func() {
		for range read {
		}
	}()
	_ = c.Wait()
	ts.Check(os.WriteFile(ts.MkAbs("screen"), out.Bytes(), 0o600))
	if !bytes.Contains(out.Bytes(), []byte(args[0])) {
		ts.Fatalf("%q was not drawn:\n%q", args[0], out.String())
	}
}

// evilText drives a terminal in every way that is known here, and hides.
const evilText = "n\x1b[2J\x1b]0;EVIL\x07\x1b]52;c;ZXZpbA==\x07\u202e\u200b\u2066\u0445\r\b\xff\u009b5n\x7f\tT\nLa\u0300\u0300\u0300\u0300\u0300\u3164"

// cmdHostile is plain, in the directory "d...", with E in the arguments standing
// for evilText.
func cmdHostile(ts *testscript.TestScript, neg bool, args []string) {
	dirs, err := filepath.Glob(ts.MkAbs("d*"))
	ts.Check(err)
	if len(dirs) != 1 {
		ts.Fatalf("%d directories", len(dirs))
	}
	for i := range args {
		if strings.HasPrefix(args[i], "E") || strings.HasSuffix(args[i], "E") || strings.Contains(args[i], "'E'") {
			n := strings.LastIndex(args[i], "E")
			args[i] = args[i][:n] + evilText + args[i][n+1:]
		}
	}
	c := command(ts, args)
	c.Dir = dirs[0]
	plainRun(ts, c)
}
