// Package settings is the one table of the Kafka properties that the broker honours.
//
// Everything that a person or a client can see of a setting comes from a row of that table: loading from flags, the
// environment and a properties file, `kohort config`, DescribeConfigs, the help text and the section of the README.
// A property that is not in the table does nothing, and Load says so.
//
// # What it may not know
//
// The settings know no socket, no group and no request: they turn text into typed, checked values and nothing else.
//
// # Where a value comes from
//
//	first that has the name wins
//	  1. --set name=value            Sets
//	  2. KAFKA_NAME=value            Environment
//	  3. -f server.properties        File
//	  4. what the profile changes    Dev
//	  5. Kafka's default             the table
//
// # The caller's duties
//
//  1. Hand the sources to Load with the highest precedence first.
//  2. Show every Warning to the person who started the broker; none of them stops it.
//  3. Treat *Settings as immutable: handlers on many goroutines read it without a lock.
package settings
