// Does what the daemon does about old data, again and again, until it is killed. Says when a run begins and when it is done.
// argv: home
import { writeSync } from 'node:fs'
import { openHome } from '../../dist/library.js'

const skein = await openHome({ home: process.argv[2], actor: 'daemon', onWarning: () => {} })
for (;;) {
  writeSync(1, 'begun\n')
  await skein.events.prune()
  await skein.archive.prune()
  writeSync(1, 'done\n')
}
