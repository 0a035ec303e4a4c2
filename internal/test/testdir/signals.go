package testdir

import (
	"os"
	"os/signal"
	"syscall"
)

// DefaultSignals gives the programs that this one starts the signals of a
// terminal as they are by default, also where its caller ignores them (nohup, a
// job in the background of a shell). This process itself goes on ignoring those.
func DefaultSignals() {
	sink := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if signal.Ignored(s) {
			signal.Notify(sink, s)
		}
	}
}
