import { describe, expect, it } from 'vitest'
import { arrayOf, objectOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { gemini } from '#specs/resources/gateway/gemini.ts'
import { declaredAnswer, framesIn } from '../form-server.ts'
import { calling, saying } from '../scripted-chat.ts'
import { saysHi, serving } from './gemini-world.ts'

const checked = declaredAnswer(gemini['gemini.generate'])
const called = { deltas: calling(0, 'call_1', 'look_up', '{"q":', '1}'), finishReason: 'tool_calls' }
const functionCall = { id: 'call_1', name: 'look_up', args: { q: 1 } }

describe('generateContent', () => {
  it('answers with text, why it ended, and usage with its cost', async () => {
    const { generate, chat } = serving([{ deltas: saying('Hello', ' there.') }])
    const { status, json } = await generate({ ...saysHi, systemInstruction: { parts: [{ text: 'Be short.' }] } })
    expect(status).toBe(200)
    expect(json).toEqual({
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hello there.' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: {
        ...{ promptTokenCount: 7, candidatesTokenCount: 4, totalTokenCount: 12, thoughtsTokenCount: 1 },
        ...{ cachedContentTokenCount: 2, cost_usd: 0.000123 },
      },
      modelVersion: 'model-1-2026',
      responseId: 'chatcmpl-1',
    })
    expect(checked(json)).toBeNull()
    expect(chat.last.messages).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'hi' },
    ])
  })

  it.each(['generateContent', 'streamGenerateContent'])(
    'answers %s with what the text cites, in bytes',
    async (method) => {
      const place = { start_index: 3, end_index: 5 }
      const url_citation = { ...place, url: 'https://a.example/', title: 'A' }
      const cited = {
        annotations: [{ type: 'url_citation', url_citation }],
        citations: [{ type: 'page_location', document_title: 'B', cited_text: 'so', ...place }],
      }
      const { generate } = serving([{ deltas: [...saying('Hé', ' you'), cited] }])
      const { json, text } = await generate(saysHi, method)
      if (method === 'generateContent') expect(checked(json)).toBeNull()
      const segment = { startIndex: 4, endIndex: 6, text: 'yo' }
      expect(method === 'generateContent' ? json : framesIn(text).at(-1)).toMatchObject({
        candidates: [
          {
            groundingMetadata: {
              groundingChunks: [
                { web: { uri: 'https://a.example/', title: 'A' } },
                { retrievedContext: { title: 'B', text: 'so' } },
              ],
              groundingSupports: [
                { segment, groundingChunkIndices: [0] },
                { segment, groundingChunkIndices: [1] },
              ],
            },
          },
        ],
      })
    },
  )

  it('takes the model with slashes and colons from the path, under both versions of the API', async () => {
    const { send, chat } = serving([{ deltas: saying('Hello') }])
    for (const version of ['v1beta', 'v1']) {
      await send(`/${version}/models/meta-llama/llama-4:free:generateContent`, saysHi)
      expect(chat.last.model).toBe('meta-llama/llama-4:free')
    }
  })

  it('translates functions, their calls and results, in camel and in snake case', async () => {
    const { generate, chat } = serving([called])
    const parameters = {
      type: 'OBJECT',
      properties: {
        q: { type: 'INTEGER', nullable: true },
        tags: { type: 'ARRAY', items: { type: 'STRING' }, minItems: '1' },
      },
      propertyOrdering: ['q'],
    }
    const declarations = [{ name: 'look_up', description: 'Looks up.', parameters }, { name: 'other' }]
    const { json } = await generate({
      contents: [
        ...saysHi.contents,
        {
          role: 'model',
          parts: [{ thought: true, text: 'Hmm.' }, { function_call: { name: 'look_up', args: { q: 0 } } }],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'look_up', response: { output: 'found' } } }] },
      ],
      tools: [{ function_declarations: declarations }],
      tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['look_up'] } },
    })
    expect(json).toMatchObject({ candidates: [{ content: { parts: [{ functionCall }] }, finishReason: 'STOP' }] })
    expect(chat.last).toMatchObject({
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: null, tool_calls: [{ function: { name: 'look_up', arguments: '{"q":0}' } }] },
        { role: 'tool', content: 'found' },
      ],
      tools: [
        {
          function: {
            name: 'look_up',
            parameters: {
              type: 'object',
              properties: {
                q: { type: ['integer', 'null'] },
                tags: { type: 'array', items: { type: 'string' }, minItems: 1 },
              },
            },
          },
        },
      ],
      tool_choice: 'required',
    })
    expect(chat.last).toMatchObject({
      messages: [{}, { tool_calls: [{ id: 'call_own_0' }] }, { tool_call_id: 'call_own_0' }],
    })
  })

  it('gives each of two equal calls its own result, in their order', async () => {
    const { generate, chat } = serving([{ deltas: saying('Done') }])
    const call = { functionCall: { name: 'look_up', args: {} } }
    const result = (output: string) => ({ functionResponse: { name: 'look_up', response: { output } } })
    await generate({
      contents: [...saysHi.contents, { role: 'model', parts: [call, call] }, { parts: [result('one'), result('two')] }],
    })
    const { messages } = chat.last
    expect(messages).toMatchObject([{}, { tool_calls: [{ id: 'call_own_0' }, { id: 'call_own_1' }] }, {}, {}])
    expect(messages).toMatchObject([
      {},
      {},
      { tool_call_id: 'call_own_0', content: 'one' },
      { tool_call_id: 'call_own_1', content: 'two' },
    ])
  })

  it('shows the images of a result after it, in camel and in snake case', async () => {
    const { generate, chat } = serving([{}])
    const call = (name: string) => ({ functionCall: { id: name, name, args: {} } })
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }
    const { status } = await generate({
      contents: [
        ...saysHi.contents,
        { role: 'model', parts: [call('one'), call('two')] },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'one', name: 'one', response: { output: 'seen' }, parts: [image] } },
            {
              function_response: {
                ...{ id: 'two', name: 'two', response: { output: 'too' } },
                parts: [{ inline_data: { mime_type: 'image/jpeg', data: 'BBBB' } }],
              },
            },
          ],
        },
      ],
    })
    expect(status).toBe(200)
    expect(arrayOf(chat.last.messages).slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'one', name: 'one', content: 'seen' },
      { role: 'tool', tool_call_id: 'two', name: 'two', content: 'too' },
      {
        role: 'user',
        content: ['data:image/png;base64,AAAA', 'data:image/jpeg;base64,BBBB'].map((url) => ({
          ...{ type: 'image_url', image_url: { url } },
        })),
      },
    ])
  })

  it('lets a schema that may be null be null where it lists its values or forms', async () => {
    const { generate, chat } = serving([{}])
    const responseSchema = {
      type: 'OBJECT',
      properties: {
        size: { type: 'STRING', enum: ['s', 'l'], nullable: true },
        id: { anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }], nullable: true },
      },
    }
    await generate({ ...saysHi, generationConfig: { responseMimeType: 'application/json', responseSchema } })
    expect(objectOf(objectOf(chat.last.response_format).json_schema).schema).toEqual({
      type: 'object',
      properties: {
        size: { type: ['string', 'null'], enum: ['s', 'l', null] },
        id: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
      },
    })
  })

  it('translates media, sampling, and a schema of the answer', async () => {
    const { generate, chat } = serving([{ deltas: saying('{}') }])
    const parts = [
      { text: 'look' },
      { inlineData: { mimeType: 'image/png', data: 'aGk=' } },
      { fileData: { mimeType: 'application/pdf', fileUri: 'https://example.com/a.pdf' } },
      { inlineData: { mimeType: 'audio/wav', data: 'aGk=' } },
    ]
    const generationConfig = {
      ...{ temperature: 0.5, topP: 0.9, topK: 10, maxOutputTokens: 50, stopSequences: ['END'], seed: 7 },
      ...{
        responseMimeType: 'application/json',
        responseSchema: { type: 'STRING' },
        thinkingConfig: { thinkingBudget: 2_000 },
      },
    }
    await generate({ contents: [{ role: 'user', parts }], generationConfig })
    expect(chat.last).toEqual({
      model: 'model-1',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
            { type: 'file', file: { filename: 'document.pdf', file_url: 'https://example.com/a.pdf' } },
            { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } },
          ],
        },
      ],
      ...{
        max_tokens: 50,
        stop: ['END'],
        temperature: 0.5,
        top_p: 0.9,
        top_k: 10,
        seed: 7,
        reasoning_effort: 'medium',
      },
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'string' } } },
    })
    expect(chat.received[0]?.need).toBe('vision')
  })

  it('sends what only Google understands to Google, and drops and names it for others', async () => {
    const own = {
      ...saysHi,
      tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: 'look_up' }] }],
      safetySettings: [{ category: 'HARM_CATEGORY_HATE_SPEECH', threshold: 'BLOCK_NONE' }],
      generationConfig: { thinkingConfig: { thinkingBudget: 5, includeThoughts: true } },
    }
    const google = serving([{ deltas: saying('Hello') }], { format: 'google', provider: 'google' })
    expect((await google.generate(own)).headers['x-ignored-tools']).toBeUndefined()
    expect(google.chat.last).toMatchObject({
      google_request: {
        tools: [{ googleSearch: {} }],
        safetySettings: own.safetySettings,
        thinkingConfig: own.generationConfig.thinkingConfig,
      },
    })
    expect(google.chat.last).not.toHaveProperty('reasoning_effort')
    const other = serving([{ deltas: saying('Hello') }])
    expect((await other.generate(own)).headers['x-ignored-tools']).toBe('googleSearch')
    expect(other.chat.last).not.toHaveProperty('google_request')
    expect(other.chat.last).toMatchObject({ tools: [{}], reasoning_effort: 'low' })
  })

  it('shows thoughts only to who wants them', async () => {
    const deltas = [{ reasoning_content: 'Hmm.' }, ...saying('Hello')]
    const { generate } = serving([{ deltas }])
    const parts = async (includeThoughts: boolean, method: string) => {
      const answer = await generate({ ...saysHi, generationConfig: { thinkingConfig: { includeThoughts } } }, method)
      return JSON.stringify(answer.json ?? framesIn(answer.text))
    }
    for (const method of ['generateContent', 'streamGenerateContent']) {
      expect(await parts(true, method)).toContain('"thought":true')
      expect(await parts(false, method)).not.toContain('Hmm.')
    }
  })

  it.each([
    [{}, 'contents'],
    [{ contents: [] }, 'contents'],
    [{ contents: [{ role: 'system', parts: [{ text: 'x' }] }] }, 'contents[0].role'],
    [{ contents: [{ parts: [{ executableCode: { code: '1' } }] }] }, 'contents[0].parts[0]'],
    [{ contents: [{ parts: [{ inlineData: { data: 'aGk=' } }] }] }, 'contents[0].parts[0].inlineData.mimeType'],
    [
      { contents: [{ parts: [{ inlineData: { mimeType: 'image/png\r\nx', data: 'aGk=' } }] }] },
      'contents[0].parts[0].inlineData.mimeType',
    ],
    [
      { contents: [{ parts: [{ functionResponse: { name: 'f', response: {} } }] }] },
      'contents[0].parts[0].functionResponse',
    ],
    [{ ...saysHi, systemInstruction: { parts: [{ inlineData: {} }] } }, 'systemInstruction.parts[0].text'],
    [{ ...saysHi, tools: [{ functionDeclarations: [{}] }] }, 'tools[0].functionDeclarations[0].name'],
    [{ ...saysHi, generationConfig: { responseModalities: ['IMAGE'] } }, 'generationConfig.responseModalities'],
  ])('refuses %j and names the field, in the envelope of Google', async (body, param) => {
    const { generate, chat } = serving([])
    const { status, json } = await generate(body)
    expect(status).toBe(400)
    expect(json).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT', details: [{ metadata: { param } }] } })
    expect(chat.received).toEqual([])
  })

  it('answers a failure of the provider in the envelope of Google', async () => {
    const { generate } = serving([{ error: new ServiceError('model_not_found', { param: 'model' }) }])
    const { status, json } = await generate(saysHi)
    expect(status).toBe(404)
    expect(json).toMatchObject({ error: { code: 404, status: 'NOT_FOUND', details: [{ reason: 'MODEL_NOT_FOUND' }] } })
  })
})

describe('streamGenerateContent', () => {
  it('streams text as it comes, and whole calls, the reason and usage at the end', async () => {
    const { generate } = serving([{ deltas: [...saying('Hel', 'lo'), ...called.deltas], finishReason: 'tool_calls' }])
    const { headers, text } = await generate(saysHi, 'streamGenerateContent?alt=sse')
    expect(headers['content-type']).toContain('text/event-stream')
    const frames = framesIn(text)
    expect(frames.map(({ candidates: [{ content, finishReason }] }) => [content.parts, finishReason])).toEqual([
      [[{ text: 'Hel' }], undefined],
      [[{ text: 'lo' }], undefined],
      [[{ functionCall }], 'STOP'],
    ])
    expect(frames.at(-1)).toMatchObject({ usageMetadata: { totalTokenCount: 12 }, modelVersion: 'model-1-2026' })
    expect(new Set(frames.map(({ responseId }) => responseId)).size).toBe(1)
  })

  it('ends with the error when the provider fails in the middle', async () => {
    const { generate } = serving([{ deltas: saying('Hel'), error: new ServiceError('provider_unavailable') }])
    const frames = framesIn((await generate(saysHi, 'streamGenerateContent')).text)
    expect(frames.at(-1)).toMatchObject({ error: { code: 503, status: 'UNAVAILABLE' } })
    expect(JSON.stringify(frames)).not.toContain('finishReason')
  })
})

describe('countTokens', () => {
  it('counts text, and a fixed number for an image', async () => {
    const { generate } = serving([])
    const counted = async (...parts: readonly object[]): Promise<number> => {
      const { totalTokens } = JSON.parse((await generate({ contents: [{ parts }] }, 'countTokens')).text)
      return totalTokens
    }
    const text = await counted({ text: 'hello there '.repeat(100) })
    expect(text).toBeGreaterThan(100)
    const image = { inlineData: { mimeType: 'image/png', data: 'a'.repeat(100_000) } }
    expect(await counted({ text: 'hello there '.repeat(100) }, image)).toBe(text + 258)
  })
})

describe('embedContent and batchEmbedContents', () => {
  it('embed texts with the wanted number of dimensions', async () => {
    const { generate, embedded } = serving([])
    const content = (...texts: readonly string[]) => ({ parts: texts.map((text) => ({ text })) })
    const one = await generate({ content: content('a', 'b'), outputDimensionality: 2 }, 'embedContent')
    expect(one.json).toEqual({ embedding: { values: [0, 1] } })
    const requests = [{ model: 'models/model-1', content: content('c') }, { content: content('d') }]
    const both = await generate({ requests }, 'batchEmbedContents')
    expect(both.json).toEqual({ embeddings: [{ values: [0, 1] }, { values: [1, 1] }] })
    expect(embedded.map(({ body }) => body)).toEqual([
      { model: 'model-1', input: ['a\nb'], dimensions: 2 },
      { model: 'model-1', input: ['c', 'd'] },
    ])
  })

  it('refuse what is no text, and name its place', async () => {
    const { generate } = serving([])
    const requests = [{ content: { parts: [{ text: 'a' }] } }, { content: { parts: [{ inlineData: {} }] } }]
    const { json } = await generate({ requests }, 'batchEmbedContents')
    expect(json).toMatchObject({ error: { details: [{ metadata: { param: 'requests[1].content.parts[0].text' } }] } })
  })
})

it.each(['generateContent', 'streamGenerateContent'])(
  'thousands of citations of one long text make no answer many times as long (%s)',
  async (method) => {
    const words = 'words '.repeat(20_000)
    const url_citation = { url: 'https://a.example/', title: 'A', start_index: 0, end_index: words.length }
    const annotations = Array.from({ length: 2_000 }, () => ({ type: 'url_citation', url_citation }))
    const { generate } = serving([{ deltas: [...saying(words), { annotations }] }])
    const { json, text } = await generate(saysHi, method)
    const answer = method === 'generateContent' ? json : framesIn(text).at(-1)
    expect(answer).toMatchObject({ candidates: [{ groundingMetadata: { groundingChunks: [{}] } }] })
    expect(JSON.stringify(answer).length).toBeLessThan(2_000_000)
  },
)
