package eval

import (
	"slices"
	"strconv"
	"strings"

	"safeshell/script"
)

// tarAccess is what tar reads, writes and unpacks.
func (v *view) tarAccess() {
	l := &v.line
	ops := v.operandList(0)
	bundle, _ := l.words[1].Text()
	old := l.kinds[1] == argOperand // tar czf a.tgz dir
	var file script.Word
	if old {
		ops = ops[1:]
		if strings.Contains(bundle, "f") && len(ops) > 0 {
			file, ops = ops[0], ops[1:]
		}
	}
	v.optionWords(func(w script.Word) { file = w }, "-f", "--file")
	mode := func(short, long string) bool {
		return old && strings.Contains(bundle, short) || l.flag("-"+short) || l.flag(long)
	}
	dest := script.Lit(".")
	v.optionWords(func(w script.Word) { dest = w }, "-C", "--directory")
	switch {
	case mode("c", "--create"), mode("r", "--append"), mode("u", "--update"):
		from := len(v.accesses)
		v.touchAll(accRead, ops, true)
		if d, ok := v.pathOf(dest, v.dir).exact(); ok && d != v.dir { // the names are in there
			for i := from; i < len(v.accesses); i++ {
				v.accesses[i].dir = d
			}
		}
		if len(file.Parts) > 0 && !isRemotePath(file) {
			if s, _ := file.Text(); s != "-" {
				v.touch(accWrite, file, false)
			}
		}
		if l.flag("--remove-files") {
			v.touchAll(accDelete, ops, true)
		}
	case mode("x", "--extract"), mode("x", "--get"):
		if l.flag("-O") || l.flag("--to-stdout") || l.flag("--to-command") {
			return
		}
		v.unpacks(dest, file, v.stripped(ops))
		if l.flag("--recursive-unlink") {
			v.touch(accDelete, dest, true) // whole directories that the archive names
		}
	}
}

// stripped are the members without the directories that --strip-components takes.
func (v *view) stripped(members []script.Word) []script.Word {
	n := 0
	v.optionWords(func(w script.Word) { s, _ := w.Text(); n, _ = strconv.Atoi(s) }, "--strip-components", "--strip")
	if n == 0 {
		return members
	}
	out := slices.Clone(members)
	for i, w := range out {
		s, ok := w.Text()
		for k := 0; ok && k < n; k++ {
			_, s, _ = strings.Cut(s, "/")
		}
		if ok {
			out[i] = script.Lit(s)
		}
	}
	return out
}

// zipAccess is the same for zip, unzip and 7z.
func (v *view) zipAccess() {
	l := &v.line
	ops := v.operandList(0)
	if l.name == "unzip" {
		for _, f := range [...]string{"-l", "-t", "-p", "-z", "-v", "-Z"} {
			if l.flag(f) {
				return
			}
		}
		if len(ops) == 0 {
			return
		}
		dest := script.Lit(".")
		v.optionWords(func(w script.Word) { dest = w }, "-d")
		v.unpacks(dest, ops[0], ops[1:])
		return
	}
	command := "a"
	if l.name != "zip" && len(ops) > 0 {
		command, _ = ops[0].Text()
		ops = ops[1:] // 7z a archive files
	}
	if len(ops) == 0 {
		return
	}
	switch command {
	case "a", "u", "d", "rn":
		v.touch(accWrite, ops[0], false)
		v.touchAll(accRead, ops[1:], true)
		if l.flag("-m") || l.flag("--move") || l.flag("-sdel") {
			v.touchAll(accDelete, ops[1:], true)
		}
	case "x", "e":
		dest := script.Lit(".")
		for i, k := range l.kinds { // -oDIR
			if s, _ := leading(l.words[i]); k == argOption && strings.HasPrefix(s, "-o") {
				dest = cutWord(l.words[i], 2)
			}
		}
		v.unpacks(dest, ops[0], ops[1:])
	}
}

// unpacks writes the members of an archive below dest; none named: all that are
// in it, which the text may tell where it made the archive itself.
func (v *view) unpacks(dest, archive script.Word, members []script.Word) {
	if d, ok := dest.Text(); (!ok || d != ".") && len(members) == 0 {
		v.touch(accWrite, dest, false)
	}
	for _, w := range members {
		v.touch(accWrite, joined(dest, w.Parts), true)
	}
	if len(members) > 0 {
		return
	}
	packed, known := v.packed(archive)
	for _, w := range packed {
		v.touch(accWrite, joined(dest, w.Parts), true)
	}
	if known {
		return
	}
	// Names that rules know by their place are hidden ones, in the home directory.
	if s, ok := v.pathOf(dest, v.dir).exact(); ok && (strings.Contains(s, "/.") || s == v.r.o.Paths.User) {
		v.touch(accWrite, found(script.Lit(s), "*"), true)
	}
}

// packed are the members of an archive that an earlier command of the text makes;
// known is false where none does, or its members are not all known.
func (v *view) packed(archive script.Word) (members []script.Word, known bool) {
	at, ok := v.pathOf(archive, v.dir).exact()
	for i := range v.i {
		argv := v.a.Commands[i].Argv
		piped := slices.Contains(v.c.FedBy, i)
		if len(argv) < 2 || !isNamed(argv[0], "tar", "bsdtar", "zip", "7z", "7za", "7zr", "gtar") || !ok && !piped {
			continue
		}
		if !v.spend(4) {
			break
		}
		x := newView(v.r, v.a, i)
		made := piped
		for _, t := range x.targets() {
			s, exact := x.pathOf(t.word, x.dir).exact()
			made = made || t.kind == accWrite && exact && s == at
		}
		if !made {
			continue
		}
		known = true
		for _, t := range x.targets() {
			if t.kind != accRead {
				continue
			}
			if s, exact := t.word.Text(); !exact || strings.Trim(s, "./") == "" {
				known = false // tar c . : whatever is there
			}
			members = append(members, t.word)
		}
	}
	return members, known && len(members) > 0
}
