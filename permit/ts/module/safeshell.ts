// The module `safeshell`: import { initCmds } from "safeshell". The names are
// globals too; preload.ts makes them so, globals.d.ts declares them.
export { type Cmd, type CmdOptions, type CmdResult, CommandError, initCmds, Run } from "./commands.ts";
export { env, fs, glob, path, text } from "./helpers.ts";
