package eval

import (
	"slices"
	"strings"

	"safeshell/script"
)

// programAccess adds what the program does with its operands.
func (v *view) programAccess() {
	l := &v.line
	switch l.name {
	case "cat", "tac", "less", "more", "head", "tail", "nl", "od", "hexdump", "hd", "strings", "paste", "comm", "diff", "sdiff", "colordiff", "vimdiff", "fold", "fmt", "rev", "column", "expand", "bat", "batcat", "view", "emacs", "nano", "pico", "micro", "code", "zcat", "pbcopy", "xclip", "xsel", "wl-copy", "open", "xdg-open", "glow", "look", "pr", "most", "csvlook", "dotenv-linter":
		v.touchAll(accRead, v.operandList(0), false)
	case "vim", "vi", "nvim":
		kind := accRead
		if v.emptiesInEditor() {
			kind = accEmpty
		}
		v.touchAll(kind, v.operandList(0), false)
		v.editorWrites()
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
		v.awkWrites()
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
		v.sqlAccess()
	case "psql":
		v.tableAccess()
		v.sqlAccess()
	case "xargs", "parallel":
		v.optionWords(func(w script.Word) { v.touch(accRead, w, false) }, "-a", "--arg-file")
	case "badblocks":
		if l.flag("-w") {
			v.touchAll(accEmpty, v.operandList(0), false)
		}
	case "fallocate":
		v.touchAll(accChange, v.operandList(0), false)
		if l.flag("-p") || l.flag("-z") || l.flag("-c") || l.flag("--punch-hole") || l.flag("--zero-range") {
			v.touchAll(accEmpty, v.operandList(0), false)
		}
	case "rm", "unlink", "srm", "shred", "wipe", "grm", "zf_rm":
		ws := v.operandList(0)
		if l.name == "rm" || l.name == "grm" {
			ws = slices.DeleteFunc(ws, refusedByRm)
		}
		v.touchAll(accDelete, ws, l.flag("-r") || l.flag("-R") || l.flag("--recursive"))
	case "rmdir":
		v.touchAll(accChange, v.operandList(0), false)
	case "chmod", "chown", "chgrp", "chattr", "setfacl":
		n := 1
		if l.flag("--reference") || l.name == "setfacl" || l.name == "chattr" || v.modeOption() {
			n = 0
		}
		v.touchAll(accChange, v.after(n), l.flag("-R") || l.flag("--recursive"))
	case "touch", "mkdir", "mkfifo":
		v.touchAll(accChange, v.operandList(0), false)
	case "find", "fd", "fdfind":
		v.findAccess()
	case "tar", "bsdtar":
		v.tarAccess()
	case "zip", "7z", "7za", "7zr", "unzip":
		v.zipAccess()
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
	case "patch":
		v.patchAccess()
	case "ed", "ex":
		kind := accWrite
		if v.emptiesInEditor() {
			kind = accEmpty
		}
		v.touchAll(kind, v.operandList(0), false)
		v.editorWrites()
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
		v.tableAccess()
	case "git":
		v.gitAccess()
	case "gcc", "cc", "g++", "clang", "clang++", "c++", "rustc", "ld", "as", "tcc", "go":
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-o", "--out-dir")
		for i, k := range l.kinds { // -oFILE
			if s, _ := leading(l.words[i]); k == argOption && strings.HasPrefix(s, "-o/") || strings.HasPrefix(s, "-o.") {
				v.touch(accWrite, cutWord(l.words[i], 2), false)
			}
		}
	default:
		if !v.tableAccess() && l.hasOption {
			v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-o", "--output", "--out", "--outfile", "--output-file", "--output-dir", "--outdir", "--out-dir", "--dest", "--destination")
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
	if unpacks := v.line.flag("-e") || v.line.flag("--extract"); unpacks && v.line.name != "php" {
		v.optionWords(func(w script.Word) {
			s, _ := w.Text()
			if ops := v.operandList(0); len(ops) > 1 && (s == "zipfile" || s == "tarfile") {
				v.unpacks(ops[len(ops)-1], ops[0], nil)
			}
		}, "-m")
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

func (v *view) transferAccess() {
	var dirs []script.Word
	into := func(w script.Word) { dirs = append(dirs, w) }
	write := func(w script.Word) { v.writeAt(dirs, w) }
	named := false // the remote side does not choose the name
	switch v.line.name {
	case "curl":
		v.optionWords(into, "--output-dir")
		v.optionWords(func(w script.Word) { write(w); named = true }, "-o", "--output")
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--stderr", "--hsts", "--alt-svc", "--etag-save", "--libcurl")
		v.optionWords(func(w script.Word) { v.touch(accRead, w, false) }, "-T", "--upload-file", "-K", "--config", "-b", "--cookie")
		v.optionWords(func(w script.Word) { v.atFile(w) }, "-d", "--data", "--data-binary", "--data-ascii", "--data-urlencode", "--json", "-F", "--form", "-H", "--header")
		named = named && !v.line.flag("-J") || !v.line.flag("-O") && !v.line.flag("--remote-name") && !v.line.flag("--remote-name-all")
	case "wget":
		v.optionWords(into, "-P", "--directory-prefix")
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false); named = true }, "-O", "--output-document")
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-o", "--output-file", "-a", "--append-output", "--save-cookies")
		v.optionWords(func(w script.Word) { v.touch(accRead, w, false) }, "--post-file", "--body-file")
		named = named || v.line.flag("--spider")
	default:
		v.optionWords(func(w script.Word) { v.touch(accWrite, w, false) }, "-o", "--output")
		for _, w := range v.operandList(0) {
			v.atFile(w)
		}
		return
	}
	if named {
		return
	}
	if len(dirs) > 0 {
		v.touch(accWrite, dirs[len(dirs)-1], false)
	}
	for _, url := range v.operandList(0) { // the last part of the address is the name
		if name := lastOf(url); len(name) < len(url.Parts) || len(name) > 0 && name[0].Text != url.Parts[0].Text {
			write(script.Word{Parts: name, Span: url.Span})
		}
	}
}

// patchAccess is what patch changes: its operand, or what the patch names.
func (v *view) patchAccess() {
	if v.line.flag("--dry-run") {
		return
	}
	var dirs []script.Word
	v.optionWords(func(w script.Word) { dirs = append(dirs, w) }, "-d", "--directory")
	out := false
	v.optionWords(func(w script.Word) { v.writeAt(dirs, w); out = true }, "-o", "--output")
	if ops := v.operandList(0); len(ops) > 0 {
		if !out {
			v.writeAt(dirs, ops[0])
		}
	} else if len(dirs) > 0 {
		v.unpacks(dirs[0], script.Word{}, nil)
	} else if v.dir != "" {
		v.unpacks(script.Lit(v.dir), script.Word{}, nil)
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
	for i, w := range ops {
		switch s, _ := w.Text(); s {
		case "cp", "mv", "sync", "rsync", "put", "upload", "copy", "copyto", "upload-batch", "mirror":
			copies = true
			continue
		}
		if copies && !isRemotePath(w) {
			if last := i == len(ops)-1; last && isRemotePath(ops[i-1]) {
				v.writeTo(ops[i-1:i], w)
				continue
			}
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

// refusedByRm says that an operand is d/. or d/.., which rm refuses and leaves.
// What is of dots alone is left to the rules: it is meant to be the directory.
func refusedByRm(w script.Word) bool {
	text, known := w.Text()
	text = strings.TrimRight(text, "/")
	base := text[strings.LastIndexByte(text, '/')+1:]
	return known && (base == "." || base == "..") && strings.Trim(text, "./") != "" && text[0] != '/' && text[0] != '~'
}
