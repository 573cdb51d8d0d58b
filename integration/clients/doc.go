// Package clients runs every client that people use, as it comes, against a kohort in a process of its own. See README.md
// beside it; its tests need the build tag clients, and `make clients` runs them.
package clients
