package settings

// table returns every honoured property, with pointers into s. It is the only list of them.
//
// Order: as the README and `kohort config` show them.
func table(s *Settings) []row {
	var rows []row
	rows = append(rows, networkRows(s)...)
	rows = append(rows, groupRows(s)...)
	rows = append(rows, offsetsRows(s)...)
	rows = append(rows, topicRows(s)...)
	rows = append(rows, logRows()...)
	rows = append(rows, describedRows()...)
	return rows
}
