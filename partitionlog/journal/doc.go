// Package journal keeps frames of bytes durable and in order: one write and one fdatasync a frame.
//
// It never knows what is in a frame.
package journal
