#!/usr/bin/env node
// Draws what Codex draws at its start, in its order: a first picture with an input line, its questions, the picture again after each, and then
// its title and its prompt. FAKE_CODEX: `questions` (so many it asks), `pictureMs` (so long a picture stands). Where text and keys have landed
// is in FAKE_LOG.
import { spawnSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'

const { questions = 1, pictureMs = 0, isBare = false } = JSON.parse(process.env.FAKE_CODEX ?? '{}')
const log = (record) => appendFileSync(process.env.FAKE_LOG, `${JSON.stringify(record)}\n`)
const out = (lines) => process.stdout.write(`\x1b[2J\x1b[H${lines.join('\r\n')}`)
const hookOf = (event) => {
  const setting = process.argv.find((one) => one.startsWith(`hooks.${event}=`)) ?? ''
  return JSON.parse(/command=("(?:[^"\\]|\\.)*")/.exec(setting)?.[1] ?? '""')
}
const tell = (hook_event_name, more) =>
  spawnSync('sh', ['-c', hookOf(hook_event_name)], {
    input: JSON.stringify({ hook_event_name, session_id: process.argv[3], ...more }),
  })

let state = 'picture'
let asked = 0
let draft = ''

function draw() {
  if (state === 'question')
    return out([
      '',
      '  Trust this folder? Codex can read, edit, and run files here.',
      '',
      '› 1. Trust and continue',
      '  2. Quit',
      '',
      '  enter continue · esc quit',
    ])
  const below = state === 'prompt' && !isBare ? `  GPT-5.5 default · ${process.cwd()}` : '  ? for shortcuts'
  return out([
    '',
    '  >_ OpenAI Codex (v0.166.0)',
    `     ${process.cwd()}`,
    '',
    `› ${draft || 'Ask Codex to do anything'}`,
    '',
    below,
  ])
}

function picture() {
  state = 'picture'
  draft = ''
  draw()
  setTimeout(() => {
    state = asked < questions ? 'question' : 'prompt'
    draft = ''
    log({ state })
    if (state === 'prompt' && !isBare) process.stdout.write('\x1b]0;Ready | project\x07')
    draw()
  }, pictureMs)
}

process.stdin.setRawMode(true)
process.stdout.write('\x1b[?2004h')
process.stdin.on('data', (data) => {
  const text = data.toString().replaceAll(/\x1b\[20[01]~/g, '')
  log({ in: state, text })
  if (state === 'question') {
    if (!text.includes('\r')) return
    asked += 1
    picture()
    return
  }
  if (text !== '\r') draft += text
  else if (state === 'prompt') {
    tell('UserPromptSubmit', { prompt: draft })
    log({ prompt: draft })
    draft = ''
    tell('Stop', { last_assistant_message: 'Yes.' })
  }
  draw()
})
picture()
