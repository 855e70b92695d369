import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SseDecoder, SseEventTooLarge } from '#outgoing/sse-decoder.ts'

type Decoded = readonly [data: string, event: string]

const decode = (chunks: readonly Uint8Array[]): Decoded[] => {
  const events: Decoded[] = []
  const decoder = new SseDecoder((data, event) => events.push([data, event]))
  for (const chunk of chunks) decoder.push(chunk)
  return events
}

const whole = (text: string): Decoded[] => decode([Buffer.from(text)])

const cutAt = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const sorted = [0, ...[...places].sort((a, b) => a - b), bytes.length]
  return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end))
}

describe('the decoder of event streams', () => {
  it('returns data with the name of its event', () => {
    expect(whole('event: delta\ndata: one\n\ndata:two\n\n')).toEqual([
      ['one', 'delta'],
      ['two', ''],
    ])
  })

  it('joins several data lines of one event with line feeds', () => {
    expect(whole('data: a\ndata:\ndata\ndata:  b\n\n')).toEqual([['a\n\n\n b', '']])
  })

  it.each(['\n', '\r\n', '\r'])('treats %j as a line end', (end) => {
    expect(whole(`data: a${end}${end}data: b${end}${end}`)).toEqual([
      ['a', ''],
      ['b', ''],
    ])
  })

  it('treats CR and LF in different chunks as one line end', () => {
    const parts = ['data: a\r', '\n', '\r', '\ndata: b\r\n\r\n'].map((part) => Buffer.from(part))
    expect(decode(parts).map(([data]) => data)).toEqual(['a', 'b'])
  })

  it('ignores comments, unknown fields and a byte order mark', () => {
    expect(whole('\uFEFF: hello\nid: 7\nretry: 3\nwhat: ever\ndata: x\n\n')).toEqual([['x', '']])
  })

  it('drops an incomplete event at the end of the stream', () => {
    expect(whole('data: a\n\ndata: b\n')).toEqual([['a', '']])
  })

  it('returns no event without data', () => {
    expect(whole('\n\n\nevent: x\n\n')).toEqual([])
  })

  it('refuses an event that exceeds its limit', () => {
    const decoder = new SseDecoder(() => {}, 100)
    const push = (): void => {
      for (let i = 0; i < 20; i++) decoder.push(Buffer.from('data: 0123456789\n'))
    }
    expect(push).toThrow(SseEventTooLarge)
  })

  it('returns the same events wherever the bytes are split', () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replace(/[\r\n]/g, ' '))
    const event = fc.record({
      lines: fc.array(line, { minLength: 1, maxLength: 3 }),
      end: fc.constantFrom('\n', '\r\n', '\r'),
    })
    const cuts = fc.array(fc.nat(400), { maxLength: 12 })
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), cuts, (events, places) => {
        const text = events.map(({ lines, end }) => lines.map((data) => `data: ${data}${end}`).join('') + end).join('')
        const bytes = Buffer.from(text)
        const expected = events.map(({ lines }) => [lines.join('\n'), ''])
        expect(
          decode(
            cutAt(
              bytes,
              places.map((place) => Math.min(place, bytes.length)),
            ),
          ),
        ).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })
})
