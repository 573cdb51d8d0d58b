package main

// overview is the help of the whole program. It fits a screen, and every command is in it, which a test checks.
const overview = `kohort is a small broker that speaks Kafka's protocol, and a tool for groups.

Start
  kohort dev                              a broker in memory on 127.0.0.1:9092
  kohort serve --data DIR                 a durable one
  kohort config [dev]                     its settings, and where each came from
See (any Kafka: --broker HOST:PORT or KOHORT_BROKER; -o json for programs)
  kohort groups list                      all groups: state, type
  kohort groups describe GROUP            committed offset, end, lag, owner
  kohort groups members GROUP             who is in it, and owns what
  kohort lag [GROUP] [--watch]            lag in records and seconds
  kohort topics list|describe|create|delete|config
  kohort produce TOPIC [VALUE]            values, or lines of standard input
  kohort consume TOPIC [--group GROUP]    print records, and commit them;
                                          --each COMMAND works on each
  kohort wait [--group GROUP --members 2 --lag 0]     for scripts
Change (a group without members)
  kohort groups reset-offsets GROUP --topic T --to-earliest    --execute does it
  kohort groups delete GROUP  |  delete-offsets GROUP TOPIC
Files (of kohort serve, running or not)
  kohort log dump FILE  |  log verify DIR  |  backup DIR TO  |  import-offsets
  kohort completion bash|zsh|fish  |  version  |  help COMMAND
`
