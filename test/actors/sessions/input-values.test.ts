import { describe, expect, it } from 'vitest'
import { inputValues } from '#actors/sessions/input-values.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Json, JsonObject } from '#storage/ports.ts'

const schema = {
  type: 'object',
  required: ['seat'],
  properties: {
    seat: { type: 'string', enum: ['a', 'b'] },
    hero: { type: 'string', oneOf: [{ const: 'h1', title: 'One' }] },
    name: { type: 'string', minLength: 2, maxLength: 4 },
    mail: { type: 'string', format: 'email' },
    page: { type: 'string', format: 'uri' },
    day: { type: 'string', format: 'date' },
    time: { type: 'string', format: 'date-time' },
    count: { type: 'integer', minimum: 1, maximum: 3 },
    size: { type: 'number' },
    sure: { type: 'boolean' },
    tags: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['x', 'y', 'z'] } },
  },
}

const given = (content: JsonObject | undefined, requested: JsonObject | null = { schema }) => {
  try {
    return inputValues({ input: requested }, content)
  } catch (error) {
    return error instanceof ServiceError ? `${error.code} ${error.details.param}` : String(error)
  }
}

describe('the values of a form that a server requests', () => {
  it('are accepted if they match the schema', () => {
    const content = {
      ...{ seat: 'a', hero: 'h1', name: 'Ädä', mail: 'a@b.example', page: 'https://x.example/' },
      ...{ day: '2026-02-28', time: '2026-02-28T12:00:00Z', count: 3, size: 1.5, sure: false, tags: ['x', 'z'] },
    }
    expect(given(content)).toBe(JSON.stringify(content))
  })

  const wrong: readonly (readonly [string, Json])[] = [
    ['seat', 'c'],
    ['hero', 'One'],
    ['name', 'x'],
    ['name', 'xxxxx'],
    ['name', 7],
    ['mail', 'nobody'],
    ['page', 'no page'],
    ['day', '2026-02-30x'],
    ['time', 'noon'],
    ['count', 0],
    ['count', 4],
    ['count', 1.5],
    ['size', '1'],
    ['sure', 'true'],
    ['tags', []],
    ['tags', ['x', 'x']],
    ['tags', ['x', 'y', 'z']],
    ['tags', ['w']],
    ['tags', 'x'],
    ['other', 1],
    ['constructor', 1],
    ['name', null],
  ]
  it.each(wrong)('are refused where %s is %j', (name, value) => {
    expect(given({ seat: 'a', [name]: value })).toBe(`invalid_field content.${name}`)
  })

  it('are refused without a required value', () => {
    expect(given({})).toBe('missing_field content.seat')
    expect(given(undefined)).toBe('missing_field content.seat')
    expect(given({ seat: null })).toBe('missing_field content.seat')
  })

  it('are refused if none are requested', () => {
    expect(given({ seat: 'a' }, null)).toBe('invalid_field content')
    expect(given({ seat: 'a' }, { schema: null })).toBe('invalid_field content')
    expect(given(undefined, { schema: null })).toBeUndefined()
  })
})
