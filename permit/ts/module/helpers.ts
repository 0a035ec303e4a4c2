// Helpers that need no permission of safeshell. They stay under Deno's own
// limits: reading and writing in the project and the temporary directory.
import * as nodePath from "node:path";

/** Paths: join, resolve, dirname, basename, extname, relative, ... */
export const path = nodePath.posix;

/** What is not there is false; any other error is one. */
function gone(e: unknown): boolean {
  if (e instanceof Deno.errors.NotFound || e instanceof Deno.errors.NotADirectory) return false;
  throw e;
}

/** Files. */
export const fs = {
  /** The file's text. */
  read: (file: string): Promise<string> => Deno.readTextFile(file),
  /** The file's bytes. */
  readBytes: (file: string): Promise<Uint8Array> => Deno.readFile(file),
  /** The file parsed as JSON; errors name the file. */
  async readJSON(file: string): Promise<unknown> {
    try {
      return JSON.parse(await Deno.readTextFile(file));
    } catch (e) {
      if (e instanceof SyntaxError) throw new SyntaxError(`${file}: ${e.message}`);
      throw e;
    }
  },
  /** Replaces the file as a whole: readers see the old content or the new. */
  async write(file: string, content: string | Uint8Array): Promise<void> {
    let target = file;
    try {
      target = await Deno.realPath(file); // a link stays a link
    } catch (e) {
      if (!(e instanceof Deno.errors.NotFound)) throw e;
    }
    const mode = await Deno.stat(target).then((s) => s.mode ?? undefined, () => undefined);
    const temp = path.join(path.dirname(target), `.write-${crypto.randomUUID()}`);
    try {
      await Deno.writeFile(temp, typeof content === "string" ? new TextEncoder().encode(content) : content, { createNew: true });
      if (mode !== undefined) await Deno.chmod(temp, mode & 0o7777);
      await Deno.rename(temp, target);
    } catch (e) {
      await Deno.remove(temp).catch(() => {});
      throw e;
    }
  },
  /** Writes JSON with two spaces of indent and a line end. */
  writeJSON: (file: string, value: unknown): Promise<void> => fs.write(file, JSON.stringify(value, null, 2) + "\n"),
  /** Adds to the end of the file. */
  append: (file: string, content: string): Promise<void> => Deno.writeTextFile(file, content, { append: true }),
  /** Whether something is there (a link that leads nowhere is not). */
  exists: (file: string): Promise<boolean> => Deno.stat(file).then(() => true, gone),
  /** Whether a file is there (also behind a link). */
  isFile: (file: string): Promise<boolean> => Deno.stat(file).then((s) => s.isFile, gone),
  /** Whether a directory is there (also behind a link). */
  isDir: (dir: string): Promise<boolean> => Deno.stat(dir).then((s) => s.isDirectory, gone),
  /** The names in a directory, sorted. */
  list: async (dir = "."): Promise<string[]> => (await Array.fromAsync(Deno.readDir(dir))).map((e) => e.name).sort(),
  /** Makes a directory and those above it. */
  mkdir: (dir: string): Promise<void> => Deno.mkdir(dir, { recursive: true }),
  /** Copies a file; refuses to replace one unless told so. */
  async copy(from: string, to: string, options: { replace?: boolean } = {}): Promise<void> {
    if (!options.replace && await fs.exists(to)) throw new Deno.errors.AlreadyExists(`copy ${from}: ${to} is there already`);
    await Deno.copyFile(from, to);
  },
  /** Renames a file or directory; refuses to replace something unless told so. */
  async move(from: string, to: string, options: { replace?: boolean } = {}): Promise<void> {
    if (!options.replace && await Deno.lstat(to).then(() => true, gone)) throw new Deno.errors.AlreadyExists(`move ${from}: ${to} is there already`);
    await Deno.rename(from, to);
  },
  /** A new temporary directory. */
  temp: (): Promise<string> => Deno.makeTempDir({ prefix: "safeshell-" }),
};

/** Text. */
export const text = {
  /** The lines, without their ends; a line end at the end makes no empty line. */
  lines: (s: string): string[] => s === "" ? [] : s.replace(/\r?\n$/, "").split(/\r?\n/),
  /** The first n lines. */
  head: (s: string, n = 10): string => text.lines(s).slice(0, n).join("\n"),
  /** The last n lines. */
  tail: (s: string, n = 10): string => n > 0 ? text.lines(s).slice(-n).join("\n") : "",
  /** The lines that match. */
  grep: (s: string, what: RegExp | string): string[] =>
    text.lines(s).filter((l) => typeof what === "string" ? l.includes(what) : new RegExp(what, what.flags.replace(/[gy]/g, "")).test(l)),
  /** Takes away the indent that all lines share, and a first and last empty line. */
  dedent(s: string): string {
    const lines = s.replace(/^\s*\n/, "").replace(/\n[ \t]*$/, "").split("\n");
    const indent = Math.min(...lines.filter((l) => l.trim()).map((l) => l.match(/^[ \t]*/)![0].length));
    return Number.isFinite(indent) ? lines.map((l) => l.slice(Math.min(indent, l.length - l.trimStart().length))).join("\n") : "";
  },
};

/** The environment. */
export const env = {
  /** A variable, or the given value. */
  get: (name: string, otherwise?: string): string | undefined => Deno.env.get(name) ?? otherwise,
  /** A variable that must be there and not be empty. */
  need(name: string): string {
    const v = Deno.env.get(name);
    if (!v) throw new Error(`the environment variable ${name} is not set`);
    return v;
  },
  /** Sets a variable for this script and the commands that it starts. */
  set: (name: string, value: string): void => Deno.env.set(name, value),
  /** Removes a variable for this script and the commands that it starts. */
  unset: (name: string): void => Deno.env.delete(name),
  /** All variables. */
  all: (): Record<string, string> => Deno.env.toObject(),
};

/**
 * The files that match, sorted, relative to `cwd`. `*` and `?` stay within a
 * name, `**` crosses directories, `[a-z]` is one of, `{a,b}` either. Names that
 * start with a dot only match a pattern that does too; links to directories
 * are not followed.
 */
export async function glob(pattern: string, options: { cwd?: string; dirs?: boolean } = {}): Promise<string[]> {
  const cwd = options.cwd ?? ".";
  const found = new Set<string>();
  for (const p of braces(pattern)) await walk(p.split("/").filter((x, i) => x !== "." && (x !== "" || i === 0)), "");
  return [...found].sort();

  async function walk(parts: string[], at: string): Promise<void> {
    const [part, ...rest] = parts;
    const dir = path.isAbsolute(at) ? at : path.join(cwd, at);
    const here = (name: string) => at === "" ? name : at.endsWith("/") ? at + name : at + "/" + name;
    if (part === "") return walk(rest, "/");
    if (part === "..") return rest.length ? walk(rest, here("..")) : undefined;
    let entries: Deno.DirEntry[];
    try {
      entries = await Array.fromAsync(Deno.readDir(dir));
    } catch (e) {
      if (e instanceof Deno.errors.NotFound || e instanceof Deno.errors.NotADirectory) return;
      throw e;
    }
    if (part === "**") {
      if (rest.length) await walk(rest, at);
      for (const e of entries) {
        if (e.name.startsWith(".")) continue;
        if (e.isDirectory) await walk(parts, here(e.name));
        if (!rest.length && (!e.isDirectory || options.dirs)) found.add(here(e.name));
      }
      return;
    }
    const re = segment(part);
    for (const e of entries) {
      if (!re.test(e.name) || e.name.startsWith(".") && !part.startsWith(".")) continue;
      if (rest.length) {
        if (e.isDirectory || e.isSymlink) await walk(rest, here(e.name));
      } else if (!e.isDirectory || options.dirs) found.add(here(e.name));
    }
  }
}

/** The patterns that braces stand for. */
function braces(p: string): string[] {
  let depth = 0, open = -1;
  const commas: number[] = [];
  for (let i = 0; i < p.length; i++) {
    if (p[i] === "{" && depth++ === 0) (open = i, commas.length = 0);
    else if (p[i] === "," && depth === 1) commas.push(i);
    else if (p[i] === "}" && depth > 0 && --depth === 0 && commas.length) {
      const cuts = [open, ...commas, i];
      return cuts.slice(1).flatMap((end, k) => braces(p.slice(0, open) + p.slice(cuts[k] + 1, end) + p.slice(i + 1)));
    }
  }
  return [p];
}

/** One part of a pattern as an expression for a name. */
function segment(s: string): RegExp {
  let re = "";
  for (let i = 0; i < s.length; i++) {
    const c = s[i];
    const close = c === "[" ? s.indexOf("]", i + (s[i + 1] === "!" || s[i + 1] === "^" ? 3 : 2)) : -1;
    if (c === "*") re += ".*";
    else if (c === "?") re += ".";
    else if (close > 0) {
      const set = s.slice(i + 1, close);
      const not = set[0] === "!" || set[0] === "^";
      re += `[${not ? "^" : ""}${(not ? set.slice(1) : set).replace(/[\\\[\]^]/g, "\\$&")}]`;
      i = close;
    } else re += c.replace(/[\\^$.|+()[\]{}]/g, "\\$&");
  }
  return new RegExp(`^${re}$`, "su");
}
