package eval

import (
	"encoding/binary"
	"errors"
	"sort"
	"strings"
)

// A blob is the compiled form of one source of rules: a header, a hash table
// from command names to rule records, the records, and a catalogue of all
// rules. To judge a command, one slot of the table and the records that it
// names are read, however many rules there are for other commands.
//
//	0   magic "SAFERULE"
//	8   version                    u32
//	12  number of slots            u32, a power of two
//	16  offset, length of meta     u32, u32
//	24  offset, length of catalog  u32, u32
//	32  size of the blob           u32
//	36  sum of bytes 0..35 and meta
//	40  slots: offset, length, sum u32 each
//
// Sums are 32-bit FNV-1a. They find damage, not malice: a blob is only used
// from a file that nobody else can write.
const (
	blobMagic   = "SAFERULE"
	blobVersion = 1
	blobHeader  = 40
	slotSize    = 12
)

var errBlob = errors.New("compiled rules are damaged")

// Needs are what a command must have for a rule to be worth decoding.
type needs uint16

const (
	needFlags  needs = 1 << iota // some option
	needReads                    // some file is read
	needChange                   // some file is written, emptied or deleted
	needArgs
	needPipe // output goes to another command
	needFed  // input comes from another command
	needAssign
	needUnknown
	needVia
	needRemote
	needInput // something is fed to it
	needFunction
	needRedirect
)

// entry is one rule in a slot.
type entry struct {
	off, len int
	sum      uint32
	ord      int
	needs    needs
	pack     uint8 // index in packNames, for built-in rules
}

const everyCommand = "*"

// index returns the keys under which a rule is found, and what it needs of a
// command that is found under each: the command alone for clauses that name no
// subcommand, command and first subcommand word for those that do.
func (r *rule) index() map[string]needs {
	keys := map[string]needs{}
	add := func(k string, n needs) {
		if old, ok := keys[k]; ok {
			n &= old
		}
		keys[k] = n
	}
	for _, c := range r.commands {
		c = canonicalName(c)
		if len(r.match) == 0 {
			add(c, 0)
		}
		for i := range r.match {
			m := &r.match[i]
			n := m.needs()
			if c == everyCommand || m.subcommand == nil {
				add(c, n)
				continue
			}
			for _, s := range m.subcommand {
				add(c+" "+s[0], n)
			}
			add(c+" ?", n) // for a subcommand that is not known
		}
	}
	return keys
}

// needs is what a command must have for the clause to hold.
func (c *clause) needs() (n needs) {
	if c.flags != nil || c.options != nil || c.mounts != nil {
		n |= needFlags
	}
	if c.reads != nil {
		n |= needReads
	}
	if c.writes != nil || c.deletes != nil || c.empties != nil || c.replaces != nil || c.removes != nil {
		n |= needChange
	}
	if c.args.set() || c.operand.set() || c.word.set() || c.operands == yes || c.paths != nil {
		n |= needArgs
	}
	if c.pipesTo != nil || c.givesTo != nil {
		n |= needPipe
	}
	if c.fedBy != nil {
		n |= needFed
	}
	if c.assigns != nil {
		n |= needAssign
	}
	if c.unknown != nil || c.variables.set() {
		n |= needUnknown
	}
	if c.via != nil {
		n |= needVia
	}
	if c.remote == yes {
		n |= needRemote
	}
	if c.code != nil || c.input.set() {
		n |= needInput
	}
	if c.is != nil {
		shape := ^needs(0)
		for _, s := range c.is {
			shape &= shapeNeeds(s)
		}
		n |= shape
	}
	return n
}

func sum32(h uint32, s string) uint32 {
	for i := 0; i < len(s); i++ {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

const sumSeed = 2166136261

func slotSum(slot int, data string) uint32 {
	return sum32(sum32(sumSeed, string(binary.LittleEndian.AppendUint32(nil, uint32(slot)))), data)
}

// encodeBlob compiles rules. meta is kept as it is.
func encodeBlob(rules []rule, meta string) []byte {
	slots := 8
	type use struct {
		rule  int
		needs needs
	}
	byKey := map[string][]use{}
	for i := range rules {
		for k, n := range rules[i].index() {
			byKey[k] = append(byKey[k], use{i, n})
		}
	}
	for slots < len(byKey)*2 {
		slots *= 2
	}
	tableEnd := blobHeader + slots*slotSize
	out := make([]byte, tableEnd, tableEnd+64*len(rules)+len(meta))
	copy(out, blobMagic)
	put := func(at int, v int) { binary.LittleEndian.PutUint32(out[at:], uint32(v)) }
	put(8, blobVersion)
	put(12, slots)

	entries := make([]entry, len(rules))
	for i := range rules {
		var e encoder
		e.rule(&rules[i])
		entries[i] = entry{off: len(out), len: len(e.b), sum: sum32(sumSeed, string(e.b)), ord: rules[i].ord, pack: packIndex(rules[i].pack)}
		out = append(out, e.b...)
	}

	keys := make([]string, 0, len(byKey))
	for k := range byKey {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	bySlot := make([][]string, slots)
	for _, k := range keys {
		s := int(sum32(sumSeed, k)) & (slots - 1)
		bySlot[s] = append(bySlot[s], k)
	}
	for s, ks := range bySlot {
		var e encoder
		for _, k := range ks {
			e.str(k)
			e.num(len(byKey[k]))
			for _, u := range byKey[k] {
				x := entries[u.rule]
				x.needs = u.needs
				e.entry(x)
			}
		}
		at := blobHeader + s*slotSize
		put(at, len(out))
		put(at+4, len(e.b))
		put(at+8, int(slotSum(s, string(e.b))))
		out = append(out, e.b...)
	}

	var cat encoder
	cat.num(len(entries))
	for _, e := range entries {
		cat.entry(e)
	}
	put(24, len(out))
	put(28, len(cat.b))
	out = append(out, cat.b...)
	put(16, len(out))
	put(20, len(meta))
	out = append(out, meta...)
	put(32, len(out))
	put(36, int(sum32(sum32(sumSeed, string(out[:36])), meta)))
	return out
}

func (e *encoder) entry(x entry) {
	e.num(x.off)
	e.num(x.len)
	e.num(int(x.sum))
	e.num(x.ord)
	e.num(int(x.needs))
	e.num(int(x.pack))
}

func (d *decoder) entry() entry {
	return entry{off: d.num(), len: d.num(), sum: uint32(d.num()), ord: d.num(), needs: needs(d.num()), pack: uint8(d.num())}
}

// blob reads compiled rules from memory or from a file.
type blob struct {
	mem  string
	file fileHandle // used when mem is empty
	size int

	win    string // bytes of the file that were read last
	winOff int

	slots          int
	meta           string
	catOff, catLen int
	checked        bool // from our own binary: no sums to compare

	decoded map[int]*rule      // by offset
	read    map[int][]keyRules // slots that were read
}

// keyRules are the rules of a key, in order of loading.
type keyRules struct {
	key   string
	rules []entry
}

// How much of a file is read at once, in bytes: small files wholly, of others a
// little more than is asked for.
const (
	wholeFile = 32 << 10
	window    = 4 << 10
)

// at returns n bytes at off.
func (b *blob) at(off, n int) (string, error) {
	if off < 0 || n < 0 || off > b.size || n > b.size-off {
		return "", errBlob
	}
	if b.file == 0 {
		return b.mem[off : off+n], nil
	}
	if off < b.winOff || off+n > b.winOff+len(b.win) {
		from, size := off, min(max(window, n), b.size-off)
		if b.size <= wholeFile {
			from, size = 0, b.size
		}
		buf := make([]byte, size)
		if err := b.file.readAt(buf, from); err != nil {
			return "", err
		}
		b.win, b.winOff = string(buf), from
	}
	return b.win[off-b.winOff : off-b.winOff+n], nil
}

// openBlob checks the header and the meta data.
func openBlob(b *blob) error {
	h, err := b.at(0, blobHeader)
	if err != nil {
		return errBlob
	}
	u := func(at int) int { return int(binary.LittleEndian.Uint32([]byte(h[at : at+4]))) }
	if !strings.HasPrefix(h, blobMagic) || u(8) != blobVersion || u(32) != b.size {
		return errBlob
	}
	b.slots = u(12)
	if b.slots <= 0 || b.slots&(b.slots-1) != 0 || b.slots > b.size/slotSize {
		return errBlob
	}
	b.meta, err = b.at(u(16), u(20))
	if err != nil {
		return errBlob
	}
	b.catOff, b.catLen = u(24), u(28)
	if !b.checked && int(sum32(sum32(sumSeed, h[:36]), b.meta)) != u(36) {
		return errBlob
	}
	return nil
}

// lookup appends the entries of a key that the command may meet, in order of
// loading.
func (b *blob) lookup(key string, have needs, out []entry) ([]entry, error) {
	slot := int(sum32(sumSeed, key)) & (b.slots - 1)
	keys, ok := b.read[slot]
	if !ok {
		var err error
		if keys, err = b.readSlot(slot); err != nil {
			return out, err
		}
		if b.read == nil {
			b.read = map[int][]keyRules{}
		}
		b.read[slot] = keys
	}
	for i := range keys {
		if keys[i].key != key {
			continue
		}
		for _, e := range keys[i].rules {
			if e.needs&^have == 0 {
				out = append(out, e)
			}
		}
		break
	}
	return out, nil
}

// readSlot decodes a slot of the table.
func (b *blob) readSlot(slot int) ([]keyRules, error) {
	s, err := b.at(blobHeader+slot*slotSize, slotSize)
	if err != nil {
		return nil, errBlob
	}
	u := func(at int) int {
		return int(uint32(s[at]) | uint32(s[at+1])<<8 | uint32(s[at+2])<<16 | uint32(s[at+3])<<24)
	}
	off, n, sum := u(0), u(4), u(8)
	data, err := b.at(off, n)
	if err != nil || !b.checked && int(slotSum(slot, data)) != sum {
		return nil, errBlob
	}
	var keys []keyRules
	d := decoder{s: data}
	for d.off < len(d.s) && !d.bad {
		x := keyRules{key: d.str()}
		n := d.count()
		x.rules = make([]entry, 0, n)
		for range n {
			x.rules = append(x.rules, d.entry())
		}
		keys = append(keys, x)
	}
	if d.bad {
		return nil, errBlob
	}
	return keys, nil
}

// rule decodes the record of an entry.
func (b *blob) rule(e entry, commands bool) (*rule, error) {
	if r := b.decoded[e.off]; r != nil && !commands {
		return r, nil
	}
	s, err := b.at(e.off, e.len)
	if err != nil || !b.checked && sum32(sumSeed, s) != e.sum {
		return nil, errBlob
	}
	d := decoder{s: s}
	r := d.rule(commands)
	if d.bad {
		return nil, errBlob
	}
	if b.decoded == nil {
		b.decoded = make(map[int]*rule, 16)
	}
	b.decoded[e.off] = r
	return r, nil
}

// all decodes every rule, in order.
func (b *blob) all() ([]*rule, error) {
	s, err := b.at(b.catOff, b.catLen)
	if err != nil {
		return nil, errBlob
	}
	d := decoder{s: s}
	n := d.count()
	out := make([]*rule, 0, n)
	for range n {
		e := d.entry()
		if d.bad {
			return nil, errBlob
		}
		r, err := b.rule(e, true)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
