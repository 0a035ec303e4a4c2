package script

import (
	"strings"
	"testing"
)

// code runs rows whose text is code of one interpreter, given as an argument.
func code(t *testing.T, prefix []string, rows []row) {
	t.Helper()
	for _, r := range rows {
		argv := append(append([]string(nil), prefix...), r.text)
		a := FromArgv(argv, testOptions(Bash))
		// The first command is shown by its effects alone.
		var effects []string
		for _, e := range a.Commands[0].Effects {
			s := string(e.Kind) + " " + spell(e.Path)
			if e.Recursive {
				s += " -r"
			}
			effects = append(effects, s)
		}
		var got []string
		got = append(got, effects...)
		for i := range a.Commands[1:] {
			c := render(&a.Commands[i+1])
			_, c, _ = strings.Cut(c, ": ")
			got = append(got, "run "+c)
		}
		if strings.Join(got, "\n") != strings.Join(r.want, "\n") {
			t.Errorf("%s\ngot\n  %s\nwant\n  %s", r.text, strings.Join(got, "\n  "), strings.Join(r.want, "\n  "))
		}
		if r.unknown != (len(a.Unknown) > 0) {
			t.Errorf("%s\nunknown: %v", r.text, a.Unknown)
		}
	}
}

func TestPython(t *testing.T) {
	code(t, []string{"python3", "-c"}, []row{
		{text: `import os; os.remove("a"); os.unlink('b'); os.rmdir("c")`, want: []string{"delete a", "delete b", "delete c"}},
		{text: `import shutil as s; s.rmtree("x")`, want: []string{"delete x -r"}},
		{text: `from shutil import rmtree as r, copy; r("x"); copy("a","b")`, want: []string{"delete x -r", "read a", "write b"}},
		{text: "from os import (\n  remove,\n  system as sh)\nremove('a')\nsh('rm b')", want: []string{"delete a", "run rm b"}},
		{text: `print("os.remove('x')") # os.remove("y")`},
		{text: `"""os.remove('x')"""; x = 'shutil.rmtree("y")'`},
		{text: `import os; p = "a"; os.remove(p); os.remove(p + "/b"); os.remove(f"{p}/c"); os.remove(f"{q}/d")`, want: []string{"delete a", "delete a/b", "delete <$p>/c", "delete <$q>/d"}},
		{text: `import os; p = "a"; p = input(); os.remove(p)`, want: []string{"delete <$p>"}},
		{text: `import os; os.remove(os.path.join("a", "b")); os.remove(os.path.expanduser("~/x")); os.remove(os.environ["HOME"] + "/y")`, want: []string{"delete a/b", "delete /home/u/x", "delete /home/u/y"}},
		{text: `import os; [os.remove(f) for f in os.listdir(".")]`, want: []string{"delete <$f>"}},
		{text: `from pathlib import Path; Path("a").unlink(); (Path("a") / "b").unlink(missing_ok=True); p = Path.home() / "c"; p.unlink(); Path("d").rmdir()`, want: []string{"delete a", "delete a/b", "delete /home/u/c", "delete d"}},
		{text: `from pathlib import Path; Path("a").write_text("x"); Path("b").read_text(); Path("c").rename("d")`, want: []string{"write a", "read b", "delete c", "write d"}},
		{text: `open("a","w").write("x"); open("b","w").close(); open("c").read(); open("d", mode="a"); open("e", "rb")`, want: []string{"write a", "empty b", "read c", "write d", "read e"}},
		{text: `import os; os.truncate("a", 0); os.rename("b", "c")`, want: []string{"empty a", "delete b", "write c"}},
		{text: `import os; os.system("rm -rf x"); os.popen("rm y").read(); os.execvp("rm", ["rm", "-rf", "z"]); os.execlp("rm", "rm", "q")`, want: []string{"run rm -rf x", "run rm y", "run rm -rf z", "run rm q"}},
		{text: `import subprocess as sp; sp.run(["rm","-rf","x"]); sp.run("rm y", shell=True); sp.check_call(args=["rm","z"]); sp.Popen(("rm","q"), cwd="/d")`, want: []string{"run rm -rf x", "run rm y", "run rm z", "run rm q @/d"}},
		{text: `import subprocess; subprocess.run(["git", "status", *args]); subprocess.run("rm x".split()); import shlex; subprocess.run(shlex.split("rm 'y z'"))`, want: []string{"run git status <$args>", "run rm x", "run rm 'y z'"}},
		{text: `import subprocess; cmd = ["rm", "x"]; subprocess.run(cmd)`, want: []string{"run rm x"}},
		{text: `import subprocess; subprocess.run(cmd)`, unknown: true},
		{text: "import os, tempfile\nwith tempfile.TemporaryDirectory() as d:\n  p = d + '/x'; os.remove(p)", want: []string{"delete <tmp>/x"}},
		{text: "import os, tempfile\nwith tempfile.TemporaryDirectory() as d, open('x') as f:\n  os.remove(os.path.join(d, 'y')); os.remove(f)", want: []string{"read x", "delete <tmp>/y", "delete <$f>"}},
		{text: `import sh; sh.rm("-r", "x"); from plumbum.cmd import git; git("status")`, want: []string{"run rm -r x", "run git status"}},
		{text: `import os, shutil; list(map(os.remove, ["a", "b"])); ex.submit(shutil.rmtree, "c"); threading.Timer(1, os.remove, ("d",))`, want: []string{"delete a", "delete b", "delete c -r", "delete d"}},
		{text: `from threading import Thread; Thread(target=os.remove, args=("a",)).start(); list(map(str, [1])); pool.map(f, ["x"])`, want: []string{"delete a"}},
		{text: `import subprocess; subprocess.run(["node", "-v"]); subprocess.run(["python3", "-V"])`, want: []string{"run node -v", "run python3 -V"}},
		{text: `import os; os.system(cmd)`, want: []string{"run <$cmd>"}, unknown: true},
		{text: `import os; os.system("rm " + x)`, want: []string{"run rm <$x>"}, unknown: true},
		{text: `__import__("os").system("rm x"); import importlib; importlib.import_module("shutil").rmtree("y")`, want: []string{"delete y -r", "run rm x"}},
		{text: `getattr(os, "sys" + "tem")("rm x")`, unknown: true},
		{text: `exec("import os; os.remove('x')"); eval("__import__('os').system('rm y')")`, want: []string{"delete x", "run rm y"}},
		{text: `exec(open("f").read())`, want: []string{"read f"}, unknown: true},
		{text: `import base64; exec(base64.b64decode("aW1w"))`, unknown: true},
		{text: `import os; os.chdir("/d"); os.remove("x"); os.system("rm y")`, want: []string{"delete /d/x", "run rm y @/d"}},
		{text: `import subprocess; subprocess.run(["bash"], input="rm x", text=True); subprocess.run("sh", shell=True, input=b"rm y")`, want: []string{"run bash", "run rm x", "run sh", "run rm y"}},
		{text: `import subprocess; p = subprocess.Popen(["sh"], stdin=subprocess.PIPE); p.communicate(b"rm x")`, want: []string{"run sh"}, unknown: true},
		{text: `import json,sys; d=json.load(open("package.json")); print(d["name"]); d.pop("x"); l=[1]; l.remove(1)`, want: []string{"read package.json"}},
		{text: `s="a.b".replace(".", "/"); df.rename({}); re.compile("x"); "x".join(["a"])`},
		{text: "import glob,os\nfor f in glob.glob('*.pyc'):\n    os.remove(f)", want: []string{"delete <$f>"}},
		{text: `import tempfile,shutil; d = tempfile.mkdtemp(); shutil.rmtree(d)`, want: []string{"delete <tmp> -r"}},
		{text: `import os; os.remove(r"a\b"); os.remove("a\x62"); os.remove("a" "b")`, want: []string{`delete a\b`, "delete ab", "delete ab"}},
	})
	// Arguments of the code.
	a := FromArgv([]string{"python3", "-c", "import os,sys; os.remove(sys.argv[1])", "x"}, testOptions(Bash))
	if got := render(&a.Commands[0]); !strings.HasSuffix(got, "{delete x}") {
		t.Error(got)
	}
}

func TestJavaScript(t *testing.T) {
	code(t, []string{"node", "-e"}, []row{
		{text: `const {promisify: p} = require("util"); const {exec} = require("child_process"); const run = require("util").promisify(exec); run("rm x"); require("util").promisify(require("fs").unlink)("y")`, want: []string{"delete y", "run rm x"}},
		{text: `import("node:fs").then(({unlinkSync: u}) => u("x")); const f = require("util").promisify(setTimeout); f(10)`, want: []string{"delete x"}},
		{text: `fs.rmSync("x",{recursive:true,force:true}); fs.unlinkSync('y'); fs.rmdirSync("z")`, want: []string{"delete x -r", "delete y", "delete z"}},
		{text: `const fs=require('fs'); fs.rm('x', () => {}); fs.promises.unlink("y"); fs.writeFileSync('z','')`, want: []string{"delete x", "delete y", "empty z"}},
		{text: `const {rmSync, unlinkSync: u} = require('node:fs'); rmSync('x'); u('y')`, want: []string{"delete x", "delete y"}},
		{text: `import { rm as r } from "fs/promises"; import cp from 'child_process'; await r("x"); cp.execSync("rm y")`, want: []string{"delete x", "run rm y"}},
		{text: `require('child_process').exec("rm x"); require("child_process").spawn('rm', ['-rf', "y"]); const {execFileSync:e}=require('child_process'); e("rm",["z"],{cwd:"/d"})`, want: []string{"run rm x", "run rm -rf y", "run rm z @/d"}},
		{text: `const cp=require('child_process'); cp.spawn("rm x | cat", {shell:true}); cp.spawnSync('rm', args)`, want: []string{"run rm x", "run cat", "run rm <$args>"}},
		{text: "const d='a'; fs.unlinkSync(`${d}/b`); fs.unlinkSync(path.join(d, 'c')); fs.unlinkSync(process.env.HOME + '/x')", want: []string{"delete <$d>/b", "delete a/c", "delete /home/u/x"}},
		{text: `console.log("fs.rmSync('x')"); // fs.rmSync("y")`},
		{text: "/* fs.rmSync('x') */ const re = /fs.rmSync('y')/g; re.exec('s'); `fs.rmSync('z')`"},
		{text: `/a/.exec("x"); m.exec(s); arr.splice(1); map.delete("x"); el.remove(); db.exec("select 1")`},
		{text: "`${require('child_process').execSync('rm x')}`", want: []string{"run rm x"}},
		{text: `eval("require('fs').rmSync('x')"); new Function("fs.rmSync('y')")()`, want: []string{"delete x", "delete y"}},
		{text: `eval(code)`, unknown: true},
		{text: `const {exec} = require('child_process'); exec(cmd)`, want: []string{"run <$cmd>"}, unknown: true},
		{text: `process.chdir('/d'); fs.unlinkSync('x')`, want: []string{"delete /d/x"}},
		{text: `const rimraf=require('rimraf'); rimraf.sync('x'); require('fs-extra').removeSync("y")`, want: []string{"delete x -r", "delete y -r"}},
		{text: `fs.readFileSync('.env','utf8'); fs.renameSync('a','b'); fs.truncateSync("c")`, want: []string{"read .env", "delete a", "write b", "empty c"}},
	})
	code(t, []string{"bun", "-e"}, []row{
		{text: "import {$} from 'bun'; await $`rm -rf x`; await Bun.$`rm ${y}`; Bun.spawn(['rm','z'])", want: []string{"run rm -rf x", "run rm <$y>", "run rm z"}, unknown: true},
	})
	code(t, []string{"deno", "eval"}, []row{
		{text: `Deno.removeSync("x",{recursive:true}); new Deno.Command("rm",{args:["-rf","y"]}).outputSync(); Deno.writeTextFileSync("z","")`, want: []string{"delete x", "empty z", "run rm -rf y"}},
	})
}

func TestPerlRubyPHP(t *testing.T) {
	code(t, []string{"perl", "-e"}, []row{
		{text: `use IPC::Open3; open3(my $i, my $o, undef, "rm", "x"); open2($o, $i, "rm y"); use IPC::Run qw(run); run ["rm", "z"], \my $in; IPC::Run3::run3("rm q")`, want: []string{"run rm x", "run rm y", "run rm z", "run rm q"}},
		{text: `run("x"); capture("y"); start("z")`},
		{text: `unlink "a", "b"; unlink("c"); unlink qw(d e); rmdir 'f'; unlink glob("*.o")`, want: []string{"delete a", "delete b", "delete c", "delete d", "delete e", "delete f", "delete *.o"}},
		{text: "system(\"rm x\"); system('rm', '-rf', 'y'); exec qw(rm z); `rm q`; my $o = qx{rm r}; open(P, '-|', 'rm', 's'); open(P, 'rm t |')", want: []string{"run rm x", "run rm -rf y", "run rm z", "run rm q", "run rm r", "run rm s", "run rm t"}},
		{text: `print "unlink x"; # unlink "y"
print 'system(1)'; s/unlink "z"/a/; my %h = (unlink => 1);`},
		{text: `use File::Path qw(rmtree); rmtree("x"); rmtree(['y','z'])`, want: []string{"delete x -r", "delete y -r", "delete z -r"}},
		{text: `my $f = "a"; unlink $f; unlink "$f.bak"; unlink $g; unlink`, want: []string{"delete a", "delete <$$f>.bak", "delete <$$g>"}},
		{text: `open(F, ">out"); open(my $g, '<', "in"); open G, ">>", "log"; rename "a", "b"`, want: []string{"write out", "read in", "write log", "delete a", "write b"}},
		{text: `eval "unlink 'x'"; eval { unlink "y" }; eval $code`, want: []string{"delete x", "delete y"}, unknown: true},
		{text: `s/x/system("rm y")/e`, want: []string{"run rm y"}},
		{text: "unlink <<E;\nx\nE\nsystem <<'E';\nrm y\nE\n", want: []string{"delete 'x\n'", "run rm y"}},
		{text: `open(F,"|sh"); print F "rm x"`, want: []string{"run sh"}, unknown: true},
	})
	a := FromArgv([]string{"perl", "-pi", "-e", `s/a/b/; unlink "x"`, "f"}, testOptions(Bash))
	if got := render(&a.Commands[0]); !strings.HasSuffix(got, "{delete x}") {
		t.Error(got)
	}
	code(t, []string{"ruby", "-e"}, []row{
		{text: `File.delete("a", "b"); File.unlink "c"; FileUtils.rm_rf("d"); FileUtils.rm %w[e f]; Dir.rmdir 'g'`, want: []string{"delete a", "delete b", "delete c", "delete d -r", "delete e", "delete f", "delete g"}},
		{text: "system('rm x'); system \"rm\", \"-rf\", \"y\"; `rm z`; %x(rm q); exec 'rm r'; IO.popen(['rm','s']); Open3.capture2('rm t')", want: []string{"run rm x", "run rm -rf y", "run rm z", "run rm q", "run rm r", "run rm s", "run rm t"}},
		{text: `puts "File.delete('x')" # File.delete("y")
x = 'system("z")'; h.delete(:a); a = [1]; a.delete 1`},
		{text: `d = "a"; File.delete("#{d}/b"); File.delete(File.join("c", "d")); Pathname.new("e").delete; Pathname("f").unlink`, want: []string{"delete <$d>/b", "delete c/d", "delete e", "delete f"}},
		{text: `Dir.glob("*.o").each { |f| File.delete(f) }`, want: []string{"delete <$f>"}},
		{text: `File.write("a", "x"); File.read("b"); File.open("c", "w") { |f| f.puts 1 }; FileUtils.mv "d", "e"`, want: []string{"write a", "read b", "write c", "delete d", "write e"}},
		{text: `eval("File.delete('x')"); eval(code)`, want: []string{"delete x"}, unknown: true},
		{text: `send(:system, "rm x")`, unknown: true},
		{text: `Open3.pipeline("rm x", ["rm", "y"]); Open3.pipeline_r("rm z")`, want: []string{"run rm x", "run rm y", "run rm z"}},
		{text: "\"#{`rm x`}\"", want: []string{"run rm x"}},
		{text: `system({"A"=>"1"}, "rm x", chdir: "/d")`, want: []string{"run rm x @/d"}},
	})
	code(t, []string{"php", "-r"}, []row{
		{text: `unlink("a"); rmdir('b'); array_map('unlink', glob("*.o")); file_put_contents("c", ""); fopen("d", "w");`, want: []string{"delete a", "delete b", "delete *.o", "empty c", "write d"}},
		{text: "system('rm x'); exec(\"rm y\"); shell_exec('rm z'); `rm q`; passthru('rm r'); popen('rm s','r');", want: []string{"run rm x", "run rm y", "run rm z", "run rm q", "run rm r", "run rm s"}},
		{text: `echo "unlink('x')"; // unlink("y")
# unlink("z")
/* unlink("q") */ $a = 'system("r")';`},
		{text: `$f = "a"; unlink($f . "/b"); unlink("$g/c"); eval("unlink('d');"); eval($x);`, want: []string{"delete a/b", "delete <$$g>/c", "delete d"}, unknown: true},
	})
}

func TestAwkAndOthers(t *testing.T) {
	code(t, []string{"awk"}, []row{
		{text: `BEGIN{system("rm -rf x")}`, want: []string{"run rm -rf x"}},
		{text: `BEGIN{"rm x" | getline l; print "a" | "cat"; print "rm y" | "sh"}`, want: []string{"run rm x", "run cat", "run sh", "run rm y"}},
		{text: `{system("rm " $1)}`, want: []string{"run rm <$$1>"}, unknown: true},
		{text: `{cmd = "rm x"; system(cmd)}`, want: []string{"run rm x"}},
		{text: `$3 > 5 {print $1 > "out"; printf "%s", $2 >> "log"} /system\(/ {print "system(1)"} # system("x")`, want: []string{"write out", "write log"}},
		{text: `{print | cmd}`, want: []string{"run <$cmd>"}, unknown: true},
		{text: `{while ((getline line < "in") > 0) n++}`, want: []string{"read in"}},
	})
	code(t, []string{"osascript", "-e"}, []row{
		{text: `do shell script "rm x"`, want: []string{"run rm x"}},
		{text: `tell application "Finder" to delete file "x"`, unknown: true},
		{text: `display dialog "do shell script"`},
		{text: `do shell script "rm " & f`, unknown: true},
	})
	code(t, []string{"lua", "-e"}, []row{
		{text: `print(1)`},
		{text: `os.remove("x")`, unknown: true},
	})
}

func TestInterpreterCommandLines(t *testing.T) {
	runRows(t, Bash, []row{
		{text: `python3 -uc 'import os; os.remove("x")'`, want: []string{`python3 -uc 'import os; os.remove("x")' {delete x}`}},
		{text: "python3 - <<'E'\nimport os\nos.remove('x')\nE", want: []string{"python3 - {delete x}"}},
		{text: "echo 'require(\"fs\").rmSync(\"x\")' | node", want: []string{"node {delete x}"}},
		{text: `perl -ne 'unlink "x" if /y/' f; perl -MFile::Path -e 'rmtree("y")'; perl -i.bak -pe 's/a/b/' f`, want: []string{`perl -ne 'unlink "x" if /y/' f {delete x}`, `perl -MFile::Path -e rmtree("y") {delete y -r}`}},
		{text: `ruby -rfileutils -e 'FileUtils.rm_rf "x"'`, want: []string{`ruby -rfileutils -e 'FileUtils.rm_rf "x"' {delete x -r}`}},
		{text: `node --eval='fs.rmSync("x")'; node -p 'fs.readFileSync("y")'; node -r ./z -e 'fs.rmSync("q")'`, want: []string{`node --eval=fs.rmSync("x") {delete x}`, `node -p fs.readFileSync("y") {read y}`, `node -r ./z -e fs.rmSync("q") {delete q}`}},
		{text: `node -e "fs.rmSync('$X/y')"`, want: []string{"node -e fs.rmSync('<$X>/y') {delete <$X>/y}"}},
		{text: `python -c "$CODE"`, unknown: true},
		{text: `python -c "$(curl u)"; curl u | python3; python3 <(curl u)`, want: []string{"python -c <out:curl u>"}},
		{text: `python -m http.server; python x.py; node build.js; python manage.py test`},
		{text: `python "$x"`, unknown: true},
		{text: `awk -v x=1 -F: '{print $1}' f; awk -f prog.awk f; gawk -e 'BEGIN{system("rm x")}'`, want: []string{"gawk: rm x"}},
		{text: `sudo python3 -c 'import os; os.system("rm x")'`, want: []string{"sudo>python3: rm x"}},
	})
}
