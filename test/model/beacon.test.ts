import fc from 'fast-check'
import { expect, it } from 'vitest'
import { beacon, beaconText, type Instant, readBeacon, TOPICS } from '../../src/model/index.js'

const at = '2025-12-30T15:42:31.000Z' as Instant
const facts = { recipient: 'crew max (rig: gastown)', sender: 'self', at, zone: 'UTC' }

it("Gas Town's beacon is written exactly", () => {
  expect(beacon({ ...facts, topic: 'handoff', preset: 'gastown' }).line).toBe(
    '[GAS TOWN] crew max (rig: gastown) <- self • 2025-12-30T15:42 • handoff',
  )
  expect(beacon({ ...facts, sender: 'deacon', topic: 'assigned', molecule: 'gt-abc12', preset: 'gastown' }).line).toBe(
    '[GAS TOWN] crew max (rig: gastown) <- deacon • 2025-12-30T15:42 • assigned:gt-abc12',
  )
  expect(beacon({ ...facts, preset: 'gastown' }).line).toMatch(/ • ready$/)
  expect(beacon({ ...facts, molecule: 'gt-abc12', preset: 'gastown' }).line).toMatch(/ • gt-abc12$/)
})

it('without the preset it is Skein that speaks', () => {
  expect(beacon({ ...facts, topic: 'cold-start' }).line).toMatch(/^\[SKEIN\] crew max/)
})

it('the time is local, to the minute', () => {
  expect(beacon({ ...facts, zone: 'America/New_York' }).line).toContain(' • 2025-12-30T10:42 • ')
  expect(beacon({ ...facts, at: '2025-12-31T23:00:00.000Z' as Instant, zone: 'Asia/Tokyo' }).line).toContain(
    '2026-01-01T08:00',
  )
  expect(beacon({ ...facts, at: '2025-12-31T00:05:00.000Z' as Instant }).line).toContain('2025-12-31T00:05')
})

it('each topic has its instructions', () => {
  const list = (topic: string) => beacon({ ...facts, topic }).instructions
  for (const topic of ['handoff', 'cold-start', 'attach']) {
    expect(list(topic).split('\n')).toEqual([
      'Check your hook and mail, then act on the hook if present:',
      '1. `skein prime` - shows hooked work (if any)',
      '2. `skein mail inbox` - check for messages',
      '3. If work is hooked → execute it immediately',
      '4. If nothing hooked → wait for instructions',
    ])
  }
  expect(list('assigned')).toContain('begin work on your hook')
  expect(list('patrol')).toContain('begin patrol')
  expect(list('ready')).toBe('')
  expect(beacon({ ...facts, topic: 'handoff', isPrimed: false }).instructions).toBe(
    'Run `skein prime` to initialize your context.',
  )
})

it('whatever people write, a beacon is one line that is read back', () => {
  const free = fc.oneof(
    fc.string(),
    fc.constantFrom('a <- b', 'x • y', 'two\nlines', '[GAS TOWN] x', '\u001b[2J', '‮abc', ''),
  )
  fc.assert(
    fc.property(
      free,
      free,
      fc.constantFrom(...TOPICS),
      fc.option(fc.stringMatching(/^[a-z]{2}-[a-z0-9]{1,8}$/), { nil: undefined }),
      fc.constantFrom('gastown' as const, undefined),
      (recipient, sender, topic, molecule, preset) => {
        const made = beacon({ recipient, sender, at, zone: 'UTC', topic, ...(molecule ? { molecule } : {}), preset })
        expect(made.line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
        const read = readBeacon(beaconText(made))
        expect(read).toMatchObject({ at: '2025-12-30T15:42', topic, ...(molecule ? { molecule } : {}) })
        expect(read?.preset).toBe(preset)
        expect(
          beacon({
            recipient: read?.recipient ?? '',
            sender: read?.sender ?? '',
            at,
            zone: 'UTC',
            topic,
            ...(molecule ? { molecule } : {}),
            preset,
          }),
        ).toEqual(made)
      },
    ),
    { numRuns: 500 },
  )
})

it.each([
  '',
  'hello',
  '[GAS TOWN] x <- y',
  '[GAS TOWN] x <- y • 2025-12-30 • z',
  '[OTHER] x <- y • 2025-12-30T15:42 • z',
  '> [SKEIN] x <- y • 2025-12-30T15:42 • z',
])('%j is no beacon', (text) => {
  expect(readBeacon(text)).toBeUndefined()
})
