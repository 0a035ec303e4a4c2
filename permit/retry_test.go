package permit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"safeshell/config"
	"safeshell/internal/test/testdir"
)

func retries(t *testing.T) *Retries {
	return OpenRetries(config.Paths{Home: filepath.Join(testdir.New(t), "home")})
}

var sample = Retry{
	Kind: Shell, Commands: []string{"curl", "new\nline"}, Script: []byte("initcmds curl\n\xff\x00end"), File: "dir/\xffs.sh",
	Args: []string{"", "a b", "\x80"}, Dir: "/tmp/\xfe", Environ: []string{"A=1", "B=\xff\nC=2", "EMPTY="}, Limit: 90 * time.Second,
	Session: "agent:1", Agent: "agent", Context: "ai",
}

func TestRetryKeepsEverything(t *testing.T) {
	s := retries(t)
	id, err := s.Put(sample)
	if err != nil || id != "rt1" {
		t.Fatalf("%q, %v", id, err)
	}
	if fi, err := os.Stat(s.path(id)); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi, err)
	}
	want := sample
	for _, get := range []func() (Retry, error){
		func() (Retry, error) { return s.Peek(id) },
		func() (Retry, error) { return s.Take(id, UsedUp) },
	} {
		got, err := get()
		want.ID, want.Created = id, got.Created
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
	}
	data, err := os.ReadFile(s.path(id))
	if err != nil || strings.Contains(string(data), "environ") {
		t.Errorf("a used retry keeps its environment: %s, %v", data, err)
	}
	if _, err := s.Take(id, UsedUp); !errors.Is(err, ErrUsed) {
		t.Errorf("second use: %v", err)
	}
	if id, err := s.Put(sample); err != nil || id != "rt2" {
		t.Errorf("an id was given twice: %q, %v", id, err)
	}
}

func TestRetryRefusals(t *testing.T) {
	s := retries(t)
	for _, id := range []string{"rt1", "", "rt", "rt0", "rt01", "../rt1", "rt1.json", "rt-1", "rt99999999999999999999", "RT1", "rt1\n"} {
		if _, err := s.Take(id, UsedUp); !errors.Is(err, ErrNoRetry) {
			t.Errorf("%q: %v", id, err)
		}
	}
	id, _ := s.Put(sample)
	if _, err := s.Take(id, UserDeny); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Take(id, UsedUp); !errors.Is(err, ErrDenied) {
		t.Errorf("after a denial: %v", err)
	}
	id, _ = s.Put(sample)
	ns, boot := s.clock.boot()
	s.clock.boot = func() (int64, string) { return ns + int64(RetryTTL) + 1e9, boot }
	if _, err := s.Take(id, UsedUp); !errors.Is(err, ErrExpired) {
		t.Errorf("after five minutes: %v", err)
	}
	s.clock.boot = func() (int64, string) { return ns, "another boot" }
	if _, err := s.Take(id, UsedUp); !errors.Is(err, ErrExpired) {
		t.Errorf("after a boot: %v", err)
	}
	s.clock.boot = func() (int64, string) { return ns, "" }
	if _, err := s.Put(sample); err == nil {
		t.Error("stored without a boot")
	}
}

// The wall clock may jump: ages count by the clock since boot.
func TestRetryWallClock(t *testing.T) {
	s := retries(t)
	id, _ := s.Put(sample)
	s.wall = func() time.Time { return time.Now().Add(-1000 * time.Hour) }
	if _, err := s.Put(sample); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Peek(id); err != nil {
		t.Error(err)
	}
}

func TestRetryDamaged(t *testing.T) {
	s := retries(t)
	id, _ := s.Put(sample)
	good, _ := os.ReadFile(s.path(id))
	for name, data := range map[string]string{
		"truncated": string(good[:len(good)-2]), "half": string(good[:len(good)/2]), "empty": "", "binary": "\x00\x01",
		"newer": strings.Replace(string(good), `"v":1`, `"v":2`, 1), "another's": strings.Replace(string(good), `"rt1"`, `"rt2"`, 1),
		"odd kind": strings.Replace(string(good), `"shell"`, `"perl"`, 1), "null": "null",
	} {
		must(t, os.WriteFile(s.path(id), []byte(data), 0o600))
		if _, err := s.Take(id, UsedUp); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if next, err := s.Put(sample); err != nil || next == id {
			t.Errorf("%s stops others: %q, %v", name, next, err)
		}
	}
	must(t, os.Remove(s.path(id)))
	must(t, os.Symlink("/etc/passwd", s.path(id)))
	if _, err := s.Take(id, UsedUp); err == nil {
		t.Error("followed a link")
	}
	must(t, os.WriteFile(filepath.Join(s.dir, "last"), []byte("rubbish"), 0o600))
	if id, err := s.Put(sample); err != nil || !validID(id) {
		t.Errorf("%q, %v", id, err)
	}
}

func TestRetryAtMost100(t *testing.T) {
	s := retries(t)
	for i := range MaxRetries + 3 {
		if id, err := s.Put(Retry{Kind: CheckOnly}); err != nil || id != fmt.Sprintf("rt%d", i+1) {
			t.Fatalf("%q, %v", id, err)
		}
	}
	for id, there := range map[string]bool{"rt1": false, "rt3": false, "rt4": true, "rt103": true} {
		if _, err := s.Peek(id); (err == nil) != there {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// Of many at one moment exactly one gets it.
func TestRetrySingleUse(t *testing.T) {
	s := retries(t)
	for range 10 {
		id, err := s.Put(sample)
		must(t, err)
		var wg sync.WaitGroup
		var mu sync.Mutex
		got := 0
		for range 8 {
			wg.Go(func() {
				if _, err := (&Retries{dir: s.dir, clock: systemClock(), wall: time.Now}).Take(id, UsedUp); err == nil {
					mu.Lock()
					got++
					mu.Unlock()
				} else if !errors.Is(err, ErrUsed) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got != 1 {
			t.Errorf("%s was taken %d times", id, got)
		}
	}
}

func FuzzRetry(f *testing.F) {
	f.Add([]byte(`{"v":1,"id":"rt1","state":"waiting","stamp":{"boot_id":"b","boot_ns":1},"kind":"shell","script":"eA==","end":true}`))
	f.Add([]byte(`{"v":9}`))
	f.Add([]byte(`{"v":1,"id":"rt1","state":"used","end":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeRetry(data)
		if err != nil {
			return
		}
		if r.V != storeVersion || !r.End || !validID(r.ID) {
			t.Errorf("accepted %+v", r)
		}
		_ = r.retry()
	})
}

func FuzzRemembered(f *testing.F) {
	f.Add([]byte(`{"v":1,"project":"/p","commands":[{"command":"curl"}],"end":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := decodeRemembered(data); err == nil && !r.End {
			t.Errorf("accepted %+v", r)
		}
	})
}

func FuzzPermissions(f *testing.F) {
	f.Add([]byte("commands: [curl, ./x]\nwrite: [~/.cache]\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("allow_project_commands: yes\n--- \n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseFile("P", data)
		if err != nil && (!strings.HasPrefix(err.Error(), "P:") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("the error does not name the place in one line: %q", err)
		}
		for _, c := range append(p.Commands, p.Write...) {
			if c == "" {
				t.Error("an empty entry")
			}
		}
	})
}

func TestParseFile(t *testing.T) {
	for _, c := range []struct {
		text string
		want File
		err  string
	}{
		{"", File{}, ""},
		{"# nothing\n", File{}, ""},
		{"commands: []\n", File{}, ""},
		{"commands:\n", File{}, ""},
		{"commands: [curl, ./scripts/build.sh]\nallow_project_commands: true\nstrict_paths: true\nwrite: [~/.cache/go, /srv/x]\n",
			File{[]string{"curl", "./scripts/build.sh"}, true, true, []string{"~/.cache/go", "/srv/x"}}, ""},
		{"commands: [curl]\nread: [x]\n", File{}, `p:2:1: unknown key "read"`},
		{"permissions: {commands: [curl]}\n", File{}, "p:1:1: unknown key"},
		{"commands: curl\n", File{}, "p:1:11: commands: write a list"},
		{"commands: [curl, '']\n", File{}, "p:1:18: commands: each entry"},
		{"commands:\n- curl\n- [x]\n", File{}, "p:3:3: commands: each entry"},
		{"commands: [a]\ncommands: [b]\n", File{}, "p:2:1: the key"},
		{"allow_project_commands: maybe\n", File{}, "p:1:25: allow_project_commands: write true or false"},
		{"write: [../x]\n", File{}, "p:1:9: write:"},
		{"- curl\n", File{}, "p:1:1: write it as key"},
		{"commands: [curl\n", File{}, "p:1:1: not valid YAML"},
		{"commands: [a]\n---\ncommands: [b]\n", File{}, "more than one YAML document"},
	} {
		got, err := ParseFile("p", []byte(c.text))
		if c.err == "" && (err != nil || !reflect.DeepEqual(got, c.want)) {
			t.Errorf("%q: %+v, %v", c.text, got, err)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %v, want %q", c.text, err, c.err)
		}
	}
}
