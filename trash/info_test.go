package trash

import (
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestInfoThereAndBack(t *testing.T) {
	var all []byte
	for c := 1; c < 256; c++ {
		all = append(all, byte(c))
	}
	in := info{
		path: "/a+b %41/" + string(all), deleted: time.Date(2024, 2, 29, 23, 59, 1, 5, time.Local),
		group: groupID(time.Now(), rand.Uint64()), cwd: "/w\n[x]", session: "s=1\nPath=/etc", class: 2, parents: []uint32{0o700, 0o1777, 0},
	}
	b := in.encode()
	got, err := parseInfo(b)
	if err != nil {
		t.Fatal(err)
	}
	in.date, in.deleted = "2024-02-29T23:59:01", in.deleted.Truncate(time.Second)
	if !got.deleted.Equal(in.deleted) {
		t.Error(got.deleted)
	}
	got.deleted = in.deleted
	if got.path != in.path || got.group != in.group || got.cwd != in.cwd || got.session != in.session || got.class != 2 ||
		got.date != in.date || len(got.parents) != 3 || got.parents[1] != 0o1777 {
		t.Errorf("%+v\n%+v", in, got)
	}
	if lines := strings.Split(string(b), "\n"); lines[0] != "[Trash Info]" || !strings.HasPrefix(lines[1], "Path=/") || lines[2] != "DeletionDate=2024-02-29T23:59:01" {
		t.Errorf("%s", b)
	}
	if p, err := url.PathUnescape(strings.TrimPrefix(strings.Split(string(b), "\n")[1], "Path=")); err != nil || p != in.path {
		t.Errorf("another reader: %q, %v", p, err)
	}
}

func TestParseInfo(t *testing.T) {
	for _, c := range []struct{ name, text, path, date, err string }{
		{"plain", "[Trash Info]\nPath=/a%20b\nDeletionDate=2020-01-02T03:04:05\n", "/a b", "2020-01-02T03:04:05", ""},
		{"plus is a plus", "[Trash Info]\nPath=/a+b%2Bc\n", "/a+b+c", "", ""},
		{"old date", "[Trash Info]\nPath=/a\nDeletionDate=20200102T03:04:05\n", "/a", "2020-01-02T03:04:05", ""},
		{"first counts", "[Trash Info]\nPath=/a\nPath=/b\nDeletionDate=2020-01-02T03:04:05\nDeletionDate=x", "/a", "2020-01-02T03:04:05", ""},
		{"other order, other keys", "[Trash Info]\nFoo=1\nDeletionDate=2020-01-02T03:04:05\n\n# x\nPath=b/c", "b/c", "2020-01-02T03:04:05", ""},
		{"other section", "[Trash Info]\n[Other]\nPath=/a\n", "", "", "no Path"},
		{"carriage returns", "[Trash Info]\r\nPath=/a\r\nDeletionDate=2020-01-02T03:04:05\r\n", "/a", "2020-01-02T03:04:05", ""},
		{"not UTF-8", "[Trash Info]\nPath=/%FF\xfe\n", "/\xff\xfe", "", ""},
		{"bad date", "[Trash Info]\nPath=/a\nDeletionDate=yesterday\n", "/a", "", ""},
		{"zone", "[Trash Info]\nPath=/a\nDeletionDate=2020-01-02T03:04:05Z\n", "/a", "", ""},
		{"fraction", "[Trash Info]\nPath=/a\nDeletionDate=2020-01-02T03:04:05.5\n", "/a", "", ""},
		{"day 31", "[Trash Info]\nPath=/a\nDeletionDate=2020-02-31T03:04:05\n", "/a", "", ""},
		{"empty", "", "", "", "first line"},
		{"no header", "Path=/a\n", "", "", "first line"},
		{"no path", "[Trash Info]\nDeletionDate=2020-01-02T03:04:05\n", "", "2020-01-02T03:04:05", "no Path"},
		{"empty path", "[Trash Info]\nPath=\n", "", "", "empty"},
		{"half escape", "[Trash Info]\nPath=/a%2\n", "", "", "percent"},
		{"bad escape", "[Trash Info]\nPath=/a%zz\n", "", "", "percent"},
		{"NUL", "[Trash Info]\nPath=/a%00b\n", "", "", "NUL"},
		{"long", "[Trash Info]\nPath=/" + strings.Repeat("a", maxInfo) + "\n", "", "", "longer"},
	} {
		in, err := parseInfo([]byte(c.text))
		date := ""
		if !in.deleted.IsZero() {
			date = in.deleted.Format(dateLayout)
		}
		if in.path != c.path || date != c.date {
			t.Errorf("%s: %q %q", c.name, in.path, date)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}

func TestParseInfoIgnoresWhatItCannotUse(t *testing.T) {
	in, err := parseInfo([]byte("[Trash Info]\nPath=/a\nX-SafeShell-Group=\x1b[2J\nX-SafeShell-Parents=755,99,700\nX-SafeShell-Class=7\nX-SafeShell-Cwd=%zz\n"))
	if err != nil || in.group != "" || len(in.parents) != 1 || in.class != 0 || in.cwd != "" {
		t.Errorf("%+v %v", in, err)
	}
}

func TestGroupIDsSortByTime(t *testing.T) {
	a := time.Now()
	b := a.Add(time.Microsecond)
	if groupID(a, 1<<19) >= groupID(b, 0) {
		t.Error("the later call has the smaller id")
	}
	got, ok := groupTime(groupID(a, 7))
	if !ok || !got.Equal(a.Truncate(time.Microsecond)) {
		t.Error(got, a)
	}
	for _, bad := range []string{"", "zzzzzzzzzzzzzzz", "x"} {
		if _, ok := groupTime(bad); ok {
			t.Errorf("%q has a time", bad)
		}
	}
}

// FuzzParseInfo: no file makes the reader panic or gives a path that leads out
// of the trash's top directory.
func FuzzParseInfo(f *testing.F) {
	f.Add([]byte("[Trash Info]\nPath=/a%20b\nDeletionDate=2020-01-02T03:04:05\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := parseInfo(b)
		if err == nil {
			if in.path == "" || strings.IndexByte(in.path, 0) >= 0 {
				t.Fatalf("accepted the path %q", in.path)
			}
			again, err := parseInfo(in.encode())
			if err != nil || again.path != in.path {
				t.Fatalf("%q became %q, %v", in.path, again.path, err)
			}
		}
		for _, top := range []string{"", "/mnt/x"} {
			s := &store{path: "/t", top: top}
			p, why := s.original(in.path)
			if (p == "") == (why == "") {
				t.Fatalf("path %q and problem %q", p, why)
			}
			if p != "" && (!filepath.IsAbs(p) || p != filepath.Clean(p) || top != "" && !under(p, top)) {
				t.Fatalf("%q gives %q", in.path, p)
			}
		}
		Show(in.path)
		Quote(in.cwd, true)
	})
}

func FuzzUnescape(f *testing.F) {
	f.Add("a%20b+c%2B")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := unescape(s)
		want, uerr := url.PathUnescape(s)
		if uerr == nil && strings.IndexByte(want, 0) < 0 {
			if err != nil || got != want {
				t.Fatalf("%q: %q, %v; url says %q", s, got, err, want)
			}
		} else if err == nil {
			t.Fatalf("%q: %q, but url says %v", s, got, uerr)
		}
		if strings.IndexByte(s, 0) < 0 {
			if back, err := unescape(string(appendEscaped(nil, s))); err != nil || back != s {
				t.Fatalf("%q: back %q, %v", s, back, err)
			}
		}
	})
}
