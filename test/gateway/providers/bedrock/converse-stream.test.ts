import { describe, expect, it } from 'vitest'
import type { Route } from '#gateway/call/routes.ts'
import { bedrock } from '#gateway/providers/bedrock/bedrock-format.ts'
import { frame } from '#test/support/clouds/bedrock-server.ts'
import { decoded, failureCode, hello } from '../format-harness.ts'

const route: Route = {
  ...{ model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0', provider: 'bedrock', format: 'bedrock', baseUrl: '' },
  ...{ apiKey: 'key', source: 'byok', connectionId: 'pvc_1' },
}
const decoder = () => {
  const made = bedrock.chat?.request(hello, route, true).decoder()
  if (made === undefined) throw new Error('no chat')
  return made
}
const event = (type: string, payload: object) => frame({ ':event-type': type, ':message-type': 'event' }, payload)
const exception = (type: string) => frame({ ':message-type': 'exception', ':exception-type': type }, { message: 'No.' })
const at = { contentBlockIndex: 0 }
const frames = [
  event('messageStart', { role: 'assistant' }),
  event('contentBlockDelta', { ...at, delta: { text: 'Hello' } }),
  event('contentBlockStop', at),
  event('messageStop', { stopReason: 'end_turn' }),
  event('metadata', { usage: { inputTokens: 3, outputTokens: 2 } }),
]
const whole = Buffer.concat(frames)
const failureOf = (...parts: readonly Buffer[]) => failureCode(() => decoded(decoder(), parts))

describe('an answer of ConverseStream', () => {
  it('is whole with its last byte, and broken by an end before any other', () => {
    expect(decoded(decoder(), [whole]).end).toMatchObject({ finishReason: 'stop', usage: { inputTokens: 3 } })
    for (let length = 0; length < whole.length; length++)
      expect(failureOf(whole.subarray(0, length)), `after ${length} bytes`).toBe('provider_stream_broken')
  })

  it.each([
    ['throttlingException', 'provider_rate_limited'],
    ['serviceUnavailableException', 'provider_unavailable'],
    ['modelStreamErrorException', 'provider_error'],
    ['validationException', 'provider_error'],
    ['__proto__', 'provider_error'],
  ])('fails by an exception %s, wherever it comes before the end', (type, code) => {
    for (let place = 0; place < frames.length; place++)
      expect(failureOf(Buffer.concat(frames.toSpliced(place, 0, exception(type)))), `before frame ${place}`).toBe(code)
  })

  it('fails by frames out of order, of unknown kinds, or without their fields', () => {
    const [start, delta, stop, messageStop, metadata] = frames
    if (!start || !delta || !stop || !messageStop || !metadata) throw new Error('no frames')
    expect(failureOf(start, delta, stop, metadata)).toBe('provider_stream_broken')
    expect(failureOf(start, delta, stop, messageStop)).toBe('provider_stream_broken')
    expect(failureOf(frame({ ':event-type': 'messageStart' }, {}))).toBe('provider_error')
    expect(failureOf(start, frame({ ':event-type': 'metadata', ':message-type': 'event' }, []))).toBe(
      'provider_stream_broken',
    )
    expect(
      failureOf(start, event('contentBlockDelta', { ...at, delta: null }), delta, stop, messageStop, metadata),
    ).toBeNull()
  })

  it.each([
    [{ web: { url: 'https://a.example/' } }, { type: 'web_search_result_location', url: 'https://a.example/' }],
    [
      { documentPage: { documentIndex: 1, start: 2, end: 3 } },
      { type: 'page_location', document_title: 'A', document_index: 1, start_page_number: 2, end_page_number: 3 },
    ],
    [
      { searchResultLocation: { searchResultIndex: 1, start: 0, end: 1 } },
      { type: 'search_result_location', search_result_index: 1, start_block_index: 0, end_block_index: 1, source: 's' },
    ],
  ])('has its citations of %j, streamed and whole', (location, expected) => {
    const citation = { title: 'A', source: 's', sourceContent: [{ text: 'so' }], location }
    const cited = { citations: [{ ...expected, cited_text: 'so', start_index: 0, end_index: 5 }] }
    const streamed = decoded(decoder(), [
      ...frames.slice(0, 2),
      event('contentBlockDelta', { ...at, delta: { citation } }),
      ...frames.slice(2),
    ])
    expect(streamed.chunks[2]).toMatchObject({ choices: [{ delta: cited }] })
    const content = [{ citationsContent: { content: [{ text: 'Hello' }], citations: [citation] } }]
    const answer = { output: { message: { content } }, stopReason: 'end_turn', usage: {} }
    expect(bedrock.chat?.request(hello, route, false).answer(answer)).toMatchObject({
      completion: { choices: [{ message: { content: 'Hello', ...cited } }] },
    })
  })

  it('gives text whatever a block has in its place', () => {
    for (const text of [1, {}, [], null, true]) {
      const { chunks } = decoded(decoder(), [
        frames[0] ?? whole,
        event('contentBlockDelta', { ...at, delta: { text } }),
        ...frames.slice(2),
      ])
      expect(JSON.stringify(chunks)).not.toMatch(/"content":(?!"|null)/)
    }
  })
})
