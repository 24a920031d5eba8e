import { unwatchFile, watchFile } from 'node:fs'
import { accessTo, newestLines } from '../../../daemon/index.js'
import { count, defaulted, flag } from '../../../operations/index.js'
import { command } from '../../command.js'
import { safeText } from '../../screen/safe-text.js'

const LOOK_MS = 500

export const logs = command({
  name: 'daemon logs',
  summary: "Show the daemon's log",
  description: 'With --json, one document per line.',
  examples: [
    ['skein daemon logs', 'The newest lines'],
    ['skein daemon logs -n 5 --json', 'The newest five, for scripts'],
  ],
  args: {},
  options: {
    lines: defaulted(count, 50, 'How many of the newest', { short: 'n' }),
    follow: flag('Wait for more, until interrupted', { short: 'f' }),
  },
  async run({ lines, follow }, { daemon, profile, out, interrupted }) {
    const { log } = accessTo(daemon, profile).place
    const print = (line: string): void => {
      const space = line.indexOf(' ')
      out.item({ at: line.slice(0, space), line: line.slice(space + 1) }, () => safeText(line))
    }
    let shown = newestLines(log, lines)
    for (const line of shown) print(line)
    if (!follow) return
    const signal = interrupted()
    await new Promise<void>((resolve) => {
      const look = (): void => {
        const all = newestLines(log, 10_000)
        const last = shown.at(-1)
        const from = last === undefined ? 0 : all.lastIndexOf(last) + 1
        const news = all.slice(from)
        for (const line of news) print(line)
        if (news.length > 0) shown = news
      }
      watchFile(log, { interval: LOOK_MS }, look)
      signal.addEventListener('abort', () => {
        unwatchFile(log)
        resolve()
      })
    })
  },
})
