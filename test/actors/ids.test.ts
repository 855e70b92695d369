import { describe, expect, it } from 'vitest'
import { idAt, isId, newId, timeOfId } from '../../src/actors/ids.ts'

describe('ids', () => {
  it('are a prefix and 26 lower-case characters', () => {
    expect(newId('ses')).toMatch(/^ses_[0-9a-hjkmnp-tv-z]{26}$/)
  })

  it('are different and sort in the order in which they were made', () => {
    const made = Array.from({ length: 10_000 }, () => newId('ses'))
    expect(new Set(made).size).toBe(made.length)
    expect([...made].sort()).toEqual(made)
  })

  it('tell their time', () => {
    expect(timeOfId(idAt('run', 1_700_000_000_123))).toBe(1_700_000_000_123)
    const before = Date.now()
    expect(timeOfId(newId('run'))).toBeGreaterThanOrEqual(before)
  })

  it('are told from what is none', () => {
    const id = newId('ten')
    expect([isId(id), isId(id, 'ten'), isId(id, 'te'), isId(id, 'agt')]).toEqual([true, true, false, false])
    for (const text of ['', 'ten_', id.toUpperCase(), `${id}0`, id.slice(0, -1), `${id.slice(0, -1)}u`, '__proto__'])
      expect(isId(text)).toBe(false)
    expect(timeOfId('ten_x')).toBeNull()
  })
})
