package trash

import (
	"fmt"
	"strings"
)

// When rm asks (its RMI_ values).
const (
	askSometimes = iota // about write-protected files, on a terminal
	askAlways
	askNever
)

// options are the settings of one rm command line.
type options struct {
	ignoreMissing bool
	ask           int
	once          bool // -I
	recursive     bool
	dir           bool
	verbose       bool
	oneFS         bool
	preserveRoot  bool
	preserveAll   bool
	presumeTTY    bool
}

// cmdline is a parsed rm command line.
type cmdline struct {
	options
	operands []string
	info     bool   // --help or --version
	usage    string // a usage error, as rm words it, without the program's name
	tryHelp  bool   // the usage error ends in the "Try" line
	foreign  bool   // the unknown option means something to another rm
}

// longOption is one of rm's long options: what may follow and what it does.
type longOption struct {
	name string
	arg  bool // takes an optional argument after =
	set  func(c *cmdline, typed, val string, has bool)
}

func longOptions() []longOption {
	return []longOption{
		{"force", false, func(c *cmdline, _, _ string, _ bool) { c.short('f') }},
		{"interactive", true, setInteractive},
		{"one-file-system", false, func(c *cmdline, _, _ string, _ bool) { c.oneFS = true }},
		{"no-preserve-root", false, func(c *cmdline, typed, _ string, _ bool) {
			if typed != "no-preserve-root" {
				c.usage = "you may not abbreviate the --no-preserve-root option"
				return
			}
			c.preserveRoot = false
		}},
		{"preserve-root", true, func(c *cmdline, _, val string, has bool) {
			switch {
			case !has:
			case val == "all":
				c.preserveAll = true
			default:
				c.usage = "unrecognized --preserve-root argument: " + Quote(val, false)
				return
			}
			c.preserveRoot = true
		}},
		// Undocumented, for rm's own tests and ours.
		{"-presume-input-tty", false, func(c *cmdline, _, _ string, _ bool) { c.presumeTTY = true }},
		{"recursive", false, func(c *cmdline, _, _ string, _ bool) { c.short('r') }},
		{"dir", false, func(c *cmdline, _, _ string, _ bool) { c.short('d') }},
		{"verbose", false, func(c *cmdline, _, _ string, _ bool) { c.short('v') }},
		{"help", false, func(c *cmdline, _, _ string, _ bool) { c.info = true }},
		{"version", false, func(c *cmdline, _, _ string, _ bool) { c.info = true }},
	}
}

// setInteractive handles --interactive[=WHEN]; WHEN may be abbreviated and has
// the synonyms of rm.c's interactive_args.
func setInteractive(c *cmdline, _, val string, has bool) {
	if !has {
		c.short('i')
		return
	}
	kind := byte(0)
	for _, w := range []struct {
		word string
		kind byte
	}{{"never", 'n'}, {"no", 'n'}, {"none", 'n'}, {"once", 'I'}, {"always", 'i'}, {"yes", 'i'}} {
		if w.word == val {
			kind = w.kind
			break
		}
		if strings.HasPrefix(w.word, val) {
			if kind != 0 && kind != w.kind {
				kind = '?'
			} else {
				kind = w.kind
			}
		}
	}
	switch kind {
	case 'n':
		c.ask, c.once = askNever, false
	case 'i', 'I':
		c.short(kind)
	case '?':
		c.usage = fmt.Sprintf("ambiguous argument %s for '--interactive'", Quote(val, false))
		c.tryHelp = true
	default:
		c.usage = fmt.Sprintf("invalid argument %s for '--interactive'", Quote(val, false)) + `
Valid arguments are:
  - 'never', 'no', 'none'
  - 'once'
  - 'always', 'yes'`
		c.tryHelp = true
	}
}

// short applies a one-letter option; false when rm has none of that letter.
func (c *cmdline) short(o byte) bool {
	switch o {
	case 'f':
		c.ask, c.ignoreMissing, c.once = askNever, true, false
	case 'i':
		c.ask, c.ignoreMissing, c.once = askAlways, false, false
	case 'I':
		c.ask, c.ignoreMissing, c.once = askSometimes, false, true
	case 'r', 'R':
		c.recursive = true
	case 'd':
		c.dir = true
	case 'v':
		c.verbose = true
	default:
		return false
	}
	return true
}

// parse reads args (without the program's name) as GNU rm's getopt_long does:
// options count wherever they stand unless posix (POSIXLY_CORRECT) is set, "--"
// ends them, unique abbreviations of long ones are taken, the last of -f, -i,
// -I, --interactive wins. It stops at the first error, as rm does.
func parse(args []string, posix bool) cmdline {
	c := cmdline{options: options{preserveRoot: true}}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			c.operands = append(c.operands, args[i+1:]...)
			return c
		case len(a) < 2 || a[0] != '-':
			if posix {
				c.operands = append(c.operands, args[i:]...)
				return c
			}
			c.operands = append(c.operands, a)
		case a[1] == '-':
			c.long(a[2:])
		default:
			for j := 1; j < len(a) && c.usage == ""; j++ {
				if !c.short(a[j]) {
					c.usage, c.tryHelp = "invalid option -- '"+a[j:j+1]+"'", true
					// -P, -W, -x: BSD; -g: uutils.
					c.foreign = strings.IndexByte("PWxg", a[j]) >= 0
				}
			}
		}
		if c.usage != "" || c.info {
			return c
		}
	}
	return c
}

func (c *cmdline) long(a string) {
	name, val, has := strings.Cut(a, "=")
	var found []longOption
	for _, o := range longOptions() {
		if o.name == name {
			found = []longOption{o}
			break
		}
		if strings.HasPrefix(o.name, name) {
			found = append(found, o)
		}
	}
	switch {
	case len(found) == 0:
		c.usage, c.tryHelp = "unrecognized option '--"+a+"'", true
		// A newer or another rm may know it and remove without asking.
		c.foreign = true
	case len(found) > 1:
		c.usage, c.tryHelp = "option '--"+a+"' is ambiguous; possibilities:", true
		for _, o := range found {
			c.usage += " '--" + o.name + "'"
		}
	case has && !found[0].arg:
		c.usage, c.tryHelp = "option '--"+found[0].name+"' doesn't allow an argument", true
	default:
		found[0].set(c, name, val, has)
	}
}

// realArgs are options for a real rm that removes some of the operands: it
// must ask nothing, since that is done, and say what the call would say.
func (o options) realArgs() []string {
	var a []string
	if o.ignoreMissing {
		a = append(a, "-f")
	}
	if o.recursive {
		a = append(a, "-r")
	}
	if o.dir {
		a = append(a, "-d")
	}
	if o.verbose {
		a = append(a, "-v")
	}
	if o.oneFS {
		a = append(a, "--one-file-system")
	}
	if o.preserveAll {
		a = append(a, "--preserve-root=all")
	}
	return append(a, "--")
}
