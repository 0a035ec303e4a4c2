package eval

import "strings"

// findNames reads the expression of find as far as names narrow what its
// actions get: find . \( -name '*.pyc' -o -name '*.pyo' \) -delete. Sources:
// POSIX find, GNU findutils 4.9.
type findNames struct {
	v      *view
	at     int
	depth  int
	names  []string // of all actions so far
	wide   bool     // an action gets files of any name
	action bool
}

// findName returns the patterns of which everything that find gives to its
// actions (or prints) fits one; ok is false when there are no such patterns.
func (v *view) findName() (patterns []string, ok bool) {
	p := findNames{v: v, at: 1}
	for p.at < len(v.line.words) {
		if s, known := v.line.words[p.at].Text(); known && (s == "(" || s == "!" || len(s) > 1 && s[0] == '-' && !findOption(s)) {
			break
		}
		p.at++
	}
	all := p.either(nil)
	if !p.action {
		return all, len(all) > 0
	}
	return p.names, !p.wide && len(p.names) > 0
}

func findOption(s string) bool {
	return s == "-L" || s == "-H" || s == "-P" || strings.HasPrefix(s, "-O")
}

// either reads terms joined by -o; the result names what makes it true.
func (p *findNames) either(around []string) []string {
	if p.depth++; p.depth > 32 {
		p.at, p.action, p.wide = len(p.v.line.words), true, true
	}
	var all []string
	narrowed := true
	for {
		names := p.both(around)
		narrowed = narrowed && len(names) > 0
		all = append(all, names...)
		if s := p.peek(); s != "-o" && s != "-or" && s != "," {
			break
		}
		p.at++
	}
	p.depth--
	if !narrowed {
		return nil
	}
	return all
}

// both reads tests and actions that must all hold.
func (p *findNames) both(around []string) []string {
	names := around
	for p.at < len(p.v.line.words) {
		switch s := p.peek(); s {
		case "-o", "-or", ",", ")":
			return names
		case "-a", "-and":
			p.at++
		case "?": // it may be -o
			p.at++
			p.wide = true
		case "!", "-not":
			p.at++
			p.skip()
		case "(":
			p.at++
			if inner := p.either(names); len(inner) > 0 {
				names = inner
			}
			if p.peek() == ")" {
				p.at++
			}
		case "-name", "-iname":
			if p.at+1 < len(p.v.line.words) {
				if t, ok := p.v.line.words[p.at+1].Text(); ok {
					names = []string{t}
				}
			}
			p.at += 2
		case "-delete", "-exec", "-execdir", "-ok", "-okdir", "-print", "-print0", "-printf", "-ls", "-fprint", "-fprint0", "-fls", "-fprintf":
			p.action = true
			p.wide = p.wide || len(names) == 0
			p.names = append(p.names, names...)
			p.skip()
		default:
			p.skip()
		}
	}
	return names
}

func (p *findNames) peek() string {
	if p.at >= len(p.v.line.words) {
		return ""
	}
	s, ok := p.v.line.words[p.at].Text()
	if !ok {
		return "?"
	}
	return s
}

// skip passes over one test or action with its arguments, or a group.
func (p *findNames) skip() {
	s := p.peek()
	p.at++
	switch s {
	case "(":
		// A negated group gives anything.
		p.either(nil)
		if p.peek() == ")" {
			p.at++
		}
	case "-delete", "-print", "-print0", "-ls", "-prune", "-quit", "-depth", "-d", "-empty", "-true", "-false", "-daystart", "-follow", "-mount", "-xdev",
		"-nogroup", "-nouser", "-readable", "-writable", "-executable", "-noleaf", "-ignore_readdir_race", "-noignore_readdir_race", "-warn", "-nowarn", "?", "!", "-not":
	case "-fprintf":
		p.at += 2
	case "-exec", "-execdir", "-ok", "-okdir":
		for p.at < len(p.v.line.words) {
			t := p.peek()
			p.at++
			if t == ";" || t == "+" {
				return
			}
		}
	default:
		if strings.HasPrefix(s, "-") {
			p.at++
		}
	}
}
