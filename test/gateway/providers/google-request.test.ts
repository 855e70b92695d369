import { describe, expect, it } from 'vitest'
import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { idWithSignature } from '#gateway/providers/tool-call-id.ts'
import { formats, hello, requestOf, routeTo, sent } from './format-harness.ts'

const flash = 'gemini-2.5-flash'
const third = 'gemini-3.5-flash'
const body = (fields: ChatBody, model = flash): Record<string, unknown> => sent('google', model, fields)
const withFields = (fields: ChatBody, model = flash) => body({ ...hello, ...fields }, model)
const conversation = (...messages: readonly object[]) => body({ messages })
const parameters = { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false }
const weather = { type: 'function', function: { name: 'get_weather', description: 'Weather', parameters } }
const call = (id: string, args: string, more: object = {}) => ({
  ...{ id, type: 'function', function: { name: 'get_weather', arguments: args } },
  ...more,
})

describe('the request to Google', () => {
  it('has the model and the method in the path, and the key in a header', () => {
    const { path, headers } = requestOf('google', flash)
    expect(path).toBe('/models/gemini-2.5-flash:streamGenerateContent?alt=sse')
    expect(headers).toMatchObject({ 'x-goog-api-key': 'key-1', 'content-type': 'application/json' })
    const whole = formats.google.request(hello, { ...routeTo('google', flash), apiKey: null }, false)
    expect(whole.path).toBe('/models/gemini-2.5-flash:generateContent')
    expect(whole.headers).not.toHaveProperty('x-goog-api-key')
  })

  it('escapes a model name in the path', () => {
    expect(requestOf('google', 'a/../../b?c#d').path).toBe('/models/a/../../b%3Fc%23d:streamGenerateContent?alt=sse')
  })
})

describe('a conversation for Google', () => {
  it('has instructions separately and the other messages as turns', () => {
    expect(
      conversation(
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
        { role: 'user', content: 'Hi' },
        { role: 'user', content: 'there' },
        { role: 'assistant', content: 'Hello' },
        { role: 'user', content: 'Bye' },
      ),
    ).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }, { text: 'there' }] },
        { role: 'model', parts: [{ text: 'Hello' }] },
        { role: 'user', parts: [{ text: 'Bye' }] },
      ],
    })
    expect(conversation({ role: 'system', content: 'Say hello.' })).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }],
    })
  })

  it('has images, files and audio as bytes or URLs', () => {
    const { contents } = conversation({
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'image_url', image_url: { url: 'https://example.com/a.JPG?x=1' } },
        { type: 'image_url', image_url: { url: 'https://example.com/a' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
        { type: 'input_audio', input_audio: { data: 'SUQz', format: 'mp3' } },
      ],
    })
    expect(contents).toEqual([
      {
        role: 'user',
        parts: [
          { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
          { fileData: { fileUri: 'https://example.com/a.JPG?x=1', mimeType: 'image/jpeg' } },
          { fileData: { fileUri: 'https://example.com/a' } },
          { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
          { inlineData: { mimeType: 'audio/mp3', data: 'SUQz' } },
        ],
      },
    ])
  })

  it('has the function name of a tool result, and call ids that the provider created', () => {
    const { contents } = conversation(
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [call('c1', '{"city":"Köln"}'), call('call_own_2', '{"ci')] },
      { role: 'tool', tool_call_id: 'c1', content: '{"sky":"grey"}' },
      { role: 'tool', tool_call_id: 'call_own_2', content: 'bad' },
    )
    expect(contents).toEqual([
      { role: 'user', parts: [{ text: 'Weather?' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'c1', name: 'get_weather', args: { city: 'Köln' } } },
          { functionCall: { name: 'get_weather', args: { malformed_arguments: '{"ci' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'get_weather', response: { sky: 'grey' } } },
          { functionResponse: { name: 'get_weather', response: { output: 'bad' } } },
        ],
      },
    ])
  })

  it('has a signature for the model that created it', () => {
    const id = idWithSignature('call_own_1', third, 'c2ln+/==')
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [call(id, '{}'), call('c2', '{}')] },
      { role: 'tool', tool_call_id: id, content: 'grey' },
    ]
    expect(body({ messages }, third).contents).toMatchObject([
      { role: 'user' },
      { parts: [{ functionCall: {}, thoughtSignature: 'c2ln+/==' }, { functionCall: { id: 'c2' } }] },
      { parts: [{ functionResponse: { name: 'get_weather', response: { output: 'grey' } } }] },
    ])
  })

  it('has a placeholder signature for unsigned calls to models that require signatures, and to no other', () => {
    const of = (model: string, id: string, more: object = {}) =>
      body({ messages: [{ role: 'assistant', tool_calls: [call(id, '{}', more)] }] }, model).contents
    const signed = (thoughtSignature: string | undefined) => [{ parts: [{ thoughtSignature }] }]
    expect(of(third, 'c1')).toMatchObject(signed('skip_thought_signature_validator'))
    expect(of(third, idWithSignature('c1', 'gemini-3-other', 'c2ln'))).toMatchObject(
      signed('skip_thought_signature_validator'),
    )
    expect(of(flash, 'c1')).not.toMatchObject([{ parts: [{ thoughtSignature: expect.anything() }] }])
    const extra_content = { google: { thought_signature: 'c2ln' } }
    expect(of(third, 'c1', { extra_content })).toMatchObject(signed('c2ln'))
  })

  it('refuses unknown roles and modalities and names the field', () => {
    expect(() => conversation({ role: 'function', content: 'a' })).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ param: 'messages[0].role' }) }),
    )
    expect(() => withFields({ modalities: ['audio'] })).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ param: 'modalities' }) }),
    )
  })
})

describe('tools for Google', () => {
  it('are described by their unchanged JSON Schema', () => {
    const tools = [weather, { type: 'function', function: { name: 'now' } }]
    expect(withFields({ tools })).toMatchObject({
      tools: [
        {
          functionDeclarations: [
            { name: 'get_weather', description: 'Weather', parametersJsonSchema: parameters },
            { name: 'now' },
          ],
        },
      ],
    })
    expect(withFields({ tools })).not.toHaveProperty('toolConfig')
  })

  it.each([
    ['auto', { mode: 'AUTO' }],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [
      { type: 'function', function: { name: 'get_weather' } },
      { mode: 'ANY', allowedFunctionNames: ['get_weather'] },
    ],
  ])('with tool_choice %j have the configuration %j', (tool_choice, functionCallingConfig) => {
    expect(withFields({ tools: [weather], tool_choice }).toolConfig).toEqual({ functionCallingConfig })
  })
})

describe('configuration for Google', () => {
  it('has limits and sampling options', () => {
    const fields = {
      ...{ temperature: 1.5, top_p: 0.9, max_completion_tokens: 10, seed: 7, n: 2 },
      ...{ presence_penalty: 0.1, frequency_penalty: -0.1, stop: ['a', 'b', '', 'c', 'd', 'e', 'f'] },
    }
    expect(withFields(fields).generationConfig).toEqual({
      ...{ temperature: 1.5, topP: 0.9, maxOutputTokens: 10, seed: 7, candidateCount: 2 },
      ...{ presencePenalty: 0.1, frequencyPenalty: -0.1, stopSequences: ['a', 'b', 'c', 'd', 'e'] },
    })
  })

  it('excludes sampling for models that refuse it, and limits tokens to the maximum of the model', () => {
    expect(withFields({ temperature: 0.5, max_tokens: 10_000_000 }, 'gemini-3.8-flash').generationConfig).toEqual({
      maxOutputTokens: 65_536,
    })
    expect(withFields({ n: 1 })).not.toHaveProperty('generationConfig')
  })

  it.each([
    [{ type: 'json_object' }, { responseMimeType: 'application/json' }],
    [
      { type: 'json_schema', json_schema: { name: 'a', schema: parameters } },
      { responseMimeType: 'application/json', responseJsonSchema: parameters },
    ],
  ])('has the response format for %j', (response_format, generationConfig) => {
    expect(withFields({ response_format }).generationConfig).toEqual(generationConfig)
  })

  it.each([
    [flash, 'low', { thinkingBudget: 1_024 }],
    [flash, 'high', { thinkingBudget: 24_576 }],
    [flash, 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
    [third, 'none', { thinkingLevel: 'minimal' }],
    [third, 'medium', { thinkingLevel: 'medium' }],
    ['gemini-3.1-pro-preview', 'minimal', { thinkingLevel: 'low' }],
    ['gemini-9-ultra', 'xhigh', { thinkingLevel: 'high' }],
  ])('has, for %s with an effort of %s, the thinking options %j', (model, reasoning_effort, thinkingConfig) => {
    expect(withFields({ reasoning_effort }, model).generationConfig).toEqual({ thinkingConfig })
  })

  it('has no thinking options for models without thinking and for an unknown effort', () => {
    expect(withFields({ reasoning_effort: 'high' }, 'gemini-2.0-flash')).not.toHaveProperty('generationConfig')
    expect(withFields({ reasoning_effort: 'wildly' })).not.toHaveProperty('generationConfig')
  })
})

it('has what only Google understands as its caller wrote it, beside what follows from the rest', () => {
  const own = {
    ...{
      safetySettings: [{ category: 'HARM_CATEGORY_HATE_SPEECH', threshold: 'BLOCK_NONE' }],
      cachedContent: 'cachedContents/1',
    },
    ...{ thinkingConfig: { thinkingBudget: 5 }, tools: [{ googleSearch: {} }] },
  }
  const request = withFields({ tools: [weather], temperature: 0.5, google_request: own })
  expect(request).toMatchObject({
    ...{ safetySettings: own.safetySettings, cachedContent: own.cachedContent },
    tools: [{ functionDeclarations: [{ name: 'get_weather' }] }, { googleSearch: {} }],
    generationConfig: { temperature: 0.5, thinkingConfig: { thinkingBudget: 5 } },
  })
  expect(request).not.toHaveProperty('thinkingConfig')
})
