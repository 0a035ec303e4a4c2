// safeshell plugin for @NAME@, format 1
// Written by: safeshell agents install @NAME@
// Installing again replaces this file; remove it with: safeshell agents uninstall @NAME@
import { spawn } from "node:child_process"

const BINARY = @BINARY@
const ARGS = @ARGS@
const LIMIT = @LIMIT@ // milliseconds
const HELP = @HELP@

// judge asks safeshell about one tool call. It resolves to {} (nothing to
// say), {command} (run this instead) or {ask} (put this to the person), and
// rejects with the reason for the model. Whatever goes wrong rejects.
function judge(event) {
  return new Promise((resolve, reject) => {
    const fail = (why, help) => reject(new Error(`[SafeShell] BLOCKED\nReason: ${why}\n${help ?? "Tell the user to run: safeshell agents doctor @NAME@"}`))
    const child = spawn(BINARY, ARGS, { stdio: ["pipe", "pipe", "pipe"] })
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      fail("safeshell did not answer in time")
    }, LIMIT)
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text) => { stdout += text })
    child.stderr.setEncoding("utf8").on("data", (text) => { stderr += text })
    child.stdin.on("error", () => {}) // it may answer without reading all
    child.on("error", (error) => {
      clearTimeout(timer)
      fail(`safeshell cannot be started: ${error.message}`, HELP)
    })
    child.on("close", (code, signal) => {
      clearTimeout(timer)
      if (code !== 0) {
        if (stderr.trim() !== "") return reject(new Error(stderr.trim()))
        return fail(`safeshell ended with ${code ?? signal}`)
      }
      if (stdout.trim() === "") return resolve({})
      let answer
      try {
        answer = JSON.parse(stdout)
      } catch {
        return fail("safeshell gave an answer that is not JSON")
      }
      if (typeof answer?.command !== "string" && typeof answer?.ask !== "string") {
        return fail("safeshell gave an answer that this plugin does not know")
      }
      resolve(answer)
    })
    child.stdin.end(JSON.stringify(event))
  })
}

// mayAct says whether a tool is one to be judged: it is known, or its input
// holds a command.
function mayAct(tools, name, input) {
  return tools.has(name) || typeof input?.command === "string"
}
