import { expect, it } from 'vitest'
import { redact } from '../../src/privacy/index.js'
import { LOOK_ALIKES } from './held-out/look-alikes.js'
import { LOOK_ALIKES_OF_2026 } from './held-out/look-alikes-of-2026.js'
import { HELD_OUT_SECRETS, type HeldOut } from './held-out/secrets.js'
import { SECRETS_OF_2026 } from './held-out/secrets-of-2026.js'

/** A secret counts as missed when any eight of its characters in a row can still be read, the names of rules left aside. */
function isMissed(secret: string, redacted: string): boolean {
  const text = redacted.replace(/\[REDACTED:[a-z-]+\]/g, '[]')
  const piece = Math.min(8, secret.length)
  for (let at = 0; at + piece <= secret.length; at += 1) if (text.includes(secret.slice(at, at + piece))) return true
  return false
}

function recallOn(name: string, list: readonly HeldOut[]): number {
  const missed = list.filter(({ secret, text }) => isMissed(secret, redact(text).text))
  const recall = 1 - missed.length / list.length
  if (process.env.SKEIN_SHOW_FIGURES) {
    console.log(`${name}: ${list.length - missed.length} of ${list.length} (${(recall * 100).toFixed(1)} %)`)
    for (const { kind, text } of missed) console.log('missed', kind, JSON.stringify(text.slice(0, 120)))
  }
  return recall
}

it('finds at least as much of the held-out lists as docs/PRIVACY.md says', () => {
  expect(recallOn('held-out', HELD_OUT_SECRETS)).toBeGreaterThanOrEqual(0.98)
  expect(recallOn('of 2026', SECRETS_OF_2026)).toBeGreaterThanOrEqual(0.95)
})

it.each([
  ['the first list', LOOK_ALIKES],
  ['the list of 2026', LOOK_ALIKES_OF_2026],
])('leaves the look-alikes alone: %s', (name, list) => {
  const changed = list.filter(({ text }) => redact(text).text !== text)
  if (process.env.SKEIN_SHOW_FIGURES) {
    console.log(`look-alikes changed in ${name}: ${changed.length} of ${list.length}`)
    for (const { kind, text } of changed) console.log('changed', kind, JSON.stringify(redact(text).text.slice(0, 160)))
  }
  expect(changed).toEqual([])
})
