package agents

// windsurfForm is the protocol of Windsurf's Cascade: one event per kind of
// action, exit 2 with a text as the only answer.
type windsurfForm struct{ base }

func (windsurfForm) read(e *event) request {
	r := request{name: e.str(e.root, "agent_action_name"), args: e.value(e.root, "tool_info")}
	if r.name == "" {
		e.fail("%w: it has no agent_action_name", errNotAnEvent)
		return r
	}
	r.call.Session = e.str(e.root, "trajectory_id")
	switch r.name {
	case "pre_run_command":
		cwd := ""
		if r.args.is('{') {
			cwd = e.str(r.args, "cwd")
		}
		r.tool, r.kind = r.name, runsTool
		e.take(&r, cwd, "command_line")
	case "pre_read_code", "pre_write_code":
		r.tool = r.name
		if e.ours(&r) {
			e.take(&r, "", "")
		}
	default:
		r.skip = true
	}
	return r
}
