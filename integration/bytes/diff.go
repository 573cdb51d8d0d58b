package offsetbytes

import (
	"fmt"
	"maps"
	"slices"
)

// Difference is a field that two brokers wrote differently. An empty value: the record or the field is not there.
type Difference struct {
	Group         string
	Record        int // of the group
	Path          string
	Kafka, Kohort string
}

// String is one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s, record %d, %s: Kafka %q, Kohort %q", d.Group, d.Record, d.Path, d.Kafka, d.Kohort)
}

// Deliberate says whether a difference is the one that is meant: Kafka 4.1 and later write offset values as v4, whose
// added topic id is a tag.
func (d Difference) Deliberate() bool {
	return d.Path == "value.version" && d.Kafka == "4" && d.Kohort == "3"
}

// byGroup sorts records by group; a group has its records in one partition, in order.
func byGroup(records []Record) map[string][]Record {
	groups := map[string][]Record{}
	for _, r := range records {
		groups[r.Group] = append(groups[r.Group], r)
	}
	return groups
}

// Compare compares two dumps group by group, record by record, field by field.
func Compare(kafka, kohort []Record) (differences []Difference, fields int) {
	a, b := byGroup(kafka), byGroup(kohort)
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, group := range slices.Sorted(maps.Keys(names)) {
		for i := range max(len(a[group]), len(b[group])) {
			var x, y Record
			if i < len(a[group]) {
				x = a[group][i]
			}
			if i < len(b[group]) {
				y = b[group][i]
			}
			paths, left, right := merge(x.Fields, y.Fields)
			for _, path := range paths {
				fields++
				if left[path] != right[path] {
					differences = append(differences, Difference{group, i, path, left[path], right[path]})
				}
			}
			if x.Partition != y.Partition {
				differences = append(differences, Difference{group, i, "partition", fmt.Sprint(x.Partition), fmt.Sprint(y.Partition)})
			}
		}
	}
	return differences, fields
}

// merge lists the paths of two records, in order.
func merge(x, y []Field) (paths []string, left, right map[string]string) {
	left, right = map[string]string{}, map[string]string{}
	for _, f := range x {
		paths = append(paths, f.Path)
		left[f.Path] = f.Value
	}
	for _, f := range y {
		if _, ok := left[f.Path]; !ok {
			paths = append(paths, f.Path)
		}
		right[f.Path] = f.Value
	}
	return paths, left, right
}
