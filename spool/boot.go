package spool

// Boot returns the time since boot with suspend counted, in nanoseconds, and
// the name of this boot; "" where the system names none, and then nothing that
// must not outlive the boot is to be accepted.
func Boot() (ns int64, id string) { return int64(bootNow()), bootID() }
