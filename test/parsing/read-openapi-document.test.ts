import { describe, expect, it } from 'vitest'
import { readOpenApiDocument } from '#src/parsing/openapi/read-openapi-document.ts'

const documentOf = (paths: object, more: object = {}): string =>
  JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths, ...more })

describe('an OpenAPI document', () => {
  it('becomes tools whose arguments include the fields of the body', () => {
    const schema = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] }
    const note = {
      operationId: 'create note!',
      parameters: [{ name: 'dry', in: 'query', schema: { type: 'boolean' } }],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } },
      },
    }
    const read = readOpenApiDocument(
      documentOf(
        { '/notes/{id}': { post: note, parameters: [{ name: 'id', in: 'path', schema: { type: 'string' } }] } },
        { components: { schemas: { Note: schema } }, servers: [{ url: 'https://notes.example/v1' }] },
      ),
      200,
    )
    expect(read.base_url).toBe('https://notes.example/v1')
    expect(read.tools[0]).toMatchObject({
      name: 'create_note',
      method: 'POST',
      places: { id: 'path', dry: 'query', title: 'body' },
      parameters: { required: ['id', 'title'] },
      risk_level: 'high',
    })
  })

  it('may be YAML, but without an alias bomb', () => {
    expect(readOpenApiDocument('openapi: 3.0.0\npaths:\n  /a:\n    get: {operationId: a}\n', 200).tools[0]?.name).toBe(
      'a',
    )
    const names = Array.from({ length: 12 }, (_, n) => `a${n}`)
    const bomb = names.map((name, n) => `${name}: &${name} [${n === 0 ? 'x' : `*a${n - 1},`.repeat(9)}]`).join('\n')
    expect(() => readOpenApiDocument(`openapi: 3.0.0\n${bomb}\n`, 200)).toThrow('The document is not valid YAML.')
  })

  it('may contain circular references', () => {
    const schema = { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } }
    const post = {
      requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } } },
    }
    const text = documentOf({ '/nodes': { post } }, { components: { schemas: { Node: schema } } })
    expect(readOpenApiDocument(text, 200).tools[0]?.parameters).toMatchObject({ properties: { next: {} } })
  })

  it('is read up to the maximum number of operations', () => {
    const paths = Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`/p${n}`, { get: {} }]))
    const { tools, left_out } = readOpenApiDocument(documentOf(paths), 200)
    expect([tools.length, left_out]).toEqual([200, 50])
  })

  it('gives no tool an Authorization header as a parameter', () => {
    const get = { parameters: [{ name: 'Authorization', in: 'header', schema: { type: 'string' } }] }
    expect(readOpenApiDocument(documentOf({ '/a': { get } }), 200).tools[0]?.parameters).toMatchObject({
      properties: {},
    })
  })

  it.each([
    ['[]', 'not an OpenAPI 3 document'],
    ['{', 'not valid JSON'],
    ['{"swagger":"2.0","paths":{}}', 'not an OpenAPI 3 document'],
    ['{"openapi":"3.0.0","paths":{}}', 'no operations'],
  ])('is refused when it is %s', (text, message) => {
    expect(() => readOpenApiDocument(text, 200)).toThrow(message)
  })
})
