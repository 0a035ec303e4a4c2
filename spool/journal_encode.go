package spool

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// appendEntry writes e as one line, byte for byte as encoding/json would without
// HTML escapes. Every guarded command writes one, and what json learns about the
// type by reflection costs more than all else of it.
func appendEntry(b []byte, e *Entry) ([]byte, error) {
	if y := e.Time.Year(); y < 0 || y > 9999 || math.IsNaN(e.Waited) || math.IsInf(e.Waited, 0) {
		return nil, &json.UnsupportedValueError{Str: "time or waited_s"}
	}
	b = append(b, `{"v":`...)
	b = strconv.AppendInt(b, int64(e.V), 10)
	b = append(b, `,"time":"`...)
	b = e.Time.AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","kind":`...)
	b = appendJSONString(b, string(e.Kind))
	text := func(key, value string) {
		if value != "" {
			b = append(b, key...)
			b = appendJSONString(b, value)
		}
	}
	text(`,"id":`, e.ID)
	text(`,"action":`, e.Action)
	text(`,"rule":`, e.Rule)
	text(`,"source":`, e.Source)
	text(`,"command":`, e.Command)
	text(`,"dir":`, e.Dir)
	text(`,"layer":`, e.Layer)
	text(`,"context":`, e.Context)
	text(`,"agent":`, e.Agent)
	text(`,"session":`, e.Session)
	if e.PID != 0 {
		b = append(b, `,"pid":`...)
		b = strconv.AppendInt(b, int64(e.PID), 10)
	}
	if e.Choice != 0 {
		b = append(b, `,"choice":`...)
		b = strconv.AppendInt(b, int64(e.Choice), 10)
	}
	text(`,"by":`, e.By)
	text(`,"reason":`, e.Reason)
	if e.Waited != 0 {
		b = append(b, `,"waited_s":`...)
		b = appendJSONFloat(b, e.Waited)
	}
	if len(e.Notes) > 0 {
		b = append(b, `,"notes":[`...)
		for i, n := range e.Notes {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSONString(b, n)
		}
		b = append(b, ']')
	}
	return append(b, '}', '\n'), nil
}

// appendJSONFloat writes a number as ECMAScript and encoding/json do.
func appendJSONFloat(b []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	b = strconv.AppendFloat(b, f, format, -1, 64)
	if n := len(b); format == 'e' && n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b[n-2] = b[n-1] // 1e-07 is 1e-7
		b = b[:n-1]
	}
	return b
}

const hexDigits = "0123456789abcdef"

// appendJSONString writes a string literal. Bytes that are not UTF-8 become
// U+FFFD; U+2028 and U+2029 are escaped, as encoding/json has it.
func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		n := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeRuneInString(s[i:]); r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || n != 1) {
				i += n
				continue
			}
		}
		b = append(b, s[done:i]...)
		switch {
		case n == 3:
			b = append(b, `\u202`...)
			b = append(b, hexDigits[s[i+2]&0xf])
		case c >= utf8.RuneSelf:
			b = append(b, `\ufffd`...)
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\f':
			b = append(b, '\\', 'f')
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
		i += n
		done = i
	}
	return append(append(b, s[done:]...), '"')
}
