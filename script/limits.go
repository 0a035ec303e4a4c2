package script

import "fmt"

// Limits on what is analysed. Beyond them the rest is an Unknown: a guard asks
// rather than hang, and no clock is involved that a loaded machine could trip.
const (
	maxText    = 1 << 20  // bytes of one text
	maxNested  = 1 << 20  // bytes of all texts inside texts together
	maxOpeners = 1 << 14  // brackets and backquotes in one text
	maxOpen    = 1000     // of those, open at once (a count that ignores quotes)
	maxTokens  = 100_000  // of a text in another language
	maxDepth   = 200      // nesting of statements and words
	maxCode    = 24       // code in code in code (eval, sh -c, functions)
	maxFields  = 4096     // words that one word may become
	maxValue   = 64 << 10 // bytes of one value
	maxDir     = 4096     // bytes of a directory's name; PATH_MAX of linux
	maxParts   = 256      // parts of one word, known and not known
	maxUnroll  = 64       // iterations of a loop over known words
	maxPasses  = 6        // passes over a loop's body until its state settles
)

// step counts one unit of work; false when there is none left.
func (a *analyzer) step() bool {
	if !a.budget.Spend(1) {
		a.tooMuch()
		return false
	}
	return true
}

// spend counts n units of work, such as copying, which are found out about at
// the next step.
func (a *analyzer) spend(n int) { a.budget.Spend(n) }

// tooMuch says where the work ended.
func (a *analyzer) tooMuch() {
	if a.over {
		return
	}
	at := ""
	if s := a.at; s.Start >= 0 && s.Start < s.End && s.End <= len(a.text) && s.End-s.Start < len(a.text) {
		at = ", at " + clip(a.text[s.Start:s.End])
	}
	a.exhaust(fmt.Sprintf("it comes to more than can be judged at once (%d commands were found%s)", len(a.cmds), at))
}

// scan counts a look at n tokens of another language's code, about as much
// work as a step for sixteen; false when there is none left.
func (a *analyzer) scan(n int) bool {
	if !a.budget.Spend(n / 16) {
		a.tooMuch()
		return false
	}
	return true
}

// exhaust reports once that the analysis stopped early.
func (a *analyzer) exhaust(reason string) {
	if !a.over {
		a.over = true
		a.budget.Exceed(reason)
		a.unknownAt(reason, Span{0, len(a.text)})
	}
}

// deeper enters one level of nesting; false when there are too many. Every
// true must be paired with a.depth--.
func (a *analyzer) deeper() bool {
	if a.depth >= maxDepth {
		a.exhaust("the text is nested too deeply to analyse")
		return false
	}
	a.depth++
	return true
}

// wrapped reports whether one more program may be around a command.
func (a *analyzer) wrapped(k *call) bool {
	if len(k.c.via) >= maxDepth {
		a.exhaust("the text is nested too deeply to analyse")
		return false
	}
	return true
}

// tooManyOpeners guards the recursive parser, whose time grows faster than
// the depth of its input.
func tooManyOpeners(text string) bool {
	total, open := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			total++
			if open++; open > maxOpen {
				return true
			}
		case ')', '}', ']':
			if open > 0 {
				open--
			}
		case '`':
			total++
		}
	}
	return total > maxOpeners
}
