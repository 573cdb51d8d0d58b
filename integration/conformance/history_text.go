package conformance

import (
	"fmt"
	"strings"
)

// Parse reads a history's lines as a scenario.
func Parse(dir, name string, lines []string) (*Scenario, error) {
	f, err := loadFixture(dir + "/fixture.txt")
	if err != nil {
		return nil, err
	}
	return f.parse(name, "title: "+name+"\n"+strings.Join(lines, "\n"))
}

// Written is a history that differed, as the text of a scenario. Slot is the line of a timed one.
func Written(seed uint64, slot string, lines []string, d *Difference) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title: the random history of seed %d, shrunk\n%s", seed, slot)
	for _, line := range strings.Split(d.String(), "\n") {
		fmt.Fprintf(&b, "# %s\n", strings.TrimSpace(line))
	}
	return b.String() + strings.Join(lines, "\n") + "\n"
}
