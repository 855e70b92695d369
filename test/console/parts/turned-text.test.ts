import { describe, expect, it } from 'vitest'
import { jsonText, turns } from '../../../console/parts/turned-text.js'

describe('text that turns what is around it', () => {
  it.each(['\u202e', '\u2066', '\u200f', '\u061c', '\u202a'])(
    'is found and shown as its escape in JSON: %j',
    (character) => {
      const value = { to: `a${character}b` }
      expect(turns(value.to)).toBe(true)
      const text = jsonText(value, 2)
      expect(turns(text)).toBe(false)
      expect(text).toContain(`\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
      expect(JSON.parse(text)).toEqual(value)
    },
  )

  it('is no text of languages that are written from right to left', () => {
    expect(turns('שלום')).toBe(false)
    expect(turns(7)).toBe(false)
    expect(jsonText({ a: 'שלום' })).toBe('{"a":"שלום"}')
  })
})
