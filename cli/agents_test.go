package cli

import (
	"strings"
	"testing"

	"safeshell/agents"
	"safeshell/gate"
)

// The gate has a table of markers of its own, since it is below package agents;
// the two must name the same agents.
func TestMarkersAgree(t *testing.T) {
	// Set in the terminals of people, too.
	except := map[string]bool{"CURSOR_TRACE_ID": true}
	for _, ag := range agents.All() {
		for _, m := range ag.Markers {
			if except[m.Name] {
				continue
			}
			v := m.Value
			if v == "" {
				v = "1"
			}
			if p, ok := strings.CutSuffix(v, "*"); ok {
				v = p + "_1_agent"
			}
			env := map[string]string{m.Name: v}
			if m.AndName != "" {
				env[m.AndName] = m.AndValue
			}
			if m.Session != "" && m.Session != m.Name {
				env[m.Session] = "s1"
			}
			got, session := gate.AgentOf(func(n string) string { return env[n] })
			if got != ag.Name {
				t.Errorf("%s=%s: the gate says %q, package agents %q", m.Name, v, got, ag.Name)
			}
			if m.Session != "" && session == "" {
				t.Errorf("%s: the gate does not find the session in %s", m.Name, m.Session)
			}
		}
	}
}
