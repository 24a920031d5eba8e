// Takes snapshots of a worktree until it is killed, or as many as it is told. Arguments: stores, home, directory, session, count.
import { setTimeout as sleep } from 'node:timers/promises'
import { Snapshots } from '../../dist/snapshots.js'

const [stores, home, directory, session, count] = process.argv.slice(2)
const snapshots = new Snapshots({
  directory: stores,
  program: { executable: 'git', searchPath: process.env.PATH ?? '' },
  now: () => Date.now(),
  home,
})
for (let n = 0; n < Number(count); n += 1) {
  const { seq, mode } = await snapshots.capture({ directory, session, moment: 'stop' })
  process.stdout.write(`${seq} ${mode}\n`)
  await sleep(5)
}
