package eval

import (
	"strings"

	"safeshell/command"
	"safeshell/script"
)

// argKind is what a word of a command line is to its program.
type argKind uint8

const (
	argOperand  argKind = iota
	argOption           // -x, --long, --long=value
	argValue            // the value of the option before it
	argEnd              // --
	argTrailing         // operand after which the program reads no more options (an inner command)
)

// cmdline is a command line read with the program's table. Words that are not
// known count as operands, or as options when they begin with a known dash.
type cmdline struct {
	name  string // canonical base name; empty when it is not known
	spec  *command.Spec
	words []script.Word
	kinds []argKind    // parallel to words; kinds[0] is the name
	sub   string       // first operand of a tool with subcommands; empty when unknown or absent
	subAt int          // its index; 0 when there is none
	own   *command.Sub // what differs for the subcommand
	// unknownSub: the subcommand is not known from the text.
	unknownSub bool
	second     bool // an operand after the subcommand was seen
	hasOption  bool
	hasUnknown bool

	buf [24]argKind
	// What shortTakes found out: which options were asked for, and which of them
	// take a value. Options are letters and digits, from '0' on.
	askedShort, takesShort [2]uint64
	// What may be asked for with an answer: the bytes behind a single dash, and
	// the first ones behind two.
	seenOptions          bool
	shortSeen, longHeads byteSet
}

// canonicalName maps versioned interpreters, and programs of Windows called from
// WSL (git.exe), to the name that rules use.
func canonicalName(name string) string {
	name = script.WithoutExe(name)
	if n := len(name); n == 0 || name[n-1] > '9' || name[n-1] < '-' || name[n-1] == '/' {
		return name
	}
	for _, p := range [...]string{"python", "pip", "pypy", "perl", "ruby", "php", "node", "lua", "clang", "gcc"} {
		if rest, ok := strings.CutPrefix(name, p); ok && rest != "" && strings.Trim(rest, "0123456789.-") == "" {
			return p
		}
	}
	return name
}

// baseName is the last component of a command word.
func baseName(s string) string {
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		return s[i+1:]
	}
	return s
}

// read fills the command line in. It keeps the words that it is given.
func (c *cmdline) read(words []script.Word) {
	c.words, c.spec = words, command.Of("")
	c.own = c.spec.Sub("")
	if len(words) == 0 {
		return
	}
	for _, w := range words {
		if !w.Known() {
			c.hasUnknown = true
		}
	}
	c.name = canonicalName(commandWord(words[0]))
	c.kinds = append(c.buf[:0], argOperand)
	if c.name == "hub" && len(words) > 1 { // git with further subcommands
		if s, _ := words[1].Text(); command.Has("reset push checkout clean stash branch commit restore rm rebase switch merge", s) {
			c.name = "git"
		}
	}
	sub, ok := strings.CutPrefix(c.name, "git-")
	if ok = ok && sub != ""; ok { // git-reset is git reset, from git's exec path
		c.name = "git"
	}
	if c.spec = command.Of(c.name); ok {
		c.sub = sub
	}
	c.own = c.spec.Sub(c.sub)
	ended, valueNext := false, false
	for i := 1; i < len(words); i++ {
		kind := argOperand
		text, known := leading(words[i])
		switch {
		case valueNext:
			kind, valueNext = argValue, false
		case ended:
			if c.stops() {
				kind = argTrailing
			}
		case text == "--" && known:
			kind, ended = argEnd, true
			if c.name == "find" {
				ended = false
			}
		case len(text) > 1 && text[0] == '-' || len(text) > 1 && text[0] == '+' && isShell(c.name):
			kind = argOption
			c.hasOption = true
			valueNext = known && c.takesNext(text)
		default:
			if c.spec.Is(command.Subcommands) && c.subAt == 0 && c.sub == "" {
				c.subAt = i
				if c.unknownSub = !known; known {
					c.sub = text
				}
				c.own = c.spec.Sub(c.sub)
			} else if c.second = true; c.stops() {
				ended = true
			}
		}
		c.kinds = append(c.kinds, kind)
	}
}

// stops says that options end at the next operand.
func (c *cmdline) stops() bool { return (c.spec.Syntax|c.own.Syntax)&command.Stops != 0 }

// commandWord is the base name of a command word: also of one whose directory
// alone is not known (/b?n/rm), and of $(command -v rm).
func commandWord(w script.Word) string {
	if s, ok := w.Text(); ok {
		return baseName(s)
	}
	if n := len(w.Parts); n > 1 {
		if last := w.Parts[n-1]; last.Kind == script.Literal && strings.Contains(last.Text, "/") {
			return baseName(last.Text)
		}
	}
	if len(w.Parts) == 1 && w.Parts[0].Kind == script.Output {
		for _, by := range [...]string{"command -v ", "which ", "type -p ", "type -P ", "whence -p ", "where ", "whereis -b "} {
			if name, ok := strings.CutPrefix(w.Parts[0].Name, by); ok && !strings.ContainsAny(name, " \t\n$;|&`'\"") {
				return baseName(name)
			}
		}
	}
	return ""
}

// leading returns a word's text, or its literal beginning when the rest is not
// known.
func leading(w script.Word) (text string, known bool) {
	if s, ok := w.Text(); ok {
		return s, true
	}
	if len(w.Parts) > 0 && w.Parts[0].Kind == script.Literal {
		return w.Parts[0].Text, false
	}
	return "", false
}

// takesNext says that the value of option text is the next word.
func (c *cmdline) takesNext(text string) bool {
	if isSignal(text) {
		switch c.name {
		case "kill", "pkill", "killall", "skill":
			return false
		}
	}
	if strings.HasPrefix(text, "--") || c.spec.Is(command.OneDash) || text[0] == '+' {
		return !strings.Contains(text, "=") && c.takesValue(text)
	}
	if len(text) > 2 && c.takesValue(text) {
		return true // -tt of zip
	}
	for i := 1; i < len(text); i++ {
		if c.takesValue(shortOf(text[i])) {
			return i == len(text)-1
		}
	}
	return false
}

// isSignal recognises -9, -KILL, -SIGTERM.
func isSignal(text string) bool {
	for i := 1; i < len(text); i++ {
		if c := text[i]; (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(text) > 2 || len(text) == 2 && text[1] <= '9'
}

// takesValue says that an option has a value, which may be the next word.
func (c *cmdline) takesValue(opt string) bool {
	switch {
	case command.Has(c.spec.Options, opt):
		return true
	case !c.spec.Is(command.Subcommands):
		return false
	case c.sub == "" && c.subAt == 0:
		return command.Has(c.spec.Before, opt)
	case c.sub == "compose" && c.second && (opt == "-f" || opt == "-p"):
		return false // docker compose rm -f
	}
	return command.Has(c.own.Options, opt)
}

const shortOptions = "-0-1-2-3-4-5-6-7-8-9-a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-v-w-x-y-z-A-B-C-D-E-F-G-H-I-J-K-L-M-N-O-P-Q-R-S-T-U-V-W-X-Y-Z"

// shortTakes is takesValue for a short option, once the line was read.
func (c *cmdline) shortTakes(b byte) bool {
	at := uint(b - '0')
	if b < '0' || b > 'z' {
		return c.takesValue(shortOf(b))
	}
	word, bit := at>>6, uint64(1)<<(at&63)
	if c.askedShort[word]&bit == 0 {
		c.askedShort[word] |= bit
		if c.takesValue(shortOf(b)) {
			c.takesShort[word] |= bit
		}
	}
	return c.takesShort[word]&bit != 0
}

// shortOf returns "-x" for a letter or digit without allocating.
func shortOf(c byte) string {
	i := -1
	switch {
	case '0' <= c && c <= '9':
		i = int(c - '0')
	case 'a' <= c && c <= 'z':
		i = int(c-'a') + 10
	case 'A' <= c && c <= 'Z':
		i = int(c-'A') + 36
	}
	if i < 0 {
		return "-" + string(rune(c))
	}
	return shortOptions[i*2 : i*2+2]
}

// flag reports whether the option is given: -f also in a cluster (-rf),
// --force also as --force=x or abbreviated, --name=value with that value, and
// in no case after -- or as another option's value.
func (c *cmdline) flag(want string) bool {
	name, value, hasValue := want, "", false
	if strings.HasPrefix(want, "-") {
		if n, v, ok := strings.Cut(want, "="); ok {
			name, value, hasValue = n, v, true
		}
	}
	found := false
	c.eachOption(name, func(v string, given, known bool) bool {
		if !hasValue || given && known && v == value {
			found = true
		}
		return !found
	})
	return found
}

// eachOption calls f with the value of each occurrence of an option, until f
// returns false. given says that there is a value at all, known that it is
// known.
func (c *cmdline) eachOption(name string, f func(value string, given, known bool) bool) {
	if !c.hasOption || !c.mayHave(name) {
		return
	}
	long := strings.HasPrefix(name, "--")
	for i := 1; i < len(c.kinds); i++ {
		if c.kinds[i] != argOption {
			continue
		}
		text, known := leading(c.words[i])
		next := func() (string, bool, bool) {
			if i+1 < len(c.words) && c.kinds[i+1] != argEnd {
				v, ok := c.words[i+1].Text()
				return v, true, ok
			}
			return "", false, true
		}
		if long || c.spec.Is(command.OneDash) || strings.HasPrefix(text, "--") || len(name) > 2 {
			opt, v, eq := strings.Cut(text, "=")
			if opt != name && !(c.spec.Is(command.OneDash) && !long && opt == "-"+name) && !c.abbreviates(opt, name) {
				if !(long && c.spec.Is(command.OneDash) && "-"+opt == name) {
					continue
				}
			}
			given := eq
			if !eq {
				v, given, known = next()
			}
			if !f(v, given, known) {
				return
			}
			continue
		}
		// A cluster of short options; a value may be attached.
		for k := 1; k < len(text); k++ {
			takes := c.shortTakes(text[k])
			if shortOf(text[k]) == name {
				v, given := text[k+1:], k+1 < len(text)
				v = strings.TrimPrefix(v, "=")
				if !given {
					v, given, known = next()
				}
				if !f(v, given, known) {
					return
				}
			}
			if takes {
				break
			}
		}
	}
}

// mayHave reports whether an option may be given; false is certain. Rules ask for
// many that are not.
func (c *cmdline) mayHave(name string) bool {
	if c.spec.Is(command.OneDash) || len(name) < 2 {
		return true
	}
	if !c.seenOptions {
		c.seenOptions = true
		for i := 1; i < len(c.kinds); i++ {
			if c.kinds[i] != argOption {
				continue
			}
			text, _ := leading(c.words[i])
			if strings.HasPrefix(text, "--") {
				if len(text) > 2 {
					c.longHeads.add(text[2])
				}
				continue
			}
			for k := 1; k < len(text); k++ {
				c.shortSeen.add(text[k])
			}
		}
	}
	switch {
	case len(name) == 2:
		return name[0] != '-' || c.shortSeen.has(name[1])
	case strings.HasPrefix(name, "--"):
		return c.longHeads.has(name[2])
	}
	return true
}

// abbreviates says that opt is given for want: a beginning of at least one
// letter, which is no option of its own.
func (c *cmdline) abbreviates(opt, want string) bool {
	return c.spec.Is(command.Abbreviated) && len(opt) > 2 && len(opt) < len(want) && strings.HasPrefix(want, opt) &&
		strings.HasPrefix(opt, "--") && !command.Has(c.spec.Whole, opt)
}

// subcommand reports whether the operands begin with one of the subcommands,
// and how many of them that takes.
func (c *cmdline) subcommand(want [][]string) (words int, ok bool) {
	for _, w := range want {
		if c.operandsBegin(w) {
			return len(w), true
		}
	}
	return 0, false
}

func (c *cmdline) operandsBegin(want []string) bool {
	k := 0
	if c.subAt == 0 && c.sub != "" { // git-reset
		if c.sub != want[0] {
			return false
		}
		k = 1
	}
	for i := 1; i < len(c.kinds) && k < len(want); i++ {
		if c.kinds[i] == argOperand || c.kinds[i] == argTrailing {
			if s, ok := c.words[i].Text(); !ok || s != want[k] {
				return false
			}
			k++
		}
	}
	return k == len(want)
}

// operands calls f with the index of each operand after the first skip ones.
func (c *cmdline) operands(skip int, f func(i int) bool) {
	if c.subAt == 0 && c.sub != "" && skip > 0 {
		skip--
	}
	for i := 1; i < len(c.kinds); i++ {
		if c.kinds[i] == argOperand || c.kinds[i] == argTrailing {
			if skip > 0 {
				skip--
				continue
			}
			if !f(i) {
				return
			}
		}
	}
}

func isShell(name string) bool { return strings.HasSuffix(name, "sh") && name != "tclsh" }
