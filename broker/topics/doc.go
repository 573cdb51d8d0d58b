// Package topics looks at the catalogue for handlers, and decides when a Fetch that waits is answered.
//
// It may not know requests' versions, sockets, groups or files: it knows topics, partitions and how to wait for them.
//
// The caller's duties: keep a *partitionlog.Topic no longer than a request; end every Wait with a context.
package topics
