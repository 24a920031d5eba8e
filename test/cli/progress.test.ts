import { describe, expect, it } from 'vitest'
import { ProgressBar } from '../../src/cli/screen/progress.js'

function watch(isTTY: boolean, columns = 80) {
  let now = 0
  let written = ''
  const stderr = { isTTY, columns, write: (text: string) => (written += text) }
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
    expect(screen.written()).toBe('\r\x1b[K[############------------] 50%  Rebuilding the index, 2s left')
    screen.report(2_000, 100)
    expect(screen.written().endsWith('\r\x1b[K')).toBe(true)
  })

  it('takes a terminal that does not know its width for one of 80 columns', () => {
    const screen = watch(true, 0)
    screen.report(0, 0)
    screen.report(1_500, 50)
    expect(screen.written()).toMatch(/2s left$/)
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

  it('tells the rate and the time left of what is read', () => {
    let now = 0
    let written = ''
    const bar = new ProgressBar({ isTTY: true, columns: 100, write: (text: string) => (written += text) }, () => now)
    bar.show({ what: 'reading logs', done: 10_000_000, total: 1_010_000_000, unit: 'bytes' })
    now = 2_000
    bar.show({ what: 'reading logs', done: 210_000_000, total: 1_010_000_000, unit: 'bytes' })
    expect(written).toContain('20%  reading logs, 100.0 MB/s, 8s left')
  })
})
