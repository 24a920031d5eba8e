import { expect, it } from 'vitest'
import { redact } from '../../src/privacy/index.js'
import { LOOK_ALIKES } from './held-out/look-alikes.js'
import { HELD_OUT_SECRETS } from './held-out/secrets.js'

/** A secret counts as missed when any eight of its characters in a row can still be read, the names of rules left aside. */
function isMissed(secret: string, redacted: string): boolean {
  const text = redacted.replace(/\[REDACTED:[a-z-]+\]/g, '[]')
  const piece = Math.min(8, secret.length)
  for (let at = 0; at + piece <= secret.length; at += 1) if (text.includes(secret.slice(at, at + piece))) return true
  return false
}

it('finds at least as much of the held-out list as docs/PRIVACY.md says', () => {
  const missed = HELD_OUT_SECRETS.filter(({ secret, text }) => isMissed(secret, redact(text).text))
  const recall = 1 - missed.length / HELD_OUT_SECRETS.length
  if (process.env.SKEIN_SHOW_FIGURES) {
    console.log(
      `held-out: ${HELD_OUT_SECRETS.length - missed.length} of ${HELD_OUT_SECRETS.length} (${(recall * 100).toFixed(1)} %)`,
    )
    for (const { kind, text } of missed) console.log('missed', kind, JSON.stringify(text.slice(0, 120)))
  }
  expect(recall).toBeGreaterThanOrEqual(0.98)
})

it('leaves the look-alikes alone', () => {
  const changed = LOOK_ALIKES.filter(({ text }) => redact(text).text !== text)
  if (process.env.SKEIN_SHOW_FIGURES) {
    console.log(`look-alikes changed: ${changed.length} of ${LOOK_ALIKES.length}`)
    for (const { kind, text } of changed) console.log('changed', kind, JSON.stringify(redact(text).text.slice(0, 160)))
  }
  expect(changed).toEqual([])
})
