package eval

import (
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
	hardLinks := l.name == "ln" && !l.flag("-s") && !l.flag("--symbolic")
	recursive := source == accDelete || l.flag("-r") || l.flag("-R") || l.flag("-a")
	for _, w := range ops {
		if s, _ := w.Text(); noise(s) {
			write = accEmpty
			continue
		}
		if hardLinks {
			v.touch(accRead, w, false)
			continue
		}
		v.touch(source, w, recursive)
	}
	v.touch(write, dest, false)
}

func (v *view) lastIsTarget(ops []script.Word) {
	for i, w := range ops {
		if isRemotePath(w) {
			continue
		}
		if i == len(ops)-1 && len(ops) > 1 {
			v.touch(accWrite, w, false)
		} else {
			v.touch(accRead, w, true)
		}
	}
}

func (v *view) remoteCopyAccess() {
	l := &v.line
	ops := v.operandList(0)
	v.lastIsTarget(ops)
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
