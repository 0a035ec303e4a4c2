package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage bounds one message of the client, in bytes. A longer one is read
// to its end and answered with an error.
const maxMessage = 64 << 20

// lines is MCP over lines of JSON. Unlike the SDK's own transport it answers
// what is no message with one error and goes on with the next line, so that a
// client's slip does not cost it the session and what runs in it.
type lines struct {
	in   *bufio.Reader
	out  io.Writer
	quit context.CancelFunc // called when the client has closed its end

	incoming chan jsonrpc.Message
	closed   chan struct{}
	once     sync.Once
	write    sync.Mutex
}

// newLines starts to read. quit is called at the end of the input.
func newLines(in io.Reader, out io.Writer, quit context.CancelFunc) *lines {
	l := &lines{
		in: bufio.NewReaderSize(in, 64<<10), out: out, quit: quit,
		incoming: make(chan jsonrpc.Message), closed: make(chan struct{}),
	}
	go l.read()
	return l
}

// Connect implements sdk.Transport.
func (l *lines) Connect(context.Context) (sdk.Connection, error) { return l, nil }

// SessionID implements sdk.Connection.
func (l *lines) SessionID() string { return "" }

// read passes the input on, line by line.
func (l *lines) read() {
	defer l.quit()
	defer close(l.incoming)
	for {
		line, tooLong, err := l.line()
		switch {
		case tooLong:
			l.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message has more than %d bytes; send a smaller one, or name a file instead of its content", maxMessage))
		case len(line) > 0:
			for _, m := range l.decode(line) {
				select {
				case l.incoming <- m:
				case <-l.closed:
					return
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// line reads one line without white space around it. What is too long is read
// to its end, but not kept.
func (l *lines) line() (line []byte, tooLong bool, err error) {
	var buf []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(buf)+len(part) > maxMessage {
			tooLong, buf = true, nil
		}
		if !tooLong {
			buf = append(buf, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimSpace(buf), tooLong, err
	}
}

// decode returns the messages of a line: one, or those of a batch (protocol
// version 2025-03-26), which are answered one by one.
func (l *lines) decode(line []byte) []jsonrpc.Message {
	if !json.Valid(line) {
		l.refuse(jsonrpc.CodeParseError, "the line is not JSON; send one JSON-RPC message a line")
		return nil
	}
	parts := []json.RawMessage{line}
	if line[0] == '[' {
		if err := json.Unmarshal(line, &parts); err != nil || len(parts) == 0 {
			l.refuse(jsonrpc.CodeInvalidRequest, "the batch is empty; send one JSON-RPC message a line")
			return nil
		}
	}
	var out []jsonrpc.Message
	for _, p := range parts {
		m, err := jsonrpc.DecodeMessage(p)
		if err != nil {
			l.refuse(jsonrpc.CodeInvalidRequest, "not a JSON-RPC 2.0 message: "+err.Error())
			continue
		}
		out = append(out, m)
	}
	return out
}

// refuse answers what has no id, or none that could be read.
func (l *lines) refuse(code int64, why string) {
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why}})
	if err == nil {
		_ = l.send(b)
	}
}

func (l *lines) send(b []byte) error {
	l.write.Lock()
	defer l.write.Unlock()
	_, err := l.out.Write(append(b, '\n'))
	return err
}

// Read implements sdk.Connection.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-l.incoming:
		if !ok {
			return nil, io.EOF
		}
		return m, nil
	case <-l.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements sdk.Connection.
func (l *lines) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return l.send(b)
}

// Close implements sdk.Connection.
func (l *lines) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}
