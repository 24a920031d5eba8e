import { flag } from '../field.js'
import { operation } from '../operation.js'

export const snapshotsStats = operation({
  name: 'snapshots.stats',
  does: 'reads',
  where: 'either',
  summary: 'Count snapshots and show the space that they take',
  description:
    'One row per repository. [turns] in config.toml has snapshots = false to keep none, and max_disk (such as "2GB"): the daemon warns when half of it is used.',
  input: {},
  result: 'snapshots-stats',
  async run(_, { home }) {
    const { snapshots, programs } = await home()
    const [stores, settings] = await Promise.all([snapshots.stats(), programs.turns()])
    const bytes = stores.reduce((sum, one) => sum + one.bytes, 0)
    return { stores, bytes, max_bytes: settings.mostDiskBytes, is_on: settings.snapshots }
  },
})

export const snapshotsGc = operation({
  name: 'snapshots.gc',
  does: 'acts',
  where: 'either',
  isHeavy: true,
  summary: 'Remove expired snapshots and pack the rest',
  description:
    'All snapshots are kept for 14 days, then the last of each hour for 60 days. The newest of each session, those that a fork or a handoff began with and those of turns that are pinned or noted are kept. Without --yes only says what would be removed.',
  input: { yes: flag('Remove and pack') },
  result: 'snapshots-gc',
  async run({ yes }, { home, nowMs }) {
    const { snapshots } = await home()
    const gone = await (await home()).history.expiredSnapshots(nowMs)
    if (!yes) return { expired: gone.length, is_done: false, packed: [] }
    await snapshots.remove(gone)
    return { expired: gone.length, is_done: true, packed: await snapshots.collect({ onlyDue: false }) }
  },
})

export const snapshotsVerify = operation({
  name: 'snapshots.verify',
  does: 'reads',
  where: 'either',
  isHeavy: true,
  summary: 'Check that every snapshot can be restored',
  description: 'Changes nothing. Exits with 1 if a snapshot is damaged.',
  input: { full: flag('Also read and hash every object') },
  result: 'snapshots-check',
  async run({ full }, { home }) {
    const stores = await (await home()).snapshots.verify({ full })
    return { ok: stores.every(({ problems, broken }) => problems.length === 0 && broken.length === 0), stores }
  },
})
