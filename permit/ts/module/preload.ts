// Runs before the script and gives it the globals.
import * as safeshell from "./safeshell.ts";

for (const name of ["initCmds", "fs", "path", "text", "glob", "env", "CommandError"] as const) {
  Object.defineProperty(globalThis, name, { value: safeshell[name], writable: true, configurable: true, enumerable: false });
}
