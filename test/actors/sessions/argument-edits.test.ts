import { describe, expect, it } from 'vitest'
import { editedArguments, editsBetween, maxEdits } from '#actors/sessions/argument-edits.ts'
import type { JsonObject } from '#storage/ports.ts'

const stored = {
  to: 'ada@example.com',
  api_key: 'hunter-4242',
  card: { text: 'pay with 4242 4242 4242 4242 today' },
  items: [{ sku: 'a' }, { sku: 'b', token: { inner: 1 } }],
}

const edited = (sent: JsonObject) => JSON.parse(editedArguments(sent, JSON.stringify(stored)))

describe('edited arguments', () => {
  it('keep the values that are sent back as shown, including masks', () => {
    const shown = {
      ...{ to: 'eve@example.com', api_key: '[masked]', card: { text: 'pay with [masked] today' } },
      items: [{ sku: 'a' }, { sku: 'c', token: '[masked]' }],
    }
    expect(edited(shown)).toEqual({
      ...stored,
      to: 'eve@example.com',
      items: [{ sku: 'a' }, { sku: 'c', token: { inner: 1 } }],
    })
  })

  it('may omit, add and replace values, including secrets', () => {
    expect(edited({ api_key: 'other-key', more: [1] })).toEqual({ api_key: 'other-key', more: [1] })
  })

  it.each([
    [{ to: '[masked]' }, 'arguments.to'],
    [{ card: { text: 'pay with [masked] tomorrow' } }, 'arguments.card.text'],
    [{ items: [{ sku: '[masked]' }] }, 'arguments.items.0.sku'],
    [{ other: { api_key: '[masked]' } }, 'arguments.other.api_key'],
  ])('refuse the mask in %j if it stands for no value', (sent, param) => {
    expect(() => edited(sent)).toThrow(
      expect.objectContaining({ code: 'invalid_field', details: expect.objectContaining({ param }) }),
    )
  })
})

describe('the edits of an action', () => {
  it('name each change by its path, with secrets masked on both sides', () => {
    const after = { to: 'eve@example.com', api_key: 'other-4242', card: stored.card, items: [{ sku: 'a' }], 'a/b~': 1 }
    expect(editsBetween(stored, after)).toEqual([
      { path: '/to', before: 'ada@example.com', after: 'eve@example.com' },
      { path: '/api_key', before: '[masked]', after: '[masked]' },
      { path: '/items', before: [{ sku: 'a' }, { sku: 'b', token: '[masked]' }], after: [{ sku: 'a' }] },
      { path: '/a~1b~0', after: 1 },
    ])
  })

  it('show nothing inside a masked value', () => {
    const [edit, ...more] = editsBetween({ token: { inner: 1 } }, { token: { inner: 2 } })
    expect([edit, more]).toEqual([{ path: '/token', before: '[masked]', after: '[masked]' }, []])
  })

  it('list no change for equal arguments, and at most a hundred changes', () => {
    expect(editsBetween(stored, stored)).toEqual([])
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, index]))
    expect(editsBetween({}, many)).toHaveLength(maxEdits)
  })
})
