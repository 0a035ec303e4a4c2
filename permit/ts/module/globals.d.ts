// Types of the globals in scripts that `safeshell run` starts.
declare global {
  const initCmds: typeof import("./safeshell.ts").initCmds;
  const fs: typeof import("./safeshell.ts").fs;
  const path: typeof import("./safeshell.ts").path;
  const text: typeof import("./safeshell.ts").text;
  const glob: typeof import("./safeshell.ts").glob;
  const env: typeof import("./safeshell.ts").env;
  const CommandError: typeof import("./safeshell.ts").CommandError;
}
export {};
