import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameReader } from '#gateway/chat/frame-reader.ts'
import { delta, framesOf, goodStream, usageChunk } from './chat-world.ts'

/** The output of a reader for these parts. */
const read = (parts: readonly Buffer[], { hidesUsage = true, choices = 1 } = {}) => {
  let out = ''
  const shown = new TextDecoder('utf8', { fatal: true })
  const reader = new FrameReader(
    {
      frames: (bytes) => {
        // Every part is whole: no character and no frame is cut.
        const text = shown.decode(bytes)
        expect(text.endsWith('\n\n') || text.endsWith('\r\n\r\n')).toBe(true)
        out += text
        return true
      },
    },
    { hidesUsage, choices, costOf: () => null },
  )
  for (const part of parts) reader.push(part)
  return { out, end: reader.finish(), done: reader.done, tokens: reader.tokensSoFar }
}

const split = (text: string, places: readonly number[]): Buffer[] => {
  const bytes = Buffer.from(text)
  const cuts = [...new Set(places.map((place) => place % bytes.length))].sort((a, b) => a - b)
  return [0, ...cuts]
    .map((from, at) => bytes.subarray(from, cuts[at] ?? bytes.length))
    .filter((part) => part.length > 0)
}

const cuts = fc.array(fc.nat(), { maxLength: 40 })

describe('a reader of frames', () => {
  const shown = goodStream.replace(framesOf(usageChunk), '').replace(framesOf('[DONE]'), '')

  it('passes on and reads the same for any split of the bytes', () => {
    fc.assert(
      fc.property(cuts, fc.boolean(), (places, crlf) => {
        const form = (text: string) => (crlf ? text.replaceAll('\n', '\r\n') : text)
        const { out, end, done, tokens } = read(split(form(goodStream), places))
        expect(out).toBe(form(shown))
        expect(end).toEqual({
          model: 'model-1-2026',
          usage: { inputTokens: 12, outputTokens: 5, cachedTokens: 0, reasoningTokens: 0 },
          finishReason: 'stop',
        })
        expect([done, tokens]).toEqual([true, 4])
      }),
      { numRuns: 300 },
    )
  })

  it('passes on any text byte for byte', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 30 }), { minLength: 1 }), cuts, (texts, places) => {
        const chunks = texts.map((content) => delta({ role: 'assistant', content }))
        const text = framesOf(...chunks, delta({}, 'length'))
        const { out, end } = read(split(text, places))
        expect(out).toBe(text)
        expect(end.finishReason).toBe('length')
      }),
      { numRuns: 200 },
    )
  })

  it('keeps usage in the stream when the request set include_usage', () => {
    expect(read([Buffer.from(goodStream)], { hidesUsage: false }).out).toContain(framesOf(usageChunk))
  })

  it('keeps usage that comes in a chunk with text', () => {
    const both = { ...delta({ role: 'assistant', content: 'Hi' }), usage: usageChunk.usage }
    const text = framesOf(both, delta({}, 'stop'))
    expect(read([Buffer.from(text)]).out).toBe(text)
  })

  it('adds the missing role to the first chunk of each choice', () => {
    const text = framesOf(
      delta({ content: 'a' }),
      delta({ content: 'b' }, null, 1),
      delta({ content: 'c' }),
      delta({}, 'stop'),
    )
    const { out } = read([Buffer.from(text)], { choices: 2 })
    expect(out).toBe(
      framesOf(
        delta({ role: 'assistant', content: 'a' }),
        delta({ role: 'assistant', content: 'b' }, null, 1),
        delta({ content: 'c' }),
        delta({}, 'stop'),
      ),
    )
  })

  it('drops comments and a byte order mark of the provider', () => {
    const text = framesOf(delta({ role: 'assistant', content: 'a' }), delta({}, 'stop'))
    expect(read([Buffer.from(`\ufeff: PROCESSING\n\n${text}`)]).out).toBe(text)
  })

  it('rejects a frame that never ends', () => {
    const reader = new FrameReader({ frames: () => true }, { hidesUsage: true, choices: 1, costOf: () => null })
    const part = Buffer.alloc(1024 * 1024, 'x')
    expect(() => {
      for (let sent = 0; sent < 17; sent++) reader.push(part)
    }).toThrow()
  })
})
