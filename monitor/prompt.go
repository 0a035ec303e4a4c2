package monitor

import (
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"safeshell/spool"
)

// maxReason bounds the reason field, in characters.
const maxReason = 500

// prompt is the form for one request: a huh form of the choices and the
// reason. What the request says is drawn beside it and never passed to huh,
// whose notes read markdown and would swallow the stars of a command.
//
// Its focus is moved by direct calls. huh's own way, messages from one field
// to the next, could arrive when another request has the form.
type prompt struct {
	p      spool.Pending
	form   *huh.Form
	sel    *huh.Select[spool.Choice]
	choice spool.Choice
	reason string

	inReason bool
	opens    time.Time // keys are shut until then
	touched  bool      // a key was taken: it is being answered
	readAll  bool      // the end of the command has been on the screen
	top      int       // first visible line of the details
	sending  bool
	failed   string // why the last answer was not taken
	width    int    // the form's

	drawn struct { // the command, wrapped
		w     int
		late  bool
		lines []string
	}
}

// newPrompt returns the form with deny chosen.
func newPrompt(p spool.Pending, st styles) *prompt {
	d := &prompt{p: p, choice: spool.Refuse}
	opts := make([]huh.Option[spool.Choice], len(choices))
	for i, c := range choices {
		opts[i] = huh.NewOption(fmt.Sprintf("%d  %s", c, label(c, p.Late)), c)
	}
	d.sel = huh.NewSelect[spool.Choice]().Options(opts...).Value(&d.choice)
	reason := huh.NewInput().Prompt("Reason: ").CharLimit(maxReason).Value(&d.reason).
		Placeholder("optional (Tab)")
	keys := huh.KeyMap{Select: huh.SelectKeyMap{
		Up:   key.NewBinding(key.WithKeys("up")),
		Down: key.NewBinding(key.WithKeys("down")),
	}}
	d.form = huh.NewForm(huh.NewGroup(d.sel, reason)).
		WithKeyMap(&keys).WithTheme(st.form).WithShowHelp(false).WithShowErrors(false).
		WithHeight(len(choices) + 1)
	d.form.Init() // focuses the choices; the messages it returns have no use here
	return d
}

// shut tells whether keys are ignored at this time.
func (d *prompt) shut(now time.Time) bool { return now.Before(d.opens) }

// close ignores keys for a moment from now.
func (d *prompt) close(now time.Time) { d.opens = now.Add(quiet) }

// update passes a message to the form.
func (d *prompt) update(msg tea.Msg) tea.Cmd {
	_, cmd := d.form.Update(msg)
	return cmd
}

// enterReason moves to the reason field.
func (d *prompt) enterReason() tea.Cmd {
	if d.inReason {
		return nil
	}
	d.inReason = true
	return d.form.NextField()
}

// leaveReason moves back to the choices.
func (d *prompt) leaveReason() {
	if d.inReason {
		d.inReason = false
		d.form.PrevField()
	}
}

// choose moves the highlight by so many choices, from wherever the focus is.
func (d *prompt) choose(by int) {
	n := len(choices)
	d.choice = choices[((int(d.choice)-1+by)%n+n)%n]
	d.sel.Value(&d.choice)
	d.refresh()
}

// size makes the form so many cells wide.
func (d *prompt) size(w int) {
	if w != d.width {
		d.width = w
		d.form.WithWidth(w)
		d.refresh()
	}
}

// refresh has the form draw itself anew; it does so only on a message, and
// would go on showing what was highlighted before.
func (d *prompt) refresh() { d.form.Update(nil) }

// lines is the form: the choices, and last the reason.
func (d *prompt) lines(st styles) []string {
	out := strings.Split(d.form.View(), "\n")
	if !d.inReason {
		// A field without the focus has the library's colours, which not every
		// background shows.
		text := st.dim.Render("optional (Tab)")
		if d.reason != "" {
			text = st.cs.line(d.reason)
		}
		out[len(out)-1] = "Reason: " + st.cs.cut(text, max(d.width-8, 0))
	}
	return out
}
