package mask

import (
	"strings"
	"testing"
)

// What a shim pays for the journal.
func BenchmarkText(b *testing.B) {
	for name, s := range map[string]string{
		"plain":  "git commit -m 'fix the parser of long lines' --no-edit src/parser.go",
		"secret": `curl -sS -H "Authorization: Bearer abc.def" -u u:hunter2 https://h/x?key=abcdef12 | sudo -S tee /etc/x`,
		"long":   strings.Repeat("go test ./... -run 'TestX|TestY' && ", 100),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Text(s)
			}
		})
	}
}
