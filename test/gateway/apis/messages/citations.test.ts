import { describe, expect, it } from 'vitest'
import { messageRequestOf } from '#gateway/apis/messages/message-request.ts'
import type { Restorer } from '#gateway/call/redaction.ts'
import type { Route } from '#gateway/call/routes.ts'
import { eventsOf } from '#gateway/providers/anthropic/anthropic-reader.ts'
import { portableBody } from '#gateway/providers/portable-body.ts'
import { redactChat } from '#gateway/redaction/chat-redaction.ts'
import type { ChatRestorer } from '#gateway/redaction/chat-restorer.ts'
import { policyBy } from '#gateway/redaction/redaction-policy.ts'
import { RestoredCitations } from '#gateway/redaction/restored-citations.ts'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { BodyOf } from '#specs/index.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'
import { decoded, requestOf, routeTo, sent, sse } from '#test/gateway/providers/format-harness.ts'
import { request, serving } from '../messages-world.ts'
import { responsesWorld } from '../responses-world.ts'

const model = 'claude-haiku-4-5'
const ada = 'ada@example.com'

const ofDocument = {
  ...{ type: 'char_location', cited_text: 'Grass is green.', document_index: 0, document_title: 'Lawn' },
  ...{ start_char_index: 0, end_char_index: 15, file_id: null },
}
const ofSearch = {
  ...{ type: 'web_search_result_location', cited_text: 'Sky.', url: 'https://sky.example', title: 'Sky' },
  encrypted_index: 'abc',
}
const search = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'sky' } }
const found = { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] }
const answer = [
  { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
  { type: 'text', text: 'I see: ' },
  { type: 'text', text: 'grass is green', citations: [ofDocument] },
  { type: 'text', text: '. Now ' },
  search,
  found,
  { type: 'text', text: 'the sky is blue', citations: [ofSearch, ofDocument] },
  { type: 'text', text: '.' },
]
const text = 'I see: grass is green. Now the sky is blue.'
const message = {
  id: 'm',
  type: 'message',
  model,
  content: answer,
  stop_reason: 'end_turn',
  usage: { input_tokens: 1 },
}

/** The answer as its provider streams it. */
const streamed = (content: readonly WireObject[]): Uint8Array =>
  sse(
    ...eventsOf({ ...message, content }).flatMap((event) => {
      const { citations, text: words, thinking, signature, input, ...block } = objectOf(event.content_block)
      if (event.type !== 'content_block_start') return [event]
      const delta = (fields: WireObject) => ({ type: 'content_block_delta', index: event.index, delta: fields })
      return [
        { ...event, content_block: { ...block, ...(words !== undefined && { text: '', citations: [] }) } },
        ...Array.from(textOf(words).matchAll(/.{1,5}/g), ([part]) => delta({ type: 'text_delta', text: part })),
        ...arrayOf(citations).map((citation) => delta({ type: 'citations_delta', citation })),
        ...(input === undefined ? [] : [delta({ type: 'input_json_delta', partial_json: JSON.stringify(input) })]),
        ...(thinking === undefined ? [] : [delta({ type: 'thinking_delta', thinking })]),
        ...(signature === undefined ? [] : [delta({ type: 'signature_delta', signature })]),
      ]
    }),
  )

const chunksOf = (content: readonly WireObject[] = answer) =>
  decoded(requestOf('anthropic', model).decoder(), [streamed(content)]).chunks
const choiceOf = (document: unknown) => objectOf(arrayOf(objectOf(document).choices)[0])
const deltasOf = (chunks: readonly WireObject[]) => chunks.map((chunk) => objectOf(choiceOf(chunk).delta))
const wholeMessage = (content: readonly WireObject[] = answer) =>
  objectOf(choiceOf(requestOf('anthropic', model).answer({ ...message, content }).completion).message)

describe('an answer that cites', () => {
  it.each([
    ['whole', () => [wholeMessage()]],
    ['streamed', () => deltasOf(chunksOf())],
  ])('is the same at the Messages API as at the provider, from one that is %s', async (_how, deltas) => {
    const { anthropic } = serving([{ deltas: deltas(), finishReason: 'stop' }], 'anthropic')
    expect((await anthropic.messages.create(request)).content).toEqual(answer)
    expect(JSON.parse(JSON.stringify((await anthropic.messages.stream(request).finalMessage()).content))).toEqual(
      answer,
    )
  })

  it('has the citations with their places in a chat completion, and those of addresses as annotations', () => {
    const placed = wholeMessage()
    expect(placed.content).toBe(text)
    const at = (part: string) => ({ start_index: text.indexOf(part), end_index: text.indexOf(part) + part.length })
    expect(placed.citations).toEqual([
      { ...ofDocument, ...at('grass is green') },
      { ...ofSearch, ...at('the sky is blue') },
      { ...ofDocument, ...at('the sky is blue') },
    ])
    const url_citation = { url: 'https://sky.example', title: 'Sky', ...at('the sky is blue') }
    expect(placed.annotations).toEqual([{ type: 'url_citation', url_citation }])
    const deltas = deltasOf(chunksOf())
    expect(deltas.flatMap(({ citations }) => arrayOf(citations))).toEqual(placed.citations)
    expect(deltas.flatMap(({ annotations }) => arrayOf(annotations))).toEqual(placed.annotations)
  })

  it('has annotations of the text of each item in a response, with their events', async () => {
    const thoughtful = [
      ...answer.slice(0, 4),
      { type: 'thinking', thinking: 'So.', signature: 'sig' },
      ...answer.slice(6),
    ]
    const { openai } = await responsesWorld([{ deltas: deltasOf(chunksOf(thoughtful)), finishReason: 'stop' }])
    const stream = openai.responses.stream({ model: 'model-1', input: 'hi' })
    const added: WireObject[] = []
    stream.on('event', (event) => {
      if (event.type === 'response.output_text.annotation.added') added.push(objectOf(event.annotation))
    })
    const { output } = await stream.finalResponse()
    const parts = output.flatMap((item) => (item.type === 'message' ? item.content : [])).map(objectOf)
    expect(parts.map((part) => part.text)).toEqual(['I see: grass is green. Now ', 'the sky is blue.'])
    expect(parts.flatMap(({ annotations }) => arrayOf(annotations))).toEqual(added)
    expect(added).toMatchObject([
      { type: 'file_citation', filename: 'Lawn', index: 21, start_index: 7, end_index: 21 },
      { type: 'url_citation', url: 'https://sky.example', start_index: 0, end_index: 15 },
      { type: 'file_citation', filename: 'Lawn', index: 15 },
    ])
  })
})

const policy = policyBy({
  ...{ types: ['email'], input: true, toolArguments: true, restore: true, region: 'US' },
})
const redacted = (body: WireObject) => {
  const made = redactChat(body, policy)
  if (made instanceof Promise) throw new Error('it was redacted elsewhere')
  return made
}
const restorer = (): ChatRestorer => {
  const { restorer: made } = redacted({ messages: [{ role: 'user', content: ada }] })
  if (made === null) throw new Error('nothing was replaced')
  return made
}

it('an answer about replaced data cites the data itself, at its place, whole and streamed', () => {
  const cited = { ...ofDocument, cited_text: 'Write to [EMAIL_1]!' }
  const content = [
    { type: 'text', text: 'Ask [EMAIL_1] ' },
    { type: 'text', text: 'or [EMAIL_1]', citations: [cited] },
    { type: 'text', text: ' now' },
  ]
  const full = `Ask ${ada} or ${ada} now`
  const start_index = full.indexOf('or ')
  const expected = { ...cited, cited_text: `Write to ${ada}!`, start_index, end_index: full.indexOf(' now') }
  const whole = choiceOf(atOnce(restorer().completion({ choices: [{ index: 0, message: wholeMessage(content) }] })))
  expect(whole.message).toMatchObject({ content: full, citations: [expected] })
  const stream = restorer()
  const deltas = deltasOf(chunksOf(content).map((chunk) => stream.chunk(chunk)))
  expect(deltas.map((delta) => textOf(delta.content)).join('')).toBe(full)
  expect(deltas.flatMap(({ citations }) => arrayOf(citations))).toEqual([expected])
  const last = deltas.findIndex(({ citations }) => arrayOf(citations).length > 0)
  expect(
    deltas
      .slice(0, last + 1)
      .map((delta) => textOf(delta.content))
      .join(''),
  ).toBe(full.slice(0, -4))
})

it('citations that a guardrail held back have places within the message of a response', async () => {
  const at = (start_index: number, end_index: number) => ({ ...ofDocument, start_index, end_index })
  const deltas = [
    { content: 'Grass.' },
    { reasoning_content: 'Hm.' },
    { content: 'Sky.', citations: [at(0, 6), at(6, 9)] },
  ]
  const { openai } = await responsesWorld([{ deltas, finishReason: 'stop' }])
  const { output } = await openai.responses.stream({ model: 'model-1', input: 'hi' }).finalResponse()
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : [])).map(objectOf)
  expect(parts.flatMap(({ annotations }) => arrayOf(annotations))).toMatchObject([
    { start_index: 0, end_index: 0, index: 0 },
    { start_index: 0, end_index: 3, index: 3 },
  ])
})

it('citations that a guardrail held back are of the text that was shown before', async () => {
  const at = (start_index: number, end_index: number) => ({ ...ofDocument, start_index, end_index })
  const held = { content: 'Sky is blue. Bye', citations: [at(0, 14), at(16, 27)] }
  const { anthropic } = serving(
    [{ deltas: [{ content: 'Grass is green. ' }, held], finishReason: 'stop' }],
    'anthropic',
  )
  expect((await anthropic.messages.stream(request).finalMessage()).content).toEqual([
    { type: 'text', text: 'Grass is green. ', citations: [ofDocument] },
    { type: 'text', text: 'Sky is blue', citations: [ofDocument] },
    { type: 'text', text: '. Bye' },
  ])
})

it('a title that names replaced data has it, also where the text has none', () => {
  const annotation = { type: 'url_citation', url_citation: { url: 'https://sky.example', title: 'By [EMAIL_1]' } }
  for (const field of [{ citations: [{ document_title: 'By [EMAIL_1]' }] }, { annotations: [annotation] }]) {
    const restoring = restorer().restoring({ choices: [{ index: 0, message: { content: 'Hi', ...field } }] })
    expect(JSON.stringify(restoring && atOnce(restoring))).toContain(`By ${ada}`)
  }
})

it('an answer is restored once for the places of all that it cites, in whatever order', () => {
  let restored = 0
  const counting: Restorer = {
    ...{ push: (part) => part, end: () => '', fork: () => counting },
    restore: (part) => {
      restored += part.length
      return part
    },
  }
  const cited = new RestoredCitations(counting)
  cited.add('a'.repeat(1000))
  const citations = Array.from({ length: 500 }, (_, at) => ({ start_index: 999 - at, end_index: 1000 }))
  expect(cited.fields({ citations })).toEqual({ citations })
  expect(restored).toBe(1000)
})

const conversation: BodyOf<'messages.create'>['messages'] = [
  {
    role: 'user',
    content: [
      {
        ...{ type: 'document', title: 'Lawn', context: `by ${ada}`, citations: { enabled: true } },
        ...{ source: { type: 'text', media_type: 'text/plain', data: `Grass is green, says ${ada}.` } },
        cache_control: { type: 'ephemeral' },
      },
      {
        ...{ type: 'document', citations: { enabled: true } },
        source: {
          type: 'content',
          content: [
            { type: 'text', text: 'One.' },
            { type: 'text', text: 'Two.' },
          ],
        },
      },
      {
        ...{ type: 'document', title: 'Page', citations: { enabled: true } },
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
      },
      {
        ...{ type: 'search_result', source: 'https://sky.example', title: 'Sky', citations: { enabled: true } },
        content: [
          { type: 'text', text: 'Sky.' },
          { type: 'text', text: 'Blue.' },
        ],
      },
      { type: 'text', text: 'What is green?' },
    ],
  },
  { role: 'assistant', content: answer },
  {
    role: 'user',
    content: [
      {
        ...{ type: 'tool_result', tool_use_id: 'call_1' },
        content: [{ type: 'search_result', source: 'kb', title: 'Base', content: [{ type: 'text', text: 'Known.' }] }],
      },
      { type: 'text', text: 'And now?' },
    ],
  },
]
const service = { tools: null, fields: [], betas: true }
const requested = (own: boolean) =>
  messageRequestOf({ model, max_tokens: 100, messages: conversation }, { service: own ? service : null, reasons: true })
    .body

describe('a request with what may be cited, and with citations of earlier answers', () => {
  it('reaches a provider of the Messages format as it was sent', () => {
    expect(sent('anthropic', model, requested(true)).messages).toEqual(conversation)
  })

  it('has no personal data in what is cited and how it is described', () => {
    const cited = {
      role: 'assistant',
      content: [{ type: 'text', text: 'x', citations: [{ ...ofDocument, cited_text: ada }] }],
    }
    const body = requested(true)
    const made = sent('anthropic', model, redacted({ ...body, messages: [...arrayOf(body.messages), cited] }).body)
    expect(JSON.stringify(made)).not.toContain(ada)
    expect(JSON.stringify(made)).toContain('"context":"by [EMAIL_1]"')
    const echoed = { role: 'assistant', content: 'x', citations: [{ ...ofDocument, cited_text: ada }] }
    expect(JSON.stringify(redacted({ messages: [echoed] }).body)).not.toContain(ada)
  })

  it('reaches a provider of another format as texts', () => {
    for (const body of [requested(false), portableBody(requested(true), openai)]) {
      const written = JSON.stringify(body)
      for (const only of ['anthropic_', 'citations', 'search_result']) expect(written).not.toContain(only)
      for (const part of ['Grass is green', 'Two.', 'Blue.', 'Known.', 'the sky is blue'])
        expect(written).toContain(part)
    }
  })
})

const openai: Route = { ...routeTo('anthropic', 'gpt-4o-mini'), format: 'openai', baseUrl: 'https://api.openai.com/v1' }

it('a chat completion continues with the blocks that its message had', () => {
  const { messages } = sent('anthropic', model, {
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', ...wholeMessage() },
      { role: 'user', content: 'more' },
    ],
  })
  expect(arrayOf(messages)[1]).toEqual({ role: 'assistant', content: answer })
})

it('a citation of a caller that reaches over many others is sent once', () => {
  const citations = Array.from({ length: 100 }, (_, at) => ({ start_index: at, end_index: 100 }))
  const { messages } = sent('anthropic', model, {
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'a'.repeat(100), citations },
      { role: 'user', content: 'more' },
    ],
  })
  const blocks = arrayOf(objectOf(arrayOf(messages)[1]).content).map(objectOf)
  expect(blocks.flatMap((block) => arrayOf(block.citations))).toHaveLength(100)
})

it('a file of a chat completion may be cited', () => {
  const file = { filename: 'Lawn', file_data: 'data:text/plain;base64,R3Jhc3M=' }
  const part = { type: 'file', file, citations: { enabled: true }, context: 'About lawns.' }
  const { messages } = sent('anthropic', model, { messages: [{ role: 'user', content: [part] }] })
  const document = { type: 'document', title: 'Lawn', citations: { enabled: true }, context: 'About lawns.' }
  const source = { type: 'text', media_type: 'text/plain', data: 'Grass' }
  expect(messages).toEqual([{ role: 'user', content: [{ ...document, source }] }])
})
