import { existsSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'

/** The directory that holds a pinned program, installed by `e2e/install.mjs` before the tests began. */
export function programDirectory(name: string): string {
  const places: unknown = JSON.parse(process.env.SKEIN_TEST_PROGRAMS ?? '{}')
  const place = typeof places === 'object' && places !== null ? Reflect.get(places, name) : undefined
  if (typeof place !== 'string') throw new Error(`No ${name} to test with. These tests run with: npm run test:real`)
  return place
}

/** The same for a program that is not on every machine; what needs it is skipped, and counted as skipped. */
export function programIfBuilt(name: string): string | undefined {
  const place = programDirectory(name)
  return existsSync(place) ? place : undefined
}

/** PATH with these programs before everything else. */
export const pathWith = (...names: string[]): string =>
  [...names.map((name) => join(programDirectory(name), 'bin')), process.env.PATH].join(':')

/** Real programs call home whatever their settings say. Nothing starts one where that could succeed. */
export function mustBeOffline(): void {
  const others = Object.keys(networkInterfaces()).filter((name) => name !== 'lo')
  if (others.length > 0)
    throw new Error(`The network is there (${others.join(', ')}). These tests run with: npm run test:real`)
}
