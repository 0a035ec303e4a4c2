//go:build !linux

package mcp

func supervisorPath(self string) string { return self }
