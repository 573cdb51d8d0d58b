module github.com/kohort/kohort/integration/clients/kgo/lines

go 1.26.0
