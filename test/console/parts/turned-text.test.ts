import { describe, expect, it } from 'vitest'
import { jsonText, turns } from '../../../console/parts/turned-text.ts'

describe('a character that changes the text direction', () => {
  it.each(['\u202e', '\u2066', '\u200f', '\u061c', '\u202a'])('is detected and escaped in JSON: %j', (character) => {
    const value = { to: `a${character}b` }
    expect(turns(value.to)).toBe(true)
    const text = jsonText(value, 2)
    expect(turns(text)).toBe(false)
    expect(text).toContain(`\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    expect(JSON.parse(text)).toEqual(value)
  })

  it('is not found in text of right-to-left languages', () => {
    expect(turns('שלום')).toBe(false)
    expect(turns(7)).toBe(false)
    expect(jsonText({ a: 'שלום' })).toBe('{"a":"שלום"}')
  })
})
