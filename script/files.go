package script

import "slices"

// written is what the text wrote to a file: all contents that it may have, nil
// for one that is not known.
type written []*Word

// wrote records that the text writes to a file.
func (a *analyzer) wrote(dir, target Word, content *Word, more bool) {
	key := fileKey(dir, target)
	if key == "" || key == "/dev/null" || len(a.files) > 1000 {
		return
	}
	if a.files == nil {
		a.files = make(map[string]written, 2)
	}
	old := a.files[key]
	if more && len(old) > 0 {
		// Appended: to each of what it may hold already.
		for _, w := range slices.Clone(old) {
			if w == nil || content == nil {
				content = nil
				break
			}
			both := Word{Parts: merge(append(slices.Clone(w.Parts), content.Parts...))}
			if len(old) < 8 {
				old = append(old, &both)
			}
		}
	}
	if len(old) >= 8 {
		content = nil
	}
	for _, w := range old {
		if w == content || w != nil && content != nil && sameWord(*w, *content) {
			a.files[key] = old
			return
		}
	}
	a.files[key] = append(old, content)
}

// fileOf returns what the text wrote to a file; nil when it did not.
func (a *analyzer) fileOf(dir, target Word) written {
	if len(a.files) == 0 {
		return nil
	}
	return a.files[fileKey(dir, target)]
}

// fileText returns the one text that a file holds, when that is known.
func (a *analyzer) fileText(dir, target Word) *Word {
	if f := a.fileOf(dir, target); len(f) == 1 {
		return f[0]
	}
	return nil
}
