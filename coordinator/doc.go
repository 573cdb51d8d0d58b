// Package coordinator decides, for every event, what a Kafka group coordinator would do.
package coordinator
