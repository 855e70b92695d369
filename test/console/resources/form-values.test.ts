import { describe, expect, it } from 'vitest'
import { bodyOf, changesOf, JsonDraft, labelOf } from '../../../console/resources/form-values.ts'
import type { Field } from '../../../console/resources/types.ts'

const fields: readonly Field[] = [
  { name: 'name', kind: 'text', required: true },
  { name: 'description', kind: 'long', nullable: true },
  { name: 'is_active', kind: 'flag' },
  { name: 'events', kind: 'choices', choices: ['a', 'b'] },
  { name: 'metadata', kind: 'json' },
  {
    name: 'config',
    kind: 'group',
    fields: [
      { name: 'max_tokens', kind: 'integer' },
      { name: 'expires_at', kind: 'time' },
      {
        name: 'tools',
        kind: 'items',
        variants: [
          { title: 'HttpTool', fixed: { type: 'http' }, fields: [{ name: 'url', kind: 'text' }] },
          { title: 'WebSearchTool', fixed: { type: 'web' }, fields: [] },
        ],
      },
    ],
  },
]

describe('the body that a form makes', () => {
  it('has the values of their types, and nothing that was left empty', () => {
    const values = {
      ...{ name: 'Ada', description: '', is_active: false, events: [], metadata: new JsonDraft('{"a": [1]}') },
      config: { max_tokens: '12', expires_at: '2026-11-28T10:00:00Z', tools: [{ type: 'http', url: 'u', old: '' }] },
    }
    expect(bodyOf(fields, values)).toEqual({
      ...{ name: 'Ada', is_active: false, metadata: { a: [1] } },
      config: { max_tokens: 12, expires_at: '2026-11-28T10:00:00.000Z', tools: [{ type: 'http', url: 'u' }] },
    })
  })

  it.each([
    [{ metadata: new JsonDraft('{') }, 'Metadata: this is not valid JSON.'],
    [{ config: { max_tokens: 'x' } }, 'Config max tokens: this is not a number.'],
    [{ config: { expires_at: 'soon' } }, 'Config expires at: this is not a time.'],
  ])('is refused with the name of the field: %o', (values, message) => {
    expect(() => bodyOf(fields, values)).toThrow(message)
  })

  it('of a change has only what changed, and null for what was emptied and may be', () => {
    const before = { name: 'Ada', description: 'Old', is_active: true, config: { max_tokens: 12 } }
    expect(changesOf(fields, { ...before, description: '', name: '' }, before)).toEqual({ description: null })
    expect(changesOf(fields, { ...before, config: { max_tokens: '13' } }, before)).toEqual({
      config: { max_tokens: 13 },
    })
    expect(changesOf(fields, before, before)).toEqual({})
  })

  it.each([
    ['max_tokens', 'Max tokens'],
    ['baseUrl', 'Base URL'],
    ['limit_usd', 'Limit USD'],
    ['HttpTool', 'Http tool'],
  ])('has labels in words: %s', (name, label) => {
    expect(labelOf(name)).toBe(label)
  })
})
