package agents

import (
	"os"
	"strings"
)

// archive is the text form of a golden case: a comment, then files, each
// headed by "-- name --".
type archive struct {
	Comment []byte
	Files   []archiveFile
}

type archiveFile struct {
	Name string
	Data []byte
}

func readArchive(path string) (*archive, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ar := &archive{}
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			if name, ok = strings.CutSuffix(strings.TrimRight(name, "\n"), " --"); ok {
				ar.Files = append(ar.Files, archiveFile{Name: name})
				continue
			}
		}
		if n := len(ar.Files); n > 0 {
			ar.Files[n-1].Data = append(ar.Files[n-1].Data, line...)
		} else {
			ar.Comment = append(ar.Comment, line...)
		}
	}
	return ar, nil
}

func (ar *archive) format() []byte {
	var b strings.Builder
	b.Write(ar.Comment)
	for _, f := range ar.Files {
		b.WriteString("-- " + f.Name + " --\n")
		b.Write(f.Data)
		if n := len(f.Data); n > 0 && f.Data[n-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	return []byte(b.String())
}
