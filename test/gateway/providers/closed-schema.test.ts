import { describe, expect, it } from 'vitest'
import { closedSchema } from '#gateway/providers/anthropic/closed-schema.ts'

describe('a schema for structured outputs', () => {
  it('closes objects at every depth', () => {
    const inner = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true }
    const closed = { ...inner, additionalProperties: false }
    expect(
      closedSchema({
        ...{ type: 'object', properties: { b: inner, c: { type: 'array', items: inner }, d: { oneOf: [inner] } } },
        $defs: { e: inner },
      }),
    ).toEqual({
      type: 'object',
      properties: { b: closed, c: { type: 'array', items: closed }, d: { anyOf: [closed] } },
      $defs: { e: closed },
      additionalProperties: false,
    })
  })

  it('states limits that the provider does not enforce in the description', () => {
    expect(closedSchema({ type: 'string', description: 'A code.', pattern: '^a', maxLength: 3 })).toEqual({
      type: 'string',
      description: 'A code.\npattern: "^a", maxLength: 3',
    })
    expect(closedSchema({ type: 'array', items: true, minItems: 1, maxItems: 2 })).toEqual({
      type: 'array',
      items: true,
      minItems: 1,
      description: 'maxItems: 2',
    })
    expect(closedSchema({ type: 'string', format: 'date' })).toEqual({ type: 'string', format: 'date' })
    expect(closedSchema({ type: 'string', format: 'color' }).description).toBe('format: "color"')
  })

  it('keeps a property with the name of a keyword', () => {
    const schema = { type: 'object', properties: { pattern: { type: 'string' }, format: { type: 'string' } } }
    expect(closedSchema(schema)).toEqual({ ...schema, additionalProperties: false })
  })

  it('excludes the dialect and the id', () => {
    expect(closedSchema({ $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'a', const: 1 })).toEqual({
      const: 1,
    })
  })
})
