import { describe, expect, it } from 'vitest'
import { arrayOf, objectOf, type WireObject } from '#outgoing/wire.ts'
import { decoded, requestOf, sent, sse } from '#test/gateway/providers/format-harness.ts'
import { framesIn } from './form-server.ts'
import { serving as geminiWorld, saysHi } from './gemini/gemini-world.ts'
import { serving as messagesWorld, request } from './messages-world.ts'
import { responsesWorld } from './responses-world.ts'

const [before, cited, after] = ['Zürich 🏔 says: ', 'Grüße, 14 °C', '. Bye']
const text = before + cited + after
const bytes = (part: string) => Buffer.byteLength(part)
const place = { start_index: before.length, end_index: before.length + cited.length }
const segment = { startIndex: bytes(before), endIndex: bytes(before + cited), text: cited }
const groundingMetadata = {
  webSearchQueries: ['zürich'],
  groundingChunks: [
    { web: { uri: 'https://a.example/', title: 'A' } },
    { retrievedContext: { uri: 'gs://b/notes.txt', title: 'Notes', text: 'It is 14 °C.' } },
  ],
  groundingSupports: [{ segment, groundingChunkIndices: [0, 1, 7], confidenceScores: [0.9, 0.8] }],
}
const candidate = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...more }],
})
const ended = { finishReason: 'STOP', groundingMetadata }

const messageIn = (answer: unknown) =>
  objectOf(objectOf(arrayOf(requestOf('google', 'm').answer(answer).completion.choices)[0]).message)
const streamed = (...events: readonly object[]) =>
  decoded(requestOf('google', 'm').decoder(), [sse(...events.map(objectOf))]).chunks.map((chunk) =>
    objectOf(objectOf(arrayOf(chunk.choices)[0]).delta),
  )
const whole = [messageIn(candidate([{ text }], ended))]
const inParts = streamed(
  candidate([{ text: 'hm', thought: true }]),
  candidate([{ text: before + cited.slice(0, 3) }]),
  candidate([{ text: cited.slice(3) + after }]),
  candidate([{ text: '' }], ended),
)
const url_citation = { url: 'https://a.example/', title: 'A', ...place }
const script = (deltas: readonly WireObject[]) => [{ deltas, finishReason: 'stop' }]

describe.each([
  ['whole', whole],
  ['streamed', inParts],
])("what Google's answer cites, from one that is %s", (_how, deltas) => {
  it('is in a chat completion with its places in characters', () => {
    expect(deltas.flatMap(({ annotations }) => arrayOf(annotations))).toEqual([{ type: 'url_citation', url_citation }])
    expect(deltas.flatMap(({ citations }) => arrayOf(citations))).toMatchObject([
      { type: 'web_search_result_location', url: 'https://a.example/', ...place },
      { type: 'search_result_location', title: 'Notes', cited_text: 'It is 14 °C.', ...place },
    ])
  })

  it('is in a message, whole and streamed', async () => {
    const { anthropic } = messagesWorld(script(deltas))
    const { content } = await anthropic.messages.create(request)
    const texts = content.filter(({ type }) => type === 'text').map(objectOf)
    expect(texts.map(({ text: part }) => part).join('')).toBe(text)
    expect(texts.find(({ text: part }) => part === cited)?.citations).toMatchObject([
      { title: 'A' },
      { title: 'Notes' },
    ])
    const final = await anthropic.messages.stream(request).finalMessage()
    expect(final.content.flatMap((block) => arrayOf(objectOf(block).citations))).toMatchObject([
      { title: 'A' },
      { title: 'Notes' },
    ])
  })

  it('is in a response with its places', async () => {
    const { openai } = await responsesWorld(script(deltas))
    const { output } = await openai.responses.stream({ model: 'model-1', input: 'hi' }).finalResponse()
    const annotations = output.flatMap((item) => arrayOf(objectOf(arrayOf(objectOf(item).content)[0]).annotations))
    expect(annotations).toMatchObject([
      { type: 'url_citation', ...url_citation },
      { type: 'file_citation', filename: 'Notes' },
    ])
  })

  it.each(['generateContent', 'streamGenerateContent'])('is in %s as Google reported it', async (method) => {
    const { generate } = geminiWorld(script(deltas))
    const { json, text: frames } = await generate(saysHi, method)
    const answer = method === 'generateContent' ? json : framesIn(frames).at(-1)
    expect(answer.candidates[0].groundingMetadata.groundingSupports[0].segment).toEqual(segment)
    expect(answer.candidates[0].groundingMetadata.groundingChunks[0]).toEqual(groundingMetadata.groundingChunks[0])
  })
})

it('a segment of a later part has its place in the whole text', () => {
  const support = { segment: { partIndex: 2, startIndex: 0, endIndex: 3 }, groundingChunkIndices: [0] }
  const grounded = { ...ended, groundingMetadata: { ...groundingMetadata, groundingSupports: [support] } }
  const { annotations } = messageIn(
    candidate([{ text: 'Hé, ' }, { text: 'hm', thought: true }, { text: 'üx?' }], grounded),
  )
  expect(annotations).toMatchObject([{ url_citation: { start_index: 4, end_index: 6 } }])
})

it('citations of sources that are missing, and places outside of the text, break no answer', () => {
  const groundingSupports = [{ segment: { startIndex: -4, endIndex: 1e9 }, groundingChunkIndices: [0] }, {}, 'x', null]
  const { content, annotations } = messageIn(
    candidate([{ text: 'Hi' }], { ...ended, groundingMetadata: { ...groundingMetadata, groundingSupports } }),
  )
  expect([content, annotations]).toMatchObject(['Hi', [{ url_citation: { start_index: 0, end_index: 2 } }]])
})

it("Anthropic gets no citation back that Google's model made", () => {
  const citations = arrayOf(objectOf(whole[0]).citations)
  const messages = [{ role: 'assistant', content: text, citations }]
  expect(JSON.stringify(sent('anthropic', 'claude-haiku-4-5', { messages }))).not.toContain('encrypted_index')
})
