import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineReader, LineTooLong } from '#transport/peers/line-reader.ts'

const read = (parts: readonly Buffer[], maxBytes = 1000): readonly string[] => {
  const reader = new LineReader(maxBytes)
  const lines: string[] = []
  for (const part of parts) reader.push(part, (line) => lines.push(line))
  return lines
}

describe('lines', () => {
  it('are the same wherever their bytes are split', () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll('\n', ''))
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat({ max: 400 })), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''))
        const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length]
        expect(read(at.slice(1).map((end, i) => bytes.subarray(at[i], end)))).toEqual(lines)
      }),
    )
  })

  it('have at most the allowed number of bytes', () => {
    expect(read([Buffer.from('1234\n'), Buffer.from('12'), Buffer.from('34\n')], 4)).toEqual(['1234', '1234'])
    for (const parts of [['12345\n'], ['123', '45\n'], ['123', '45'], ['12345']])
      expect(
        () =>
          read(
            parts.map((part) => Buffer.from(part)),
            4,
          ),
        parts.join('|'),
      ).toThrow(LineTooLong)
  })
})
