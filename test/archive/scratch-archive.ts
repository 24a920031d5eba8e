import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Archive, type ArchiveBatch } from '../../src/archive/index.js'
import type { Instant, SessionId } from '../../src/model/index.js'
import type { Fact, LogRef } from '../../src/tools/index.js'

export function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'skein-archive-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export const AT = '2026-01-17T09:30:00.000Z' as Instant

export function openArchive(directory: string): Archive {
  const archive = new Archive(directory, {
    clock: { now: () => Date.parse(AT) },
    random: { bytes: randomBytes, uuid: randomUUID },
  })
  onTestFinished(() => archive[Symbol.dispose]())
  return archive
}

export const aLog = (name = 'one', stamp = '1'): LogRef => ({
  tool: 'claude',
  path: `/logs/${name}.jsonl`,
  root: '/logs',
  session: name as SessionId,
  size: 10,
  modified_at: AT,
  stamp,
})

export const prompt = (turn: number, text: string): Fact => ({
  kind: 'turn',
  turn,
  prompt: text,
  by: 'person',
  follows: turn - 1,
})
export const reply = (turn: number, text: string): Fact => ({
  kind: 'said',
  turn,
  message: `m${turn}`,
  part: '0',
  text,
})

export function aBatch(
  facts: Fact[],
  told: Partial<ArchiveBatch> & { place?: string; log?: LogRef } = {},
): ArchiveBatch {
  const { place = `place ${facts.length}`, log = aLog(), ...rest } = told
  return {
    log,
    from: undefined,
    isWhole: rest.from === undefined,
    isOver: false,
    facts,
    standing: { place, stamp: log.stamp, size: log.size, modified_at: log.modified_at, session: log.session },
    ...rest,
  }
}
