import { describe, expect, it } from 'vitest'
import { compile } from '#specs/dsl/ajv.ts'
import { isAtLeast, isAtMost } from '#specs/dsl/text-length.ts'

const lone = '\ud83d'
const texts = [
  '',
  'a',
  'ab',
  'abc',
  'abcd',
  '😀',
  '😀😀',
  '😀a😀',
  '😀😀😀😀',
  `${lone}${lone}`,
  `${lone}a`,
  `a😀${lone}`,
]

describe('the length of a text', () => {
  it.each(texts)('of %j counts characters, with a surrogate pair as one', (text) => {
    const length = [...text].length
    for (const bound of [0, 1, 2, 3, 4, 5, 8]) {
      expect(isAtMost(text, bound)).toBe(length <= bound)
      expect(isAtLeast(text, bound)).toBe(length >= bound)
    }
  })

  it('is checked before the pattern', () => {
    const validate = compile({ type: 'string', minLength: 2, maxLength: 3, pattern: '^x' })
    const faultOf = (text: string) => (validate(text) ? null : validate.errors?.[0])
    expect(faultOf('aaaa')).toMatchObject({ keyword: 'maxLength', params: { limit: 3 } })
    expect(faultOf('a')).toMatchObject({ keyword: 'minLength', params: { limit: 2 } })
    expect(faultOf('aa')).toMatchObject({ keyword: 'pattern' })
    expect(faultOf('xa')).toBeNull()
  })
})
