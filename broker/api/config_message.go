package api

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kohort/kohort/partitionlog"
)

// topicWords are the words that topic configs of words may have, in the order in which Kafka names them.
// Source: LogConfig
var topicWords = map[string][]string{
	"cleanup.policy":         {"compact", "delete"},
	"compression.type":       {"uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"},
	"message.timestamp.type": {"CreateTime", "LogAppendTime"},
}

// numberTypes are the types of numbers, as Kafka calls them.
var numberTypes = map[partitionlog.ValueType]string{
	partitionlog.IntValue: "INT", partitionlog.LongValue: "LONG", partitionlog.DoubleValue: "DOUBLE",
}

// configMessage is the refusal of a topic config in Kafka's words. Deviation: of a number that is out of its bounds, both
// are named.
//
// Source: LogConfig.validateNames; ConfigDef.parseType, ValidString, ValidList
func configMessage(c *partitionlog.ConfigError) string {
	if c.Reason == "unknown topic config name" {
		return "Unknown topic config name: " + c.Name
	}
	value, reason := c.Value, c.Reason
	i := slices.IndexFunc(partitionlog.TopicProperties(), func(p partitionlog.TopicProperty) bool { return p.Name == c.Name })
	switch kind := partitionlog.TopicProperties()[i].Type; kind {
	case partitionlog.ListValue:
		return listMessage(c.Name, strings.TrimSpace(value))
	case partitionlog.StringValue:
		value, reason = strings.TrimSpace(value), "String must be one of: "+strings.Join(topicWords[c.Name], ", ")
	case partitionlog.BoolValue:
		reason = "Expected value to be either true or false"
	default:
		if !isNumber(strings.TrimSpace(value), kind) {
			reason = "Not a number of type " + numberTypes[kind]
		}
	}
	return "Invalid value " + value + " for configuration " + c.Name + ": " + reason
}

// listMessage names the first element of a list that is wrong.
func listMessage(name, list string) string {
	words := strings.Join(topicWords[name], ", ")
	if list == "" {
		return "Configuration '" + name + "' must not be empty. Valid values include: [" + words + "]"
	}
	wrong := list
	for element := range strings.SplitSeq(list, ",") {
		if element = strings.TrimSpace(element); !slices.Contains(topicWords[name], element) {
			wrong = element
			break
		}
	}
	if wrong == "" {
		return "Configuration '" + name + "' values must not be empty."
	}
	return "Invalid value " + wrong + " for configuration " + name + ": String must be one of: " + words
}

// isNumber tells whether a text is a number of a type, whatever its bounds.
func isNumber(text string, kind partitionlog.ValueType) bool {
	var err error
	switch kind {
	case partitionlog.DoubleValue:
		_, err = strconv.ParseFloat(text, 64)
	case partitionlog.IntValue:
		_, err = strconv.ParseInt(text, 10, 32)
	default:
		_, err = strconv.ParseInt(text, 10, 64)
	}
	return err == nil
}
