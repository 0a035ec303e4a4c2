"use strict";
// Runs the program of this machine's package in place of itself: with its
// arguments, terminal, signals and exit code. npm chose the package when it
// installed this one; no script ran then, and nothing is fetched now.
const { spawn } = require("child_process");
const path = require("path");
const os = require("os");
const { version, optionalDependencies } = require("./package.json");

function fail(message) {
  process.stderr.write(`safeshell: ${message}\n`);
  process.exit(126);
}

// The command that puts a package where this one finds it.
function install(name) {
  const modules = path.resolve(__dirname, "..");
  const top = path.dirname(modules);
  const global = path.basename(top) === "lib";
  const prefix = global ? path.dirname(top) : top;
  const quoted = /^[\w@%+=:,./-]+$/.test(prefix) ? prefix : `'${prefix.replace(/'/g, `'\\''`)}'`;
  return `npm install ${global ? "--global" : "--no-save"} --prefix ${quoted} ${name}@${version}`;
}

function program() {
  const name = `@safeshell/${process.platform}-${process.arch}`;
  if (!(name in optionalDependencies)) {
    const there = Object.keys(optionalDependencies).map((n) => n.slice("@safeshell/".length));
    const wsl = process.platform === "win32" ? "; on Windows, install it inside WSL" : "";
    fail(`there is no program for ${process.platform}-${process.arch}, only for ${there.join(", ")}${wsl}`);
  }
  let found, held;
  try {
    held = require(`${name}/package.json`).version;
    found = require.resolve(`${name}/bin/safeshell`);
  } catch {
    fail(`the package ${name} is missing, which holds the program for this machine (npm leaves it out with --omit=optional, or where node_modules came from another machine); get it with: ${install(name)}`);
  }
  if (held !== version) {
    fail(`the package ${name} is of version ${held}, and this is ${version}; make them the same with: ${install(name)}`);
  }
  return found;
}

module.exports = function launch(name) {
  const found = program();
  // The program knows a wrapper by its name, on Linux by that of its file, unless
  // it lies below /proc. A package has no links.
  const file = name !== "safeshell" && process.platform === "linux" ? `/proc/self/root${found}` : found;
  const child = spawn(file, process.argv.slice(2), { stdio: "inherit", argv0: name });

  // What is typed at a terminal reaches the program without us; what is sent to
  // this process alone does not.
  const typed = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const handlers = {};
  for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR2"]) {
    const group = typed && (signal === "SIGINT" || signal === "SIGQUIT");
    handlers[signal] = () => group || child.kill(signal);
    process.on(signal, handlers[signal]);
  }
  child.on("error", (err) => {
    const mode = err.code === "EACCES" ? `; make it executable with: chmod 755 '${found}'` : "";
    fail(`${found} cannot be started: ${err.message}${mode}`);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    for (const s in handlers) process.removeListener(s, handlers[s]);
    process.kill(process.pid, signal);
    // One that node ignores, as SIGPIPE, does not end it.
    setTimeout(() => process.exit(128 + os.constants.signals[signal]), 100);
  });
};
