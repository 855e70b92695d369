import { describe, expect, it } from 'vitest'
import { fillArguments } from '#gateway/simulated/arguments.ts'

const fill = (properties: object, definitions: object = {}) =>
  fillArguments({ type: 'object', properties, $defs: definitions }, 'Paris', '')

describe('arguments of the simulated model', () => {
  it('follow a reference inside anyOf, as in Optional[Model] of pydantic', () => {
    const place = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const filled = fill({ where: { anyOf: [{ $ref: '#/$defs/Place' }, { type: 'null' }] } }, { Place: place })
    expect(filled).toEqual({ where: { city: 'Paris' } })
  })

  it('end at circular references', () => {
    const circle = { A: { $ref: '#/$defs/B' }, B: { anyOf: [{ $ref: '#/$defs/A' }] } }
    expect(fill({ a: { $ref: '#/$defs/A' } }, circle)).toHaveProperty('a')
  })

  it('have as many items as minItems requires', () => {
    expect(fill({ list: { type: 'array', minItems: 3, items: { type: 'integer' } } }).list).toHaveLength(3)
  })

  it('include an only field that is a list even if it is optional, as in Iterable[Model] of instructor', () => {
    const place = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const tasks = { type: 'array', items: { $ref: '#/$defs/Place' } }
    const schema = { type: 'object', properties: { tasks }, required: [], $defs: { Place: place } }
    expect(fillArguments(schema, 'Paris', '')).toEqual({ tasks: [{ city: 'Paris' }] })
    const other = { type: 'object', properties: { city: { type: 'string' } }, required: [] }
    expect(fillArguments(other, 'Paris', '')).toEqual({})
  })

  it('stay within exclusive bounds', () => {
    const bounded = { type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 2 }
    const { inside, above, below } = fill({
      inside: bounded,
      above: { type: 'integer', exclusiveMinimum: 10 },
      below: { type: 'integer', exclusiveMaximum: 0 },
    })
    expect(inside).toBeGreaterThan(1)
    expect(inside).toBeLessThan(2)
    expect(above).toBeGreaterThan(10)
    expect(below).toBeLessThan(0)
  })
})
