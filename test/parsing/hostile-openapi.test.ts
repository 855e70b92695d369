import { afterAll, describe, expect, it } from 'vitest'
import { openOpenApiParser } from '#src/parsing/openapi/openapi-parser.ts'

const parser = openOpenApiParser({ deadlineMs: 20_000 })
afterAll(() => parser.close())

const read = (document: object | string, maxLength = 1_000_000) => {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  return parser.parse('openapi', { text, maxTools: 200, maxLength })
}

const documentOf = (paths: object, components: object = {}) => ({ openapi: '3.1.0', paths, components })

/** An object schema with `count` fields. */
const wide = (count: number) => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: count }, (_, n) => [`field_${n}`, { type: 'string' }])),
})

describe('a hostile OpenAPI document', () => {
  it('that exceeds the size limit is refused, and the next document is read', async () => {
    const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Wide' } } } }
    const paths = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`/p${n}`, { post: { requestBody: body } }]))
    const large = documentOf(paths, { schemas: { Wide: wide(900) } })
    await expect(read(large)).rejects.toThrow('too large for a connection')
    await expect(read(documentOf({ '/a': { get: {} } }))).resolves.toMatchObject({ tools: [{ method: 'GET' }] })
  })

  it.each([
    [
      'references that double at each level',
      () => {
        const names = Array.from({ length: 30 }, (_, n) => `S${n}`)
        const schemas = Object.fromEntries(
          names.map((name, n) => {
            const next = { $ref: `#/components/schemas/S${n + 1}` }
            return [name, { type: 'object', properties: { a: next, b: next } }]
          }),
        )
        const schema = { $ref: '#/components/schemas/S0' }
        const post = { requestBody: { content: { 'application/json': { schema } } } }
        return documentOf({ '/a': { post } }, { schemas })
      },
    ],
    [
      'names of prototypes',
      () => {
        const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
        const parameters = names.map((name) => `{"name":"${name}","in":"query"}`)
        return `{"openapi":"3.1.0","paths":{"/a":{"get":{"operationId":"__proto__","parameters":[${parameters}]}}}}`
      },
    ],
    [
      'references into prototypes',
      () => {
        const schema = { $ref: '#/__proto__/constructor' }
        return documentOf({
          '/a': { get: { parameters: [{ $ref: '#/constructor/prototype' }, { name: 'x', in: 'query', schema }] } },
        })
      },
    ],
  ])('with %s is read as far as it is meaningful', async (_what, document) => {
    await expect(read(document())).resolves.toMatchObject({ tools: [{ path: '/a' }] })
  })

  it.each([
    ['lists in lists', `{"openapi":"3.1.0","paths":${'['.repeat(500_000)}${']'.repeat(500_000)}}`],
    ['maps in maps of YAML', `openapi: 3.1.0\npaths: ${'{a: '.repeat(20_000)}`],
    ['no end', '{"openapi":"3.1.0","paths":{'],
    ['nothing', '{"openapi":"3.1.0"}'],
    ['another version', '{"openapi":"2.0","paths":{}}'],
  ])('of %s is refused, and the next document is read', async (_what, text) => {
    await expect(read(text)).rejects.toMatchObject({ name: 'ParserFailed' })
    await expect(read(documentOf({ '/a': { get: {} } }))).resolves.toMatchObject({ tools: [{ path: '/a' }] })
  })
})
