package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// bashLine is a command line that bash completes, up to the cursor. bash splits
// words at colons and equals signs, leaves their quotes on, and inserts what it is
// given as it is: all of that is done here.
type bashLine struct {
	words     []bashWord
	redirects bool // the last word is a file's, behind < or >
	breaks    string
	list      bool // candidates are shown, not inserted one after the other
	columns   int
}

type bashWord struct {
	start int    // in the line
	raw   string // as typed
	text  string // what it means
	quote byte   // the quote that is open at its end; 0 if none is
	open  int    // where that is in text
}

// newBashLine takes COMP_LINE up to COMP_POINT, COMP_TYPE (empty before bash 4),
// COLUMNS and COMP_WORDBREAKS.
func newBashLine(args []string) (bashLine, error) {
	if len(args) != 4 {
		return bashLine{}, errors.New("takes bash's line, type, columns and word breaks")
	}
	l := bashLine{breaks: args[3], columns: 80}
	// 37 is menu-complete, 42 insert-completions.
	l.list = args[1] != "37" && args[1] != "42"
	if n, err := strconv.Atoi(args[2]); err == nil && n > 0 {
		l.columns = n
	}
	l.split(args[0])
	if len(l.words) < 2 {
		return l, errors.New("the line has no word to complete")
	}
	return l, nil
}

// split reads the words; the last is the one at the end, empty behind a space.
func (l *bashLine) split(line string) {
	w, inWord := bashWord{}, false
	end := func(at int) {
		if inWord && !l.redirects {
			w.raw = line[w.start:at]
			l.words = append(l.words, w)
		}
		if inWord {
			l.redirects = false
		}
		w, inWord = bashWord{}, false
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		blank := c == ' ' || c == '\t' || c == '\n'
		if !inWord && !blank {
			w.start, inWord = i, true
		}
		switch {
		case w.quote != 0 && c == w.quote:
			w.quote = 0
		case w.quote == '\'':
			w.text += line[i : i+1]
		case c == '\\' && i+1 < len(line) && (w.quote == 0 || strings.IndexByte("$`\"\\\n", line[i+1]) >= 0):
			i++
			w.text += line[i : i+1]
		case w.quote == '"':
			w.text += line[i : i+1]
		case c == '\'' || c == '"':
			w.quote, w.open = c, len(w.text)
		case blank:
			end(i)
		case c == '<' || c == '>':
			if strings.Trim(w.text, "0123456789&") != "" {
				end(i)
			}
			w, inWord, l.redirects = bashWord{}, false, true
		default:
			w.text += line[i : i+1]
		}
	}
	if !inWord {
		w.start, inWord = len(line), true
	}
	redirects := l.redirects
	l.redirects = false // the last word is kept, whatever it is
	end(len(line))
	l.redirects = redirects
}

func (l bashLine) texts() (out []string) {
	for _, w := range l.words {
		out = append(out, w.text)
	}
	return out
}

// insertions makes of what may follow what bash is to insert, or to show where
// there are several.
func (l bashLine) insertions(next following) following {
	if l.redirects {
		return following{kind: "files"}
	}
	if next.kind == "command" {
		next.at = l.words[next.at+1].start
		return next
	}
	last := l.words[len(l.words)-1]
	next.list = slices.DeleteFunc(next.list, func(c candidate) bool { return !strings.HasPrefix(c.word, last.text) })
	width, kept := 0, last.kept(l.breaks)
	for i, c := range next.list {
		next.list[i].word = last.quoted(c.word[kept:])
		width = max(width, ansi.StringWidth(next.list[i].word))
	}
	for i, c := range next.list {
		if c.about != "" && l.list && len(next.list) > 1 {
			next.list[i].word += strings.Repeat(" ", width-ansi.StringWidth(c.word)) + "  -- " + c.about
			next.list[i].word = ansi.Truncate(next.list[i].word, max(l.columns-1, width), "")
		}
		next.list[i].about = ""
	}
	return next
}

// kept is how much of the word's text readline leaves alone: all before an open
// quote, else before the last character that breaks words.
func (w bashWord) kept(breaks string) int {
	if w.quote != 0 {
		return w.open
	}
	kept, text := 0, 0
	for i, quote := 0, byte(0); i < len(w.raw); i++ {
		c := w.raw[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
			continue
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
			continue
		case quote != '\'' && c == '\\':
			i++
		case quote == 0 && strings.IndexByte(breaks, c) >= 0:
			kept = text + 1
		}
		text++
	}
	return kept
}

// quoted is a text as it is inserted at the end of w.
func (w bashWord) quoted(text string) string {
	if w.quote == '\'' {
		return strings.ReplaceAll(text, "'", `'\''`)
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		special := strings.IndexByte("$`\"\\", c) >= 0
		if w.quote == 0 {
			special = c < 0x80 && strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-", c) < 0
		}
		if special {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}
