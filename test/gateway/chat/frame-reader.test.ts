import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameReader } from '#gateway/chat/frame-reader.ts'
import { delta, framesOf, goodStream, usageChunk } from './chat-world.ts'

/** What comes out of a reader that is given these parts. */
const read = (parts: readonly Buffer[], { hidesUsage = true, choices = 1 } = {}) => {
  let out = ''
  const shown = new TextDecoder('utf8', { fatal: true })
  const reader = new FrameReader(
    {
      frames: (bytes) => {
        // every part is whole: no character is cut, and no frame
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

  it('hands on the same, and reads the same of it, wherever the network cuts', () => {
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

  it('hands on whatever text an answer has, byte for byte', () => {
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

  it('leaves usage in for whoever asked for it', () => {
    expect(read([Buffer.from(goodStream)], { hidesUsage: false }).out).toContain(framesOf(usageChunk))
  })

  it('hands a usage that comes with text on with it', () => {
    const both = { ...delta({ role: 'assistant', content: 'Hi' }), usage: usageChunk.usage }
    const text = framesOf(both, delta({}, 'stop'))
    expect(read([Buffer.from(text)]).out).toBe(text)
  })

  it('gives the first chunk of each choice the role that its provider left out', () => {
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

  it('keeps comments and other lines of the provider to itself while they come alone', () => {
    const text = framesOf(delta({ role: 'assistant', content: 'a' }), delta({}, 'stop'))
    expect(read([Buffer.from(`\ufeff: PROCESSING\n\n${text}`)]).out).toBe(text)
  })

  it('gives up a frame that never ends', () => {
    const reader = new FrameReader({ frames: () => true }, { hidesUsage: true, choices: 1, costOf: () => null })
    const part = Buffer.alloc(1024 * 1024, 'x')
    expect(() => {
      for (let sent = 0; sent < 17; sent++) reader.push(part)
    }).toThrow()
  })
})
