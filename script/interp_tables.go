package script

import (
	"slices"
	"strings"
)

// action says what a call does: a letter, then the positions of the arguments
// that count.
//
//	D R  delete, delete recursively (path; * all)    W E r  write, empty, read
//	O    open (path, mode)                           M C    move, copy (from, to)
//	S    shell code        s  shell code, or a program when there are several
//	L    program as a list X  program, then a list   A      program as arguments
//	P    Python's subprocess                         V      code of the language
//	H    change of directory                         G      looked up by name
func action(lang, name string) string {
	switch lang {
	case langPython:
		return pythonAction(name)
	case langJS:
		return jsAction(name)
	case langPerl:
		return perlAction(name)
	case langRuby:
		return rubyAction(name)
	case langPHP:
		return phpAction(name)
	case langAwk:
		if name == "system" {
			return "S"
		}
	}
	return ""
}

func last(name string) string {
	return name[strings.LastIndexByte(name, '.')+1:]
}

func pythonAction(name string) string {
	switch name {
	case "os.remove", "os.unlink", "os.rmdir", "os.removedirs", "posix.unlink", "posix.remove", "posix.rmdir":
		return "D"
	case "shutil.rmtree", "rmtree", "distutils.dir_util.remove_tree", "remove_tree":
		return "R"
	case "os.truncate", "os.ftruncate":
		return "E"
	case "open", "io.open", "codecs.open", "builtins.open", "gzip.open", "bz2.open", "lzma.open", "aiofiles.open":
		return "O"
	case "os.rename", "os.replace", "os.renames", "shutil.move":
		return "M"
	case "shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree":
		return "C"
	case "os.system", "os.popen", "os.popen2", "os.popen3", "os.popen4", "commands.getoutput", "commands.getstatusoutput", "subprocess.getoutput",
		"subprocess.getstatusoutput", "asyncio.create_subprocess_shell", "popen2.popen2", "platform.popen", "pexpect.run", "pexpect.spawn", "pexpect.runu":
		return "S"
	case "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen":
		return "P"
	case "os.execl", "os.execle", "os.execlp", "os.execlpe":
		return "A1"
	case "os.execv", "os.execve", "os.execvp", "os.execvpe", "os.posix_spawn", "os.posix_spawnp":
		return "L1"
	case "os.spawnl", "os.spawnle", "os.spawnlp", "os.spawnlpe":
		return "A2"
	case "os.spawnv", "os.spawnve", "os.spawnvp", "os.spawnvpe":
		return "L2"
	case "asyncio.create_subprocess_exec":
		return "A"
	case "pty.spawn":
		return "L"
	case "exec", "eval", "compile", "builtins.exec", "builtins.eval", "runpy.run_path":
		return "V"
	case "os.chdir", "contextlib.chdir":
		return "H"
	case "getattr":
		return "G"
	}
	switch last(name) {
	case "unlink", "rmdir":
		return "D."
	case "rmtree", "rmtree_p":
		return "R."
	case "write_text", "write_bytes":
		return "W."
	case "read_text", "read_bytes":
		return "r."
	case "open":
		if strings.HasPrefix(name, "().") {
			return "O."
		}
	case "rename", "replace":
		if strings.HasPrefix(name, "().") || strings.Count(name, ".") == 1 {
			return "M."
		}
	}
	return ""
}

func jsAction(name string) string {
	switch name {
	case "eval", "Function", "vm.runInThisContext", "vm.runInNewContext", "vm.runInContext":
		return "V"
	case "process.chdir", "Deno.chdir":
		return "H"
	case "rimraf", "rimraf.sync", "rimraf.rimraf", "rimraf.rimrafSync", "rimraf.native", "rimrafSync", "del", "del.sync", "del.deleteAsync", "del.deleteSync", "fs-extra.remove", "fs-extra.removeSync", "fs-extra.emptyDir",
		"fs-extra.emptyDirSync", "trash":
		return "R"
	case "Deno.remove", "Deno.removeSync":
		return "D"
	case "Deno.writeTextFile", "Deno.writeTextFileSync", "Deno.writeFile", "Deno.writeFileSync", "Bun.write", "Deno.create", "Deno.createSync":
		return "W"
	case "Deno.readTextFile", "Deno.readTextFileSync", "Deno.readFile", "Deno.readFileSync", "Deno.open", "Bun.file":
		return "r"
	case "Deno.rename", "Deno.renameSync":
		return "M"
	case "Deno.truncate", "Deno.truncateSync":
		return "E"
	case "Deno.Command":
		return "X"
	case "Deno.run":
		return "B"
	case "Bun.spawn", "Bun.spawnSync":
		return "L"
	case "execa", "execa.execa", "execa.execaSync", "execa.sync", "execaSync", "execa.execFile", "cross-spawn", "cross-spawn.sync", "cross-spawn.spawn":
		return "X"
	case "execaCommand", "execa.execaCommand", "execa.execaCommandSync", "execa.command", "execa.commandSync", "shelljs.exec", "shell.exec", "sh.exec":
		return "S"
	case "shelljs.rm", "shell.rm", "sh.rm":
		return "R*"
	case "setTimeout", "setInterval":
		return "v"
	}
	module, fn, ok := strings.Cut(name, ".")
	switch {
	case !ok:
		// A name that came from nowhere, as in node -e with a destructuring
		// that was not understood.
		switch name {
		case "execSync", "spawnSync", "execFileSync", "rmSync", "unlinkSync", "rmdirSync":
			fn = name
		default:
			return ""
		}
	case module == "child_process", module == "cp" && !strings.HasPrefix(fn, "cp"), module == "()":
	case module == "fs", module == "fsp", module == "fs-extra", module == "graceful-fs", module == "Deno", module == "promises":
	default:
		fn = last(name)
		if !strings.HasSuffix(fn, "Sync") {
			return ""
		}
	}
	return nodeAction(strings.TrimPrefix(fn, "promises."), module)
}

// nodeAction is what a function of fs or child_process does.
func nodeAction(fn, module string) string {
	process := module != "fs" && module != "fsp" && module != "fs-extra"
	switch fn {
	case "unlinkSync", "rmdirSync", "rmSync":
		return "d"
	case "unlink", "rmdir", "rm":
		if module != "()" {
			return "d"
		}
	case "removeSync", "remove", "emptyDir", "emptyDirSync":
		if module == "fs-extra" || strings.HasSuffix(fn, "Sync") {
			return "R"
		}
	case "writeFileSync", "writeFile", "appendFileSync", "appendFile", "createWriteStream", "outputFileSync", "outputFile", "writeJsonSync", "writeJSONSync", "writeJson":
		return "W"
	case "truncateSync", "truncate":
		return "E"
	case "readFileSync", "readFile", "createReadStream", "readJsonSync", "readJson":
		return "r"
	case "openSync", "open":
		if module != "()" {
			return "O"
		}
	case "renameSync", "rename", "moveSync", "move":
		if module != "()" {
			return "M"
		}
	case "copyFileSync", "copyFile", "cpSync", "cp", "copySync", "copy":
		if module != "()" {
			return "C"
		}
	case "execSync":
		return "S"
	case "exec":
		if process && module != "()" {
			return "S"
		}
	case "spawnSync", "execFileSync":
		return "X"
	case "spawn", "execFile":
		if process {
			return "X"
		}
	}
	return ""
}

func perlAction(name string) string {
	switch name {
	case "unlink":
		return "D*"
	case "rmdir":
		return "D"
	case "rmtree", "remove_tree", "File.Path.rmtree", "File.Path.remove_tree", "File.Remove.remove":
		return "R*"
	case "truncate":
		return "E"
	case "rename", "move", "mv", "File.Copy.move":
		return "M"
	case "copy", "cp", "File.Copy.copy":
		return "C"
	case "system", "exec", "CORE.system", "CORE.exec", "capture", "run":
		if name == "run" || name == "capture" {
			return ""
		}
		return "s"
	case "open":
		return "o"
	case "eval":
		return "V"
	case "chdir":
		return "H"
	case "readpipe":
		return "S"
	}
	if last(name) == "remove" || last(name) == "unlink" || last(name) == "remove_tree" {
		return "D."
	}
	return ""
}

func rubyAction(name string) string {
	switch name {
	case "File.delete", "File.unlink", "Dir.delete", "Dir.rmdir", "Dir.unlink":
		return "D*"
	case "FileUtils.rm", "FileUtils.rm_f", "FileUtils.remove", "FileUtils.safe_unlink", "FileUtils.remove_file", "FileUtils.rmdir", "rm", "rm_f":
		return "D"
	case "FileUtils.rm_r", "FileUtils.rm_rf", "FileUtils.rmtree", "FileUtils.remove_dir", "FileUtils.remove_entry", "FileUtils.remove_entry_secure", "rm_r", "rm_rf":
		return "R"
	case "File.truncate":
		return "E"
	case "File.write", "IO.write", "File.binwrite", "IO.binwrite":
		return "W"
	case "File.read", "IO.read", "File.readlines", "IO.readlines", "File.foreach", "File.binread", "IO.binread":
		return "r"
	case "File.open", "File.new", "open", "Kernel.open":
		return "O"
	case "File.rename", "FileUtils.mv", "FileUtils.move":
		return "M"
	case "FileUtils.cp", "FileUtils.copy", "FileUtils.cp_r", "FileUtils.copy_file", "FileUtils.install":
		return "C"
	case "system", "exec", "spawn", "Kernel.system", "Kernel.exec", "Kernel.spawn", "Process.spawn", "IO.popen", "Open3.capture2", "Open3.capture3",
		"Open3.capture2e", "Open3.popen3", "Open3.popen2", "Open3.popen2e", "Process.exec", "PTY.spawn":
		return "s"
	case "eval", "instance_eval", "class_eval", "Kernel.eval", "binding.eval":
		return "V"
	case "Dir.chdir", "FileUtils.cd", "FileUtils.chdir":
		return "H"
	case "send", "Kernel.send", "public_send", "__send__":
		return "G"
	}
	switch last(name) {
	case "unlink", "rmtree", "rmdir":
		if strings.Contains(name, ".") {
			return map[bool]string{true: "R.", false: "D."}[last(name) == "rmtree"]
		}
	case "delete":
		if strings.HasPrefix(name, "().") {
			return "p."
		}
	}
	return ""
}

func phpAction(name string) string {
	switch strings.ToLower(name) {
	case "unlink", "rmdir":
		return "D"
	case "ftruncate":
		return ""
	case "file_put_contents":
		return "W"
	case "file_get_contents", "readfile", "file":
		return "r"
	case "fopen":
		return "O"
	case "rename":
		return "M"
	case "copy":
		return "C"
	case "system", "exec", "shell_exec", "passthru", "popen", "proc_open":
		return "s"
	case "pcntl_exec":
		return "X"
	case "eval", "assert", "create_function":
		return "V"
	case "chdir":
		return "H"
	case "array_map", "call_user_func", "array_walk", "call_user_func_array":
		return "G"
	}
	return ""
}

// call follows one call.
func (p *interp) call(i int, name string, recv []token, args [][]token) {
	act := action(p.lang, name)
	if act == "" {
		return
	}
	pos := positional(args, p.lang)
	method := strings.HasSuffix(act, ".")
	if method {
		if len(recv) == 0 {
			return
		}
		pos = append([][]token{recv}, pos...)
	}
	arg := func(n int) (Word, bool) {
		if n >= len(pos) || len(pos[n]) == 0 {
			return Word{}, false
		}
		return p.value(pos[n]), true
	}
	call := name
	if strings.HasPrefix(call, "().") {
		call = strings.TrimSpace(p.text(recv)) + call[2:]
	}
	call = clip(call)
	switch act[0] {
	case 'D', 'R', 'd':
		rec := act[0] == 'R' || act[0] == 'd' && p.flag(args, "recursive")
		p.deletes(pos, act, rec, call, method)
	case 'p': // Pathname("x").delete
		if strings.HasPrefix(p.text(recv), "Pathname") {
			p.effect(Delete, p.value(recv), false, call)
		}
	case 'W', 'E', 'r':
		if w, ok := arg(0); ok {
			p.effect(map[byte]EffectKind{'W': Write, 'E': Empty, 'r': Read}[act[0]], w, false, call)
		}
	case 'O':
		p.opens(i, args, pos, call)
	case 'o':
		p.perlOpen(pos, call)
	case 'M', 'C':
		if method && !p.isPath(recv) {
			return // str.replace, DataFrame.rename
		}
		if w, ok := arg(0); ok {
			p.effect(map[byte]EffectKind{'M': Delete, 'C': Read}[act[0]], w, false, call)
		}
		if w, ok := arg(1); ok {
			p.effect(Write, w, false, call)
		}
	case 'H':
		if w, ok := arg(0); ok {
			p.dir, p.moved = under(p.dir, w), true
		}
	case 'V':
		p.evaluates(pos, call)
	case 'v':
		if len(pos) > 0 && len(pos[0]) == 1 && pos[0][0].kind == tString {
			p.evaluates(pos, call)
		}
	case 'G':
		p.byName(args, call)
	default:
		p.process(act, args, pos, call)
	}
}

// isPath reports whether an expression of Python is a pathlib path.
func (p *interp) isPath(t []token) bool {
	for _, x := range t {
		if x.kind == tName && (x.text == "Path" || x.text == "pathlib" || p.paths[x.text]) {
			return true
		}
	}
	return false
}

// deletes records the paths of a deletion.
func (p *interp) deletes(pos [][]token, act string, rec bool, call string, method bool) {
	if p.lang == langPerl && len(pos) == 0 {
		p.effect(Delete, Word{Parts: []Part{{Kind: Variable, Name: "$_"}}}, rec, call)
		return
	}
	n := 1
	if strings.HasSuffix(act, "*") {
		n = len(pos)
	}
	for j := 0; j < n && j < len(pos); j++ {
		if len(pos[j]) > 0 && pos[j][0].text == "{" {
			continue
		}
		if ws, ok := p.list(pos[j]); ok && !method {
			for _, w := range ws {
				p.effect(Delete, w, rec, call)
			}
			continue
		}
		w := p.value(pos[j])
		if t, ok := w.Text(); ok && strings.HasPrefix(t, "-") && strings.HasPrefix(call, "sh") {
			continue // shelljs: rm('-rf', x)
		}
		p.effect(Delete, w, rec, call)
	}
}

// opens follows open(path, mode).
func (p *interp) opens(i int, args, pos [][]token, call string) {
	if len(pos) == 0 {
		return
	}
	w := p.value(pos[0])
	mode := "r"
	switch m := p.option(args, "mode"); {
	case m != nil:
		mode = wordName(p.value(m))
	case len(pos) > 1:
		mode = wordName(p.value(pos[1]))
	}
	if t, ok := w.Text(); ok && strings.HasPrefix(t, "|") && p.lang == langRuby {
		p.shell(Lit(t[1:]), nil, call)
		return
	}
	kind := Read
	switch {
	case strings.ContainsAny(mode, "wx"):
		kind = Write
		// open(p, 'w').close() leaves an empty file
		end := p.match(i + 1)
		if end+2 < len(p.toks) && p.toks[end+1].text == "." && p.toks[end+2].text == "close" {
			kind = Empty
		}
	case strings.ContainsAny(mode, "a+c"):
		kind = Write
	}
	p.effect(kind, w, false, call)
}

// perlOpen follows Perl's open with two, three or more arguments.
func (p *interp) perlOpen(pos [][]token, call string) {
	if len(pos) < 2 {
		return
	}
	mode := p.value(pos[1])
	m, known := mode.Text()
	m = strings.TrimSpace(m)
	kind := func(m string) EffectKind {
		switch {
		case strings.HasPrefix(m, ">"), strings.HasPrefix(m, "+"):
			return Write
		}
		return Read
	}
	if len(pos) > 2 {
		switch {
		case m == "-|" || m == "|-":
			ws := p.listItems(pos[2:])
			if len(ws) == 1 {
				p.shell(ws[0], nil, call)
			} else {
				p.exec(ws, nil)
			}
		default:
			p.effect(kind(m), p.value(pos[2]), false, call)
		}
		return
	}
	switch {
	case !known:
		first := mode.Parts[0]
		if first.Kind == Literal && strings.HasPrefix(strings.TrimSpace(first.Text), ">") {
			p.effect(Write, trimWord(mode, strings.IndexByte(first.Text, '>')+1), false, call)
			return
		}
		p.unknown("open with a mode that is not known: " + clip(wordName(mode)))
	case strings.HasPrefix(m, "|"):
		p.shell(Lit(m[1:]), nil, call)
	case strings.HasSuffix(m, "|"):
		p.shell(Lit(m[:len(m)-1]), nil, call)
	default:
		p.effect(kind(m), Lit(strings.TrimLeft(m, "+<> ")), false, call)
	}
}

// evaluates follows eval: text is code again.
func (p *interp) evaluates(pos [][]token, call string) {
	if len(pos) == 0 || len(pos[0]) > 0 && pos[0][0].text == "{" {
		return // a block: its tokens are looked at anyway
	}
	n := 0
	if strings.HasPrefix(call, "Function") {
		n = len(pos) - 1
	}
	w := p.value(pos[n])
	if t, ok := w.Text(); ok {
		if p.depth < 8 {
			p.run(t, p.depth+1)
		}
		return
	}
	p.unknown("the code given to " + call + " is not known: " + clip(wordName(w)))
}

// byName follows calls of a function whose name is a value.
func (p *interp) byName(args [][]token, call string) {
	if len(args) < 2 {
		return
	}
	switch p.lang {
	case langPython:
		m := p.text(args[0])
		if full, ok := p.alias[m]; ok {
			m = full
		}
		if m == "os" || m == "shutil" || m == "subprocess" || m == "builtins" || m == "__builtins__" || strings.HasPrefix(m, "__import__") {
			p.unknown("a function of " + m + " is looked up by name")
		}
	case langRuby:
		t := p.text(args[0])
		if act := rubyAction(strings.Trim(t, `:"'`)); act != "" || len(args[0]) != 2 {
			p.unknown("a method is called by name: " + clip(t))
		}
	case langPHP:
		fn, ok := p.value(args[0]).Text()
		act := phpAction(fn)
		switch {
		case !ok:
			if len(args[0]) > 0 && args[0][0].text != "function" && args[0][0].text != "fn" {
				p.unknown("a function is called by name: " + clip(p.text(args[0])))
			}
		case act == "D":
			p.effect(Delete, p.value(args[1]), false, fn)
		case act != "":
			p.process(act, args[1:], args[1:], fn)
		}
	}
}

// process follows calls that start programs.
func (p *interp) process(act string, args, pos [][]token, call string) {
	var dir *Word
	for _, o := range []string{"cwd", "chdir"} {
		if v := p.option(args, o); v != nil {
			w := p.value(v)
			dir = &w
		}
	}
	from := 0
	if len(act) > 1 && act[1] >= '0' && act[1] <= '9' {
		from = int(act[1] - '0')
	}
	switch act[0] {
	case 'S':
		if v := p.option(args, "cmd"); len(pos) == 0 && v != nil {
			pos = [][]token{v}
		}
		if len(pos) > 0 {
			if ws, ok := p.list(pos[0]); ok && p.lang != langAwk {
				p.exec(ws, dir)
				return
			}
			p.shell(p.value(pos[0]), dir, call)
		}
	case 's':
		p.systemCall(pos, dir, call)
	case 'A':
		if from < len(pos) {
			ws := p.listItems(pos[from:])
			if from > 0 && len(ws) > 0 {
				ws[0] = p.value(pos[from-1]) // the file counts, not argv[0]
			}
			p.exec(ws, dir)
		}
	case 'L':
		p.listCall(pos, from, dir, call)
	case 'X', 'B':
		p.programCall(act, args, pos, dir, call)
	case 'P':
		p.subprocess(args, pos, dir, call)
	}
}

// systemCall is system of Perl, Ruby and PHP: one text goes to a shell,
// several arguments are a program.
func (p *interp) systemCall(pos [][]token, dir *Word, call string) {
	pos = slices.DeleteFunc(slices.Clone(pos), func(t []token) bool {
		return len(t) == 0 || t[0].text == "{" || len(t) > 1 && t[0].kind == tName && t[1].text == ":" || len(t) > 2 && t[0].text == ":" && t[2].text == "=>"
	})
	if len(pos) == 0 {
		return
	}
	if ws, ok := p.list(pos[0]); ok {
		if len(pos) == 1 || p.lang != langPerl {
			p.exec(ws, dir)
			return
		}
		for _, t := range pos[1:] {
			ws = append(ws, p.listItems([][]token{t})...)
		}
		p.exec(ws, dir)
		return
	}
	if len(pos) > 1 && p.lang != langPHP && !strings.HasPrefix(call, "IO.popen") {
		p.exec(p.listItems(pos), dir)
		return
	}
	p.shell(p.value(pos[0]), dir, call)
}

// listCall starts a program given as a list.
func (p *interp) listCall(pos [][]token, from int, dir *Word, call string) {
	if from >= len(pos) {
		return
	}
	ws, ok := p.list(pos[from])
	if !ok {
		w := p.value(pos[from])
		if !w.Known() {
			p.unknown("what " + call + " runs is not known: " + clip(wordName(w)))
			return
		}
		ws = []Word{w}
	}
	if from > 0 && len(ws) > 0 {
		ws[0] = p.value(pos[from-1])
	}
	p.exec(ws, dir)
}

// programCall is spawn(file, [args], options) of JavaScript.
func (p *interp) programCall(act string, args, pos [][]token, dir *Word, call string) {
	if act[0] == 'B' {
		if ws, ok := p.list(p.option(args, "cmd")); ok {
			p.exec(ws, dir)
			return
		}
		p.unknown("what " + call + " runs is not known")
		return
	}
	if len(pos) == 0 {
		return
	}
	ws := []Word{p.value(pos[0])}
	rest := []token(nil)
	if len(pos) > 1 {
		rest = pos[1]
	}
	if v := p.option(args, "args"); v != nil {
		rest = v
	}
	switch list, ok := p.list(rest); {
	case ok:
		ws = append(ws, list...)
	case len(rest) > 0 && rest[0].text != "{" && rest[0].text != "(" && rest[0].text != "function" && (len(rest) < 2 || rest[1].text != "=>"):
		w := p.opaque(rest)
		w.Parts[0].Split = true
		ws = append(ws, w)
	}
	if p.flag(args, "shell") {
		p.shell(join(ws), dir, call)
		return
	}
	p.exec(ws, dir)
}

// subprocess is subprocess.run and its kin.
func (p *interp) subprocess(args, pos [][]token, dir *Word, call string) {
	first := p.option(args, "args")
	if len(pos) > 0 {
		first = pos[0]
	}
	if len(first) == 0 {
		return
	}
	shell := p.flag(args, "shell")
	var stdin *Word
	if v := p.option(args, "input"); v != nil {
		w := p.value(v)
		stdin = &w
	}
	ws, ok := p.list(first)
	switch {
	case ok && shell && len(ws) > 0:
		p.feed(ws[0], dir, call, stdin)
	case ok:
		p.execFed(ws, dir, stdin)
	case shell:
		p.feed(p.value(first), dir, call, stdin)
	default:
		w := p.value(first)
		if !w.Known() {
			p.unknown("what " + call + " runs is not known: " + clip(wordName(w)))
			return
		}
		p.exec([]Word{w}, dir)
	}
}

// awkOp looks at the operators with which awk runs commands and writes files.
func (p *interp) awkOp(i int) {
	t := p.toks
	switch t[i].text {
	case "|", "|&":
		if i+1 < len(t) && t[i+1].text == "getline" {
			from := p.awkStart(i)
			p.shell(p.value(t[from:i]), nil, "getline")
			return
		}
		if p.awkPrints(i) {
			p.feed(p.value(t[i+1:p.statementEnd(i+1)]), nil, "print |", p.awkPrinted(i))
		}
	case ">", ">>":
		if p.awkPrints(i) {
			p.effect(Write, p.value(t[i+1:p.statementEnd(i+1)]), false, "print "+t[i].text)
		}
	case "<":
		if i > 0 && (t[i-1].text == "getline" || i > 1 && t[i-2].text == "getline") && i+1 < len(t) {
			p.effect(Read, p.value(t[i+1:i+2]), false, "getline")
		}
	}
}

// awkStart returns where the expression before a pipe begins.
func (p *interp) awkStart(i int) int {
	level := 0
	for j := i - 1; j >= 0; j-- {
		switch x := p.toks[j]; {
		case x.kind == tBreak || x.text == ";" || x.text == "{" || x.text == "}" || x.text == "=" || x.text == "&&" || x.text == "||" || x.text == "!":
			return j + 1
		case x.text == ")":
			level++
		case x.text == "(":
			if level--; level < 0 {
				return j + 1
			}
		}
	}
	return 0
}

// awkPrinted returns the text that a print statement writes to the pipe at i,
// when it is known.
func (p *interp) awkPrinted(i int) *Word {
	from := p.awkStart(i)
	if from >= i || p.toks[from].text != "print" {
		return nil
	}
	w := p.value(p.toks[from+1 : i])
	if !w.Known() {
		return nil
	}
	w.Parts = merge(append(w.Parts, Part{Text: "\n"}))
	return &w
}

// awkPrints reports whether the token at i belongs to a print statement,
// outside its parentheses.
func (p *interp) awkPrints(i int) bool {
	level := 0
	for j := i - 1; j >= 0; j-- {
		switch x := p.toks[j]; {
		case x.text == ")":
			level++
		case x.text == "(":
			if level--; level < 0 {
				return false
			}
		case level == 0 && (x.kind == tBreak || x.text == ";" || x.text == "{" || x.text == "}"):
			return false
		case x.kind == tName && (x.text == "print" || x.text == "printf") && level == 0:
			return true
		}
	}
	return false
}
