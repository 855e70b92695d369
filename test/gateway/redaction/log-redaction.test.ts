import { describe, expect, it } from 'vitest'
import { redactForLog } from '#gateway/redaction/log-redaction.ts'
import { piiTypes } from '#specs/resources/gateway/redaction.ts'
import { corpus } from './corpus.ts'

const base64 = (bytes: number) => Buffer.alloc(bytes, 'pixel').toString('base64')

describe('a redacted body of the request log', () => {
  it('is the same string when it has no personal data', () => {
    const body = JSON.stringify({
      model: 'm',
      max_tokens: 4096,
      created: 1763745600,
      id: 12345678901234567890n.toString(),
    })
    expect(redactForLog(body)).toBe(body)
  })

  it('contains no personal data and no keys of the corpus, as JSON and as text', () => {
    const lines = corpus(piiTypes)
    const asJson = redactForLog(JSON.stringify({ messages: lines.map(({ text }) => ({ content: text })) }))
    for (const { text, found } of lines) {
      for (const { value } of found) {
        expect(redactForLog(text)).not.toContain(value)
        expect(asJson).not.toContain(JSON.stringify(value).slice(1, -1))
      }
    }
    expect(() => JSON.parse(asJson)).not.toThrow()
  })

  it('contains the size of images, audio, files and other base64 instead of the data', () => {
    const body = JSON.stringify({
      url: `data:image/png;base64,${base64(12_345)}`,
      audio: `data:audio/wav;base64,${base64(1000)}`,
      file: `data:application/pdf;base64,${base64(1001)}`,
      image_base64: base64(500),
      short: 'aGVsbG8gd29ybGQ=',
    })
    expect(JSON.parse(redactForLog(body))).toEqual({
      url: '[IMAGE 12345 bytes]',
      audio: '[AUDIO 1000 bytes]',
      file: '[FILE 1001 bytes]',
      image_base64: '[BASE64 500 bytes]',
      short: 'aGVsbG8gd29ybGQ=',
    })
  })

  it('contains no values of fields with secret names, also within tool arguments', () => {
    const body = JSON.stringify({
      password: 'hunter"2\\',
      'x-api-key': 'abc',
      max_tokens: 12,
      token: 'a word of a text',
      arguments: JSON.stringify({ client_secret: 'p"\\w', user: 'ada' }),
    })
    expect(JSON.parse(redactForLog(body))).toEqual({
      password: '[SECRET]',
      'x-api-key': '[SECRET]',
      max_tokens: 12,
      token: 'a word of a text',
      arguments: '{"client_secret":"[SECRET]","user":"ada"}',
    })
  })

  it('is JSON after a card number was replaced, and keeps every other number exactly', () => {
    expect(redactForLog('{"card":4242424242424242,"n":12345678901234567890,"x":1e3}')).toBe(
      '{"card":"[CARD_1]","n":12345678901234567890,"x":1e3}',
    )
  })

  it('is redacted when it is truncated or consists of events', () => {
    expect(redactForLog('{"messages":[{"content":"I am ada@example.com, and my pass')).toBe(
      '{"messages":[{"content":"I am [EMAIL_1], and my pass',
    )
    expect(redactForLog('data: {"delta":"ada@example.com"}\n\ndata: [DONE]\n\n')).toBe(
      'data: {"delta":"[EMAIL_1]"}\n\ndata: [DONE]\n\n',
    )
  })
})
