// Package api answers requests: one file for each api, named by its key, and one table of them all.
//
// It may not know sockets, frames or buffers, nor the inside of a group or of a log. A handler takes a decoded request
// of a version that the table serves, looks at the catalogue, asks a shard or the store, and returns the response of the
// same version. It may block; nothing else of its connection happens meanwhile, as in Kafka, which mutes the channel
// until the answer is written.
//
// The caller's duties: look the row up with Find before decoding; run a handler in the goroutine of the connection; keep
// the request's frame until the handler has returned; close the connection when it returns an error.
package api
