package eval

import (
	"slices"
	"strings"

	"safeshell/script"
)

// findSet is which files may reach a place in find's expression.
type findSet struct {
	none  bool     // no file
	any   bool     // whatever its name is
	names []string // otherwise only files with a name like one of these
	empty bool     // only empty files and directories
}

func (a findSet) or(b findSet) findSet {
	switch {
	case a.none:
		return b
	case b.none:
		return a
	}
	out := findSet{any: a.any || b.any || len(a.names)+len(b.names) > maxFindNames, empty: a.empty && b.empty}
	if !out.any {
		out.names = slices.Concat(a.names, b.names)
	}
	return out
}

// findExpr walks the expression of find (POSIX find, and GNU's operators): each
// method takes the files that come in and returns those for which the part may
// be true and those for which it may be false. More than there are is right,
// fewer is not.
type findExpr struct {
	words   []script.Word
	at      int
	bad     bool // not an expression that we know
	reached findSet
	acts    func(word string) bool // the primaries whose files are wanted
	acted   bool
	depth   int
}

// maxFindNames is how many patterns are told apart; beyond them it may be any file.
const maxFindNames = 256

// maxFindDepth bounds the parentheses and negations in one another.
const maxFindDepth = 100

// findFiles says which files reach the primaries that acts picks; with none of
// them, what the whole expression is true for (find prints that). ok is false
// where the expression cannot be read.
func (v *view) findFiles(acts func(string) bool) (set findSet, ok bool) {
	e := findExpr{words: v.line.words[v.findExprStart():], acts: acts, reached: findSet{none: true}}
	set = findSet{any: true}
	if len(e.words) > 0 {
		set, _ = e.comma(set)
	}
	if e.acted {
		set = e.reached
	}
	return set, !e.bad && e.at >= len(e.words)
}

func (e *findExpr) word() string {
	if e.at >= len(e.words) {
		return ""
	}
	s, known := e.words[e.at].Text()
	if !known {
		e.bad = true
		return ""
	}
	return s
}

// comma: the last part's value counts, by the manual; GNU find 4.9 reorders the
// tests and lets the others' count, too.
func (e *findExpr) comma(in findSet) (yes, no findSet) {
	yes, no = e.or(in)
	for e.word() == "," {
		e.at++
		y, n := e.or(in)
		yes, no = yes.or(y), no.or(n)
	}
	return yes, no
}

func (e *findExpr) or(in findSet) (yes, no findSet) {
	yes, no = e.and(in)
	for s := e.word(); s == "-o" || s == "-or"; s = e.word() {
		e.at++
		var y findSet
		y, no = e.and(no)
		yes = yes.or(y)
	}
	return yes, no
}

func (e *findExpr) and(in findSet) (yes, no findSet) {
	yes, no = e.not(in)
	for !e.bad && e.at < len(e.words) {
		switch e.word() {
		case "-o", "-or", ",", ")":
			return yes, no
		case "-a", "-and":
			e.at++
		}
		var n findSet
		yes, n = e.not(yes)
		no = no.or(n)
	}
	return yes, no
}

func (e *findExpr) not(in findSet) (yes, no findSet) {
	if e.depth++; e.depth > maxFindDepth {
		e.bad = true
		return in, in
	}
	defer func() { e.depth-- }()
	switch e.word() {
	case "!", "-not":
		e.at++
		yes, no = e.not(in)
		return no, yes
	case "(":
		e.at++
		yes, no = e.comma(in)
		e.bad = e.bad || e.word() != ")"
		e.at++
		return yes, no
	}
	return e.primary(in)
}

// Primaries by the number of their arguments; -exec and its like end by
// themselves.
const (
	findAlone = " -delete -print -print0 -ls -prune -quit -empty -depth -d -xdev -mount -follow -daystart -executable -readable -writable -nouser -nogroup -true -false -noleaf -warn -nowarn -ignore_readdir_race -noignore_readdir_race -x -X -s "
	findOne   = " -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -perm -user -group -uid -gid -links -inum -samefile -used -fstype -maxdepth -mindepth -regextype -context -printf -fprint -fprint0 -fls -Bmin -Btime -mnewer -flags -depth "
)

func (e *findExpr) primary(in findSet) (yes, no findSet) {
	s := e.word()
	e.at++
	if e.bad || len(s) < 2 || s[0] != '-' {
		e.bad = true
		return in, in
	}
	if e.acts(s) {
		e.acted = true
		e.reached = e.reached.or(in)
	}
	nothing := findSet{none: true}
	switch s {
	case "-exec", "-execdir", "-ok", "-okdir":
		for ; ; e.at++ {
			if e.at >= len(e.words) {
				e.bad = true
				return in, in
			}
			t, known := e.words[e.at].Text()
			if known && (t == ";" || t == "+" && e.isFound(e.at-1)) {
				e.at++
				return in, in
			}
		}
	case "-delete":
		return in, in // false where it could not
	case "-print", "-print0", "-ls", "-prune", "-true", "-depth", "-xdev", "-mount", "-follow", "-daystart", "-noleaf", "-printf", "-fprint", "-fprint0", "-fls", "-maxdepth", "-mindepth", "-regextype":
		no = nothing
		yes = in
	case "-false":
		return nothing, in
	case "-quit":
		return nothing, nothing
	case "-empty":
		yes, no = in, in
		yes.empty = true
		return yes, no
	case "-name", "-iname":
		yes, no = in, in
		if e.at >= len(e.words) {
			e.bad = true
			return in, in
		}
		if name, known := e.words[e.at].Text(); known && in.any {
			yes.any, yes.names = false, []string{name}
		}
	default:
		if strings.HasPrefix(s, "-newer") && !strings.Contains(findOne, " "+s+" ") {
			e.at++ // -newermt and the like
			return in, in
		}
		yes, no = in, in
	}
	switch {
	case strings.Contains(findOne, " "+s+" ") && (s != "-depth" || e.number()):
		e.bad = e.bad || e.at >= len(e.words)
		e.at++
	case strings.Contains(findAlone, " "+s+" "):
	case s == "-fprintf":
		e.bad = e.bad || e.at+1 >= len(e.words)
		e.at += 2
	default:
		e.bad = true
	}
	return yes, no
}

// isFound says that word i is find's {}.
func (e *findExpr) isFound(i int) bool {
	if i < 0 {
		return false
	}
	w := e.words[i]
	if len(w.Parts) == 1 && w.Parts[0].Kind == script.Operand {
		return true
	}
	s, known := w.Text()
	return known && s == "{}"
}

// number says that the next word is one, as for -depth of BSD's find.
func (e *findExpr) number() bool {
	if e.at >= len(e.words) {
		return false
	}
	s, known := e.words[e.at].Text()
	return known && s != "" && strings.Trim(s, "+-0123456789") == ""
}
