package eval

import (
	"os"
	"strings"

	"safeshell/script"
)

// comp is one component of a path that a command names.
type comp struct {
	text    string // literal text, or the pattern
	glob    bool   // holds unquoted pattern characters
	unknown bool   // holds a part that is not known
}

// tpath is a path as far as it is known: absolute, without . and .. where that
// can be told.
type tpath struct {
	comps []comp
	// rootless: what stands before comps is not known (an unknown working
	// directory, or a word that begins with an unknown part).
	rootless bool
	unknown  bool // some part is not known
	glob     bool
	// home says where the path goes on below the home directory: the number of
	// the home's components; homeOutside when it does not lie there.
	home  homeIndex
	base  int  // how many components are those of the working directory
	slash bool // written with a trailing slash
	// ifEmpty is the path should the unknown parts be empty; nil when nothing
	// is unknown or nothing would be left.
	ifEmpty *tpath
	// others are what the path would be for values that an unknown part may
	// have (the default of ${x:-default}, what other branches assign).
	others []tpath
}

// homeIndex is an index of components; the zero value says that it was not
// worked out.
type homeIndex int

const homeOutside homeIndex = -1

// findHome works home out for a path whose beginning is literal.
func (p *tpath) findHome(home string) {
	if home == "" || p.rootless {
		return
	}
	n := 0
	rp := rulePath{rest: home}
	for it := rp.iter(); ; n++ {
		want, ok := it.next()
		if !ok {
			p.home = homeIndex(n)
			return
		}
		if n >= len(p.comps) {
			p.home = homeOutside
			return
		}
		c := &p.comps[n]
		if c.glob || c.unknown {
			return
		}
		if c.text != want {
			p.home = homeOutside
			return
		}
	}
}

// pathOf reads a word as a path. dir is the working directory, empty when it
// is not known.
func (v *view) pathOf(w script.Word, dir string) tpath {
	if len(w.Parts) > 2 && w.Parts[0].Kind == script.Literal && w.Parts[0].Text == "/proc/" && w.Parts[1].Kind == script.Variable {
		// Whichever process it is: /proc/$PID/environ.
		w.Parts = append([]script.Part{w.Parts[0], {Kind: script.Glob, Text: "*"}}, w.Parts[2:]...)
	}
	p := v.buildPath(w, dir, false)
	if (p.unknown || p.rootless) && !v.mustBeSet(w) {
		if e := v.buildPath(w, dir, true); !e.rootless && (len(e.comps) > 0 || startsAtRoot(w)) {
			p.ifEmpty = &e
		} else if p.rootless && !p.unknown && allGlob(p.comps) {
			// cd "$X" && rm -rf *: of whatever directory that is.
			p.ifEmpty = &tpath{}
		}
	}
	if p.unknown {
		p.others = v.alternatives(w, dir)
	}
	return p
}

// maxAlternatives bounds how many possible values of a word are looked at.
const maxAlternatives = 16

// alternatives returns the paths for the values that unknown parts may have.
func (v *view) alternatives(w script.Word, dir string) []tpath {
	var out []tpath
	for i, part := range w.Parts {
		if part.Kind == script.Literal || part.Kind == script.Glob {
			continue
		}
		for _, alt := range part.Alt {
			if len(out) == maxAlternatives {
				return out
			}
			x := script.Word{Parts: append([]script.Part(nil), w.Parts...)}
			x.Parts[i] = script.Part{Kind: script.Literal, Text: alt}
			out = append(out, v.buildPath(x, dir, true))
		}
	}
	return out
}

// mustBeSet says that the shell stops rather than let a part be empty: ${X:?}.
func (v *view) mustBeSet(w script.Word) bool {
	if v.c.Nested || w.Span.Start < 0 || w.Span.Start >= w.Span.End || w.Span.End > len(v.a.Text) {
		return false
	}
	return strings.Contains(v.a.Text[w.Span.Start:w.Span.End], ":?")
}

// startsAtRoot says that a word begins with / if its unknown parts are empty.
func startsAtRoot(w script.Word) bool {
	for _, p := range w.Parts {
		if p.Kind == script.Literal || p.Kind == script.Glob {
			if p.Text != "" {
				return p.Text[0] == '/'
			}
		}
	}
	return false
}

// dirPath is a working directory as a path. Commands of a text share it.
func (r *Rules) dirPath(dir string) *tpath {
	if r.dirPathOf != dir || r.dirPathIs == nil {
		p := exactPath(dir)
		p.findHome(r.o.Paths.User)
		r.dirPathOf, r.dirPathIs, r.dirPlain = dir, &p, p.String() == dir
	}
	return r.dirPathIs
}

// plainPath is pathOf for what nearly all operands are: one literal word relative
// to a known directory, without . and .. in it. It returns false when the word is
// another and nothing was done.
func (v *view) plainPath(p *tpath, w script.Word, dir string) bool {
	if len(w.Parts) != 1 || w.Parts[0].Kind != script.Literal || dir == "" {
		return false
	}
	text := w.Parts[0].Text
	slash := strings.HasSuffix(text, "/")
	if slash {
		text = text[:len(text)-1]
	}
	n := 1
	for i, start := 0, 0; ; i++ {
		if i < len(text) && text[i] != '/' {
			continue
		}
		if c := text[start:i]; c == "" || c == "." || c == ".." {
			return false
		}
		if i == len(text) {
			break
		}
		n, start = n+1, i+1
	}
	base := v.r.dirPath(dir)
	if len(base.comps) == 0 {
		return false
	}
	n += len(base.comps)
	if cap(v.comps)-len(v.comps) < n {
		v.comps = make([]comp, 0, max(n*min(len(v.accesses), 16), n))
	}
	from := len(v.comps)
	v.comps = append(v.comps, base.comps...)
	for rest, more := text, true; more; {
		var c string
		c, rest, more = strings.Cut(rest, "/")
		v.comps = append(v.comps, comp{text: c})
	}
	*p = tpath{comps: v.comps[from:len(v.comps):len(v.comps)], base: len(base.comps), slash: slash, home: base.home}
	if base.home <= 0 { // the directory is not in the home: it may be above it
		p.home = 0
		p.findHome(v.r.o.Paths.User)
	}
	return true
}

func (v *view) buildPath(w script.Word, dir string, empty bool) tpath {
	var p tpath
	var cur comp
	started := false // something was seen before cur
	any := false     // cur has text
	push := func() {
		switch {
		case !any && !cur.unknown:
		case cur.text == "." && !cur.glob && !cur.unknown:
		case cur.text == ".." && !cur.glob && !cur.unknown:
			if n := len(p.comps); n > 0 {
				p.comps = p.comps[:n-1]
				p.base = min(p.base, n-1)
			}
		default:
			p.comps = append(p.comps, cur)
		}
		cur, any = comp{}, false
	}
	begin := func(absolute bool) {
		if started {
			return
		}
		started = true
		if absolute {
			return
		}
		if dir == "" && isFresh(v.c.Dir) {
			p.comps = v.buildPath(v.c.Dir, "", false).comps
			p.base = len(p.comps)
			return
		}
		if dir == "" {
			p.rootless = true
			if d := v.c.Dir; len(d.Parts) > 1 && !d.Known() && !empty {
				// The end of the directory may be known: $X/sub.
				base := v.buildPath(d, "/", false)
				p.comps, p.unknown = append(p.comps, base.comps...), true
			}
			return
		}
		p.comps = make([]comp, 0, strings.Count(dir, "/")+4)
		for rest := dir; rest != ""; {
			var c string
			if c, rest, _ = strings.Cut(rest, "/"); c != "" {
				p.comps = append(p.comps, comp{text: c})
			}
		}
		p.base = len(p.comps)
	}
	text := func(s string, glob bool) {
		if s == "" {
			return
		}
		begin(s[0] == '/')
		p.slash = s[len(s)-1] == '/'
		for {
			piece, rest, more := strings.Cut(s, "/")
			if piece != "" {
				if glob && !cur.glob {
					cur.text, cur.glob = escapeGlob(cur.text), true
				} else if !glob && cur.glob {
					piece = escapeGlob(piece)
				}
				cur.text += piece
				any = true
			}
			if !more {
				return
			}
			push()
			s = rest
		}
	}
	for _, part := range w.Parts {
		switch part.Kind {
		case script.Literal:
			text(part.Text, false)
		case script.Glob:
			p.glob = true
			text(part.Text, true)
		case script.TempPath:
			text(v.r.tempDir()+freshName, false)
		default:
			if part.Kind == script.Variable {
				if home := v.r.homeOf(part.Name); home != "" {
					text(home, false)
					continue
				}
			}
			if empty {
				continue
			}
			if !started {
				started = true
				p.rootless = true
			}
			p.unknown, cur.unknown, any = true, true, true
			if part.Kind == script.Operand && strings.HasPrefix(part.Name, foundName) {
				cur.text = part.Name
			}
			p.slash = false
		}
	}
	push()
	if !started && !empty {
		begin(false)
	}
	return p
}

// allGlob says that the components are patterns that match everything: *, .*,
// .[!.]* and the like.
func allGlob(cs []comp) bool {
	for i := range cs {
		if !matchesAll(&cs[i]) {
			return false
		}
	}
	return len(cs) > 0
}

func matchesAll(c *comp) bool {
	if c.unknown || !c.glob {
		return false
	}
	switch c.text {
	case "*", "**", "?*", "*?", ".*", ".?*", ".[!.]*", ".[^.]*", ".[!.]?*", "..?*", "*.*", "{*,.*}", "{,.}*", "[!.]*", "[a-zA-Z]*", "[a-z]*", "[A-Za-z0-9]*":
		return true
	}
	return false
}

func (p tpath) String() string {
	var b strings.Builder
	if p.rootless {
		b.WriteString("...")
	}
	for _, c := range p.comps {
		b.WriteByte('/')
		if c.unknown {
			b.WriteString("?")
		} else {
			b.WriteString(c.text)
		}
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

// exact returns the path when it is wholly known and holds no pattern.
func (p tpath) exact() (string, bool) {
	if p.rootless || p.unknown || p.glob {
		return "", false
	}
	return p.String(), true
}

// exactPath makes a tpath of a clean absolute path.
func exactPath(s string) tpath {
	p := tpath{comps: make([]comp, 0, strings.Count(s, "/"))}
	for s != "" {
		var c string
		if c, s, _ = strings.Cut(s, "/"); c != "" {
			p.comps = append(p.comps, comp{text: c})
		}
	}
	return p
}

// homeOf is the home directory that $HOME or ~user stands for; empty for
// other variables.
func (r *Rules) homeOf(variable string) string {
	if variable == "HOME" {
		return r.o.Paths.User
	}
	user, tilde := strings.CutPrefix(variable, "~")
	switch {
	case !tilde || strings.Trim(user, "+-0123456789") == "" && user != "": // ~+ ~- ~1 are the shell's
		return ""
	case user == "", user == r.getenv("USER"), user == r.getenv("LOGNAME"), r.o.Paths.User != "" && user == baseName(r.o.Paths.User):
		return r.o.Paths.User
	}
	if home := homeInPasswd(user); home != "" {
		return home
	}
	if user == "root" {
		return "/root"
	}
	return "/home/" + user
}

// homeInPasswd is the home directory of a user of this machine.
func homeInPasswd(user string) string {
	text, _ := os.ReadFile("/etc/passwd")
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(line, ":"); len(f) > 5 && f[0] == user {
			return f[5]
		}
	}
	return ""
}

// freshName stands for the name that mktemp finds.
const freshName = "/tmp.XXXXXXXXXX"

func (r *Rules) tempDir() string {
	if t := r.getenv("TMPDIR"); strings.HasPrefix(t, "/") && len(t) > 1 {
		return strings.TrimRight(t, "/")
	}
	return "/tmp"
}
