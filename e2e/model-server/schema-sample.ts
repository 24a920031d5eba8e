import { isObject } from '../../src/tools/json-value.js'

/** The smallest value of a JSON schema: for requests that programs make for themselves (titles, checks). */
export function schemaSample(schema: unknown): unknown {
  if (!isObject(schema)) return 'A title'
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const named = Array.isArray(schema.type) ? schema.type[0] : schema.type
  const type = String(named ?? (schema.properties ? 'object' : 'string')).toLowerCase()
  if (type === 'object') {
    const properties = isObject(schema.properties) ? schema.properties : {}
    return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, schemaSample(property)]))
  }
  if (type === 'array') return []
  if (type === 'boolean') return false
  if (type === 'number' || type === 'integer') return schema.minimum ?? 0
  return 'A title'
}
