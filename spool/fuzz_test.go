package spool

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"safeshell/spool/mask"
)

// Readers of records must neither panic on anything nor accept what is not
// complete. go test runs the seeds; go test -fuzz=FuzzRequest ./spool explores.

func seedRecords(f *testing.F, records ...any) {
	for _, r := range records {
		data, err := encode(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
		f.Add(bytes.Replace(data, []byte(`"end":true`), nil, 1))
	}
	for _, s := range []string{"", "{}", "null", "[]", `{"end":true}`, `{"v":1,"end":true}`, "{\"v\":1e999}", strings.Repeat("[", 1000), "\xff"} {
		f.Add([]byte(s))
	}
}

func fullRequest() Request {
	r := request("git", "push", "--force")
	r.ID, r.Nonce, r.Created = newID(time.Now()), newNonce(), time.Now()
	r.ArgvSHA = r.sha()
	r.KeySHA = r.Key().Hash()
	return r
}

func FuzzRequest(f *testing.F) {
	_, odd, _ := encodeRequest(func() Request { r := fullRequest(); r.Argv = []string{"\xff"}; r.Dir = "\xfe"; return r }())
	data, _, _ := encodeRequest(fullRequest())
	f.Add(data)
	seedRecords(f, storedForm(odd), Request{V: 1, B64: []string{"argv", "nonsense"}, End: true})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeRequest(data)
		if err != nil {
			if !reflect.DeepEqual(r, Request{}) {
				t.Error("an error with a request")
			}
			return
		}
		if !r.End || !ValidID(r.ID) || !isHash(r.KeySHA) {
			t.Errorf("accepted %+v", r)
		}
		again, shown, err := encodeRequest(r)
		if err != nil || len(again) > maxRecord {
			t.Fatalf("%d bytes, %v", len(again), err)
		}
		back, err := decodeRequest(again)
		if err != nil || !reflect.DeepEqual(back.Argv, shown.Argv) && len(shown.Argv) > 0 || back.Line != shown.Line || back.Dir != shown.Dir {
			t.Errorf("%+v became %+v, %v", shown, back, err)
		}
	})
}

// Any command fits, and is bound to its own hash.
func FuzzRequestArgv(f *testing.F) {
	f.Add("rm\x00-rf\x00x", "/tmp", 1)
	f.Add("\xff\x00\x01", "\xfe", 2000)
	f.Fuzz(func(t *testing.T, joined, dir string, times int) {
		r := fullRequest()
		r.Argv = strings.Split(strings.Repeat(joined, min(max(times, 1), 1+(1<<18)/(len(joined)+1))), "\x00")
		r.Dir, r.ArgvSHA = dir, ""
		s := Spool{wall: time.Now, bootID: bootID}
		p := s.prepare(r, AskOptions{})
		data, shown, err := encodeRequest(p)
		if err != nil || len(data) > maxRecord {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		back, err := decodeRequest(data)
		if err != nil || !reflect.DeepEqual(back.Argv, shown.Argv) || back.ArgvSHA != ArgvSHA(r.Argv) {
			t.Errorf("%q: got %q, %v", r.Argv, back.Argv, err)
		}
		if shown.Cut == 0 && !reflect.DeepEqual(shown.Argv, mask.Argv(r.Argv)) {
			t.Errorf("changed without saying so: %q, %q", r.Argv, shown.Argv)
		}
	})
}

func FuzzDecision(f *testing.F) {
	s := Spool{wall: time.Now}
	r := fullRequest()
	late := s.decision(r, LineSHA("x"), Refuse, "no", ByMonitor)
	late.Late, late.Key = true, r.KeySHA
	seedRecords(f, s.decision(r, LineSHA("x"), Once, "", ByMonitor), late,
		Decision{V: 1, ID: r.ID, Nonce: "n", ReqSHA: "s", Verdict: TimedOut, Again: true, End: true})
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := decodeDecision(data)
		if err != nil && d != (Decision{}) {
			t.Error("an error with a decision")
		}
		if d.Verdict == Allowed && (!d.End || d.Choice < Once || d.Choice > Always || d.ID == "" || d.Nonce == "" || d.ReqSHA == "") {
			t.Errorf("accepted %+v", d)
		}
	})
}

func FuzzGrant(f *testing.F) {
	gr := NewGrant("r", grantKey, Decision{Choice: Session}, "x")
	gr.V, gr.BootID, gr.TTL, gr.End = 1, "b", time.Hour, true
	seedRecords(f, gr)
	f.Fuzz(func(t *testing.T, data []byte) {
		gr, err := decodeGrant(data)
		if err != nil {
			return
		}
		if !gr.End || gr.Choice != Session && gr.Choice != Always || gr.Choice == Session && gr.TTL <= 0 {
			t.Errorf("accepted %+v", gr)
		}
		(&Grants{boot: bootNow, id: bootID}).expired(gr)
	})
}

func FuzzPass(f *testing.F) {
	seedRecords(f, pass{V: 1, TTL: time.Minute, End: true})
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := decodePass(data); err == nil && (!p.End || p.TTL <= 0 || p.TTL > Keep) {
			t.Errorf("accepted %+v", p)
		}
	})
}

func FuzzJournal(f *testing.F) {
	j := OpenJournal("/nonexistent")
	line, _ := j.encode(Entry{Kind: KindDecision, Command: "x\xff", Notes: []string{"n"}})
	seedRecords(f, Entry{V: 2, Kind: KindNote, Time: time.Now()})
	f.Add(append(append([]byte("torn\n\n"), line...), line...))
	f.Fuzz(func(t *testing.T, data []byte) {
		var skipped int
		got := lastEntries(nil, data, ReadOptions{Skipped: &skipped})
		lines := 0
		for _, l := range bytes.Split(data, []byte("\n")) {
			if len(l) > 0 {
				lines++
			}
		}
		if len(got)+skipped != lines {
			t.Errorf("%d entries and %d skipped of %d lines", len(got), skipped, lines)
		}
		for _, e := range got {
			if line, err := j.encode(e); err == nil {
				if back, err := decodeEntry(bytes.TrimSuffix(line, []byte("\n"))); err != nil || len(line) > maxEntry {
					t.Errorf("%+v became %q: %+v, %v", e, line, back, err)
				}
			}
		}
	})
}
