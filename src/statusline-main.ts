import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { daemonFiles, readSegment } from './daemon/index.js'
import { homeLocation } from './surroundings.js'

// `skein statusline` without options, by itself: a prompt runs it on every line, and most of what any command does at its start it does not need.
const { root } = homeLocation()
const profile = process.env.SKEIN_PROFILE || 'default'
const segment = readSegment(daemonFiles(root, profile), join(root, 'profiles', profile))
try {
  if (segment !== '') writeSync(1, `${segment}\n`)
} catch {
  // Nobody reads it any more.
}
