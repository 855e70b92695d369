import { describe, expect, it } from 'vitest'
import { endOfString } from '#outgoing/json-bytes.ts'

describe('the end of a JSON string', () => {
  const texts = [
    '',
    'a',
    '"',
    '\\',
    '"'.repeat(100),
    '\\'.repeat(101),
    `${'a'.repeat(31)}"`,
    `${'a'.repeat(32)}"b`,
    `${'a'.repeat(31)}\\`,
    `${'long '.repeat(50)}\\" and "${'more '.repeat(50)}\\\\`,
    '東京"\\'.repeat(40),
  ]
  it.each(texts)('is found after %j', (text) => {
    const bytes = Buffer.from(`${JSON.stringify(text)},"b"`)
    expect(endOfString(bytes, 1)).toBe(Buffer.byteLength(JSON.stringify(text)) - 1)
  })

  it.each(['', 'abc', 'abc\\"', `${'a'.repeat(40)}\\"`])(
    'is the end of the bytes if %j does not close the string',
    (text) => {
      expect(endOfString(Buffer.from(text), 0)).toBe(Buffer.byteLength(text))
    },
  )
})
