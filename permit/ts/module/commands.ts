// Declared commands: what initCmds returns. Each call starts the executable
// that safeshell made for the declared name; safeshell permits, judges and
// runs it. Deno may start nothing else, so this file enforces nothing.

/** How one call runs; given as the last argument. */
export interface CmdOptions {
  /** Working directory; relative to the script's. */
  cwd?: string;
  /** Variables added to the environment; undefined removes one. */
  env?: Record<string, string | undefined>;
  /** What the command reads; nothing by default. */
  stdin?: string | Uint8Array | ReadableStream<Uint8Array> | "inherit" | "null";
  /** Show output instead of capturing it. */
  stdout?: "piped" | "inherit" | "null";
  stderr?: "piped" | "inherit" | "null";
  /** Ends the command after so many milliseconds: SIGTERM, then SIGKILL. */
  timeout?: number;
  /** Ends the command when it is aborted. */
  signal?: AbortSignal;
  /** Bytes of each stream that are kept, 64 MiB by default: the last ones. */
  keep?: number;
}

/** How a command ended. */
export interface CmdResult {
  /** Exit code; 128 + n for signal n; of a pipe the last that is not 0. */
  code: number;
  /** code is 0. */
  ok: boolean;
  /** Set if a signal ended it. */
  signal: Deno.Signal | null;
  /** Of a pipe: the code of each command, in order. */
  codes: number[];
  /** Output as text; what is not UTF-8 becomes U+FFFD. See stdoutBytes. */
  stdout: string;
  stderr: string;
  stdoutBytes: Uint8Array;
  stderrBytes: Uint8Array;
  /** Output was longer than `keep`: only its end is here. */
  truncated: boolean;
  /** The time limit ended it. */
  timedOut: boolean;
}

/** A declared command: call it with its arguments. */
export interface Cmd {
  (...args: (string | number | CmdOptions)[]): Run;
  /** The name as declared. */
  readonly command: string;
}

/** A command that was asked for a good end had another. */
export class CommandError extends Error {
  override name = "CommandError";
  constructor(readonly command: string[], readonly result: CmdResult) {
    const why = result.stderr.trim().split("\n").slice(-5).join("\n");
    super(`${command.join(" ")}: exit code ${result.code}${why ? "\n" + why : ""}`);
  }
}

const defaultKeep = 64 * 1024 * 1024;

// Calls that nobody has awaited yet: at the end they are said, since a command
// that silently did not run looks like one that did.
const unstarted = new Set<Run>();
globalThis.addEventListener("unload", () => {
  for (const r of unstarted) console.error(`safeshell: ${r.label} did not run: nobody awaited it; write: await ...`);
});

/**
 * One call. It starts when it is awaited, piped or read from, once. Awaiting
 * gives its result, whatever its exit code; text() and lines() throw a
 * CommandError when it is not 0.
 */
export class Run implements PromiseLike<CmdResult> {
  #exe: string;
  #argv: string[];
  #options: CmdOptions;
  #from?: Run;
  #child?: Deno.ChildProcess;
  #result?: Promise<CmdResult>;
  #taken = false;
  #feeding: Promise<void> = Promise.resolve();
  #timedOut = false;
  #killed = false;
  #stop: (() => void)[] = [];

  /** @ignore made by the callables of initCmds */
  constructor(exe: string, argv: string[], options: CmdOptions, from?: Run) {
    this.#exe = exe;
    this.#argv = argv;
    this.#options = options;
    this.#from = from;
    unstarted.add(this);
  }

  /** @ignore what to call it in messages */
  get label(): string {
    return this.#argv.join(" ");
  }

  /** Feeds this command's output to another. Returns the whole pipe. */
  pipe(next: Run): Run {
    if (next.#child || next.#from || next.#options.stdin !== undefined) {
      throw new TypeError(`${next.#argv[0]}: it has its input already; pipe into a call that has none and has not started`);
    }
    if (this.#child || this.#taken) {
      throw new TypeError(`${this.#argv[0]}: its output is being read already`);
    }
    unstarted.delete(next);
    unstarted.delete(this);
    return new Run(next.#exe, next.#argv, next.#options, this);
  }

  /** The output while it comes. The result has no stdout then. */
  get stdout(): ReadableStream<Uint8Array> {
    this.#take();
    const child = this.#start();
    this.#finish().catch(() => {}); // somebody must read what it says on stderr
    return child.stdout;
  }

  /** The output line by line while it comes; throws a CommandError at the end if the code is not 0. */
  async *lines(): AsyncGenerator<string> {
    this.#take();
    const child = this.#start();
    const result = this.#finish();
    let rest = "";
    const decoder = new TextDecoder();
    let whole = false;
    try {
      for await (const chunk of child.stdout) {
        const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
        rest = parts.pop()!;
        for (const l of parts) yield l.endsWith("\r") ? l.slice(0, -1) : l;
      }
      rest += decoder.decode();
      if (rest) yield rest;
      whole = true;
    } finally {
      // Whoever stops reading wants no more of it.
      if (!whole) this.kill("SIGTERM");
    }
    this.#good(await result);
  }

  /** The output as text, without the line ends at its end. */
  async text(): Promise<string> {
    return this.#good(await this).stdout.replace(/[\r\n]+$/, "");
  }

  /** The output parsed as JSON. */
  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  /** Sends a signal to the command (and to those that feed it). */
  kill(signal: Deno.Signal = "SIGTERM"): void {
    this.#from?.kill(signal);
    this.#killed = true;
    try {
      this.#child?.kill(signal);
    } catch { /* it has ended */ }
  }

  then<A = CmdResult, B = never>(
    ok?: ((r: CmdResult) => A | PromiseLike<A>) | null,
    bad?: ((e: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#finish().then(ok, bad);
  }

  catch<B = never>(bad?: ((e: unknown) => B | PromiseLike<B>) | null): Promise<CmdResult | B> {
    return this.#finish().catch(bad);
  }

  finally(f?: (() => void) | null): Promise<CmdResult> {
    return this.#finish().finally(f);
  }

  #take(): void {
    if (this.#taken || this.#child) throw new TypeError(`${this.#argv[0]}: its output can be read once`);
    if ((this.#options.stdout ?? "piped") !== "piped") throw new TypeError(`${this.#argv[0]}: its output is not piped (stdout: "${this.#options.stdout}")`);
    this.#taken = true;
  }

  #good(r: CmdResult): CmdResult {
    if (r.code !== 0) throw new CommandError(this.#argv, r);
    return r;
  }

  #start(): Deno.ChildProcess {
    if (this.#child) return this.#child;
    unstarted.delete(this);
    const o = this.#options;
    const env: Record<string, string> = {};
    const drop = Object.entries(o.env ?? {}).filter(([k, v]) => {
      if (v !== undefined) env[k] = v;
      return v === undefined;
    }).map(([k]) => k);
    const whole = drop.length > 0;
    if (whole) {
      for (const [k, v] of Object.entries(Deno.env.toObject())) {
        if (!drop.includes(k) && !(k in env)) env[k] = v;
      }
    }
    const source = this.#from ? undefined : o.stdin;
    const mode = this.#from || (source !== undefined && source !== "inherit" && source !== "null") ? "piped" : (source ?? "null");
    // The output that feeds this command is taken before anything starts.
    if (this.#from) this.#from.#take();
    const child = this.#child = new Deno.Command(this.#exe, {
      args: this.#argv.slice(1),
      cwd: o.cwd,
      env,
      clearEnv: whole,
      stdin: mode as "piped" | "inherit" | "null",
      stdout: o.stdout ?? "piped",
      stderr: o.stderr ?? "piped",
    }).spawn();
    const input = this.#from ? this.#from.#start().stdout : source instanceof ReadableStream
      ? source
      : mode === "piped"
      ? new Blob([source as BlobPart]).stream()
      : undefined;
    if (input) {
      // A command that does not read all of its input has not failed.
      this.#feeding = input.pipeTo(child.stdin).catch(() => {});
    }
    if (o.timeout !== undefined) {
      let hard: ReturnType<typeof setTimeout> | undefined;
      const soft = setTimeout(() => {
        this.#timedOut = true;
        this.kill("SIGTERM");
        hard = setTimeout(() => this.kill("SIGKILL"), 2000);
      }, o.timeout);
      this.#stop.push(() => (clearTimeout(soft), clearTimeout(hard)));
    }
    if (o.signal) {
      const f = () => this.kill("SIGTERM");
      if (o.signal.aborted) f();
      else o.signal.addEventListener("abort", f, { once: true });
      this.#stop.push(() => o.signal!.removeEventListener("abort", f));
    }
    return child;
  }

  #finish(): Promise<CmdResult> {
    return this.#result ??= this.#collect();
  }

  async #collect(): Promise<CmdResult> {
    const o = this.#options;
    const keep = o.keep ?? defaultKeep;
    const child = this.#start();
    const before = this.#from ? this.#from.#finish() : undefined;
    const none = { bytes: new Uint8Array(), cut: false };
    const given = Promise.withResolvers<void>();
    const out = this.#taken || (o.stdout ?? "piped") !== "piped" ? none : tail(child.stdout, keep, given.promise);
    const err = (o.stderr ?? "piped") !== "piped" ? none : tail(child.stderr, keep, given.promise);
    const status = await child.status;
    // What a command that was ended has left behind may hold its output open.
    const wait = this.#killed ? setTimeout(given.resolve, 500) : undefined;
    const [stdout, stderr] = [await out, await err];
    clearTimeout(wait);
    for (const f of this.#stop) f();
    if (this.#from) {
      // The reader has ended: a writer that nobody reads ends by SIGPIPE.
      await this.#feeding;
    }
    const first = await before;
    // Deno says 128 + n for a signal.
    const code = status.code;
    const codes = [...(first?.codes ?? []), code];
    const failed = codes.slice(0, -1).filter((c) => c !== 0 && c !== 141);
    const all = code !== 0 ? code : (failed.at(-1) ?? 0);
    const errBytes = first ? join(first.stderrBytes, stderr.bytes) : stderr.bytes;
    const decode = (b: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(b);
    return {
      code: all,
      ok: all === 0,
      signal: status.signal,
      codes,
      stdout: decode(stdout.bytes),
      stderr: decode(errBytes),
      stdoutBytes: stdout.bytes,
      stderrBytes: errBytes,
      truncated: stdout.cut || stderr.cut || (first?.truncated ?? false),
      timedOut: this.#timedOut || (first?.timedOut ?? false),
    };
  }
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(a.length + b.length);
  out.set(a);
  out.set(b, a.length);
  return out;
}

/** Reads to the end, or until it is given up, keeping the last bytes. */
async function tail(stream: ReadableStream<Uint8Array>, keep: number, given: Promise<void>) {
  const chunks: Uint8Array[] = [];
  let size = 0, cut = false;
  const reader = stream.getReader();
  given.then(() => reader.cancel()).catch(() => {});
  for (;;) {
    const { value: c } = await reader.read();
    if (!c) break;
    chunks.push(c);
    size += c.length;
    while (chunks.length > 1 && size - chunks[0].length >= keep) {
      size -= chunks.shift()!.length;
      cut = true;
    }
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const c of chunks) {
    bytes.set(c, at);
    at += c.length;
  }
  return size > keep ? { bytes: bytes.subarray(size - keep), cut: true } : { bytes, cut };
}

// What safeshell made for the declared names; read once, before the script.
const calls: Record<string, string> = JSON.parse(Deno.env.get("SAFESHELL_CALLS") ?? "{}");
Deno.env.delete("SAFESHELL_CALLS");

/**
 * Declares the external commands of this script and returns a callable for
 * each. safeshell has read the declaration before the script started, so the
 * names must stand in the call as plain strings.
 */
// deno-lint-ignore require-await
export async function initCmds<const T extends readonly string[]>(names: T): Promise<{ -readonly [K in keyof T]: Cmd }> {
  if (!Array.isArray(names)) throw new TypeError('initCmds takes one list: await initCmds(["curl", "cargo"])');
  const made = names.map((name: string) => {
    const exe = Object.hasOwn(calls, name) ? calls[name] : undefined;
    if (exe === undefined) {
      throw new Deno.errors.NotCapable(
        `${name} was not declared: safeshell reads initCmds([...]) before the script starts, so write the names as plain strings, in the file that is run`,
      );
    }
    const call = (...args: (string | number | CmdOptions)[]) => {
      const last = args.at(-1);
      const options = typeof last === "object" && last !== null ? (args.pop(), last) : {};
      args.forEach((a, i) => {
        if (typeof a !== "string" && typeof a !== "number") {
          throw new TypeError(`${name}: argument ${i + 1} is ${a === null ? "null" : typeof a}; arguments are strings, options come last`);
        }
      });
      return new Run(exe, [name, ...args.map(String)], options);
    };
    return Object.defineProperty(call, "command", { value: name, enumerable: true }) as Cmd;
  });
  return made as { -readonly [K in keyof T]: Cmd };
}
