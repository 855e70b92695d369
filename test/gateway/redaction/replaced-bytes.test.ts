import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactChat } from '#gateway/redaction/chat-redaction.ts'
import { policyBy } from '#gateway/redaction/redaction-policy.ts'
import { replacedBytes } from '#gateway/redaction/replaced-bytes.ts'
import { objectOf } from '#outgoing/wire.ts'
import { defaultTypes } from '#specs/resources/gateway/redaction.ts'

const policy = policyBy({ types: defaultTypes, input: true, toolArguments: true, restore: true, region: 'US' })

/** The redacted body as bytes and as a document; `bytes` is null when it must be serialized again. */
const sent = async (json: string) => {
  const { body, replacements } = await redactChat(objectOf(JSON.parse(json)), policy)
  const bytes = replacements === undefined ? null : replacedBytes(Buffer.from(json), replacements)
  return { body, bytes: bytes === null ? null : Buffer.from(bytes).toString() }
}

const chat = (content: string, rest = '') => `{ "messages" : [{"role":"user",  "content":${content}}]${rest} }`

describe('a body with replaced values', () => {
  it('is otherwise unchanged byte for byte', async () => {
    const json = chat(
      '"Ada\\n\\"ada@example.com\\", +1 415 555 2671, again ada@example.com, 東京"',
      ', "temperature":1.0e0',
    )
    expect((await sent(json)).bytes).toBe(
      chat('"Ada\\n\\"[EMAIL_1]\\", [PHONE_1], again [EMAIL_1], 東京"', ', "temperature":1.0e0'),
    )
  })

  it.each([
    ['a value stands where nothing is replaced', chat('"ada@example.com"', ', "tools":[{"d":"ada@example.com"}]')],
    ['one value is a part of another', chat('"ada@example.com, x.ada@example.com"')],
    ['a letter of a value is written as a number', chat('"ada\\u0040example.com ada@example.com"')],
    [
      'a letter is, and the value stands elsewhere instead',
      chat('"ada\\u0040example.com"', ', "tools":[{"d":"ada@example.com"}]'),
    ],
    ['a slash has a backslash', chat('"https:\\/\\/ada:secret@example.com\\/"')],
    [
      'arguments of a tool are changed, which are JSON themselves',
      '{"messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\\"card\\":4111111111111111}"}}]}]}',
    ],
    ['there are many values', chat(JSON.stringify(Array.from({ length: 40 }, (_, at) => `a${at}@example.com`).join()))],
  ])('is serialized again when %s', async (_, json) => {
    expect(await sent(json)).toMatchObject({ bytes: null, body: expect.anything() })
  })

  it('is serialized again when its bytes are not valid UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"x'), Buffer.from([0xff]), Buffer.from('y x\ufffdy"}')])
    expect(replacedBytes(bytes, [{ value: 'x\ufffdy', placeholder: '[P]', times: 1 }])).toBeNull()
  })

  it('equals the redacted document for any texts around the values', async () => {
    const value = fc.constantFrom(
      ...[
        'ada@example.com',
        'bob@example.com',
        'b@example.com',
        '4111 1111 1111 1111',
        '+1 415 555 2671',
        '192.168.4.20',
      ],
      ...['https://ada:secret@example.com/a', 'josé@example.com', 'GB82 WEST 1234 5698 7654 32', '123-45-6789'],
    )
    const piece = fc.oneof(
      value,
      fc.string({ unit: 'grapheme', maxLength: 6 }),
      fc.constantFrom(' ', '\n', '"', '\\', '/', ','),
    )
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
    const body = fc.record({
      messages: fc.array(fc.record({ role: fc.constant('user'), content: text }), { maxLength: 3 }),
      user: text,
      tools: fc.array(fc.record({ description: text }), { maxLength: 1 }),
    })
    let spliced = 0
    await fc.assert(
      fc.asyncProperty(body, fc.constantFrom(undefined, 1), async (document, indent) => {
        const { body: redacted, bytes } = await sent(JSON.stringify(document, null, indent))
        if (bytes === null) return
        if (redacted.user !== document.user) spliced += 1
        expect(JSON.parse(bytes)).toEqual(redacted)
      }),
      { numRuns: 1000 },
    )
    expect(spliced).toBeGreaterThan(50)
  })
})
