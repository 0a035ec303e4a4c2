// Command stamp writes the wall clock, in nanoseconds, into the file that it is
// given: the moment at which a command that waited for an answer runs.
package main

import (
	"os"
	"strconv"
	"time"
)

func main() {
	now := strconv.FormatInt(time.Now().UnixNano(), 10)
	if len(os.Args) != 2 || os.WriteFile(os.Args[1], []byte(now), 0o600) != nil {
		os.Exit(1)
	}
}
