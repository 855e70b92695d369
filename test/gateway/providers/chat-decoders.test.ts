import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { completionOf } from '#gateway/providers/completion-of.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { runsByDay } from '#test/setup/at-night.ts'
import { anthropic, google } from '../call/wire-samples.ts'
import { decoded, failureCode, requestOf } from './format-harness.ts'

const samples = [anthropic, google] as const
const decoderOf = ({ id, model }: (typeof samples)[number]) =>
  requestOf(id === 'google' ? 'google' : 'anthropic', model).decoder()

/** The bytes in pieces that end at these positions. */
function pieces(bytes: Uint8Array, ends: readonly number[]): Uint8Array[] {
  const places = [0, ...[...ends].sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, at) => bytes.subarray(places[at], end))
}

describe.each(samples)('the decoder of $id', (sample) => {
  const streams = [sample.text, sample.calls, sample.tooShort].map((text) => Buffer.from(text))

  it('reads the same for a split at any byte', () => {
    for (const bytes of streams) {
      const whole = decoded(decoderOf(sample), [bytes])
      for (let at = 0; at <= bytes.length; at++) {
        expect(decoded(decoderOf(sample), pieces(bytes, [at]))).toEqual(whole)
      }
    }
  })

  it('reads the same for any pieces and any line ends', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...streams),
        fc.array(fc.nat(4_000), { maxLength: 40 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        (bytes, ends, newline) => {
          const text = Buffer.from(bytes.toString('utf8').replaceAll('\n', newline))
          const within = ends.map((end) => end % (text.length + 1))
          expect(decoded(decoderOf(sample), pieces(text, within))).toEqual(decoded(decoderOf(sample), [bytes]))
        },
      ),
      { numRuns: runsByDay(150) },
    )
  })

  it('never accepts a truncated stream as complete', () => {
    for (const bytes of streams) {
      const last = lastNeeded(sample, bytes)
      for (let at = 0; at < last; at++) {
        const decoder = decoderOf(sample)
        decoder.push(bytes.subarray(0, at))
        expect(failureCode(() => decoder.finish())).toBe('provider_stream_broken')
      }
    }
  })

  it.each([
    ['no JSON', () => sample.malformed, 'provider_stream_broken'],
    ['an error', () => sample.error, 'provider_unavailable'],
  ])('fails for a frame that is %s, for a split at any byte', (_, text, code) => {
    const bytes = Buffer.from(text())
    for (let at = 0; at <= bytes.length; at++) {
      expect(failureCode(() => decoded(decoderOf(sample), pieces(bytes, [at])))).toBe(code)
    }
  })

  it('rejects arbitrary bytes as a broken stream', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(failureCode(() => decoded(decoderOf(sample), [bytes]))).toBe('provider_stream_broken')
      }),
    )
  })

  it('rejects any JSON in place of events', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 5 }), (values) => {
        const text = values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('')
        expect(failureCode(() => decoded(decoderOf(sample), [Buffer.from(text)]))).not.toBeNull()
      }),
      { numRuns: runsByDay(300) },
    )
  })

  it('emits the role first and one finish reason last, followed by usage', () => {
    for (const bytes of streams) {
      const { chunks } = decoded(decoderOf(sample), [bytes])
      expect(chunks[0]).toMatchObject({ choices: [{ delta: { role: 'assistant' } }] })
      const reasons = chunks.filter((chunk) => finishOf(chunk) !== null)
      expect(reasons).toEqual([chunks.at(-2)])
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 27 } })
      expect(completionOf(chunks)).toMatchObject({ choices: [{ finish_reason: expect.any(String) }] })
    }
  })
})

const finishOf = (chunk: WireObject): unknown => {
  const choices = Array.isArray(chunk.choices) ? chunk.choices : []
  return choices[0]?.finish_reason ?? null
}

/** The length at which the stream is complete: the end of its last event. */
function lastNeeded(sample: (typeof samples)[number], bytes: Buffer): number {
  const last = sample.id === 'google' ? bytes.lastIndexOf('finishReason') : bytes.lastIndexOf('message_stop')
  return bytes.indexOf('\n\n', last) + 2
}
