package api

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The comments between which the README holds the table.
const (
	MarkdownBegin = "<!-- apis:begin -->"
	MarkdownEnd   = "<!-- apis:end -->"
)

// Markdown returns the table of apis for the README.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| key | api | versions | remark |\n|---|---|---|---|\n")
	for _, r := range Table() {
		remark := ""
		if r.Advertised < r.Min {
			remark = fmt.Sprintf("advertised from %d, as Kafka 4 does, or librdkafka would not compress", r.Advertised)
		}
		if newest := kmsg.RequestForKey(r.Key).MaxVersion(); r.Max < newest {
			remark = strings.TrimPrefix(remark+fmt.Sprintf("; up to %d belongs to transactions", newest), "; ")
		}
		fmt.Fprintf(&b, "| %d | %s | %d-%d | %s |\n", r.Key, r.Name, r.Min, r.Max, remark)
	}
	return b.String()
}
