// Package protocol turns bytes into kmsg requests and kmsg responses into bytes, with bounds before allocation.
//
// It may not know that sockets, goroutines, groups, files or logging exist: it reads from an io.Reader, appends to a
// byte slice, and keeps no state but the bytes that it has read ahead.
//
// A frame on the wire, in both directions:
//
//	+--------+--------+--------+--------+
//	|       length (int32)              |   bytes that follow; bounded before anything is allocated
//	+-----------------+-----------------+
//	| api key (int16) | version (int16) |   requests only
//	+-----------------+-----------------+
//	|     correlation id (int32)        |
//	+-----------------------------------+
//	| client id (nullable string, int16 length, never compact)   requests with header v1 and v2
//	+-----------------------------------+
//	| tag buffer                        |   flexible versions only: request header v2, response header v1
//	+-----------------------------------+
//	| body                              |
//	+-----------------------------------+
//
// One exception: the response header of ApiVersions is always v0, so that a client that does not know what the broker
// speaks can read it (KIP-511). A request of an ApiVersions version that we do not know has a body that we cannot read;
// it is not read.
//
// The caller's duties, in order:
//
//  1. FrameReader.Next: one frame, valid until the next call of Next.
//  2. ParseHeader, then look the key and version up in the table of APIs: an unknown one is never decoded.
//  3. Header.DecodeBody. The request's byte fields alias the frame; its strings do not.
//  4. AppendResponse, once for each request, in the order of the requests.
//
// Source: RequestHeader.json, ResponseHeader.json, SocketServer.scala, KIP-482, KIP-511.
package protocol
