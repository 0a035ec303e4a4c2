package spool

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"safeshell/spool/mask"
)

// BenchmarkAsk is the round trip of a request that is answered at once, in the
// same process, while others wait. ms/obey is the time from the written
// decision to the return of Ask.
func BenchmarkAsk(b *testing.B) {
	for _, waiting := range []int{0, 1, 500} {
		for _, wake := range []string{"watch", "fifo", "poll"} {
			b.Run(fmt.Sprintf("waiting=%d/%s", waiting, wake), func(b *testing.B) {
				s := newSpool(b)
				watched(b, s)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				published := make(chan bool)
				others := s.clone()
				others.newWatcher = noWatcher // the limit is 128 a user
				for i := range waiting {
					go others.Ask(ctx, request("other", fmt.Sprint(i)), AskOptions{Waiting: func(Request) { published <- true }})
					<-published
				}
				switch wake {
				case "fifo":
					s.newWatcher = noWatcher
				case "poll":
					s.newWatcher, s.mkfifo = noWatcher, noFIFO
				}
				var obey time.Duration
				answered := make(chan time.Time, 1)
				o := answering(func(r Request) {
					if _, err := s.Answer(r.ID, Once, "", ByMonitor); err != nil {
						b.Error(err)
					}
					answered <- time.Now()
				})
				b.ReportAllocs()
				for b.Loop() {
					ask(b, s, request("rm", "-rf", "x"), o)
					obey += max(0, time.Since(<-answered))
				}
				b.ReportMetric(obey.Seconds()*1000/float64(b.N), "ms/obey")
			})
		}
	}
}

func noWatcher() (*fsnotify.Watcher, error) { return nil, fsnotify.ErrClosed }

func noFIFO(string, uint32) error { return syscall.EPERM }

// clone opens the same spool again, as another process would.
func (s *Spool) clone() *Spool {
	c, err := Open(s.dir)
	if err != nil {
		panic(err)
	}
	return c
}

func BenchmarkPending500(b *testing.B) {
	s := newSpool(b)
	watched(b, s)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	published := make(chan bool)
	s.newWatcher = noWatcher
	for i := range 500 {
		go s.Ask(ctx, request("other", fmt.Sprint(i)), AskOptions{Waiting: func(Request) { published <- true }})
		<-published
	}
	b.ReportAllocs()
	for b.Loop() {
		if all, err := s.Pending(); err != nil || len(all) != 500 {
			b.Fatal(len(all), err)
		}
	}
}

// What a command pays that is not asked about.
func BenchmarkHotPath(b *testing.B) {
	s := newSpool(b)
	g := newGrants(b)
	j := OpenJournal(filepath.Join(b.TempDir(), "log", "journal.jsonl"))
	key := request("rm", "x").Key()
	b.Run("Open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Open(s.Dir()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("TakePass", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.TakePass(key)
		}
	})
	b.Run("Find", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			g.Find("r", key)
		}
	})
	b.Run("Append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := j.Append(Entry{Kind: KindDecision, Action: "allow", Command: "git status"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Mask1MB", func(b *testing.B) {
		b.ReportAllocs()
		text := strings.Repeat("curl -H 'Authorization: Bearer abc' https://u:p@h/ && ", 20000)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			mask.Text(text)
		}
	})
}
