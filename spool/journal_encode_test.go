package spool

import (
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The line is what encoding/json would write, byte for byte, so that nothing
// that reads the journal can tell the difference.
func TestAppendEntryIsJSON(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.Just(""), rapid.SampledFrom([]string{
		"ls -la", "a\x00b\x1f\x7f", "tab\tnl\ncr\rbs\bff\f\v", `q"\/<>&'`, "\u2028\u2029\u2027\u202a", "\xff\xe2\x80", "é\U0001f600\ufffd",
	}), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		e := Entry{
			V: 1, Time: time.Unix(rapid.Int64Range(-1e10, 2e11).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC(),
			Kind: Kind(text.Draw(t, "kind")), PID: rapid.Int().Draw(t, "pid"), Choice: Choice(rapid.IntRange(0, 4).Draw(t, "choice")),
			Waited: rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1e-7, 1.5e-9, 1e-6, 1e21, 1e20, 0.000123, math.Inf(1), math.NaN()})).Draw(t, "waited"),
			Notes:  rapid.SliceOfN(text, 0, 3).Draw(t, "notes"),
		}
		v := reflect.ValueOf(&e).Elem()
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.String && rapid.Bool().Draw(t, "set") {
				f.SetString(text.Draw(t, v.Type().Field(i).Name))
			}
		}
		want, wantErr := encode(e)
		got, err := appendEntry(nil, &e)
		if (err == nil) != (wantErr == nil) || err == nil && string(got) != string(want) {
			t.Fatalf("got  %q, %v\nwant %q, %v", got, err, want, wantErr)
		}
	})
}
