package spool

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

var errNoEnd = errors.New("incomplete record: no \"end\"")

// recordVersion is that of requests, decisions, passes and grants. It changes when
// an older reader would take a record for something else.
const recordVersion = 1

// ErrNewer: a record is of a newer safeshell. It is neither obeyed nor answered.
var ErrNewer = errors.New("it was written by a newer safeshell; update this one")

// ofVersion refuses records of other versions.
func ofVersion(v int) error {
	switch {
	case v > recordVersion:
		return fmt.Errorf("%w (it is of version %d, this safeshell knows %d)", ErrNewer, v, recordVersion)
	case v < recordVersion:
		return errors.New("record without a version")
	}
	return nil
}

// encode is JSON on one line, with < > & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// texts are the strings of a request that may hold any bytes.
func (r *Request) texts() map[string]*string {
	return map[string]*string{
		"session": &r.Session, "agent": &r.Agent, "dir": &r.Dir, "exe": &r.Exe, "line": &r.Line,
		"rule": &r.Rule, "reason": &r.Reason, "suggest": &r.Suggest, "loss": &r.Loss, "tty": &r.TTY,
	}
}

// encodeRequest returns the record of at most 64 KiB. What is not UTF-8 is
// stored in base64 and named in b64; argv and line are cut in the middle until
// the record fits. The returned request is what readers will see.
func encodeRequest(r Request) ([]byte, Request, error) {
	whole := r
	for budget := maxRecord * 3 / 4; budget >= 256; budget /= 2 {
		r = whole
		r.V, r.End, r.B64 = recordVersion, true, nil
		for name, s := range r.texts() {
			if name != "line" {
				*s, _ = cutMiddle(*s, min(maxReason, budget/8))
			}
		}
		var n int
		r.Parts = cutParts(whole.Parts, min(maxReason, max(budget/(4*len(whole.Parts)+1), 64)))
		r.Argv, n = cutArgv(whole.Argv, budget)
		r.Cut += n
		r.Line, n = cutMiddle(whole.Line, budget)
		r.Cut += n
		data, err := encode(storedForm(r))
		if err != nil || len(data) <= maxRecord {
			return data, r, err
		}
	}
	return nil, r, fmt.Errorf("the request does not fit into %d bytes", maxRecord)
}

// storedForm puts what JSON cannot hold into base64.
func storedForm(r Request) Request {
	for name, s := range r.texts() {
		if !utf8.ValidString(*s) {
			*s = base64.StdEncoding.EncodeToString([]byte(*s))
			r.B64 = append(r.B64, name)
		}
	}
	if slices.ContainsFunc(r.Argv, func(a string) bool { return !utf8.ValidString(a) }) {
		r.Argv = slices.Clone(r.Argv)
		for i, a := range r.Argv {
			r.Argv[i] = base64.StdEncoding.EncodeToString([]byte(a))
		}
		r.B64 = append(r.B64, "argv")
	}
	slices.Sort(r.B64)
	return r
}

// decodeRequest reads a record. Any doubt is an error: the request is not shown.
func decodeRequest(data []byte) (Request, error) {
	var r Request
	if len(data) > maxRecord {
		return r, fmt.Errorf("request of more than %d bytes", maxRecord)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return Request{}, err
	}
	switch {
	case r.V != recordVersion:
		return Request{}, ofVersion(r.V)
	case !r.End:
		return Request{}, errNoEnd
	case !ValidID(r.ID) || r.Nonce == "" || !isHash(r.ArgvSHA) || !isHash(r.KeySHA):
		return Request{}, errors.New("request without id, nonce, command hash or key")
	}
	texts := r.texts()
	for _, name := range r.B64 {
		fields := []*string{texts[name]}
		if name == "argv" {
			fields = fields[:0]
			for i := range r.Argv {
				fields = append(fields, &r.Argv[i])
			}
		}
		for _, s := range fields {
			if s == nil {
				return Request{}, fmt.Errorf("unknown base64 field %q", name)
			}
			b, err := base64.StdEncoding.DecodeString(*s)
			if err != nil {
				return Request{}, fmt.Errorf("field %s: %w", name, err)
			}
			*s = string(b)
		}
	}
	return r, nil
}

// decodeDecision reads a record that is complete, of a known version and says
// something that the protocol knows. Whether it belongs to a request is for
// the caller to check.
func decodeDecision(data []byte) (Decision, error) {
	var d Decision
	if err := json.Unmarshal(data, &d); err != nil {
		return Decision{}, err
	}
	switch {
	case d.V != recordVersion:
		return Decision{}, ofVersion(d.V)
	case !d.End:
		return Decision{}, errNoEnd
	case !ValidID(d.ID) || d.Nonce == "" || d.ReqSHA == "":
		return Decision{}, errors.New("decision without id, nonce or request hash")
	}
	switch d.Verdict {
	case Allowed:
		if d.Choice < Once || d.Choice > Always {
			return Decision{}, fmt.Errorf("allow with choice %d", d.Choice)
		}
	case Denied:
		if d.Choice != Refuse {
			return Decision{}, fmt.Errorf("deny with choice %d", d.Choice)
		}
	case TimedOut, NoMonitor, Cancelled:
		if d.Choice != 0 || d.Late {
			return Decision{}, fmt.Errorf("%s as an answer", d.Verdict)
		}
	default:
		return Decision{}, fmt.Errorf("unknown verdict %q", d.Verdict)
	}
	return d, nil
}

// verdictOf is what a choice means for this command now.
func verdictOf(c Choice) Verdict {
	if c == Refuse {
		return Denied
	}
	return Allowed
}

// cutMiddle shortens s to about limit bytes, saying how much is missing; both
// ends stay, as the end of a command may be its worst part. It returns the
// number of bytes left out.
func cutMiddle(s string, limit int) (string, int) {
	if len(s) <= limit {
		return s, 0
	}
	head, tail := limit*2/3, len(s)-limit/3
	for head > 0 && !utf8.RuneStart(s[head]) && head > limit*2/3-utf8.UTFMax {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) && tail < len(s)-limit/3+utf8.UTFMax {
		tail++
	}
	return fmt.Sprintf("%s … [%d bytes not shown] … %s", s[:head], tail-head, s[tail:]), tail - head
}

// cutArgv does the same for an argument list: first long arguments are
// shortened, then arguments in the middle left out.
func cutArgv(argv []string, limit int) ([]string, int) {
	total := 0
	for _, a := range argv {
		total += len(a) + 8
	}
	if total <= limit {
		return argv, 0
	}
	out, cut := make([]string, len(argv)), 0
	total = 0
	for i, a := range argv {
		var n int
		out[i], n = cutMiddle(a, limit/8)
		cut += n
		total += len(out[i]) + 8
	}
	if total <= limit {
		return out, cut
	}
	head, size := 0, 0
	for head < len(out) && size+len(out[head])+8 <= limit*2/3 {
		size += len(out[head]) + 8
		head++
	}
	tail := len(out)
	for tail > head && size+len(out[tail-1])+8 <= limit {
		tail--
		size += len(out[tail]) + 8
	}
	cut = 0
	for i, a := range argv {
		if i < head || i >= tail {
			_, n := cutMiddle(a, limit/8)
			cut += n
			continue
		}
		cut += len(a) + 1 // an empty argument is missing, too
	}
	note := fmt.Sprintf("… [%d arguments not shown] …", tail-head)
	return slices.Concat(out[:head:head], []string{note}, out[tail:]), cut
}

// clip makes human text storable: valid UTF-8 and short.
func clip(s string) string {
	s, _ = cutMiddle(strings.ToValidUTF8(s, "\uFFFD"), maxReason)
	return s
}
