import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Home, openHome } from '../../src/home/index.js'
import { GONE } from '../support/gone.js'

/** A directory of its own that goes away with the test. */
export function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'skein-home-'))
  onTestFinished(() => rmSync(directory, GONE))
  return directory
}

export interface TestHome {
  home: Home
  warnings: string[]
  /** Moves the clock that this home reads. */
  clock: { ms: number }
}

export async function openTestHome(
  root: string,
  clock = { ms: Date.UTC(2026, 0, 17, 8) },
  cwd?: () => string,
  env: Record<string, string> = {},
): Promise<TestHome> {
  const warnings: string[] = []
  const home = await openHome({
    root,
    configFile: join(root, 'config.toml'),
    surroundings: { home: root, env, zone: 'UTC' },
    ...(cwd ? { cwd } : {}),
    context: {
      clock: { now: () => clock.ms },
      random: { bytes: randomBytes, uuid: randomUUID },
      warn: (line) => warnings.push(line),
      progress: () => {},
      actor: 'tester',
      host: 'here',
    },
  })
  return { home, warnings, clock }
}

export const profileDirectory = (root: string): string => join(root, 'profiles', 'default')
