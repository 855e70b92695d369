import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { secretKeyOnly } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperation, type OperationSpec } from '#specs/dsl/declare.ts'
import { semverPattern } from '#specs/dsl/rule-words.ts'
import {
  array,
  boolean,
  constant,
  defaulted,
  integer,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  record,
  string,
  timeOrDay,
  union,
} from '#specs/dsl/schema.ts'
import { answerChecker, requestValidator } from '#specs/dsl/validate.ts'
import { ServiceError } from '#specs/errors/errors.ts'

const validatorOf = (spec: Partial<OperationSpec>) =>
  requestValidator(
    defineOperation('things.do', {
      summary: '',
      method: 'POST',
      path: '/v1/things',
      access: secretKeyOnly,
      answer: isJsonResponse(object({})),
      ...spec,
    }),
  )

const said = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, param: error.details.param }
    throw error
  }
  return 'accepted'
}

describe('a body', () => {
  const circle = object({ kind: oneOf('circle'), radius: number({ min: 0 }) })
  const square = object({ kind: oneOf('square'), side: number({ min: 0 }) })
  const body = object({
    size: defaulted(integer({ min: 1, max: 9 }), 3),
    speed: optional(integer({ min: 1, max: 10, clamp: 'max' })),
    depth: optional(integer({ min: 1, max: 10, clamp: 'both' })),
    shapes: optional(array(union([circle, square], 'kind'))),
    note: nullable(string({ maxLength: 3 })),
    either: optional(union([string(), object({ url: string() })])),
    labels: optional(record(string())),
    open: optional(object({}, { open: true })),
    metadata: optional(jsonObject({ maxBytes: 12 })),
  })
  const check = (value: Record<string, unknown>, spec: Partial<OperationSpec> = {}) => {
    const full = { note: null, ...value }
    const outcome = said(() => validatorOf({ body, ...spec }).body(full))
    return outcome === 'accepted' ? full : outcome
  }

  it('gets defaults filled in and numbers clamped', () => {
    expect(check({ speed: 99, depth: -5 })).toEqual({ note: null, size: 3, speed: 10, depth: 1 })
  })

  it.each([
    [{ speed: 0 }, 'invalid_field', 'speed'],
    [{ size: 10 }, 'invalid_field', 'size'],
    [{ size: '3' }, 'invalid_field', 'size'],
    [{ size: 2.5 }, 'invalid_field', 'size'],
    [{ note: 'long' }, 'invalid_field', 'note'],
    [
      {
        shapes: [
          { kind: 'circle', radius: 1 },
          { kind: 'square', radius: 1 },
        ],
      },
      'missing_field',
      'shapes[1].side',
    ],
    [{ shapes: [{ kind: 'square', side: 1, radius: 1 }] }, 'unknown_field', 'shapes[0].radius'],
    [{ shapes: [{ kind: 'star' }] }, 'invalid_field', 'shapes[0].kind'],
    [{ shapes: [{}] }, 'missing_field', 'shapes[0].kind'],
    [{ shapes: [7] }, 'invalid_field', 'shapes[0]'],
    [{ either: 7 }, 'invalid_field', 'either'],
    [{ either: { url: 7 } }, 'invalid_field', 'either.url'],
    [{ labels: { 'a/b~c': 7 } }, 'invalid_field', 'labels.a/b~c'],
    [{ metadata: { a: 'ööö' } }, 'invalid_field', 'metadata'],
    [JSON.parse('{"__proto__": 1}'), 'unknown_field', '__proto__'],
  ])('%j is refused with the path of the invalid field', (value, code, param) => {
    expect(check(value)).toEqual({ code, param })
  })

  it('may have undeclared fields in open objects, and anywhere if the operation ignores them', () => {
    expect(check({ open: { anything: 1 } })).toMatchObject({ open: { anything: 1 } })
    expect(check({ unheard_of: 1 })).toEqual({ code: 'unknown_field', param: 'unheard_of' })
    expect(check({ unheard_of: 1 }, { unknownFields: 'ignore' })).toMatchObject({ size: 3 })
  })

  it('with any content is either accepted or refused', () => {
    const validator = validatorOf({ body })
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(['accepted', 'missing_field', 'unknown_field', 'invalid_field']).toContain(
          codeOf(said(() => validator.body(value))),
        )
      }),
    )
  })
})

const codeOf = (outcome: ReturnType<typeof said>) => (outcome === 'accepted' ? outcome : outcome.code)

describe('a query', () => {
  const query = {
    limit: defaulted(integer({ min: 1, max: 100 }), 20),
    available: optional(boolean()),
    name: optional(string()),
    tags: optional(array(oneOf('a', 'b'))),
    ratio: optional(number()),
  }
  const validator = validatorOf({ query })

  it.each([
    ['', { limit: 20 }],
    ['limit=5&available=true&ratio=-1.5', { limit: 5, available: true, ratio: -1.5 }],
    ['name=a+b%20c%26&&', { limit: 20, name: 'a b c&' }],
    ['name', { limit: 20, name: '' }],
    ['tags=a,b&tags=a', { limit: 20, tags: ['a', 'b', 'a'] }],
  ])('%s is read as declared', (text, found) => {
    expect(validator.query(text)).toEqual(found)
  })

  it.each([
    ['other=1&limit=2', 'other'],
    ['limit=0', 'limit'],
    ['limit=5x', 'limit'],
    ['limit=', 'limit'],
    ['limit=1e3', 'limit'],
    ['limit=2.5', 'limit'],
    ['available=yes', 'available'],
    ['tags=c', 'tags'],
    ['name=%E0%A4', 'name'],
    ['name=a&name=b', 'name'],
  ])('%s is refused with its name', (text, param) => {
    expect(said(() => validator.query(text))).toEqual({ code: 'invalid_query', param })
  })

  it('with any content is either read or refused', () => {
    const texts = fc.array(fc.constantFrom('limit', 'tags', 'name', '=', '&', '%', 'ff', '1', ',', 'a', '+'), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(texts, (parts) => {
        expect(['accepted', 'invalid_query']).toContain(codeOf(said(() => validator.query(parts.join('')))))
      }),
    )
  })
})

describe('an answer', () => {
  const check = answerChecker(object({ size: defaulted(integer(), 1), note: optional(string()) }).json)

  it.each([
    [{ size: 1 }, null],
    [{ size: 1, note: 'x' }, null],
    [{}, expect.stringContaining('size')],
    [{ size: 1, more: 1 }, expect.any(String)],
  ])('%j is checked against its declaration, with defaults required', (value, outcome) => {
    expect(check(value)).toEqual(outcome)
  })
})

describe('the message of a validation error', () => {
  const body = object({
    name: optional(string({ minLength: 1, maxLength: 3 })),
    code: optional(string({ minLength: 2 })),
    version: optional(string({ pattern: semverPattern })),
    url: optional(string({ pattern: '^https?://' })),
    email: optional(string({ format: 'email' })),
    count: optional(integer({ min: 1, max: 9 })),
    list: optional(array(string(), { minItems: 1, maxItems: 1 })),
    kind: optional(oneOf('a', 'b')),
    only: optional(constant(false)),
    inner: optional(object({})),
    task: optional(object({ prompt: string(), top_k: optional(integer()) })),
    none: optional(nullable(string())),
    either: optional(union([string(), array(integer()), object({ url: string() })])),
    parts: optional(union([string(), array(integer(), { minItems: 1 })])),
  })
  const messageOf = (work: () => unknown) => {
    try {
      work()
      return 'accepted'
    } catch (error) {
      return error instanceof ServiceError ? error.message : String(error)
    }
  }

  it.each([
    [{ name: '' }, 'name must not be empty.'],
    [{ name: 'long' }, 'name must have at most 3 characters.'],
    [{ code: 'x' }, 'code must have at least 2 characters.'],
    [{ version: 'v1' }, 'version must be a semantic version such as 1.2.0 or 2.0.0-rc.1.'],
    [{ url: 'ftp://x' }, 'url must be an http:// or https:// URL.'],
    [{ email: 'x' }, 'email must be an e-mail address.'],
    [{ count: 0 }, 'count must be at least 1.'],
    [{ count: 10 }, 'count must be at most 9.'],
    [{ count: '1' }, 'count must be an integer.'],
    [{ list: [] }, 'list must not be empty.'],
    [{ list: ['a', 'b'] }, 'list must have at most 1 item.'],
    [{ kind: 'c' }, 'kind must be one of a, b.'],
    [{ only: true }, 'only must be false.'],
    [{ inner: [] }, 'inner must be a JSON object.'],
    [{ none: 1 }, 'none must be a string or null.'],
    [{ either: 7 }, 'either must be a string or an array or a JSON object with url.'],
    [{ either: ['x'] }, 'either[0] must be an integer.'],
    [{ parts: [] }, 'parts must be a string or must not be empty.'],
    [{ task: 'x' }, 'task must be a JSON object with prompt.'],
    [{ inner: { x: 1 } }, 'The body contains an unknown field: inner.x.'],
    [
      { task: { prompt: 'x', topK: 1 } },
      'The body contains an unknown field: task.topK. The fields are prompt, top_k.',
    ],
  ])('for %j is a sentence', (value, message) => {
    expect(messageOf(() => validatorOf({ body }).body(value))).toBe(message)
  })

  it('for a time in a query names the accepted formats', () => {
    const { query } = validatorOf({ query: { from: optional(timeOrDay()) } })
    expect(messageOf(() => query('from=2026-02-28'))).toBe('accepted')
    expect(messageOf(() => query('from=2026-02-28T00:00:00%2B01:00'))).toBe('accepted')
    for (const wrong of ['2026-02-30', '2026-13-01', 'yesterday', ''])
      expect(messageOf(() => query(`from=${wrong}`))).toBe(
        'from must be a time with its zone, such as 2026-01-31T00:00:00Z or a day such as 2026-01-31.',
      )
  })
})
