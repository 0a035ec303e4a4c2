package eval

import (
	"strings"

	"safeshell/script"
)

// programAccess adds what the program does with its operands.
func (v *view) programAccess() {
	l := &v.line
	switch l.name {
	case "cat", "tac", "less", "more", "head", "tail", "nl", "od", "xxd", "hexdump", "hd", "strings", "uniq", "paste", "comm", "diff", "sdiff", "colordiff", "vimdiff", "fold", "fmt", "rev", "column", "expand", "base64", "base32", "bat", "batcat", "view", "emacs", "nano", "pico", "micro", "code", "zcat", "gzip", "bzip2", "xz", "zstd", "pbcopy", "xclip", "xsel", "wl-copy", "open", "xdg-open", "glow", "look", "pr", "shuf", "most", "csvlook", "dotenv-linter":
		v.touchAll(accRead, v.operandList(0), false)
	case "vim", "vi", "nvim":
		kind := accRead
		if v.emptiesInEditor() {
			kind = accEmpty
		}
		v.touchAll(kind, v.operandList(0), false)
	case "cut":
		if !v.namesOnly() {
			v.touchAll(accRead, v.operandList(0), false)
		}
	case "jq", "yq":
		if l.flag("-i") || l.flag("--in-place") || l.flag("--inplace") {
			v.touchAll(accWrite, v.after(1), false)
			break
		}
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
		if ops := v.operandList(0); kind == accWrite && n == 1 && len(ops) > 0 {
			switch s, _ := ops[0].Text(); strings.ReplaceAll(s, " ", "") {
			case "0", "{}", "{next}", "BEGIN{}":
				kind = accEmpty // nothing is printed
			}
		}
		if kind == accWrite || !v.namesOnly() {
			v.touchAll(kind, v.after(n), false)
		}
	case "perl", "ruby":
		if l.flag("-i") {
			n := 1
			if l.flag("-e") || l.flag("-E") {
				n = 0
			}
			v.touchAll(v.perlInPlace(), v.after(n), false)
		} else if l.flag("-n") || l.flag("-p") {
			v.touchAll(accRead, v.operandList(0), false)
		}
	case "sort":
		v.touchAll(accRead, v.operandList(0), false)
		kind := accWrite
		if from := v.operandList(0); len(from) == 1 {
			if s, _ := from[0].Text(); s == "/dev/null" {
				kind = accEmpty
			}
		}
		v.optionWords(func(w script.Word) { v.touch(kind, w, false) }, "-o", "--output")
	case "serve", "http-server", "live-server":
		v.touchAll(accRead, v.operandList(0), true)
	case "python", "python3", "php":
		v.serverAccess()
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
	case "safeshell":
		if l.operandsBegin([]string{"trash", "put"}) {
			v.touchAll(accDelete, v.operandList(2), true)
		}
	case "rimraf", "del-cli", "del":
		for _, w := range v.operandList(0) {
			if s, ok := w.Text(); ok && hasGlob(s) { // these expand patterns themselves
				w = script.Word{Parts: []script.Part{{Kind: script.Glob, Text: s}}}
			}
			v.touch(accDelete, w, true)
		}
	case "sqlite3", "duckdb":
		if ops := v.operandList(0); len(ops) > 0 {
			v.touch(accRead, ops[0], false)
		}
	case "xargs", "parallel":
		v.optionWords(func(w script.Word) { v.touch(accRead, w, false) }, "-a", "--arg-file")
	case "badblocks":
		if l.flag("-w") {
			v.touchAll(accEmpty, v.operandList(0), false)
		}
	case "fallocate":
		if l.flag("-p") || l.flag("-z") || l.flag("-c") || l.flag("--punch-hole") || l.flag("--zero-range") {
			v.touchAll(accEmpty, v.operandList(0), false)
		}
	case "rm", "unlink", "srm", "shred", "wipe", "grm", "zf_rm":
		v.touchAll(accDelete, v.operandList(0), l.flag("-r") || l.flag("-R") || l.flag("--recursive"))
	case "rmdir":
		v.touchAll(accChange, v.operandList(0), false)
	case "chmod", "chown", "chgrp", "chattr", "setfacl":
		n := 1
		if l.flag("--reference") || l.name == "setfacl" || v.modeOption() {
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
		keys := []string{"-in", "-inkey", "-key", "-signkey", "-CAkey"}
		switch l.sub {
		case "req", "x509", "ca", "crl", "dgst", "cms", "smime", "ocsp", "ts", "spkac", "s_client", "s_server":
			keys = keys[:1] // they sign or serve with the key, which goes nowhere
		}
		v.optionWords(func(w script.Word) { v.touch(accRead, w, false) }, keys...)
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
		kind := accWrite
		if v.emptiesInEditor() {
			kind = accEmpty
		}
		v.touchAll(kind, v.operandList(0), false)
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
			switch strings.ReplaceAll(s, " ", "") {
			case "d", "1,$d", "/./d", "/.*/d", "/^/d", "1d;$d":
				kind = accEmpty
			}
		}
	}
	v.touchAll(kind, ops[min(n, len(ops)):], false)
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
	nothing := false
	v.line.operands(0, func(i int) bool {
		if s, _ := v.line.words[i].Text(); s == "count=0" && !v.ddKeeps() {
			nothing = true
		}
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
			if nothing {
				kind = accEmpty
			}
			v.touch(kind, cutWord(v.line.words[i], 3), false)
		}
		return true
	})
}

// ddKeeps says that dd leaves what the file holds beyond what it writes.
func (v *view) ddKeeps() bool {
	keeps := false
	v.line.operands(0, func(i int) bool {
		s, _ := v.line.words[i].Text()
		keeps = strings.HasPrefix(s, "conv=") && strings.Contains(s, "notrunc") || strings.HasPrefix(s, "seek=") && s != "seek=0"
		return !keeps
	})
	return keeps
}

// serverAccess is what python -m http.server and php -S show to the network.
func (v *view) serverAccess() {
	served, options := v.line.flag("-S"), []string{"-t"}
	if v.line.name != "php" {
		options = []string{"-d", "--directory"}
		v.optionWords(func(w script.Word) { s, _ := w.Text(); served = s == "http.server" }, "-m")
	}
	if served {
		v.optionWords(func(w script.Word) { v.touch(accRead, w, true) }, options...)
	}
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
		from := len(v.accesses)
		v.touchAll(accRead, ops, true)
		v.optionWords(func(w script.Word) { // tar -C dir: the names are in dir
			if d, ok := v.pathOf(w, v.dir).exact(); ok {
				for i := from; i < len(v.accesses); i++ {
					v.accesses[i].dir = d
				}
			}
		}, "-C", "--directory")
		if l.flag("--remove-files") {
			v.touchAll(accDelete, ops, true)
		}
	case mode("x", "--extract"):
		dest := script.Lit(".")
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false); dest = w }, "-C", "--directory")
		if l.flag("--recursive-unlink") {
			v.touch(accDelete, dest, true) // whole directories that the archive names
		}
	}
}

func (v *view) transferAccess() {
	switch v.line.name {
	case "curl":
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-o", "--output")
		v.optionWords(func(w script.Word) { v.touch(accRead, w, false) }, "-T", "--upload-file", "-K", "--config", "-b", "--cookie")
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

// modeOption says that the mode of chmod looks like an option: chmod -x f.
func (v *view) modeOption() bool {
	if v.line.name != "chmod" {
		return false
	}
	for i, k := range v.line.kinds {
		if s, _ := leading(v.line.words[i]); k == argOption && len(s) > 1 && strings.Trim(s[1:], "rwxXst") == "" {
			return true
		}
	}
	return false
}

// emptiesInEditor recognises editor commands that delete all lines.
func (v *view) emptiesInEditor() bool {
	has := func(s string) bool {
		s = strings.ReplaceAll(s, " ", "")
		return strings.Contains(s, "%d") || strings.Contains(s, "1,$d") || strings.HasPrefix(s, ",d")
	}
	for _, w := range v.words(1) {
		if s, _ := w.Text(); has(s) {
			return true
		}
	}
	s, _ := v.input()
	return has(s)
}

// perlInPlace is what perl -i does: it empties the file when the program prints
// nothing.
func (v *view) perlInPlace() accessKind {
	kind := accWrite
	v.optionWords(func(w script.Word) {
		code, _ := w.Text()
		code = strings.Trim(strings.ReplaceAll(code, " ", ""), ";")
		switch {
		case v.line.flag("-p"):
			if code == `$_=""` || code == `$_=''` || code == "undef$_" {
				kind = accEmpty
			}
		case v.line.flag("-n") && !strings.Contains(code, "print") && !strings.Contains(code, "say"):
			kind = accEmpty
		}
	}, "-e", "-E")
	return kind
}
