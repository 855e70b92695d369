import { describe, expect, it } from 'vitest'
import { fillArguments } from '#gateway/simulated/arguments.ts'
import { placesBehind } from '#gateway/simulated/named-places.ts'

describe('a field name of a request', () => {
  it.each([
    ['100 KB of letters', 'a'.repeat(100_000)],
    ['100 KB of dashes', '-'.repeat(100_000)],
    ['what is special in patterns', '(a+)+$[\\'],
    ['nothing', ''],
  ])('is searched for literally, for example %s', (_, name) => {
    const text = `set ${name}: 12 and ${'a'.repeat(50_000)}!`
    expect(() => fillArguments({ properties: { [name]: { type: 'string' } } }, text, '')).not.toThrow()
  })

  it('is found in any case and with separated words, but only as whole words', () => {
    const text = 'Order ID is 12, my-order-id 13, reorder_id 14'
    expect([...placesBehind(text, 'order_id')]).toEqual([8, 27])
    expect([...placesBehind(text, 'order_id', true)]).toEqual([8])
  })

  it('is assigned the value that follows it', () => {
    const schema = { properties: { order_id: { type: 'string' }, n: { type: 'integer' } } }
    expect(fillArguments(schema, 'the order id is "A-1", n = 7', '')).toEqual({ order_id: 'A-1', n: 7 })
  })
})
