package nasty

import (
	"os"
	"runtime/debug"
)

// Shrink gives back memory, and forgets how much was in use: Linux takes a process
// for as large as the one that started it ever was.
func Shrink() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}
