package eval

import (
	"strings"

	"safeshell/script"
)

// programAccess adds what the program does with its operands.
func (v *view) programAccess() {
	l := &v.line
	switch l.name {
	case "cat", "tac", "less", "more", "head", "tail", "nl", "od", "xxd", "hexdump", "hd", "strings", "uniq", "paste", "comm", "diff", "sdiff", "colordiff", "vimdiff", "fold", "fmt", "rev", "column", "expand", "base64", "base32", "bat", "batcat", "view", "vim", "vi", "nvim", "emacs", "nano", "pico", "micro", "code", "zcat", "gzip", "bzip2", "xz", "zstd", "pbcopy", "xclip", "xsel", "wl-copy", "open", "xdg-open", "glow", "tee-read", "look", "pr", "shuf", "most", "csvlook", "dotenv-linter":
		v.touchAll(accRead, v.operandList(0), false)
	case "cut":
		if !v.namesOnly() {
			v.touchAll(accRead, v.operandList(0), false)
		}
	case "jq", "yq":
		v.touchAll(accRead, v.after(1), false)
	case "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack":
		v.grepAccess()
	case "sed", "gsed":
		v.sedAccess()
	case "awk", "gawk", "mawk", "nawk":
		n := 1
		if l.flag("-f") || l.flag("--file") {
			n = 0
		}
		kind := accRead
		v.optionWords(func(w script.Word) {
			if s, _ := w.Text(); s == "inplace" {
				kind = accWrite
			}
		}, "-i")
		if kind == accWrite || !v.namesOnly() {
			v.touchAll(kind, v.after(n), false)
		}
	case "perl", "ruby":
		if l.flag("-i") {
			n := 1
			if l.flag("-e") || l.flag("-E") {
				n = 0
			}
			v.touchAll(accWrite, v.after(n), false)
		}
	case "sort":
		v.touchAll(accRead, v.operandList(0), false)
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-o", "--output")
	case "cp", "mv", "ln", "install", "gcp", "gmv":
		v.copyAccess()
	case "scp", "rsync", "sftp":
		v.remoteCopyAccess()
	case "tee", "sponge":
		kind := accWrite
		switch {
		case l.flag("-a"), l.flag("--append"):
			kind = accAppend
		case v.fedNothing():
			kind = accEmpty
		}
		v.touchAll(kind, v.operandList(0), false)
	case "dd":
		v.ddAccess()
	case "truncate":
		v.truncateAccess()
	case "rm", "unlink", "srm", "shred", "wipe", "grm", "del":
		v.touchAll(accDelete, v.operandList(0), l.flag("-r") || l.flag("-R") || l.flag("--recursive"))
	case "rmdir":
		v.touchAll(accChange, v.operandList(0), false)
	case "chmod", "chown", "chgrp", "chattr", "setfacl":
		n := 1
		if l.flag("--reference") || l.name == "setfacl" {
			n = 0
		}
		v.touchAll(accChange, v.after(n), l.flag("-R") || l.flag("--recursive"))
	case "touch", "mkdir", "mkfifo":
		v.touchAll(accChange, v.operandList(0), false)
	case "find", "fd", "fdfind":
		v.findAccess()
	case "tar", "bsdtar", "zip", "7z", "7za":
		v.archiveAccess()
	case "unzip":
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-d")
	case "curl", "wget", "http", "https", "xh":
		v.transferAccess()
	case "openssl":
		v.optionWords(func(w script.Word) { v.touch(accRead, w, false) }, "-in", "-inkey", "-key", "-signkey", "-CAkey")
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-out", "-keyout")
	case "ssh-keygen":
		if !l.flag("-y") && !l.flag("-l") && !l.flag("-R") && !l.flag("-F") && !l.flag("-e") {
			v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-f")
		}
	case "gpg", "gpg2", "age", "pandoc":
		v.touchAll(accRead, v.operandList(0), false)
	case "patch":
		v.touchAll(accWrite, v.operandList(0), false)
	case "ed", "ex":
		v.touchAll(accWrite, v.operandList(0), false)
	case "docker", "podman", "kubectl", "oc":
		if l.sub == "cp" {
			v.lastIsTarget(v.operandList(1))
		}
	case "aws", "gsutil", "gcloud", "az", "s3cmd", "mc", "rclone":
		v.cloudCopyAccess()
	case "gh":
		if l.operandsBegin([]string{"gist", "create"}) {
			v.touchAll(accRead, v.operandList(2), false)
		}
	case "git":
		v.gitAccess()
	default:
		if l.hasOption {
			v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-o", "--output", "--out", "--outfile", "--output-file")
		}
	}
}

// after is the operands after the first n, which are a pattern, a program or a
// mode.
func (v *view) after(n int) []script.Word {
	ops := v.operandList(0)
	return ops[min(n, len(ops)):]
}

// namesOnly recognises the usual ways to show the names in a NAME=value file
// without the values.
func (v *view) namesOnly() bool {
	value := func(opt string) string {
		out := ""
		v.optionWords(func(w script.Word) { out, _ = w.Text() }, opt)
		return out
	}
	first := func() string {
		if ops := v.operandList(0); len(ops) > 0 {
			s, _ := ops[0].Text()
			return s
		}
		return ""
	}
	switch v.line.name {
	case "cut":
		return (value("-d") == "=" || value("-d") == ":") && value("-f") == "1"
	case "awk", "gawk", "mawk", "nawk":
		p := strings.ReplaceAll(first(), " ", "")
		return (value("-F") == "=" || value("-F") == ":") && strings.HasSuffix(p, "{print$1}") && !strings.Contains(strings.TrimSuffix(p, "{print$1}"), "print")
	case "sed", "gsed":
		p := first()
		if p == "" {
			p = value("-e")
		}
		return strings.HasPrefix(p, "s/=.*/") || strings.HasPrefix(p, "s/=.*$/") || strings.HasPrefix(p, `s/\(=\).*/`)
	case "grep", "egrep", "rg":
		p := first()
		return v.line.flag("-o") && strings.HasPrefix(p, "^[") && (strings.HasSuffix(p, "]*") || strings.HasSuffix(p, "]+") || strings.HasSuffix(p, "=")) && !strings.Contains(p, ".")
	}
	return false
}

func (v *view) grepAccess() {
	l := &v.line
	for _, f := range [...]string{"-c", "--count", "-l", "--files-with-matches", "-q", "--quiet", "--silent", "-L", "--files-without-match", "--files"} {
		if l.flag(f) {
			return // counts or names, no content
		}
	}
	if v.namesOnly() {
		return
	}
	n := 1
	for _, f := range [...]string{"-e", "-f", "--regexp", "--file"} {
		if l.flag(f) {
			n = 0
		}
	}
	v.touchAll(accRead, v.after(n), l.flag("-r") || l.flag("-R") || l.flag("--recursive") || l.name == "rg" || l.name == "ag")
}

func (v *view) sedAccess() {
	l := &v.line
	n := 1
	for _, f := range [...]string{"-e", "-f", "--expression", "--file"} {
		if l.flag(f) {
			n = 0
		}
	}
	kind := accRead
	if l.flag("-i") || l.flag("--in-place") {
		kind = accWrite
	} else if v.namesOnly() {
		return
	}
	ops := v.operandList(0)
	if kind == accWrite && n == 1 && len(ops) > 0 {
		// BSD: sed -i '' 's/a/b/' f. sed '/./d' and sed d leave nothing.
		if s, ok := ops[0].Text(); ok {
			if s == "" && len(ops) > 2 {
				ops = ops[1:]
				s, _ = ops[0].Text()
			}
			switch strings.TrimSpace(s) {
			case "d", "1,$d", "/./d", "/.*/d", "/^/d", "1d;$d":
				kind = accEmpty
			}
		}
	}
	v.touchAll(kind, ops[min(n, len(ops)):], false)
}

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
		if to == "/dev/null" || v.isScratch(v.pathOf(dest, v.dir)) {
			source = accDelete
		}
	}
	for _, w := range ops {
		if s, _ := w.Text(); s == "/dev/null" && l.name != "mv" && l.name != "ln" {
			write = accEmpty
			continue
		}
		if l.name == "ln" && !l.flag("-s") && !l.flag("--symbolic") {
			v.touch(accRead, w, false)
			continue
		}
		v.touch(source, w, source == accDelete || l.flag("-r") || l.flag("-R") || l.flag("-a"))
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

// fedNothing says that the standard input is known to be empty.
func (v *view) fedNothing() bool {
	for _, r := range v.c.Redirects {
		if s, _ := r.Target.Text(); r.Op == "<" && s == "/dev/null" {
			return true
		}
	}
	for _, k := range v.c.FedBy {
		if k < 0 || k >= len(v.a.Commands) {
			return false
		}
		if !newView(v.r, v.a, k).silent() {
			return false
		}
	}
	return len(v.c.FedBy) > 0
}

func (v *view) ddAccess() {
	var from string
	v.line.operands(0, func(i int) bool {
		if s, _ := leading(v.line.words[i]); strings.HasPrefix(s, "if=") {
			from = s[3:]
			v.touch(accRead, cutWord(v.line.words[i], 3), false)
		}
		return true
	})
	v.line.operands(0, func(i int) bool {
		if s, _ := leading(v.line.words[i]); strings.HasPrefix(s, "of=") {
			kind := accWrite
			switch from {
			case "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random":
				kind = accEmpty
			}
			v.touch(kind, cutWord(v.line.words[i], 3), false)
		}
		return true
	})
}

func (v *view) truncateAccess() {
	kind := accEmpty
	v.optionWords(func(w script.Word) {
		if s, _ := leading(w); strings.HasPrefix(s, "+") {
			kind = accWrite
		}
	}, "-s", "--size")
	v.touchAll(kind, v.operandList(0), false)
}

func (v *view) findAccess() {
	l := &v.line
	if l.name != "find" {
		return // fd deletes only through -x, which is judged by itself
	}
	start := v.findStarts()
	v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-fprint", "-fprint0", "-fls", "-fprintf")
	kind := accDelete
	switch {
	case l.flag("-delete"):
		if l.flag("-empty") {
			return // nothing is lost
		}
	case v.findRuns():
		kind = accVia
	default:
		return
	}
	// A name narrows what is deleted: find . -name '*.pyc' -delete.
	var name script.Word
	v.optionWords(func(w script.Word) { name = w }, "-name", "-iname")
	narrow, known := name.Text()
	narrowed := len(name.Parts) > 0 && known && !l.flag("-o") && !l.flag("-or") && !l.flag("-not") && !v.hasOperand("!")
	for _, w := range start {
		if narrowed && kind != accVia {
			w = script.Word{Parts: append(w.Parts[:len(w.Parts):len(w.Parts)],
				script.Part{Kind: script.Literal, Text: "/"}, script.Part{Kind: script.Operand}, script.Part{Kind: script.Literal, Text: "/"}, script.Part{Kind: script.Glob, Text: narrow})}
		}
		v.touch(kind, w, true)
	}
}

func (v *view) hasOperand(s string) bool {
	found := false
	v.line.operands(0, func(i int) bool {
		t, _ := v.line.words[i].Text()
		found = found || t == s
		return !found
	})
	return found
}

// findRuns says that find runs a program that deletes what it is given.
func (v *view) findRuns() bool {
	for i, w := range v.line.words {
		switch s, _ := w.Text(); s {
		case "-exec", "-execdir", "-ok", "-okdir":
			if i+1 < len(v.line.words) {
				s, _ := v.line.words[i+1].Text()
				switch baseName(s) {
				case "rm", "unlink", "shred", "srm", "truncate", "mv", "dd", "sudo":
					return true
				}
			}
		}
	}
	return false
}

// findStarts are the starting points: operands before the expression.
func (v *view) findStarts() []script.Word {
	var out []script.Word
	for i := 1; i < len(v.line.words); i++ {
		s, _ := leading(v.line.words[i])
		if s == "-L" || s == "-H" || s == "-P" || strings.HasPrefix(s, "-O") {
			continue
		}
		if v.line.kinds[i] != argOperand || s == "(" || s == "!" {
			break
		}
		out = append(out, v.line.words[i])
	}
	if out == nil {
		out = []script.Word{script.Lit(".")}
	}
	return out
}

func (v *view) archiveAccess() {
	l := &v.line
	ops := v.operandList(0)
	if l.name != "tar" && l.name != "bsdtar" {
		if len(ops) > 1 {
			if l.name != "zip" {
				ops = ops[1:] // 7z a archive files
			}
			v.touchAll(accRead, ops[min(1, len(ops)):], true)
		}
		return
	}
	bundle, _ := l.words[1].Text()
	old := l.kinds[1] == argOperand // tar czf a.tgz dir
	if old {
		ops = ops[1:]
		if strings.Contains(bundle, "f") && len(ops) > 0 {
			ops = ops[1:]
		}
	}
	mode := func(short, long string) bool {
		return old && strings.Contains(bundle, short) || l.flag("-"+short) || l.flag(long)
	}
	switch {
	case mode("c", "--create"), mode("r", "--append"), mode("u", "--update"):
		v.touchAll(accRead, ops, true)
		if l.flag("--remove-files") {
			v.touchAll(accDelete, ops, true)
		}
	case mode("x", "--extract"):
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-C", "--directory")
	}
}

func (v *view) transferAccess() {
	switch v.line.name {
	case "curl":
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-o", "--output")
		v.optionWords(func(w script.Word) { v.touch(accRead, w, false) }, "-T", "--upload-file", "-K", "--config")
		v.optionWords(func(w script.Word) { v.atFile(w) }, "-d", "--data", "--data-binary", "--data-ascii", "--data-urlencode", "--json", "-F", "--form", "-H", "--header")
	case "wget":
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-O", "--output-document")
		v.optionWords(func(w script.Word) { v.touch(accRead, w, false) }, "--post-file", "--body-file")
	default:
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-o", "--output")
		for _, w := range v.operandList(0) {
			v.atFile(w)
		}
	}
}

// atFile reads the file of @file, name=@file and name@file.
func (v *view) atFile(w script.Word) {
	s, _ := leading(w)
	at := strings.IndexByte(s, '@')
	if at < 0 || at > 0 && s[at-1] != '=' && strings.ContainsAny(s[:at], " :{") {
		return
	}
	v.touch(accRead, cutWord(w, at+1), false)
}

func (v *view) cloudCopyAccess() {
	ops := v.operandList(0)
	copies := false
	for _, w := range ops {
		switch s, _ := w.Text(); s {
		case "cp", "mv", "sync", "rsync", "put", "upload", "copy", "copyto", "upload-batch", "mirror":
			copies = true
			continue
		}
		if copies && !isRemotePath(w) {
			v.touch(accRead, w, true)
		}
	}
	v.optionWords(func(w script.Word) { v.touch(accRead, w, false) }, "--body", "--file", "-f")
	v.optionWords(func(w script.Word) {
		for _, prefix := range [...]string{"file://", "fileb://"} {
			if s, _ := leading(w); strings.HasPrefix(s, prefix) {
				v.touch(accRead, cutWord(w, len(prefix)), false)
			}
		}
	}, "--secret-string", "--value", "--zip-file", "--cli-input-json")
}

// gitTouch adds files relative to where git runs.
func (v *view) gitTouch(kind accessKind, ws []script.Word) {
	if len(ws) == 0 {
		return
	}
	place, _ := v.gitPlaceOf()
	from := len(v.accesses)
	v.touchAll(kind, ws, true)
	for i := from; i < len(v.accesses); i++ {
		v.accesses[i].dir = place.dir
	}
}

// gitAccess is what git does to files by its operands.
func (v *view) gitAccess() {
	l := &v.line
	switch l.sub {
	case "clean":
		if l.flag("-n") || l.flag("--dry-run") || !(l.flag("-f") || l.flag("--force")) {
			return
		}
		ops := v.operandList(1)
		if len(ops) == 0 {
			ops = []script.Word{script.Lit(".")}
		}
		v.gitTouch(accDelete, ops)
	case "checkout", "restore":
		v.gitTouch(accDiscard, v.discarded())
	}
}
