package cli

import (
	"bytes"
	"io"

	"charm.land/lipgloss/v2"
	"charm.land/log/v2"
	"github.com/charmbracelet/colorprofile"

	"safeshell/config"
	"safeshell/spool"
	"safeshell/spool/mask"
)

// diagnostics is what the second program tells of itself. At log_level debug it
// goes to the debug log, where the monitor shows it among what the layers say;
// at other levels to otherwise, from warnings (or errors, at error) up.
func (a *app) diagnostics(otherwise io.Writer) *log.Logger {
	level, out := log.WarnLevel, otherwise
	switch {
	case config.Debugging(a.paths.Config, a.paths.Cache):
		level, out = log.DebugLevel, debugLog(spool.DebugPath(a.paths.Journal))
	case otherwise != io.Discard && a.g != nil && a.g.Config().LogLevel == "error":
		level = log.ErrorLevel
	}
	l := log.NewWithOptions(out, log.Options{Level: level, ReportTimestamp: true, TimeFunction: log.NowUTC, TimeFormat: "2006-01-02T15:04:05.000Z"})
	l.SetColorProfile(colorprofile.NoTTY)
	styles := log.DefaultStyles()
	for level, word := range map[log.Level]string{log.DebugLevel: "[DEBUG]", log.InfoLevel: "[INFO]", log.WarnLevel: "[WARN]", log.ErrorLevel: "[ERROR]"} {
		styles.Levels[level] = lipgloss.NewStyle().SetString(word)
	}
	l.SetStyles(styles)
	return l
}

// debugLog writes lines to the debug log at its path, masked as the journal is.
type debugLog string

func (d debugLog) Write(b []byte) (int, error) {
	var lines []byte
	for l := range bytes.Lines(b) {
		lines = append(lines, spool.Visible(mask.Text(string(bytes.TrimRight(l, "\n"))))+"\n"...)
	}
	return len(b), spool.AppendDebug(string(d), string(lines))
}
