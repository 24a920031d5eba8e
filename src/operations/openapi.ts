import type { Field, Fields } from './field.js'
import type { JsonSchema } from './kind.js'
import type { Operation } from './operation.js'
import { SHAPES, type ShapeName } from './shapes.js'

type Json = Readonly<Record<string, unknown>>

/** The OpenAPI document of these operations: every one under its name, its input and its result as JSON Schema. */
export function openApi(operations: readonly Operation[], version: string): Json {
  return {
    openapi: '3.1.0',
    info: { title: 'Skein', version, description: 'The operations of one profile, on the Unix socket of its daemon.' },
    servers: [{ url: 'http://skein' }],
    paths: Object.fromEntries(operations.map((operation) => [`/v1/${operation.name}`, pathOf(operation)])),
    components: {
      schemas: Object.fromEntries(Object.entries(SHAPES).map(([name, fields]) => [name, shapeSchema(fields)])),
    },
  }
}

function pathOf({ name, does, summary, description, input, result }: Operation): Json {
  const said = { summary, ...(description === undefined ? {} : { description }) }
  const answers = {
    responses: {
      200: answer('The result', resultSchema(result)),
      default: answer('What went wrong', shapeRef('error')),
    },
  }
  const body = { requestBody: { content: { 'application/json': { schema: inputSchema(input) } } } }
  const post = { operationId: does === 'reads' ? `${name}.post` : name, ...said, ...body, ...answers }
  if (does === 'acts') return { post }
  return { get: { operationId: name, ...said, parameters: parametersOf(input), ...answers }, post }
}

const answer = (description: string, schema: JsonSchema): Json => ({
  description,
  content: { 'application/json': { schema } },
})

const resultSchema = (result: Operation['result']): JsonSchema =>
  typeof result === 'string' ? shapeRef(result) : { anyOf: result.map(shapeRef) }

const shapeRef = (name: ShapeName): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const parametersOf = (input: Fields): Json[] =>
  Object.entries(input).map(([name, field]) => ({
    name,
    in: 'query',
    required: field.isRequired,
    schema: fieldSchema(field),
  }))

/** The input of an operation as JSON Schema. */
function inputSchema(input: Fields): JsonSchema {
  const required = Object.entries(input).flatMap(([name, { isRequired }]) => (isRequired ? [name] : []))
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(input).map(([name, field]) => [name, fieldSchema(field)])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  }
}

function fieldSchema({ kind, isRepeated, summary, fallback }: Field<unknown>): JsonSchema {
  const one = kind ? (kind.schema ?? { type: 'string' }) : { type: 'boolean' }
  const schema = isRepeated ? { type: 'array', items: one } : one
  const isDefault = fallback !== undefined && (kind?.choices?.includes(fallback) || /^\d+$/.test(fallback))
  return {
    ...schema,
    description: fallback === undefined || isDefault ? summary : `${summary}; otherwise ${fallback}`,
    ...(isDefault ? { default: kind?.choices ? fallback : Number(fallback) } : {}),
  }
}

/** Fields may be added within a major version, so others than these pass. */
function shapeSchema(
  fields: Readonly<Record<string, readonly [type: string, present: string, meaning: string]>>,
): JsonSchema {
  const required = Object.entries(fields).flatMap(([name, [, present]]) => (present === 'always' ? [name] : []))
  const properties = Object.entries(fields).map(([name, [type, present, meaning]]) => {
    const description = [meaning, present === 'always' ? '' : `(${present})`].filter(Boolean).join(' ')
    return [name, { ...typeSchema(type), ...(description === '' ? {} : { description }) }]
  })
  return { type: 'object', properties: Object.fromEntries(properties), ...(required.length > 0 ? { required } : {}) }
}

const BASIC: Readonly<Record<string, JsonSchema>> = {
  text: { type: 'string' },
  time: { type: 'string', format: 'date-time' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
}

function typeSchema(type: string): JsonSchema {
  const [, item] = /^list of (.+)$/.exec(type) ?? []
  if (item !== undefined) return { type: 'array', items: typeSchema(item) }
  const [, entry] = /^map of (.+)$/.exec(type) ?? []
  if (entry !== undefined) return { type: 'object', additionalProperties: typeSchema(entry) }
  return BASIC[type] ?? { $ref: `#/components/schemas/${type}` }
}
