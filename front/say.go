package front

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"safeshell/config"
	"safeshell/shims"
	"safeshell/spool"
)

// Note writes a line for a person, made with a format. Texts and errors among
// the arguments are made visible.
func Note(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, format+"\n", shims.VisibleArgs(args)...)
}

// Complain says what went wrong and, where that is known, what mends it.
func Complain(w io.Writer, err error) {
	text := oneLine(err)
	if fix := config.Mend(err); fix != "" && !strings.Contains(text, "; ") {
		if strings.HasPrefix(fix, "/bin/") {
			fix = "run: " + fix
		}
		text += "; " + fix
	}
	for line := range strings.SplitSeq(text, "\n") {
		Note(w, "safeshell: %s", line)
	}
}

// oneLine is an error's text, made visible; of joined errors each has its line.
func oneLine(err error) string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return spool.Visible(err.Error())
	}
	all := joined.Unwrap()
	texts := make([]string, len(all))
	for i, e := range all {
		texts[i] = e.Error()
	}
	if strings.Join(texts, "\n") != err.Error() {
		return spool.Visible(err.Error()) // wrapped in another text
	}
	for i, e := range all {
		texts[i] = oneLine(e)
	}
	return strings.Join(texts, "\n")
}

// IsBrokenPipe reports that a reader went away: for any filter a quiet success.
func IsBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// Encode writes a result as JSON on one line that is fit for a terminal, with
// blanks where a reader wants them.
func Encode(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t") // no value holds a line end or a tab
	if err := enc.Encode(v); err != nil {
		return err
	}
	line := bytes.ReplaceAll(bytes.TrimSpace(b.Bytes()), []byte("\t"), nil)
	line = bytes.ReplaceAll(line, []byte(",\n"), []byte(", "))
	line = append(bytes.ReplaceAll(line, []byte("\n"), nil), '\n')
	_, err := w.Write(spool.VisibleJSON(line))
	return err
}
