package spool

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// Key is what an answer is bound to when it outlives its request: the same
// user, session, directory, executable and exact command, and the same rules
// that it was asked about.
type Key struct {
	UID     int
	Session string
	Dir     string
	Exe     string
	ArgvSHA string // of ArgvSHA or LineSHA
	Rules   string // that were shown, by JoinRules; empty where they do not matter
}

// Hash returns the key as 64 hexadecimal digits.
func (k Key) Hash() string {
	parts := []string{strconv.Itoa(k.UID), k.Session, k.Dir, k.Exe, k.ArgvSHA}
	if k.Rules != "" {
		parts = append(parts, k.Rules)
	}
	return hashStrings("key", parts...)
}

// ArgvSHA binds an answer to exactly this argument list. Lengths are hashed
// with the arguments, so that no two lists share a value: ["a b"] and
// ["a", "b"] differ. Any bytes are allowed.
func ArgvSHA(argv []string) string { return hashStrings("argv", argv...) }

// LineSHA is the same for a command line or script as text; it never equals
// the hash of an argument list.
func LineSHA(line string) string { return hashStrings("line", line) }

// Key returns what a late answer to r is bound to. Call it on the request as
// given to Ask: what is stored is masked and cut.
func (r Request) Key() Key {
	return Key{UID: r.UID, Session: r.Session, Dir: r.Dir, Exe: r.Exe, ArgvSHA: r.sha(), Rules: RulesOf(r.Parts)}
}

// sha is the hash of the command, computed when the caller gave none.
func (r Request) sha() string {
	switch {
	case r.ArgvSHA != "":
		return r.ArgvSHA
	case len(r.Argv) > 0:
		return ArgvSHA(r.Argv)
	}
	return LineSHA(r.Line)
}

func hashStrings(kind string, parts ...string) string {
	h := sha256.New()
	var n [8]byte
	for _, p := range append([]string{kind}, parts...) {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// isHash reports whether s may name a file after a hash.
func isHash(s string) bool {
	if len(s) != 2*sha256.Size {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
