package trash

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// fill makes a trash of n files that were in the work directory.
func fill(b testing.TB, e Env, n int) {
	b.Helper()
	for _, d := range []string{"files", "info"} {
		if err := os.MkdirAll(filepath.Join(trashDir(e), d), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	for i := range n {
		name := "e" + strconv.Itoa(i)
		in := info{path: filepath.Join(e.Dir, name), deleted: e.now().Local(), group: groupID(e.now(), uint64(i)), cwd: e.Dir, parents: []uint32{0o755, 0o700}}
		if err := os.WriteFile(filepath.Join(trashDir(e), "info", name+infoSuffix), in.encode(), 0o600); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(trashDir(e), "files", name), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEntries: ns an entry, in a trash of 10,000.
func BenchmarkEntries(b *testing.B) {
	const n = 10_000
	for name, op := range map[string]func(e Env, items []Item) []Outcome{
		"list":    nil,
		"restore": func(e Env, items []Item) []Outcome { return Restore(e, items, RestoreOptions{}) },
		"purge":   Purge,
		"select": func(e Env, items []Item) []Outcome {
			var names []string
			for i := range 1000 {
				names = append(names, "e"+strconv.Itoa(i))
			}
			if got, errs := Select(items, Selection{Names: names, Last: true}, e.now()); len(got) < 1000 || errs != nil {
				b.Fatal(len(got), errs)
			}
			return nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			e, _, _ := scratchEnv(b)
			e.MountInfo = noMounts(b)
			b.ReportAllocs()
			for first := true; b.Loop(); first = false {
				b.StopTimer()
				if first || name == "restore" || name == "purge" {
					os.RemoveAll(e.Dir)
					os.Mkdir(e.Dir, 0o755)
					fill(b, e, n)
				}
				b.StartTimer()
				items, errs := List(e)
				if len(items) != n || errs != nil {
					b.Fatal(len(items), errs)
				}
				if op == nil {
					continue
				}
				for _, o := range op(e, items) {
					if o.Err != nil {
						b.Fatal(o.Err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entry")
		})
	}
}
