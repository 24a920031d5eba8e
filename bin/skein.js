#!/bin/sh
':' //; exec node --unhandled-rejections=throw -- "$0" "$@"
// A shell reads the two lines above, Node all of it. Node takes some options out of a program's own arguments, as far as the first `--`:
// from `--env-file f` it would read variables, NODE_OPTIONS among them, that are meant for an agent.
const [, program, ...args] = process.argv
/** What Node does anyway, so it only tells who started us. */
const AS_USUAL = '--unhandled-rejections=throw'
const isShielded = process.execArgv.includes(AS_USUAL)
if (isShielded || !args.some((arg) => /^--(env-file|experimental-(default-)?config-file)/.test(arg))) start()
else startShielded()

function start() {
  const [command, ...rest] = args
  // Every prompt of a shell runs the one, and agents wait for the other, so they start on their own.
  if (command === 'statusline' && rest.length === 0) require('../dist/statusline/statusline-main.cjs')
  else if (isHook(command, rest)) startWithCode('hook', '../dist/hook/hook-main.cjs')
  // So little is loaded for them that opening the pack of code takes longer.
  else if (/^--(version|help)$/.test(command) && rest.length === 0) require('../dist/cli/main.cjs')
  else startWithCode('cli', '../dist/cli/main.cjs')
}

function startWithCode(bundle, main) {
  const { loadWithCode } = require('./code-cache.js')
  loadWithCode(require('node:path').join(__dirname, '..', 'dist', bundle))
  require(main)
}

/** Run by a program, and not by a person who wants help or a document. */
function isHook(command, words) {
  if (command === 'prime') return words.length === 1 && words[0] === '--hook' // with more it is asked for more
  return command === 'hook' && words.length > 0 && !words.some((word) => /^(-h|--help|--json)$/.test(word))
}

/** For `node bin/skein.js`: once more, with the environment as it was before Node read the file. */
function startShielded() {
  const { status, signal } = require('node:child_process').spawnSync(
    process.execPath,
    [AS_USUAL, '--', program, ...args],
    { stdio: 'inherit', env: environmentBefore() ?? process.env },
  )
  process.exitCode = status ?? (signal ? 128 : 1)
}

/** What the system gave this process, where it can be asked. */
function environmentBefore() {
  try {
    const given = require('node:fs').readFileSync('/proc/self/environ', 'utf8').split('\0')
    return Object.fromEntries(given.flatMap((line) => (line.includes('=') ? [splitAt(line, line.indexOf('='))] : [])))
  } catch {
    return undefined
  }
}

function splitAt(line, at) {
  return [line.slice(0, at), line.slice(at + 1)]
}
