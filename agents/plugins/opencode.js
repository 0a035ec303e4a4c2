
const TOOLS = new Set(@TOOLS@)

export const Safeshell = async ({ directory }) => ({
  // Throwing denies; the model reads the message.
  "tool.execute.before": async (input, output) => {
    if (!mayAct(TOOLS, input.tool, output.args)) return
    const answer = await judge({
      tool: input.tool,
      sessionID: input.sessionID,
      callID: input.callID,
      args: output.args,
      cwd: directory ?? process.cwd(),
    })
    if (answer.ask !== undefined) throw new Error(answer.ask)
    if (answer.command !== undefined) output.args.command = answer.command
  },
})
