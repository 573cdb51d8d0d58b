package settings

// Type is the type of a config value, with the number that DescribeConfigs v3+ answers.
// Source: ConfigDef.Type, DescribeConfigsResponse.ConfigType
type Type int8

// The types that the table uses.
const (
	Boolean Type = 1
	String  Type = 2
	Int     Type = 3
	Short   Type = 4
	Long    Type = 5
	Double  Type = 6
	List    Type = 7
)

// String returns the type's name in Kafka's documentation.
func (t Type) String() string {
	switch t {
	case Boolean:
		return "boolean"
	case String:
		return "string"
	case Int:
		return "int"
	case Short:
		return "short"
	case Long:
		return "long"
	case Double:
		return "double"
	case List:
		return "list"
	}
	return "unknown"
}

// row describes one property.
type row struct {
	name    string
	aliases []string // older names of the same property
	typ     Type
	def     string // default, as text
	null    bool   // the default is null and def is unused
	dev     string // default of the Dev profile; "" as def
	unit    string // "ms", "minutes", "hours", "bytes"; "" for none
	check   check
	field   any    // pointer into Settings; nil when no field follows the value
	topic   string // topic config that it is a default of
	fixed   bool   // described for tools and accepted from files; the broker acts the same whatever it is
	doc     string // one sentence
	source  string // Kafka class or KIP
}

// names returns the property's name and its aliases.
func (r *row) names() []string {
	return append([]string{r.name}, r.aliases...)
}
