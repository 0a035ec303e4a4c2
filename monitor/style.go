package monitor

import (
	"strings"

	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"
)

// styles are the looks of the panes. They use the sixteen colours, which every
// theme keeps readable, and never colour alone: words and marks say the same.
type styles struct {
	cs                                  charset
	bold, dim, head, good, bad, warn, k lipgloss.Style
	ptr, dot, ell, vbar, cont           string
	light, heavy                        border
	form                                huh.Theme
}

// border is the set of characters of a frame: corners clockwise from the top
// left, horizontal, vertical.
type border struct{ tl, tr, br, bl, h, v string }

func newStyles(cs charset) styles {
	color := func(n string) lipgloss.Style { return lipgloss.NewStyle().Foreground(lipgloss.Color(n)) }
	st := styles{
		cs:   cs,
		bold: lipgloss.NewStyle().Bold(true),
		dim:  lipgloss.NewStyle().Faint(true),
		head: lipgloss.NewStyle().Reverse(true),
		good: color("2"),
		bad:  color("1").Bold(true),
		warn: color("3").Bold(true),
		k:    color("6"),
		ptr:  "> ", dot: " · ", ell: "…", vbar: "│ ", cont: "↪ ",
		light: border{"╭", "╮", "╯", "╰", "─", "│"},
		heavy: border{"┏", "┓", "┛", "┗", "━", "┃"},
	}
	if cs.ascii {
		st.dot, st.ell, st.vbar, st.cont = " - ", "...", "| ", "> "
		st.light = border{"+", "+", "+", "+", "-", "|"}
		st.heavy = border{"#", "#", "#", "#", "=", "#"}
	}
	st.form = st.theme()
	return st
}

// of is the look of a line of this kind.
func (st styles) of(k kind) lipgloss.Style {
	switch k {
	case asks:
		return st.k
	case good:
		return st.good
	case bad, fault:
		return st.bad
	case trace:
		return st.dim
	case warn:
		return st.warn
	}
	return lipgloss.NewStyle()
}

// theme is the looks of the form. It does not ask for the background, and is
// made once: huh asks for it many times at each drawing.
func (st styles) theme() huh.Theme {
	var t huh.Styles
	plain := lipgloss.NewStyle()
	t.FieldSeparator = lipgloss.NewStyle().SetString("\n")
	f := huh.FieldStyles{
		SelectSelector:   st.bold.SetString(st.ptr),
		SelectedOption:   st.bold,
		UnselectedOption: plain,
	}
	f.TextInput.Placeholder = st.dim
	t.Blurred = f
	t.Focused = f
	t.Focused.SelectedOption = st.bold.Reverse(true)
	t.Focused.TextInput.Prompt = st.bold
	return huh.ThemeFunc(func(bool) *huh.Styles { return &t })
}

// frame draws a box of w by h cells around body: a title at the top left, a
// state at the top right, a note at the bottom. The focused one is heavy.
// Missing lines are blank; lines too many are left out.
func (st styles) frame(title, right, note string, body []string, w, h int, focus bool) []string {
	b, look := st.light, st.dim
	if focus {
		b, look = st.heavy, lipgloss.NewStyle()
	}
	in := max(w-4, 0)
	bar := func(left, l, r, right string) string {
		if r != "" {
			r = " " + st.cs.cut(r, max(in-2, 0)) + " "
		}
		if l = st.cs.cut(l, max(in-width(r)-2, 0)); l != "" {
			l = " " + l + " "
		}
		fill := max(w-4-width(l)-width(r), 0)
		return look.Render(left+b.h) + l + look.Render(strings.Repeat(b.h, fill)) + r + look.Render(b.h+right)
	}
	out := []string{bar(b.tl, title, right, b.tr)}
	side := look.Render(b.v)
	for i := range max(h-2, 0) {
		l := ""
		if i < len(body) {
			l = body[i]
		}
		out = append(out, side+" "+st.cs.pad(l, in)+" "+side)
	}
	return append(out, bar(b.bl, note, "", b.br))
}
