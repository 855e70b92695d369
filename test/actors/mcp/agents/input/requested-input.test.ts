import { describe, expect, it } from 'vitest'
import { hashOf, maxFields, questionOf } from '#actors/mcp/agents/input/requested-input.ts'

const form = (properties: object, more: object = {}) => ({
  message: 'Fill this in.',
  requestedSchema: { type: 'object', properties, ...more },
})

const fields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, { type: 'string' }]))

const refused = (params: unknown) => expect(() => questionOf(params)).toThrowError(/is not supported/)

describe('the input that a server requests from a person', () => {
  it('contains what the protocol allows, and nothing else', () => {
    const seat = { type: 'string', title: 'Seat', enum: ['a', 'b'], pattern: '(a+)+$', 'x-run': 'me' }
    const many = { type: 'array', items: { anyOf: [{ const: 'x', title: 'X' }] }, minItems: 1 }
    const count = { type: 'integer', minimum: 1, maximum: Number.NaN, default: 2 }
    const question = questionOf(
      form({ seat, many, count, ok: { type: 'boolean', default: 'yes' } }, { required: ['seat', 'no'] }),
    )
    expect(question).toMatchObject({ mode: 'form', message: 'Fill this in.', url: null, secret_fields: [] })
    expect(question.schema).toEqual({
      type: 'object',
      properties: {
        seat: { type: 'string', title: 'Seat', enum: ['a', 'b'] },
        many: { type: 'array', minItems: 1, items: { type: 'string', oneOf: [{ const: 'x', title: 'X' }] } },
        count: { type: 'integer', minimum: 1, default: 2 },
        ok: { type: 'boolean' },
      },
      required: ['seat'],
    })
  })

  it('is refused with too many fields or choices', () => {
    expect(questionOf(form(fields(maxFields))).mode).toBe('form')
    refused(form(fields(maxFields + 1)))
    refused(form({ one: { type: 'string', enum: Array.from({ length: 201 }, String) } }))
  })

  it.each([
    ['no message', { requestedSchema: { type: 'object', properties: {} } }],
    ['no form', { message: 'x' }],
    ['another mode', { mode: 'voice', message: 'x' }],
    ['a form within a form', form({ a: { type: 'object', properties: {} } })],
    ['a field of no type', form({ a: {} })],
    [
      'a field that is a prototype',
      JSON.parse('{"message":"x","requestedSchema":{"properties":{"__proto__":{"type":"string"}}}}'),
    ],
    ['a name that is not seen', form({ 'a\u200bb': { type: 'string' } })],
    ['a message that is turned around', { ...form({}), message: 'pay \u202e001' }],
    ['a title with hidden text', form({ a: { type: 'string', title: `x${'\u{e0041}'.repeat(4)}` } })],
    ['a page that runs', { mode: 'url', message: 'x', url: 'javascript:alert(1)' }],
    ['a page of this machine', { mode: 'url', message: 'x', url: 'file:///etc/passwd' }],
    ['a page under another name', { mode: 'url', message: 'x', url: 'https://bank.example@evil.example/' }],
    ['no page', { mode: 'url', message: 'x' }],
  ])('is refused with %s', (_, params) => refused(params))

  it('is shortened, and has no control characters', () => {
    const { message } = questionOf({ ...form({}), message: `a\u0007b${'x'.repeat(10_000)}` })
    expect(message).toHaveLength(4096)
    expect(message.slice(0, 3)).toBe('a b')
  })

  it('marks the fields that seem to be for secrets', () => {
    const requested = {
      api_key: { type: 'string' },
      q1: { type: 'string', title: 'Your password' },
      city: { type: 'string' },
    }
    expect(questionOf(form(requested)).secret_fields).toEqual(['api_key', 'q1'])
  })

  it('has the same hash only if all of it is the same', () => {
    const one = questionOf(form({ a: { type: 'string' } }))
    expect(hashOf(one)).toBe(hashOf(questionOf(form({ a: { type: 'string' } }))))
    expect(hashOf(one)).not.toBe(hashOf({ ...one, message: 'Fill that in.' }))
    expect(hashOf(one)).not.toBe(hashOf(questionOf(form({ b: { type: 'string' } }))))
  })
})
