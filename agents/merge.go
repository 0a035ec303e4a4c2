package agents

import "bytes"

// jsonMode returns how an agent's JSON may deviate.
func (a Agent) jsonMode() jsonMode {
	if a.Comments == No {
		return strictJSON
	}
	return looseJSON
}

// parseFor reads a JSON file for an agent and refuses what cannot hold a hook.
func parseFor(a Agent, path string, data []byte) (*document, error) {
	doc, serr := parseJSON(data, a.jsonMode(), true)
	if serr != nil {
		return nil, refuse(inFile(serr, path), "mend the file, then run: safeshell agents install "+a.Name)
	}
	if doc.root != nil && doc.root.kind != '{' {
		return nil, refuse(inFile(shapeError(doc, doc.root, "this is %s where an object is due", doc.root.kindName()), path),
			"mend the file, then run: safeshell agents install "+a.Name)
	}
	return doc, nil
}

func parseTOMLFor(a Agent, path string, data []byte) ([]tomlItem, error) {
	items, serr := parseTOML(data)
	if serr != nil {
		return nil, refuse(inFile(serr, path), "mend the file, then run: safeshell agents install "+a.Name)
	}
	return items, nil
}

// inPlace says whether the file already holds exactly the wanted hooks and no
// other of ours.
func inPlace(a Agent, t target, data []byte, o InstallOptions, rec *record) (bool, error) {
	if t.kind == tomlTarget {
		items, err := parseTOMLFor(a, t.path, data)
		if err != nil {
			return false, err
		}
		have := tomlEntries(a, t.path, data, items, binariesOf(o, rec)...)
		want, serr := parseTOML([]byte(t.text))
		if serr != nil || len(have) != 1 {
			return false, nil //nolint:nilerr // a template that is no hook cannot be there
		}
		w := tomlHooks(want)[0]
		for _, kv := range w.pairs {
			v := have[0].toml.get(kv.keys[0])
			if v == nil || v.kind != kv.val.kind || v.str != kv.val.str ||
				v.kind == '0' && string(data[v.start:v.end]) != t.text[kv.val.start:kv.val.end] {
				return false, nil
			}
		}
		return true, nil
	}
	doc, err := parseFor(a, t.path, data)
	if err != nil || doc.root == nil {
		return false, err
	}
	if len(jsonEntries(a, t.path, doc, binariesOf(o, rec)...)) != len(t.wants) {
		return false, nil
	}
	for _, w := range t.wants {
		elem, serr := parseJSON([]byte(w.elem), strictJSON, false)
		list := doc.root.lookup(w.path)
		ok := false
		if serr == nil && list.is('[') {
			for _, el := range list.elems {
				ok = ok || sameJSON(data, el, elem.src, elem.root)
			}
		}
		if !ok {
			return false, nil
		}
	}
	for _, kv := range t.keys {
		if !doc.root.has(kv[0]) {
			return false, nil
		}
	}
	return true, nil
}

// insert adds the hooks to a file's content, noting each step.
func insert(a Agent, t target, base []byte, rec *record) ([]byte, error) {
	step := func(data []byte, e edit) ([]byte, error) {
		rec.add(e)
		return apply(data, []edit{e})
	}
	if t.kind == tomlTarget {
		items, err := parseTOMLFor(a, t.path, base)
		if err != nil {
			return nil, err
		}
		e, serr := addTOMLHook(base, items, t.text)
		if serr != nil {
			return nil, refuse(inFile(serr, t.path), "put the hook there by hand, as docs/agents/"+a.Name+".md shows")
		}
		return step(base, e)
	}
	doc, err := parseFor(a, t.path, base)
	if err != nil {
		return nil, err
	}
	if doc.root == nil {
		// An empty file, or one of comments: give it an object.
		text := "{}\n"
		if i := bytes.LastIndexByte(base, '\n'); len(base) > 0 && i != len(base)-1 && len(bytes.TrimSpace(bytes.TrimPrefix(base, []byte(bom)))) > 0 {
			text = "\n" + text
		}
		if base, err = step(base, edit{off: len(base), with: text}); err != nil {
			return nil, err
		}
		if doc, err = parseFor(a, t.path, base); err != nil {
			return nil, err
		}
	}
	for _, kv := range t.keys {
		if doc.root.has(kv[0]) {
			continue
		}
		rec.Made = append(rec.Made, []string{kv[0]})
		if base, err = step(base, addItem(doc, doc.root, false, memberText(kv[0], kv[1]))); err != nil {
			return nil, err
		}
		if doc, err = parseFor(a, t.path, base); err != nil {
			return nil, err
		}
	}
	for i := len(t.wants) - 1; i >= 0; i-- { // the first one is to be in front
		w := t.wants[i]
		if !w.front {
			continue
		}
		if base, doc, err = insertOne(a, t, base, doc, w, rec, step); err != nil {
			return nil, err
		}
	}
	for _, w := range t.wants {
		if w.front {
			continue
		}
		if base, doc, err = insertOne(a, t, base, doc, w, rec, step); err != nil {
			return nil, err
		}
	}
	return base, nil
}

func insertOne(a Agent, t target, base []byte, doc *document, w want, rec *record,
	step func([]byte, edit) ([]byte, error)) ([]byte, *document, error) {
	e, made, serr := addElement(doc, w.path, w.elem, w.front)
	if serr != nil {
		return nil, nil, refuse(inFile(serr, t.path), "put the hook there by hand, as docs/agents/"+a.Name+".md shows")
	}
	rec.Made = append(rec.Made, made...)
	base, err := step(base, e)
	if err != nil {
		return nil, nil, err
	}
	doc, err = parseFor(a, t.path, base)
	return base, doc, err
}

// without returns the file's content without any hook of ours, and whether
// there was one. restored is set when it is byte for byte as before Install.
func (env Env) without(a Agent, t target, data []byte, rec *record, o InstallOptions) (out []byte, restored bool, err error) {
	if rec != nil {
		if back, err := rec.undo(data); err == nil {
			return back, true, nil
		}
	}
	if t.kind == tomlTarget {
		for {
			items, err := parseTOMLFor(a, t.path, data)
			if err != nil {
				return nil, false, err
			}
			have := tomlEntries(a, t.path, data, items, binariesOf(o, rec)...)
			if len(have) == 0 {
				return data, false, nil
			}
			if data, err = apply(data, []edit{removeTOMLHook(data, *have[0].toml)}); err != nil {
				return nil, false, err
			}
		}
	}
	removed := false
	for {
		doc, err := parseFor(a, t.path, data)
		if err != nil {
			return nil, false, err
		}
		have := jsonEntries(a, t.path, doc, binariesOf(o, rec)...)
		if len(have) == 0 {
			if !removed {
				return data, false, nil
			}
			break
		}
		l := have[0].removal()
		if data, err = apply(data, removeItem(doc, l.in, l.index)); err != nil {
			return nil, false, err
		}
		removed = true
	}
	// What held our hook and is empty now goes too, unless it was there before.
	made := [][]string{}
	if rec != nil {
		made = rec.Made
	} else {
		for _, w := range t.wants {
			for i := range w.path {
				made = append(made, w.path[:i+1])
			}
		}
	}
	for depth := 3; depth >= 1; depth-- {
		for _, path := range made {
			if len(path) != depth {
				continue
			}
			if data, err = prune(a, t, data, path); err != nil {
				return nil, false, err
			}
		}
	}
	return data, false, nil
}

// prune removes the key at path if nothing is left in it.
func prune(a Agent, t target, data []byte, path []string) ([]byte, error) {
	doc, err := parseFor(a, t.path, data)
	if err != nil || doc.root == nil {
		return data, err
	}
	in := doc.root.lookup(path[:len(path)-1])
	if !in.is('{') {
		return data, nil
	}
	for i, m := range in.members {
		if m.key.str != path[len(path)-1] || m.val.kind != '{' && m.val.kind != '[' {
			continue
		}
		if len(m.val.members)+len(m.val.elems) > 0 ||
			len(bytes.TrimSpace(data[m.val.start+1:m.val.end-1])) > 0 {
			continue // also a comment is worth keeping
		}
		return apply(data, removeItem(doc, in, i))
	}
	return data, nil
}
