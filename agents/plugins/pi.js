
const TOOLS = new Set(@TOOLS@)

export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    if (!mayAct(TOOLS, event.toolName, event.input)) return
    let answer
    try {
      answer = await judge({
        tool: event.toolName,
        sessionID: ctx?.sessionManager?.getSessionId?.() ?? "",
        callID: event.toolCallId,
        args: event.input,
        cwd: ctx?.cwd ?? process.cwd(),
        ui: ctx?.hasUI === true,
      })
    } catch (error) {
      return { block: true, reason: error.message }
    }
    if (answer.ask !== undefined) {
      if ((await ctx.ui.confirm("safeshell", answer.ask)) === true) return
      return { block: true, reason: `${answer.ask}\n\nThe user said no. Do not retry; ask what to do instead.` }
    }
    if (answer.command !== undefined) event.input.command = answer.command
  })
}
