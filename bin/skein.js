#!/usr/bin/env node
const [, , command, ...rest] = process.argv
// Every prompt of a shell runs this one, so it starts on its own.
require(
  command === 'statusline' && rest.length === 0 ? '../dist/statusline/statusline-main.cjs' : '../dist/cli/main.cjs',
)
