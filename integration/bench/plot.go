package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The plot's measures, in its own units.
const (
	plotLabels = 340 // width of the rows' names
	plotWidth  = 560 // of the scale
	plotBar    = 8
	plotGap    = 10
	plotTop    = 82
)

// plotStyle has two sets of colours, for light pages and dark ones.
const plotStyle = `<style>
.back { fill: #fff } svg { font: 12px system-ui, sans-serif; color: #1a1a1a }
text { fill: currentColor } .grid { stroke: #ddd } .one { stroke: #888 } .mark, .key { stroke: currentColor; stroke-width: 2 } .range { stroke: currentColor }
.p0 { fill: #3b6fb6 } .p1 { fill: #8fb4e3 } .p2 { fill: #d9822b } .p3 { fill: #b0413e } .p4 { fill: #4d9453 } .p5 { fill: #9a6fb0 } .p6 { fill: #8a8a8a }
@media (prefers-color-scheme: dark) { .back { fill: #0d1117 } svg { color: #e6edf3 } .grid { stroke: #30363d } }
</style>
`

// plotted is a bar of the plot: a ratio and, where it is a bar of the plan, what that asks for.
type plotted struct {
	kind  int // of pairs; len(pairs) for a figure held against a bar of its own
	ratio spread
	asked float64
}

// plottedOf lists what the plot shows of a row.
func (r *results) plottedOf(row row) (list []plotted) {
	for kind, p := range pairs {
		got := plotted{kind: kind, ratio: r.ratio(row, p[0], p[1])}
		for _, bar := range row.bars {
			if bar.server == p[0] && bar.other == p[1] {
				got.asked = bar.factor
			}
		}
		if got.ratio.median > 0 {
			list = append(list, got)
		}
	}
	for _, bar := range row.bars {
		if got := r.of(row.name, bar.server); bar.other == "" && bar.server == serve && got.median > 0 {
			list = append(list, plotted{len(pairs), spread{bar.factor / got.median, bar.factor / got.high, bar.factor / got.low, got.rounds}, 1})
		}
	}
	return list
}

// plot draws the ratios as bars on a logarithmic scale, from 1 to the right where Kohort is better, to the left where it is not.
func (r *results) plot() string {
	low, high := 0.5, 2.0
	kinds, y := map[int]bool{}, float64(plotTop)
	for _, row := range r.rows {
		list := r.plottedOf(row)
		for _, p := range list {
			low, high = min(low, p.ratio.low), max(high, p.ratio.high, p.asked)
			kinds[p.kind] = true
		}
		if len(list) > 0 {
			y += float64(max(2, len(list))*plotBar + plotGap)
		}
	}
	left, right := math.Floor(math.Log10(low)*10)/10, math.Ceil(math.Log10(high)*10)/10
	x := func(ratio float64) float64 {
		return plotLabels + plotWidth*(math.Log10(min(max(ratio, low), high))-left)/(right-left)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" role="img">`+"\n<title>How many times better</title>\n%s"+`<rect class="back" width="100%%" height="100%%"/>`+"\n",
		plotLabels+plotWidth+40, y+plotGap, plotStyle)
	plotScale(&b, left, right, x, y)
	plotLegend(&b, kinds)
	y = plotTop
	for _, row := range r.rows {
		list := r.plottedOf(row)
		if len(list) == 0 {
			continue
		}
		height := float64(max(2, len(list)) * plotBar)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", plotLabels-10, y+height/2+4, html.EscapeString(row.name))
		for i, p := range list {
			plotOne(&b, p, x, y+float64(i*plotBar))
		}
		y += height + plotGap
	}
	return b.String() + "</svg>\n"
}

// plotOne draws a bar, the range of its rounds, and a thick line where it should reach.
func plotOne(b *strings.Builder, p plotted, x func(float64) float64, y float64) {
	from, to := min(x(1), x(p.ratio.median)), max(x(1), x(p.ratio.median))
	fmt.Fprintf(b, `<rect class="p%d" x="%.1f" y="%.1f" width="%.1f" height="%d"/>`, p.kind, from, y, max(to-from, 1), plotBar-1)
	fmt.Fprintf(b, `<path class="range" d="M%.1f %.1fH%.1f"/>`, x(p.ratio.low), y+plotBar/2-0.5, x(p.ratio.high))
	if p.asked > 0 {
		fmt.Fprintf(b, `<path class="mark" d="M%.1f %.1fV%.1f"/>`, x(p.asked), y-2, y+plotBar+1)
	}
	b.WriteString("\n")
}

// plotScale draws lines at 1, 2 and 5 times the powers of ten.
func plotScale(b *strings.Builder, left, right float64, x func(float64) float64, bottom float64) {
	for power := math.Floor(left); power <= right; power++ {
		for _, digit := range []float64{1, 2, 5} {
			at := digit * math.Pow(10, power)
			if l := math.Log10(at); l < left || l > right {
				continue
			}
			class := "grid"
			if at == 1 {
				class = "one"
			}
			fmt.Fprintf(b, `<path class="%s" d="M%.1f %dV%.1f"/><text x="%.1f" y="%d" text-anchor="middle">%.3g</text>`+"\n",
				class, x(at), plotTop-6, bottom, x(at), plotTop-10, at)
		}
	}
}

// plotLegend names the colours that are used.
func plotLegend(b *strings.Builder, kinds map[int]bool) {
	n := 0
	at := func() (x, y int) {
		x, y = 10+n%3*320, 10+n/3*18
		n++
		return x, y
	}
	for kind := range len(pairs) + 1 {
		if !kinds[kind] {
			continue
		}
		name := "what a bar asks : " + serve
		if kind < len(pairs) {
			name = pairs[kind][0] + " : " + pairs[kind][1]
		}
		x, y := at()
		fmt.Fprintf(b, `<rect class="p%d" x="%d" y="%d" width="10" height="10"/><text x="%d" y="%d">%s</text>`+"\n", kind, x, y, x+15, y+9, name)
	}
	x, y := at()
	fmt.Fprintf(b, `<path class="key" d="M%d %dv11"/><text x="%d" y="%d">where a bar of the plan stands</text>`+"\n", x+5, y, x+15, y+9)
}
