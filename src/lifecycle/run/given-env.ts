import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDirectory, textIn, writeAtomic } from '../../disk/index.js'
import { type Agent, SkeinError } from '../../model/index.js'
import type { Recipe } from '../agent-run.js'
import type { Parts } from '../parts.js'
import { isPassedOn } from './launch-environment.js'

/** Refuses variables that no agent can be given. Their values are never in a message. */
export function checkGivenEnv(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (isPassedOn(name) && !value.includes('\0')) continue
    const next = 'Use letters, digits and "_", and a name that is not the terminal\'s or Skein\'s own'
    throw new SkeinError('bad-input', `${JSON.stringify(name.slice(0, 80))} cannot be given to an agent`, next)
  }
}

/**
 * Keeps the variables that the user gave with an agent: a recipe names them, this file has their values. What it gives back puts the
 * file back as it was, for a start that fails.
 */
export function saveGivenEnv(parts: Parts, agent: Agent, env: Readonly<Record<string, string>>): () => void {
  checkGivenEnv(env)
  const path = envFile(parts, agent)
  const before = textIn(path)
  makeDirectory(dirname(path))
  writeAtomic(path, `${JSON.stringify(env)}\n`, { durable: true })
  return () => {
    if (before === undefined) rmSync(path, { force: true })
    else writeAtomic(path, before, { durable: true })
  }
}

/** Comes back with all of them or not at all: an agent without its key would fail later and elsewhere. */
export function givenEnv(parts: Parts, agent: Agent, { env_names: names = [] }: Recipe): Record<string, string> {
  if (names.length === 0) return {}
  const values = readEnv(envFile(parts, agent))
  const missing = names.filter((name) => !Object.hasOwn(values, name))
  if (missing.length === 0) return Object.fromEntries(names.map((name) => [name, values[name] ?? '']))
  const next = `Give them again: skein restart ${agent.address} ${missing.map((name) => `--env ${name}=…`).join(' ')}`
  throw new SkeinError(
    'bad-input',
    `${agent.address} was started with ${missing.join(', ')}, whose values are gone`,
    next,
  )
}

const envFile = (parts: Parts, agent: Agent): string => join(parts.runs.directoryOf(agent.id), 'env.json')

function readEnv(path: string): Record<string, string | undefined> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  } catch {
    return {}
  }
}
