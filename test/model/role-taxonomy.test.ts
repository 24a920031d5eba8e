import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  GASTOWN,
  type NameKind,
  plainRole,
  type RoleIdentity,
  Roles,
  recipientOf,
  SkeinError,
} from '../../src/model/index.js'

const town = new Roles({
  roles: GASTOWN,
  preset: 'gastown',
  root: '/town',
  prefixes: { gastown: 'gt', beads: 'bd', knjn: 'hq', 'my-rig': 'gt-x' },
})
const KINDS: readonly NameKind[] = ['session_name', 'address', 'mail_address']

it.each([
  [{ role: 'mayor' }, 'hq-mayor', 'mayor', '/town/mayor'],
  [{ role: 'deacon' }, 'hq-deacon', 'deacon', '/town/deacon'],
  [{ role: 'boot' }, 'hq-boot', 'deacon/boot', '/town/deacon/dogs/boot'],
  [{ role: 'overseer' }, 'hq-overseer', 'overseer', '/town/deacon'],
  [{ role: 'dog', name: 'alpha' }, 'hq-dog-alpha', 'deacon/dogs/alpha', '/town/deacon/dogs/alpha'],
  [{ role: 'witness', group: 'gastown' }, 'gt-witness', 'gastown/witness', '/town/gastown/witness'],
  [{ role: 'refinery', group: 'gastown' }, 'gt-refinery', 'gastown/refinery', '/town/gastown/refinery/rig'],
  [{ role: 'crew', group: 'gastown', name: 'max' }, 'gt-crew-max', 'gastown/crew/max', '/town/gastown/crew/max'],
  [
    { role: 'polecat', group: 'gastown', name: 'Toast' },
    'gt-Toast',
    'gastown/polecats/Toast',
    '/town/gastown/polecats/Toast',
  ],
] as const)("Gas Town's %j has its names", (identity, session_name, address, cwd) => {
  expect(town.format(identity)).toEqual({ session_name, address, mail_address: address, cwd })
  expect(town.parse(session_name, 'session_name')).toEqual(identity)
  expect(town.parse(address, 'address')).toEqual(identity)
  expect(town.parse(address, 'mail_address')).toEqual(identity)
})

it('a working directory, and any directory below it, names its agent', () => {
  expect(town.ofDirectory('/town/gastown/crew/max/src/deep')).toEqual({ role: 'crew', group: 'gastown', name: 'max' })
  expect(town.ofDirectory('/town/mayor/')).toEqual({ role: 'mayor' })
  expect(town.ofDirectory('/town/deacon')).toEqual({ role: 'deacon' }) // where the overseer, a person, is as well
  expect(town.ofDirectory('/town/deacon/dogs/boot/x')).toEqual({ role: 'boot' })
  expect(town.ofDirectory('/town/deacon/dogs/rex')).toEqual({ role: 'dog', name: 'rex' })
  expect(town.ofDirectory('/town/gastown/refinery/rig')).toEqual({ role: 'refinery', group: 'gastown' })
  for (const cwd of [
    '/town',
    '/town/gastown',
    '/town/gastown/crew',
    '/town/gastown/crew/',
    '/townx/mayor',
    '/mayor',
    '/town/gastown/refinery',
  ]) {
    expect(town.ofDirectory(cwd), cwd).toBeUndefined()
  }
})

const name = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/),
  fc.constantFrom(
    'witness',
    'Witness',
    'refinery',
    'crew',
    'crew-x',
    'crew-',
    'CREW-x',
    'mayor',
    'dog-x',
    'dog',
    'boot',
    'x',
    'x-witness',
    'overseer',
    'polecats',
  ),
)
const identities: fc.Arbitrary<RoleIdentity> = fc.oneof(
  fc.constantFrom('mayor', 'deacon', 'boot', 'overseer').map((role) => ({ role })),
  name.map((one) => ({ role: 'dog', name: one })),
  fc.record({
    role: fc.constantFrom('witness', 'refinery'),
    group: fc.constantFrom('gastown', 'beads', 'knjn', 'my-rig'),
  }),
  fc.record({
    role: fc.constantFrom('crew', 'polecat'),
    group: fc.constantFrom('gastown', 'beads', 'knjn', 'my-rig'),
    name,
  }),
)

it('every name that is given out is read back as the same agent, and no two agents share one', () => {
  const owners = new Map<string, string>()
  let refused = 0
  fc.assert(
    fc.property(identities, (identity) => {
      let names: ReturnType<Roles['format']>
      try {
        names = town.format(identity)
      } catch (error) {
        expect(error).toBeInstanceOf(SkeinError)
        refused += 1
        return
      }
      for (const kind of KINDS) {
        expect(town.parse(names[kind], kind), `${kind} ${names[kind]}`).toEqual(identity)
        const key = `${kind} ${names[kind]}`
        expect(owners.get(key) ?? recipientOf(identity)).toBe(recipientOf(identity))
        owners.set(key, recipientOf(identity))
      }
      if (identity.role !== 'overseer') expect(town.ofDirectory(names.cwd ?? '')).toEqual(identity)
    }),
    { numRuns: 3_000 },
  )
  expect(refused).toBeGreaterThan(0)
})

it.each([
  [{ role: 'polecat', group: 'gastown', name: 'crew-x' }, /reads as crew x/],
  [{ role: 'polecat', group: 'gastown', name: 'crew-' }, /cannot be recognised again/],
  [{ role: 'polecat', group: 'gastown', name: 'witness' }, /reads as witness/],
  [{ role: 'polecat', group: 'gastown', name: 'Witness' }, /reads as witness/],
  [{ role: 'polecat', group: 'gastown', name: 'REFINERY' }, /reads as refinery/],
  [{ role: 'polecat', group: 'knjn', name: 'mayor' }, /reads as mayor/],
  [{ role: 'polecat', group: 'knjn', name: 'Deacon' }, /reads as deacon/],
  [{ role: 'polecat', group: 'knjn', name: 'dog-x' }, /reads as dog x/],
  [{ role: 'polecat', group: 'gastown', name: 'x-Toast' }, /reads as polecat Toast \(rig: my-rig\)/],
  [{ role: 'dog', name: 'boot' }, /belongs to boot/],
  [{ role: 'polecat', group: 'unknown', name: 'Toast' }, /unknown has no prefix/],
  [{ role: 'polecat', group: 'gastown', name: '' }, /"" cannot be the name/],
  [{ role: 'polecat', group: '', name: 'x' }, /"" cannot be the group/],
  [{ role: 'polecat', group: 'gastown', name: 'a/b' }, /cannot be the name/],
  [{ role: 'polecat', group: 'gastown', name: 'a.b' }, /cannot be the name/],
  [{ role: 'polecat', group: 'gastown', name: 'тоast' }, /cannot be the name/],
  [{ role: 'polecat', group: 'gastown', name: 'a\nb' }, /cannot be the name/],
  [{ role: 'polecat', group: 'gastown', name: 'x'.repeat(500) }, /cannot be the name/],
  [{ role: 'polecat', group: 'gastown' }, /needs a name/],
  [{ role: 'crew', name: 'max' }, /needs a group/],
  [{ role: 'mayor', name: 'two' }, /no name of its own/],
  [{ role: 'mayor', group: 'gastown' }, /no group of its own/],
  [{ role: 'polcat', group: 'gastown', name: 'x' }, /no role named "polcat"/],
] as const)('%j is refused', (identity, message) => {
  expect(() => town.format(identity)).toThrow(message)
})

it.each([
  ['gt-crew-', 'session_name'],
  ['gt-', 'session_name'],
  ['gt', 'session_name'],
  ['', 'session_name'],
  ['hq-dog-', 'session_name'],
  ['gs-1923', 'session_name'],
  ['dotfiles-main', 'session_name'],
  ['GT-witness', 'session_name'],
  ['hq-mаyor', 'session_name'], // a Cyrillic а
  [' gt-Toast', 'session_name'],
  ['gt-Toast\n', 'session_name'],
  ['Mayor', 'address'],
  ['ｍayor', 'address'],
  ['gastown', 'address'],
  ['gastown/crew', 'address'],
  ['gastown/crew/', 'address'],
  ['gastown/crew/a/b', 'address'],
  ['gastown/polecat/Toast', 'address'],
  ['deacon/dogs', 'address'],
  ['../town/mayor', 'address'],
] as const)('%j is no name of Gas Town (%s)', (text, kind) => {
  expect(town.parse(text, kind)).toBeUndefined()
})

it('a rig may have the prefix of the town, whose own agents keep their names', () => {
  expect(town.parse('hq-witness', 'session_name')).toEqual({ role: 'witness', group: 'knjn' })
  expect(town.parse('hq-Toast', 'session_name')).toEqual({ role: 'polecat', group: 'knjn', name: 'Toast' })
  expect(town.parse('hq-mayor', 'session_name')).toEqual({ role: 'mayor' })
})

it('of two prefixes the longer one is meant', () => {
  expect(town.parse('gt-x-Toast', 'session_name')).toEqual({ role: 'polecat', group: 'my-rig', name: 'Toast' })
})

it('without a root, a role of the preset has no directory', () => {
  const rootless = new Roles({ roles: GASTOWN, preset: 'gastown', prefixes: { gastown: 'gt' } })
  expect(rootless.format({ role: 'mayor' })).toEqual({
    session_name: 'hq-mayor',
    address: 'mayor',
    mail_address: 'mayor',
  })
  expect(rootless.ofDirectory('/town/mayor')).toBeUndefined()
})

it('roles of ones own: templates of placeholders alone name agents as ever and claim no name', () => {
  const own = new Roles({
    roles: [
      plainRole('helper'),
      { ...plainRole('reviewer'), address: '{group}/reviews/{name}', session_name: 'rev-{name}' },
    ],
  })
  expect(own.format({ role: 'helper', group: 'web/api', name: 'müller' })).toMatchObject({ address: 'web/api/müller' })
  expect(own.format({ role: 'helper', name: 'x' })).toMatchObject({ address: 'x', mail_address: 'x' })
  expect(own.parse('web/api/x')).toBeUndefined()
  expect(own.parse('web/api/reviews/x')).toEqual({ role: 'reviewer', group: 'web/api', name: 'x' })
  expect(() => own.format({ role: 'helper', group: 'web/reviews', name: 'x' })).toThrow(/reads as reviewer x/)
})

it.each([
  [{ role: 'crew', group: 'gastown', name: 'max' }, 'crew max (rig: gastown)'],
  [{ role: 'dog', name: 'rex' }, 'dog rex'],
  [{ role: 'witness', group: 'gastown' }, 'witness (rig: gastown)'],
  [{ role: 'mayor' }, 'mayor'],
  [{ role: 'crew', group: 'web/api', name: 'x' }, 'crew x (rig: web › api)'],
])('the recipient %j never looks like a path', (identity, text) => {
  expect(recipientOf(identity)).toBe(text)
  expect(text).not.toMatch(/\//)
})
