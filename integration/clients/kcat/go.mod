module github.com/kohort/kohort/integration/clients/kcat

go 1.26.0

require github.com/kohort/kohort/integration/clients/kgo/lines v0.0.0

replace github.com/kohort/kohort/integration/clients/kgo/lines => ../kgo/lines
