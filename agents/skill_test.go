package agents

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"safeshell/internal/test/testdir"
)

func TestSkillCommandsAreJudged(t *testing.T) {
	home := testdir.New(t)
	repo := filepath.Join(home, "repo")
	sub := filepath.Join(repo, "sub")
	for name, text := range map[string]string{
		"repo/.claude/skills/clean/SKILL.md":   "---\nname: tidy\ndescription: d\n---\nfirst !`rm -rf $0; echo $ARGUMENTS` no!`spaceless` `!no`\n\n```!\ngit push --force\necho two\n```\n\n```sh\nnever\n```\n",
		"repo/.claude/commands/deep/er.md":     "!`echo deeper $ARGUMENTS[1]`\n",
		"repo/.claude/skills/plain/SKILL.md":   "---\nname: plain\n---\nno commands, only !text and `code`\n",
		"repo/sub/x/.claude/skills/s/SKILL.md": "!`echo scoped`\n",
		".claude/skills/user/SKILL.md":         "!`echo user`\n",
		"linked/SKILL.md":                      "!`echo linked`\n",
	} {
		p := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, "linked"), filepath.Join(home, ".claude/skills/there")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		skill string
		want  []string
	}{
		{"clean", []string{"rm -rf a; echo a b c", "git push --force\necho two\n"}},
		{"tidy", []string{"rm -rf a; echo a b c", "git push --force\necho two\n"}},
		{"deep:er", []string{"echo deeper b"}},
		{"user", []string{"echo user"}},
		{"there", []string{"echo linked"}},
		{"x:s", []string{"echo scoped"}},
		{"plain", nil}, {"unknown", nil}, {"", nil}, {"../../x", nil},
	} {
		event := `{"session_id":"s","cwd":` + quoteJSON(sub) + `,"hook_event_name":"PreToolUse","tool_name":"Skill","tool_input":{"skill":` + quoteJSON(c.skill) + `,"args":"a b c"},"tool_use_id":"t"}`
		s := serveCase(t, "claude-code", event, map[string]string{"HOME": home}, func(Call) (Outcome, error) {
			return Outcome{Kind: Deny, Message: "no"}, nil
		})
		var got []string
		if s.call != nil {
			got = s.call.Lines
			if s.call.CanRewrite || s.call.Dir != sub || s.call.Session != "s" {
				t.Errorf("%s: %+v", c.skill, *s.call)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.skill, got, c.want)
		}
		if denied := hear("claude-code", s.reply).kind == Deny; denied != (c.want != nil) {
			t.Errorf("%s: denied %v: %+v", c.skill, denied, s.reply)
		}
	}
}
