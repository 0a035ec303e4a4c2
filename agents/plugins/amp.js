
const TOOLS = new Set(@TOOLS@)

// path turns a file URI, as a string or as an object, into a path.
function path(uri) {
  if (uri === undefined || uri === null) return undefined
  const text = typeof uri === "string" ? uri : (uri.fsPath ?? uri.path ?? String(uri))
  return text.startsWith("file://") ? decodeURIComponent(new URL(text).pathname) : text
}

export default function (amp) {
  amp.on("tool.call", async (event, ctx) => {
    try {
      const shell = amp.helpers.shellCommandFromToolCall(event)
      if (!shell && !mayAct(TOOLS, event.tool, event.input)) return { action: "allow" }
      const answer = await judge({
        tool: shell ? "bash" : event.tool,
        sessionID: String(event.thread?.id ?? ctx?.thread?.id ?? ""),
        args: shell ? { command: shell.command, workdir: path(shell.dir) } : event.input,
        cwd: path(amp.system?.workspaceRoot) ?? process.cwd(),
      })
      if (answer.command === undefined && answer.ask === undefined) return { action: "allow" }
      return { action: "reject-and-continue", message: answer.ask ?? `Run this instead:\n${answer.command}` }
    } catch (error) {
      return { action: "reject-and-continue", message: error.message }
    }
  })
}
