//go:build !linux || !(amd64 || arm64)

package trash

func childInject(string) { panic("only on Linux") }
