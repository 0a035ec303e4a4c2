package script

import "strings"

// action says what a call does: a letter, then the positions of the arguments
// that count.
//
//	D R  delete, delete recursively (path; * all)    W E r  write, empty, read
//	O    open (path, mode)                           M C    move, copy (from, to)
//	S    shell code        s  shell code, or a program when there are several
//	L    program as a list X  program, then a list   A      program as arguments
//	P    Python's subprocess                         V      code of the language
//	H    change of directory                         G      looked up by name
//	F    a function as an argument                   N      named after the program
//	e    each argument is a command                  i      s, where a module was asked for
//	m    change of mode, owner, times (path)         n      the same, of all but the first 1 (n2: 2)
//	l    a link (to, name), or what is like one      U      unpacks (archive, directory)
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
	case "os.chmod", "os.lchmod", "os.chown", "os.lchown", "os.utime", "os.chflags", "os.setxattr", "os.removexattr", "shutil.chown", "os.mkdir", "os.makedirs", "os.mkfifo", "os.mknod", "sqlite3.connect":
		return "m"
	case "os.symlink", "os.link", "shutil.copymode", "shutil.copystat", "urllib.request.urlretrieve", "urlretrieve", "wget.download":
		return "l"
	case "shutil.unpack_archive":
		return "U"
	case "os.open":
		return "O"
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
	case "map", "functools.partial", "partial", "asyncio.to_thread", "to_thread", "threading.Timer", "Timer":
		return "F"
	}
	if program, ok := strings.CutPrefix(name, "sh."); ok && !strings.Contains(program, ".") {
		return "N"
	}
	if strings.HasPrefix(name, "plumbum.cmd.") {
		return "N"
	}
	switch last(name) {
	case "Thread", "Process", "submit", "map", "starmap", "imap", "imap_unordered", "apply", "apply_async", "map_async", "run_in_executor", "call_soon", "call_later", "register":
		return "F"
	case "extractall":
		return "m" // of an open archive: into the directory
	case "chmod", "lchmod", "touch", "mkdir", "symlink_to", "hardlink_to", "link_to":
		if strings.Contains(name, ".") {
			return "m."
		}
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
	case "Deno.chmod", "Deno.chmodSync", "Deno.chown", "Deno.chownSync", "Deno.utime", "Deno.utimeSync", "Deno.mkdir", "Deno.mkdirSync":
		return "m"
	case "Deno.symlink", "Deno.symlinkSync", "Deno.link", "Deno.linkSync":
		return "l"
	case "Deno.copyFile", "Deno.copyFileSync":
		return "C"
	case "Deno.truncate", "Deno.truncateSync":
		return "E"
	case "Deno.Command":
		return "X"
	case "Deno.run":
		return "B"
	case "Bun.spawn", "Bun.spawnSync":
		return "L"
	case "tinyexec.x", "tinyexec.exec", "nano-spawn", "nanospawn", "zx.spawn":
		return "X"
	case "promisify", "util.promisify", "node.util.promisify", "()..promisify":
		return "F"
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
	case "chmodSync", "chownSync", "lchownSync", "utimesSync", "lutimesSync", "mkdirSync", "lchmodSync":
		return "m"
	case "symlinkSync", "linkSync":
		return "l"
	case "chmod", "chown", "lchown", "utimes", "lutimes", "mkdir", "lchmod":
		if module != "()" && !process {
			return "m"
		}
	case "symlink", "link":
		if module != "()" && !process {
			return "l"
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
	case "chmod":
		return "n"
	case "chown", "utime":
		return "n2"
	case "mkdir", "make_path", "mkpath", "File.Path.make_path", "File.Path.mkpath", "mkfifo", "POSIX.mkfifo":
		return "m"
	case "symlink", "link":
		return "l"
	case "system", "exec", "CORE.system", "CORE.exec", "IPC.Run.run", "IPC.Run.start", "IPC.Run3.run3", "run3", "IPC.System.Simple.system", "systemx", "capturex":
		return "s"
	case "run", "capture", "start", "harness", "runx":
		return "i" // of IPC::Run and its kin
	case "open3", "IPC.Open3.open3":
		return "s3"
	case "open2", "IPC.Open2.open2":
		return "s2"
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
	case "File.chmod", "File.lchmod", "FileUtils.chmod", "FileUtils.chmod_R":
		return "n"
	case "File.chown", "File.lchown", "File.utime", "File.lutime", "FileUtils.chown", "FileUtils.chown_R":
		return "n2"
	case "FileUtils.touch", "FileUtils.mkdir", "FileUtils.mkdir_p", "FileUtils.makedirs", "FileUtils.mkpath", "Dir.mkdir", "File.mkfifo":
		return "m"
	case "File.symlink", "File.link", "FileUtils.ln", "FileUtils.ln_s", "FileUtils.ln_sf", "FileUtils.link", "FileUtils.symlink", "FileUtils.cp_lr", "IO.copy_stream":
		return "l"
	case "FileUtils.cp", "FileUtils.copy", "FileUtils.cp_r", "FileUtils.copy_file", "FileUtils.install":
		return "C"
	case "system", "exec", "spawn", "Kernel.system", "Kernel.exec", "Kernel.spawn", "Process.spawn", "IO.popen", "Open3.capture2", "Open3.capture3",
		"Open3.capture2e", "Open3.popen3", "Open3.popen2", "Open3.popen2e", "Process.exec", "PTY.spawn", "PTY.getpty":
		return "s"
	case "Open3.pipeline", "Open3.pipeline_r", "Open3.pipeline_w", "Open3.pipeline_rw", "Open3.pipeline_start":
		return "e"
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
	case "chmod", "chown", "chgrp", "lchown", "touch", "mkdir":
		return "m"
	case "symlink", "link":
		return "l"
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
