import { DEFAULT_START, plainRole, type Role, type RoleStart } from './role.js'

export const PRESETS = ['gastown'] as const
export type Preset = (typeof PRESETS)[number]

const START: RoleStart = { ...DEFAULT_START, accept_startup_dialogs: true }

const town = (name: string, address: string, cwd: string, more: Partial<Role>): Role => ({
  ...plainRole(name),
  session_name: `hq-${name}`,
  address,
  mail_address: address,
  cwd: `{root}/${cwd}`,
  beacon: true,
  start: START,
  ...more,
})

const rig = (name: string, suffix: string, place: string, cwd: string, more: Partial<Role>): Role => ({
  ...plainRole(name),
  session_name: `{prefix}-${suffix}`,
  address: `{group}/${place}`,
  mail_address: `{group}/${place}`,
  cwd: `{root}/{group}/${cwd}`,
  beacon: true,
  start: START,
  ...more,
})

/**
 * Gas Town's roles, in its own words: a group is a rig, and its prefix is that of the rig's beads. The order of shutdown is that of
 * `gt down`; boot is stopped before the deacon, which it would start again. The overseer is the person who runs the town.
 */
export const GASTOWN: readonly Role[] = [
  town('mayor', 'mayor', 'mayor', { respawn: 'always', shutdown_order: 50 }),
  town('deacon', 'deacon', 'deacon', { respawn: 'always', shutdown_order: 70 }),
  town('boot', 'deacon/boot', 'deacon/dogs/boot', { shutdown_order: 60 }),
  town('overseer', 'overseer', 'deacon', { shutdown_order: 80, beacon: false }),
  town('dog', 'deacon/dogs/{name}', 'deacon/dogs/{name}', { session_name: 'hq-dog-{name}', shutdown_order: 15 }),
  rig('witness', 'witness', 'witness', 'witness', { respawn: 'always', shutdown_order: 40 }),
  rig('refinery', 'refinery', 'refinery', 'refinery/rig', { respawn: 'always', shutdown_order: 30 }),
  rig('crew', 'crew-{name}', 'crew/{name}', 'crew/{name}', {
    respawn: 'on-crash',
    shutdown_order: 20,
  }),
  rig('polecat', '{name}', 'polecats/{name}', 'polecats/{name}', { shutdown_order: 10, handoff: 'done' }),
]
