package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"text/tabwriter"
	"time"
)

// figure is what was measured of one case.
type figure struct {
	Name     string  `json:"name"`
	Runs     int     `json:"runs"`
	MedianUS float64 `json:"median_us"`
	P99US    float64 `json:"p99_us"`
	// Over is the case that it is compared with; AddedUS the median less that
	// one's.
	Over    string  `json:"over,omitempty"`
	AddedUS float64 `json:"added_us,omitempty"`
	// Ratio is the figure that has a limit, in Unit; Limit 0: none.
	Ratio float64 `json:"ratio,omitempty"`
	Unit  string  `json:"unit,omitempty"`
	Limit float64 `json:"limit,omitempty"`
}

func (f figure) holds() string {
	switch {
	case f.Limit == 0:
		return ""
	case f.Ratio <= f.Limit:
		return "yes"
	}
	return "NO"
}

// summary makes a figure of durations, which it sorts.
func summary(name string, times []time.Duration) figure {
	sort.Slice(times, func(a, b int) bool { return times[a] < times[b] })
	n := len(times)
	if n == 0 {
		return figure{Name: name}
	}
	return figure{Name: name, Runs: n, MedianUS: us(times[n/2]), P99US: us(times[n*99/100])}
}

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func printTable(out io.Writer, figures []figure) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "case\truns\tmedian us\tp99 us\tadded us\tratio\tunit\tlimit\tholds\t\n")
	for _, f := range figures {
		added, ratio, limit := "", "", ""
		if f.Over != "" {
			added = fmt.Sprintf("%.0f", f.AddedUS)
		}
		if f.Unit != "" {
			ratio = fmt.Sprintf("%.2f", f.Ratio)
		}
		if f.Limit != 0 {
			limit = fmt.Sprintf("%.4g", f.Limit)
		}
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.0f\t%s\t%s\t%s\t%s\t%s\t\n", f.Name, f.Runs, f.MedianUS, f.P99US, added, ratio, f.Unit, limit, f.holds())
	}
	_ = w.Flush()
	fmt.Fprintln(out)
}

func writeJSON(path string, figures []figure) error {
	b, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// compareFiles prints two results side by side: what has a ratio by that, since
// the microseconds of two runs are those of two machines.
func compareFiles(out io.Writer, a, b string) error {
	var figures [2][]figure
	for i, path := range []string{a, b} {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &figures[i]); err != nil {
			return fmt.Errorf("%s is no result of bench -json: %w", path, err)
		}
	}
	before := map[string]figure{}
	for _, f := range figures[0] {
		before[f.Name] = f
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "case\tmedian us\t\tratio\t\tunit\tlimit\tholds\t\n")
	for _, f := range figures[1] {
		o, ok := before[f.Name]
		old, oldRatio, ratio, limit := "-", "", "", ""
		if ok {
			old = fmt.Sprintf("%.0f", o.MedianUS)
		}
		if f.Unit != "" {
			ratio = fmt.Sprintf("%.2f", f.Ratio)
			if ok {
				oldRatio = fmt.Sprintf("%.2f", o.Ratio)
			}
		}
		if f.Limit != 0 {
			limit = fmt.Sprintf("%.4g", f.Limit)
		}
		fmt.Fprintf(w, "%s\t%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t\n", f.Name, old, f.MedianUS, oldRatio, ratio, f.Unit, limit, f.holds())
	}
	return w.Flush()
}
