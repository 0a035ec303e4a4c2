//go:build !linux || !(amd64 || arm64)

package faulttest

// Begin is for a process that Run starts; there is none on this system.
func Begin() (text string, ok bool) { return "", false }

// Run starts nothing on this system.
func Run(Job, []string, Verdict) (Result, error) { return Result{}, ErrUnsupported }

func (c Call) name() string { return "" }
