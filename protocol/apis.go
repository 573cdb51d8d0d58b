package protocol

import "github.com/twmb/franz-go/pkg/kmsg"

// API is one row of what a broker serves: an api key and the versions that a client is told of.
type API struct {
	Key      int16
	Min, Max int16
}

// ApiVersionsBody fills the list of an ApiVersions answer.
func ApiVersionsBody(resp *kmsg.ApiVersionsResponse, apis []API) {
	resp.ApiKeys = make([]kmsg.ApiVersionsResponseApiKey, 0, len(apis))
	for _, a := range apis {
		row := kmsg.NewApiVersionsResponseApiKey()
		row.ApiKey, row.MinVersion, row.MaxVersion = a.Key, a.Min, a.Max
		resp.ApiKeys = append(resp.ApiKeys, row)
	}
}
