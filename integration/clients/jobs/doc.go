// Package jobs is what every consumer client must be able to do: the same jobs for each, written once. A job starts the
// client's worker (../README.md) as processes, stops, continues and kills them, and checks the outcome at the broker as
// well as in what the workers say.
//
// It may not know any client: what one lacks or does its own way stands in its client.json.
package jobs
