package spool

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// Of each record on disk: one of a newer safeshell is refused as such, also where
// it has lost what this one asks for; one of an older safeshell, without the fields
// that came since, is read; one without a version is none.
func TestRecordVersions(t *testing.T) {
	id, hash := "01jd0000000000000000000001", strings.Repeat("a", 64)
	decode := map[string]func([]byte) error{
		"request":  func(b []byte) error { _, err := decodeRequest(b); return err },
		"decision": func(b []byte) error { _, err := decodeDecision(b); return err },
		"pass":     func(b []byte) error { _, err := decodePass(b); return err },
		"grant":    func(b []byte) error { _, err := decodeGrant(b); return err },
	}
	for name, old := range map[string]map[string]any{
		"request":  {"id": id, "nonce": "n", "uid": 0, "dir": "/", "argv": []string{"x"}, "argv_sha256": hash, "key": hash, "rule": "r", "end": true},
		"decision": {"id": id, "nonce": "n", "req_sha256": hash, "verdict": "allow", "choice": 1, "by": "cli", "end": true},
		"pass":     {"key": hash, "rule": "r", "boot_id": "b", "boot_ns": 1, "ttl_ns": 1000, "end": true},
		"grant":    {"id": hash[:12], "key": hash[:32], "choice": 3, "rule": "r", "dir": "/", "argv_sha256": hash, "command": "x", "end": true},
	} {
		read := func(v int, without ...string) error {
			fields := map[string]any{"v": v, "of_later": map[string]int{"a": 1}}
			for k, value := range old {
				fields[k] = value
			}
			for _, k := range without {
				delete(fields, k)
			}
			b, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			return decode[name](b)
		}
		if err := read(1); err != nil {
			t.Errorf("%s of version 1: %v", name, err)
		}
		if err := read(2, "end", "id", "rule"); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "of version 2, this safeshell knows 1") {
			t.Errorf("%s of version 2: %v", name, err)
		}
		if err := read(0); err == nil || errors.Is(err, ErrNewer) {
			t.Errorf("%s without a version: %v", name, err)
		}
	}
}
