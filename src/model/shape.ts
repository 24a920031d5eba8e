import { isInstant } from './time.js'

/** Whether a value read from a file is of a kind. Hand-written: a schema library would take several times the parse of a line. */
export type Check = (value: unknown) => boolean

interface Field {
  readonly name: string
  readonly isOptional: boolean
  readonly fits: Check
}

/** The fields that a record must or may have. Fields that are not listed pass: a newer version may have added them. */
export type Shape = readonly Field[]

/** Where an address or a path of groups would become long lists of groups, it is none. Skein's own have at most 255 characters. */
const MAX_ADDRESS = 1_024

export const text: Check = (value) => typeof value === 'string'
/** A path that the system would take. */
export const path: Check = (value) => typeof value === 'string' && !value.includes('\0')
/** The address of an agent or the path of a group. Purged parts of it may have any form. */
export const address: Check = (value) => typeof value === 'string' && value !== '' && value.length <= MAX_ADDRESS
export const time: Check = isInstant
export const flag: Check = (value) => typeof value === 'boolean'
export const count: Check = (value) => typeof value === 'number' && Number.isFinite(value)
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
export const texts: Check = listOf(text)
/** A field that only we set: whoever writes it here would change what the record is about. */
export const absent: Check = () => false

/** A name that ends in `?` may be missing. */
export function shape(fields: Readonly<Record<string, Check>>): Shape {
  return Object.entries(fields).map(([name, fits]) =>
    name.endsWith('?') ? { name: name.slice(0, -1), isOptional: true, fits } : { name, isOptional: false, fits },
  )
}

export const shaped =
  (fields: Shape): Check =>
  (value) =>
    isObject(value) && misfit(value, fields) === undefined

/** The name of the first field that does not fit. */
export function misfit(value: Readonly<Record<string, unknown>>, fields: Shape): string | undefined {
  for (const { name, isOptional, fits } of fields) {
    const field = value[name]
    if (field === undefined ? !isOptional : !fits(field)) return name
  }
  return undefined
}
