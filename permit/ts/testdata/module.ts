// What the module promises; run by TestModule. Ends with the number of failures.
import { type Cmd, CommandError as Imported, initCmds as imported } from "safeshell";

let failed = 0;
function check(what: string, got: unknown, want: unknown) {
  const [g, w] = [JSON.stringify(got), JSON.stringify(want)];
  if (g !== w) {
    failed++;
    console.log(`${what}: got ${g}, want ${w}`);
  }
}
async function thrown(f: () => unknown): Promise<string> {
  try {
    await f();
  } catch (e) {
    return `${(e as Error).name}: ${(e as Error).message}`;
  }
  return "nothing";
}

const [cat, seq, head, sh, build] = await initCmds(["cat", "seq", "head", "sh", "./scripts/build.sh"]);
check("globals", [initCmds === imported, CommandError === Imported, import.meta.main], [true, true, true]);
check("command", (build as Cmd).command, "./scripts/build.sh");

// Results.
let r = await sh("-c", "echo out; echo err >&2; exit 3");
check("result", [r.code, r.ok, r.signal, r.codes, r.stdout, r.stderr, r.truncated, r.timedOut], [3, false, null, [3], "out\n", "err\n", false, false]);
check("build", await build("a b", 7).text(), "built a b 7");
check("arguments", (await sh("-c", 'printf "[%s]" "$@"', "x", "", "a b", "$HOME", "*", "'", '"', "ü\n")).stdout, `[][a b][$HOME][*][']["][ü\n]`);
check("text of a failure", await thrown(() => sh("-c", "echo why >&2; exit 5").text()), "CommandError: sh -c echo why >&2; exit 5: exit code 5\nwhy");
check("json", await cat({ stdin: '{"a":[1]}' }).json(), { a: [1] });
check("signal", await sh("-c", "kill -9 $$").then((r) => [r.code, r.signal]), [137, "SIGKILL"]);
check("bytes", [...(await sh("-c", "printf 'a\\377b'")).stdoutBytes], [97, 255, 98]);
check("bad argument", await thrown(() => cat(null as unknown as string)), "TypeError: cat: argument 1 is null; arguments are strings, options come last");

// Input.
check("no input", (await cat()).stdout, "");
check("text", (await cat({ stdin: "hällo" })).stdout, "hällo");
check("stream", (await cat({ stdin: new Blob(["a", "b"]).stream() })).stdout, "ab");
check("input unread", (await sh("-c", "exit 0", { stdin: "x".repeat(1 << 20) })).code, 0);

// Directory and environment.
check("cwd", await sh("-c", "pwd", { cwd: "scripts" }).text(), Deno.cwd() + "/scripts");
check("env", await sh("-c", 'echo "$A|${GONE-none}"', { env: { A: "1", GONE: undefined } }).text(), "1|none");

// Pipes and streams.
check("pipe", await seq(100000).pipe(head("-n", 2)).text(), "1\n2");
check("pipe of three", await seq(5).pipe(cat()).pipe(sh("-c", "while read x; do echo \"<$x>\"; done")).text(), "<1>\n<2>\n<3>\n<4>\n<5>");
r = await sh("-c", "echo a; echo lost >&2; exit 4").pipe(cat());
check("status of a pipe", [r.code, r.codes, r.stdout, r.stderr], [4, [4, 0], "a\n", "lost\n"]);
const lines: string[] = [];
for await (const l of sh("-c", "printf 'a\\r\\nb\\n\\nc'").lines()) lines.push(l);
check("lines", lines, ["a", "b", "", "c"]);
for await (const l of sh("-c", "while :; do echo y; done").lines()) {
  check("endless", l, "y");
  break;
}
check("lines of a failure", await thrown(async () => {
  for await (const _ of sh("-c", "echo a; exit 2").lines());
}), "CommandError: sh -c echo a; exit 2: exit code 2");
let size = 0;
for await (const c of sh("-c", "yes | head -c 3000000 2>/dev/null; yes no | head -c 3000000 >&2").stdout) size += c.length;
check("stdout while stderr is full", size, 3000000);
check("read twice", await thrown(() => {
  const x = cat();
  x.stdout;
  x.stdout;
}), "TypeError: cat: its output can be read once");
r = await seq(100000, { keep: 10 });
check("keep", [r.stdout, r.truncated], ["99\n100000\n", true]);

// Limits.
r = await sh("-c", "sleep 100", { timeout: 200 });
check("timeout", [r.timedOut, r.ok], [true, false]);
const stop = new AbortController();
const running = sh("-c", "echo $$; exec sleep 100", { signal: stop.signal });
setTimeout(() => stop.abort(), 200);
check("abort", (await running).ok, false);

// What is not declared.
const declare: (names: string[]) => Promise<unknown> = initCmds;
check("undeclared", (await thrown(() => declare(["curl"]))).slice(0, 33), "NotCapable: curl was not declared");
for (const f of [
  () => new Deno.Command("/usr/bin/id").output(),
  () => new Deno.Command("id").output(),
  () => new Deno.Command("/bin/sh", { args: ["-c", "id"] }).output(),
  () => Deno.readTextFile("/etc/passwd"),
  () => Deno.readTextFile(Deno.env.get("HOME") + "/.safeshell/rules.yaml"),
  () => Deno.writeTextFile(Deno.env.get("HOME") + "/.safeshell/config.yaml", "x"),
  () => Deno.writeTextFile("/etc/x", "x"),
  () => Deno.symlink("/etc/passwd", "passwd"),
  () => fetch("http://127.0.0.1:8/"),
  () => Deno.connect({ port: 8 }),
]) check(f.toString(), /^NotCapable|^NotFound: Failed to spawn|Requires/.test(await thrown(f)), true);
check("remote import", (await thrown(() => import("https://example.org/" + "x.ts"))).includes("cache"), true);

// Helpers.
const dir = await fs.temp();
await fs.mkdir(path.join(dir, "a/b"));
await fs.mkdir(path.join(dir, ".hid"));
await fs.write(path.join(dir, "a/b/x.ts"), "1");
await fs.write(path.join(dir, "a/y.js"), new Uint8Array([50]));
await fs.write(path.join(dir, ".hid/z.ts"), "3");
await fs.append(path.join(dir, "a/y.js"), "!");
check("fs", [await fs.read(path.join(dir, "a/y.js")), await fs.exists(dir + "/no"), await fs.list(dir), [...await fs.readBytes(dir + "/a/b/x.ts")]], ["2!", false, [".hid", "a"], [49]]);
Deno.chmodSync(dir + "/a/y.js", 0o751);
await fs.write(dir + "/a/y.js", "new");
check("mode kept", Deno.statSync(dir + "/a/y.js").mode! & 0o777, 0o751);
await fs.writeJSON(dir + "/j.json", { k: [1] });
check("json files", await fs.readJSON(dir + "/j.json"), { k: [1] });
await fs.write(dir + "/bad.json", "{");
check("bad json", (await thrown(() => fs.readJSON(dir + "/bad.json"))).includes(dir + "/bad.json"), true);
check("copy", await thrown(() => fs.copy(dir + "/j.json", dir + "/bad.json")), `AlreadyExists: copy ${dir}/j.json: ${dir}/bad.json is there already`);
check("is", [await fs.isFile(dir + "/j.json"), await fs.isFile(dir), await fs.isDir(dir), await fs.isDir(dir + "/j.json/x"), await fs.isDir(dir + "/no")], [true, false, true, false, false]);
check("is, not allowed", (await thrown(() => fs.isFile("/etc/passwd"))).slice(0, 10), "NotCapable");
check("move", await thrown(() => fs.move(dir + "/j.json", dir + "/bad.json")), `AlreadyExists: move ${dir}/j.json: ${dir}/bad.json is there already`);
await fs.move(dir + "/j.json", dir + "/a/moved.json");
await fs.move(dir + "/a/moved.json", dir + "/bad.json", { replace: true });
check("moved", [await fs.read(dir + "/bad.json"), await fs.exists(dir + "/j.json"), await fs.exists(dir + "/a/moved.json")], ['{\n  "k": [\n    1\n  ]\n}\n', false, false]);
await fs.copy(dir + "/bad.json", dir + "/j.json");
check("glob", [await glob("**/*.{ts,js}", { cwd: dir }), await glob("*", { cwd: dir }), await glob("*", { cwd: dir, dirs: true }), await glob(".*/*", { cwd: dir }), await glob("a/[!a-x].j?", { cwd: dir }), await glob("no/**", { cwd: dir })],
  [["a/b/x.ts", "a/y.js"], ["bad.json", "j.json"], ["a", "bad.json", "j.json"], [".hid/z.ts"], ["a/y.js"], []]);
check("text", [text.lines("a\r\nb\n"), text.lines(""), text.head("a\nb\nc", 2), text.tail("a\nb\nc\n", 2), text.grep("ab\nbc\nac\n", /^a/g), text.grep("a.b\naxb", "."), text.dedent("\n    a\n      b\n\n    c\n  ")],
  [["a", "b"], [], "a\nb", "b\nc", ["ab", "ac"], ["a.b"], "a\n  b\n\nc"]);
env.set("NEW", "v");
check("env", [env.get("NEW"), env.get("NONE", "else"), await thrown(() => env.need("NONE")), await sh("-c", "echo $NEW").text()], ["v", "else", "Error: the environment variable NONE is not set", "v"]);
env.unset("NEW");
check("env unset", [env.get("NEW"), "NEW" in env.all(), "HOME" in env.all(), await sh("-c", "echo ${NEW-none}").text()], [undefined, false, true, "none"]);
check("no traces", env.get("SAFESHELL_CALLS"), undefined);

cat("forgotten");
Deno.exit(failed);
