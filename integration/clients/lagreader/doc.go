// Package lagreader answers the lag of groups as Burrow and kminion (offsetsTopic mode) do: it joins no group and asks
// no coordinator, but follows __consumer_offsets as a plain consumer and decodes what it finds.
//
// It reads what those tools read: offset keys of version 0 and 1 with values of version 0 to 3, group keys of version 2
// with values of version 0 to 3. Like Burrow it ignores tombstones, so what was deleted stays.
//
// It may not know the inside of the broker: neither its encoder nor any other of its rooms.
package lagreader
