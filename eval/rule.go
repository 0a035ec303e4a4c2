package eval

import "safeshell/eval/condition"

// tri is a yes/no key that may be absent.
type tri uint8

const (
	unset tri = iota
	yes
	no
)

// rule is one rule, ready to be matched.
type rule struct {
	name       string
	pack       string // name of the built-in pack; empty for files
	line       int    // in its file
	ord        int    // order of loading within its source
	commands   []string
	match      []clause // any of them; none: always
	unless     []clause // any of them excepts
	directory  pattern
	conditions []condition.Condition
	context    Context // "" for all
	action     Action
	override   bool // allow_override
	redirect   []redirectWord
	message    string
	suggest    string

	examples examples // only after parsing, not in the compiled form
	node     span     // lines in the file, only after parsing
}

// runsCode says that the rule would execute something of its author's choice;
// a repository's rule does so only when its file is trusted.
func (r *rule) runsCode() bool { return len(r.conditions) > 0 || r.action == Redirect }

type span struct{ first, last int }

// examples are the lines that `rules test` runs.
type examples struct{ match, noMatch []example }

type example struct {
	line   string
	branch string // branch of the scene's repository; "" for the default
	at     int    // line in the file
}

// clause is one match or unless mapping: all keys that are set must hold.
type clause struct {
	subcommand [][]string
	flags      []string
	options    []optionPattern
	args       pattern
	operand    pattern
	word       pattern // a subcommand or an operand
	operands   tri     // yes: some, no: none
	paths      []string
	reads      []string
	writes     []string
	deletes    []string
	empties    []string
	replaces   []string
	removes    []string
	covers     []string
	// The following narrow the targets that the path keys found.
	recoverable tri
	scratch     tri
	project     tri
	recursive   tri

	pipesTo []string
	fedBy   []string
	givesTo []string
	branch  pattern
	// existingBranch: the branch that is made (-B, -C) exists already.
	existingBranch tri
	via            []string
	remote         tri
	unknown        []string
	assigns        []string
	code           []string

	is        []string // named shapes
	mode      []string // what chmod gives
	mounts    []string // what a container gets of the machine
	program   pattern  // the command word as written
	input     pattern  // known standard input
	variables pattern  // names of variables whose values are in the arguments
	sql       []string // kinds of SQL statements
}

// optionPattern asks an option's value to match.
type optionPattern struct {
	name  string
	value pattern
}

// usesTargets says that the clause looks at files.
func (c *clause) usesTargets() bool {
	return c.paths != nil || c.reads != nil || c.writes != nil || c.deletes != nil || c.empties != nil || c.replaces != nil || c.removes != nil ||
		c.covers != nil || c.recoverable != unset || c.scratch != unset || c.project != unset || c.recursive != unset
}

// redirectWord is one word of redirect_to.
type redirectWord struct {
	args  bool // all arguments, each whole
	parts []redirectPart
}

type redirectPart struct {
	kind redirectKind
	text string
}

type redirectKind uint8

const (
	rdText redirectKind = iota
	rdCmd               // $CMD
	rdDir               // $PWD
	rdHome              // a leading ~
)

// override changes a built-in rule.
type override struct {
	name     string
	line     int
	column   int
	disabled bool
	action   *Action
	context  *Context // "" for all
	message  *string
	suggest  *string
	override *bool
}

// ruleFile is what one rules file says.
type ruleFile struct {
	rules     []rule
	overrides []override
	packs     []string // nil: not given
	wrappers  []string
}
