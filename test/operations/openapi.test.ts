import { describe, expect, it } from 'vitest'
import { loadOperation, OPERATION_NAMES, openApi } from '../../src/operations/index.js'

type Json = Record<string, unknown>

/** Every `$ref` in a document. */
function refs(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(refs)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => (key === '$ref' ? [String(one)] : refs(one)))
}

describe('the OpenAPI document', async () => {
  const operations = await Promise.all(OPERATION_NAMES.map((name) => loadOperation(name)))
  const document = openApi(operations, '1.2.3') as {
    paths: Record<string, { get?: Json; post?: Json }>
    components: { schemas: Json }
  }

  it('has a path for every operation: GET for what reads, POST for all', () => {
    expect(Object.keys(document.paths)).toEqual(OPERATION_NAMES.map((name) => `/v1/${name}`))
    for (const { name, does } of operations) {
      const path = document.paths[`/v1/${name}`] ?? {}
      expect([name, 'get' in path, 'post' in path]).toEqual([name, does === 'reads', true])
    }
    console.info(`${OPERATION_NAMES.length} paths, ${Object.keys(document.components.schemas).length} schemas`)
  })

  it('refers to nothing that is not in it, and names every operation once', () => {
    const known = new Set(Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`))
    expect(refs(document).filter((ref) => !known.has(ref))).toEqual([])
    const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map((one) => one.operationId))
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('says of each field what it is, whether it is needed, and what holds without it', () => {
    const { get } = document.paths['/v1/cost'] ?? {}
    expect(get?.parameters).toContainEqual({
      name: 'by',
      in: 'query',
      required: false,
      schema: {
        type: 'string',
        enum: expect.arrayContaining(['day', 'model']),
        default: 'day',
        description: expect.any(String),
      },
    })
    const body = JSON.stringify(document.paths['/v1/agents.send']?.post)
    expect(body).toContain('"required":["agent","text"]')
    expect(body).toContain('"additionalProperties":false')
  })
})
