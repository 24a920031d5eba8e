// Removes all snapshots of a session but the last ones and packs its stores. The git that it is given may kill this process at any step.
import { Snapshots } from '../../dist/snapshots.js'

const [directory, git, session, kept] = process.argv.slice(2)
const snapshots = new Snapshots({
  directory,
  program: { executable: git, searchPath: process.env.PATH },
  now: Date.now,
})
const all = await snapshots.list(session)
await snapshots.remove(all.slice(0, -Number(kept)))
await snapshots.collect({ onlyDue: false })
