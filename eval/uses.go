package eval

import (
	"strings"

	"safeshell/script"
)

// uses is what a program does with the files that its command line names, as far
// as a table can say it. Lists are words between blanks.
type uses struct {
	// ops says what becomes of the operands, a letter each, the last for all that
	// follow; before a *, of all but those behind it. r read, w written (a
	// directory: into it, under the names of what is read), c changed (mode, owner,
	// attributes), d deleted, m moved, g moved by a pattern that the program
	// expands, p the beginning of names that are written, - nothing.
	ops string
	// Options whose value is written, a directory that is written into, and a
	// directory where the values of write are.
	write, into, at string
	recursive       string // options that make it go into directories
	idle            string // options with which it only reads
	need            string // options without which it only reads
	fill            string // options with which it unpacks an archive into a directory; *: always
}

// usesOf is the table of programs that have no rows of code. The second key is
// the first operand, where the program has subcommands. It is a switch, not a
// map, so that nothing is built at start.
func usesOf(name, sub string) (u uses, ok bool) {
	switch name {
	case "gio":
		return gioUses(sub), true
	case "gvfs-trash", "gvfs-rm", "gvfs-move", "gvfs-copy":
		return gioUses(name[len("gvfs-"):]).without(1), true
	case "trash", "trash-put", "gtrash", "trashy", "rmtrash", "rip":
		return uses{ops: "m"}, true
	case "safe-rm":
		return uses{ops: "d"}, true
	case "kioclient", "kioclient5", "kioclient6":
		return gioUses(sub), true
	case "link":
		return uses{ops: "cw"}, true // what is written to the new name is written to the old
	case "exch":
		return uses{ops: "m"}, true
	case "rename", "prename", "perl-rename", "file-rename", "rename.ul", "vidir", "qmv", "imv", "brename", "detox":
		return uses{ops: "m", idle: "-n --no-act --nono --dry-run"}, true
	case "mmv", "zmv":
		return uses{ops: "g", idle: "-n"}, true
	case "mknod":
		return uses{ops: "c-"}, true
	case "mktemp":
		return uses{ops: "c", into: "-p --tmpdir"}, true
	case "setfattr", "attr", "chcon", "setcap", "chflags", "xattr":
		return uses{ops: "c", recursive: "-R --recursive -r"}, true
	case "mount", "bindfs", "umount", "fusermount", "fusermount3", "sshfs", "mergerfs", "unionfs", "gocryptfs", "encfs", "pivot_root":
		return uses{ops: "r*c"}, true
	case "split":
		return uses{ops: "rp"}, true
	case "csplit":
		return uses{ops: "r-", write: "-f --prefix"}, true
	case "uniq", "xxd", "lz4", "unlz4", "brotli":
		return uses{ops: "rw"}, true
	case "shuf", "base64", "base32", "gpg", "gpg2", "age", "pandoc", "sops":
		return uses{ops: "r", write: "-o --output"}, true
	case "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma", "unlzma", "compress", "uncompress", "pigz", "unpigz", "lzip", "lzop", "pbzip2":
		return uses{ops: "m", idle: "-c --stdout --to-stdout -t --test -l --list -k --keep", recursive: "-r --recursive"}, true
	case "zstd", "unzstd":
		return uses{ops: "m", write: "-o", need: "--rm", recursive: "-r"}, true
	case "cpio":
		return uses{ops: "w", into: "-D --directory", fill: "-i --extract"}, true
	case "pax":
		return uses{fill: "-r"}, true
	case "unrar", "rar":
		return uses{ops: "-r*w"}, true
	case "unar", "dtrx", "aunpack":
		return uses{ops: "r", into: "-o -output-directory -X --extract-to", fill: "*"}, true
	case "unsquashfs", "cabextract", "jar", "ar":
		return uses{ops: "r", into: "-o -output-directory -d -dest --directory -C --dir --output"}, true
	case "dpkg-deb", "dpkg":
		return uses{ops: "rw", need: "-x --extract -X --vextract -R --raw-extract"}, true
	case "tmpreaper", "tmpwatch":
		return uses{ops: "-d", idle: "-t --test"}, true
	case "script":
		return uses{ops: "w", write: "-O --log-out -B --log-io -I --log-in -T --log-timing"}, true
	case "strace", "ltrace", "time", "gtime", "perf", "valgrind":
		return uses{write: "-o --output --log-file"}, true
	case "tcpdump", "tshark", "dumpcap":
		return uses{write: "-w"}, true
	case "convert", "magick", "ffmpeg", "sox", "gm", "cwebp", "qpdf", "pdftotext", "wkhtmltopdf", "ps2pdf":
		return uses{ops: "r*w", write: "-o --output"}, true
	case "aria2c":
		return uses{at: "-d --dir", write: "-o --out -l --log"}, true
	case "yt-dlp", "youtube-dl":
		return uses{at: "-P --paths", write: "-o --output"}, true
	case "pip", "pip3", "uv":
		return uses{into: "-t --target --prefix --root -d --dest --src"}, true
	case "npm", "pnpm", "yarn", "bun":
		return uses{into: "--prefix --dir --cwd", write: "-o --outfile"}, true
	case "cargo":
		return uses{into: "--root --target-dir --out-dir --artifact-dir"}, true
	case "gem", "composer", "bundle":
		return uses{into: "-i --install-dir -d --working-dir -n --bindir --path"}, true
	case "stow":
		return uses{into: "-t --target"}, true
	case "gh", "glab":
		return uses{into: "-D --dir"}, true
	case "psql", "pg_dump", "pg_dumpall", "mysqldump", "mongodump":
		return uses{write: "-o --output --out -L --log-file -r --result-file"}, true
	case "screen":
		return uses{write: "-Logfile"}, true
	case "logrotate":
		return uses{ops: "r", write: "-s --state"}, true
	}
	return u, false
}

// gioUses are the subcommands of gio and kioclient.
func gioUses(sub string) uses {
	switch sub {
	case "trash":
		return uses{ops: "-m", idle: "--list"}
	case "remove", "rm":
		return uses{ops: "-d"}
	case "move", "mv":
		return uses{ops: "-m*w"}
	case "copy", "cp":
		return uses{ops: "-r*w"}
	case "rename":
		return uses{ops: "-m-"}
	case "save", "set", "mkdir":
		return uses{ops: "-c-"}
	}
	return uses{ops: "-r"}
}

// without drops the first n letters of ops.
func (u uses) without(n int) uses {
	u.ops = u.ops[n:]
	return u
}

// tableAccess adds what the table says of the program.
func (v *view) tableAccess() bool {
	l := &v.line
	sub := ""
	if ops := v.operandList(0); len(ops) > 0 {
		sub, _ = ops[0].Text()
	}
	u, ok := usesOf(l.name, sub)
	if !ok {
		return false
	}
	given := func(list string) bool {
		for opt := range strings.FieldsSeq(list) {
			if l.flag(opt) {
				return true
			}
		}
		return false
	}
	each := func(list string, f func(script.Word)) {
		for opt := range strings.FieldsSeq(list) {
			v.optionWords(f, opt)
		}
	}
	var at []script.Word
	each(u.at, func(w script.Word) { at = append(at, w); v.touch(accWrite, w, false) })
	dest := script.Lit(".")
	each(u.into, func(w script.Word) { dest = w; v.touch(accWrite, w, false) })
	if u.fill == "*" || given(u.fill) {
		v.unpacks(dest, script.Word{}, nil)
	}
	each(u.write, func(w script.Word) { v.writeAt(at, w) })
	idle := given(u.idle) || u.need != "" && !given(u.need)
	v.byLetters(u.ops, v.operandList(0), given(u.recursive), idle)
	return true
}

// byLetters touches operands as the letters of uses.ops say.
func (v *view) byLetters(letters string, ops []script.Word, recursive, idle bool) {
	head, tail, all := strings.Cut(letters, "*")
	for i, w := range ops {
		letter := byte('-')
		switch n := len(ops) - i; {
		case all && n <= len(tail) && i >= len(head)-1:
			letter = tail[len(tail)-n]
		case i < len(head):
			letter = head[i]
		case head != "":
			letter = head[len(head)-1]
		}
		if idle && letter != '-' {
			letter = 'r'
		}
		w = withoutScheme(w)
		switch letter {
		case 'r':
			v.touch(accRead, w, recursive)
		case 'w':
			v.writeTo(ops[:i], w)
		case 'c':
			v.touch(accChange, w, recursive)
		case 'd':
			v.touch(accDelete, w, true)
		case 'm':
			v.touch(accMove, w, true)
		case 'g': // the program expands patterns itself
			if s, ok := w.Text(); ok && hasGlob(s) {
				w = script.Word{Parts: []script.Part{{Kind: script.Glob, Text: s}}}
			}
			v.touch(accMove, w, true)
		case 'p':
			v.touch(accWrite, script.Word{Parts: append(w.Parts[:len(w.Parts):len(w.Parts)], script.Part{Kind: script.Glob, Text: "?*"})}, false)
		}
	}
}

// writeAt writes a file in the last of the directories, if there is one.
func (v *view) writeAt(dirs []script.Word, file script.Word) {
	if s, _ := leading(file); len(dirs) > 0 && !strings.HasPrefix(s, "/") {
		file = joined(dirs[len(dirs)-1], file.Parts)
	}
	v.touch(accWrite, file, false)
}

// writeTo writes files to dest: under their own names where it is a directory.
func (v *view) writeTo(from []script.Word, dest script.Word) {
	if len(from) == 0 || !v.isDir(dest) {
		v.touch(accWrite, dest, false)
		return
	}
	for _, w := range from {
		v.touch(accWrite, inDir(dest, w), false)
	}
}

// withoutScheme takes file:// from an operand.
func withoutScheme(w script.Word) script.Word {
	if s, _ := leading(w); strings.HasPrefix(s, "file://") {
		return cutWord(w, len("file://"))
	}
	return w
}

// isDir says that a word names a directory by the time the command runs.
func (v *view) isDir(w script.Word) bool {
	p := v.pathOf(w, v.dir)
	return p.slash || !p.rootless && !p.unknown && !p.glob && v.becomesDir(p)
}

// inDir is the word for a file that keeps its name in another directory.
func inDir(dir, file script.Word) script.Word {
	return joined(dir, lastOf(file))
}

func joined(dir script.Word, rest []script.Part) script.Word {
	out := script.Word{Span: dir.Span}
	out.Parts = append(out.Parts, dir.Parts...)
	out.Parts = append(out.Parts, script.Part{Kind: script.Literal, Text: "/"})
	out.Parts = append(out.Parts, rest...)
	return out
}

// lastOf are the parts of a word behind its last slash, one at the end aside.
func lastOf(w script.Word) []script.Part {
	for i := len(w.Parts) - 1; i >= 0; i-- {
		p := w.Parts[i]
		if p.Kind != script.Literal && p.Kind != script.Glob {
			continue
		}
		text := p.Text
		if i == len(w.Parts)-1 {
			text = strings.TrimRight(text, "/")
		}
		if at := strings.LastIndexByte(text, '/'); at >= 0 {
			p.Text = text[at+1:]
		} else if len(text) < len(p.Text) {
			p.Text = text
			if i > 0 {
				return append(lastOf(script.Word{Parts: w.Parts[:i]}), p)
			}
		} else {
			continue
		}
		return append([]script.Part{p}, w.Parts[i+1:]...)
	}
	return w.Parts
}
