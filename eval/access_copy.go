package eval

import (
	"strings"

	"safeshell/script"
)

// copyAccess is for cp, mv, ln, install: sources, then a destination.
func (v *view) copyAccess() {
	l := &v.line
	ops := v.operandList(0)
	var dest script.Word
	hasDest := false
	v.optionWords(func(w script.Word) { dest, hasDest = w, true }, "-t", "--target-directory")
	if !hasDest {
		if len(ops) < 2 {
			return
		}
		dest, ops = ops[len(ops)-1], ops[:len(ops)-1]
	}
	source, write := accRead, accWrite
	if l.name == "install" && (l.flag("-d") || l.flag("--directory")) {
		v.touchAll(accChange, append(ops, dest), false)
		return
	}
	to, _ := dest.Text()
	if l.name == "mv" || l.name == "gmv" {
		source = accMove
		// Moving into the bin is deleting.
		if to == "/dev/null" || v.isScratch(v.pathOf(dest, v.dir)) || v.isTempDir(v.pathOf(dest, v.dir)) {
			source = accDelete
		}
	}
	if l.name == "mv" && l.flag("--exchange") {
		v.touchAll(accMove, append(ops, dest), true)
		return
	}
	into := hasDest || len(ops) > 1 || !l.flag("-T") && !l.flag("--no-target-directory") && v.isDir(dest)
	hardLinks := l.name == "ln" && !l.flag("-s") && !l.flag("--symbolic") || l.name == "cp" && (l.flag("-l") || l.flag("--link"))
	recursive := source == accDelete || l.flag("-r") || l.flag("-R") || l.flag("-a")
	for _, w := range ops {
		if s, _ := w.Text(); noise(s) {
			write = accEmpty
			continue
		}
		if hardLinks { // what is written through the new name is written to the old one
			v.touch(accChange, w, false)
			continue
		}
		v.touch(source, w, recursive)
	}
	tree := recursive || source == accMove
	if !into {
		v.touch(write, dest, false)
		v.fromTree(tree, ops[0])
		return
	}
	for _, w := range ops {
		kind := accWrite
		if s, _ := w.Text(); noise(s) {
			kind = accEmpty
		}
		v.touch(kind, inDir(dest, w), false)
		v.fromTree(tree, w)
	}
}

// fromTree notes that the last target gets what is in a directory.
func (v *view) fromTree(tree bool, from script.Word) {
	if n := len(v.accesses); tree && n > 0 {
		v.accesses[n-1].from = from
	}
}

func (v *view) lastIsTarget(ops []script.Word) {
	for i, w := range ops {
		if isRemotePath(w) {
			continue
		}
		if i == len(ops)-1 && len(ops) > 1 {
			if i == 1 && v.line.name == "rsync" && endsInSlash(ops[0]) { // what is in it, not itself
				v.touch(accWrite, w, false)
				v.fromTree(true, ops[0])
				continue
			}
			v.writeTo(ops[:i], w)
			v.fromTree(true, ops[0])
		} else {
			v.touch(accRead, w, true)
		}
	}
}

func endsInSlash(w script.Word) bool {
	n := len(w.Parts)
	return n > 0 && strings.HasSuffix(w.Parts[n-1].Text, "/")
}

func (v *view) remoteCopyAccess() {
	l := &v.line
	ops := v.operandList(0)
	v.lastIsTarget(ops)
	v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "--backup-dir", "--log-file", "--partial-dir", "--temp-dir", "-T", "--write-batch", "--only-write-batch")
	if len(ops) == 2 {
		if s, _ := ops[0].Text(); noise(s) {
			v.touch(accEmpty, ops[1], false)
		}
	}
	if l.name != "rsync" || len(ops) < 2 || l.flag("-n") || l.flag("--dry-run") {
		return
	}
	if l.flag("--remove-source-files") {
		v.touchAll(accDelete, ops[:len(ops)-1], true)
	}
	for _, f := range [...]string{"--delete", "--del", "--delete-before", "--delete-during", "--delete-delay", "--delete-after", "--delete-excluded"} {
		if l.flag(f) {
			if dest := ops[len(ops)-1]; !isRemotePath(dest) {
				v.touch(accDelete, dest, true)
			}
			return
		}
	}
}
