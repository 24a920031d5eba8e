import { describe, expect, it } from 'vitest'
import { ProgressBar } from '../../src/cli/screen/progress.js'

function watch(isTTY: boolean) {
  let now = 0
  let written = ''
  const stderr = { isTTY, columns: 60, write: (text: string) => (written += text) }
  const bar = new ProgressBar(stderr, () => now)
  return {
    report: (atMs: number, done: number) => {
      now = atMs
      bar.show({ what: 'Rebuilding the index', done, total: 100 })
    },
    wipe: () => bar.wipe(),
    written: () => written,
  }
}

describe('long work', () => {
  it('says nothing when it takes less than a second', () => {
    const screen = watch(true)
    screen.report(0, 0)
    screen.report(900, 90)
    screen.report(990, 100)
    expect(screen.written()).toBe('')
  })

  it('draws a bar on a terminal after a second, and wipes it away at the end', () => {
    const screen = watch(true)
    screen.report(0, 0)
    screen.report(1_500, 50)
    expect(screen.written()).toBe('\r\x1b[K[############------------] 50%  Rebuilding the index')
    screen.report(2_000, 100)
    expect(screen.written().endsWith('\r\x1b[K')).toBe(true)
  })

  it('makes room when something else has to be said', () => {
    const screen = watch(true)
    screen.report(0, 0)
    screen.report(1_500, 50)
    screen.wipe()
    expect(screen.written().endsWith('\r\x1b[K')).toBe(true)
  })

  it('writes one line, once, where there is no terminal', () => {
    const screen = watch(false)
    screen.report(0, 0)
    screen.report(1_500, 50)
    screen.report(1_600, 60)
    screen.report(2_000, 100)
    expect(screen.written()).toBe('Rebuilding the index ...\n')
  })
})
