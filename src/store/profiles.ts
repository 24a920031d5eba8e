import { existsSync, readdirSync, rmSync } from 'node:fs'
import { explainDiskError, FileLock, makeDirectory } from '../disk/index.js'
import { nearest, parseName, SkeinError } from '../model/index.js'
import { profilePaths, profilesDirectory } from './paths.js'

export const DEFAULT_PROFILE = 'default'

/** A command that is just ending should not stand in the way; a watcher should be named. */
const USERS_LEAVE_MS = 2_000

/** A profile's name is a directory's name. */
export function parseProfile(text: string): string {
  try {
    return parseName(text)
  } catch {
    const next = 'Use letters, digits, ".", "_" and "-", like work'
    throw new SkeinError('bad-input', `${JSON.stringify(text.slice(0, 80))} is not a profile name`, next)
  }
}

/** Profiles that exist, by name. */
export function listProfiles(root: string): string[] {
  const directory = profilesDirectory(root)
  if (!existsSync(directory)) return []
  const entries = readdirSync(directory, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

export function createProfile(root: string, name: string): string {
  const { directory } = profilePaths(root, parseProfile(name))
  if (existsSync(directory))
    throw new SkeinError('profile-exists', `There is already a profile ${name}`, `Use it with --profile ${name}`)
  try {
    makeDirectory(directory)
  } catch (error) {
    throw explainDiskError(error, directory)
  }
  return directory
}

/** Removes a profile with everything in it, once nobody uses it. The caller has asked the user. */
export async function deleteProfile(root: string, name: string): Promise<void> {
  const { directory, lock } = profilePaths(root, parseProfile(name))
  if (!existsSync(directory)) throw profileNotFound(root, name)
  try {
    using users = new FileLock(lock)
    await users.asOnlyUser(() => rmSync(directory, { recursive: true }), USERS_LEAVE_MS)
  } catch (error) {
    throw explainDiskError(error, directory)
  }
}

export function profileNotFound(root: string, name: string): SkeinError {
  const meant = nearest(name, listProfiles(root))
  const next = meant ? `Did you mean ${meant} ?` : `Create it with: skein profile create ${name}`
  return new SkeinError('profile-not-found', `No profile ${name}`, next)
}
