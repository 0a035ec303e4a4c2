//go:build split && linux

package yamltree

// Parse reads data as one YAML document; nil when it holds nothing. What is
// wrong with it is a *Fault.
func Parse(data []byte) (*Node, error) { return Ask("/proc/self/exe", data) }
