package agents

import (
	"bytes"
	"errors"
	"sort"
)

// An edit replaces old, found at byte off, by with. Edits of one text are kept
// in ascending order, with offsets in the text before any of them.
type edit struct {
	off  int
	old  string
	with string
}

// errEdits says that a text is not the one that edits were made for.
var errEdits = errors.New("the text is not the one that was edited")

// apply returns src with all edits made. It fails, changing nothing, when the
// text does not hold what an edit expects.
func apply(src []byte, edits []edit) ([]byte, error) {
	edits = append([]edit(nil), edits...)
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].off < edits[j].off })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		if e.off < at || e.off > len(src) || !bytes.HasPrefix(src[e.off:], []byte(e.old)) {
			return nil, errEdits
		}
		out.Write(src[at:e.off])
		out.WriteString(e.with)
		at = e.off + len(e.old)
	}
	out.Write(src[at:])
	return out.Bytes(), nil
}

// invert returns the edits that lead back.
func invert(edits []edit) []edit {
	edits = append([]edit(nil), edits...)
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].off < edits[j].off })
	out := make([]edit, len(edits))
	shift := 0
	for i, e := range edits {
		out[i] = edit{off: e.off + shift, old: e.with, with: e.old}
		shift += len(e.with) - len(e.old)
	}
	return out
}
