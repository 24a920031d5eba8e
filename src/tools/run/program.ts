import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { guardedText, realPath, refuseDead } from '../../disk/index.js'
import { isObject, textAt } from '../json-value.js'
import type { Environment } from '../log/log-tool.js'

/** An installed program. */
export interface Program {
  readonly path: string
  /** As its package or its place says; the program itself is not asked, which would start it. */
  readonly version?: string
}

/** Finds a program as a shell would. */
export function findProgram(name: string, { env }: Environment): Program | undefined {
  const path = programPath(name, { env })
  if (path === undefined) return undefined
  const version = versionOf(realPath(path))
  return { path, ...(version ? { version } : {}) }
}

/** The same without the version, which several files are read for. */
export function programPath(name: string, { env }: Pick<Environment, 'env'>): string | undefined {
  const places =
    isAbsolute(name) || name.includes('/') ? [name] : (env.PATH ?? '').split(delimiter).map((one) => join(one, name))
  return places.find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    refuseDead(path)
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** The package a program belongs to is at most a few directories above it; others have the version in their path. */
function versionOf(path: string): string | undefined {
  let directory = dirname(path)
  for (let up = 0; up < 4; up += 1) {
    const version = manifestVersion(join(directory, 'package.json'))
    if (version) return version
    directory = dirname(directory)
  }
  return /\/v?(\d+\.\d+\.\d+)(\/|$)/.exec(path)?.[1]
}

/** Of a package.json. */
const MOST_BYTES = 1024 * 1024

function manifestVersion(file: string): string | undefined {
  try {
    const manifest: unknown = JSON.parse(guardedText(file, MOST_BYTES) ?? '')
    return isObject(manifest) && manifest.bin !== undefined ? textAt(manifest, 'version') : undefined
  } catch {
    return undefined
  }
}
