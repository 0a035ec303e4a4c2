package spool

import (
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/spool/mask"
)

// Limits of the debug log.
const (
	DebugSize   = 1 << 20  // bytes after which the file is renamed to debug.log.1
	maxDebug    = 64 << 10 // bytes of one judgement
	maxDebugOne = 1 << 10  // bytes of one line
)

// DebugPath is the debug log beside a journal.
func DebugPath(journal string) string { return filepath.Join(filepath.Dir(journal), "debug.log") }

// DebugLine is a line of the debug log: time, [LEVEL], and a text that is masked
// and stays on its line.
func DebugLine(at time.Time, level, text string) string {
	text, _ = cutMiddle(Visible(mask.Text(text)), maxDebugOne)
	return at.UTC().Format("2006-01-02T15:04:05.000Z") + " [" + level + "] " + text + "\n"
}

// AppendDebug adds whole lines to the debug log, at most 64 KiB of them, and
// begins a new one when it is full; the one before is kept. It waits for nobody:
// what cannot be written is lost.
func AppendDebug(path, lines string) error {
	if len(lines) > maxDebug {
		lines = lines[:strings.LastIndexByte(lines[:maxDebug], '\n')+1] + "(the rest was cut)\n"
	}
	fd, err := openPlain(path, unix.O_RDWR|unix.O_APPEND|unix.O_CREAT)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if _, err := checkNew(fd, path, unix.Geteuid()); err != nil {
		return err
	}
	if _, err := unix.Write(fd, []byte(lines)); err != nil {
		return err
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Size < DebugSize {
		return nil
	}
	// One of those that write at this moment renames it.
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil && isNamed(&st, path) {
		return unix.Rename(path, path+".1")
	}
	return nil
}
