import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { extractionName, extractionRequest, readExtraction } from '#facts/extraction.ts'
import { patternText } from '#gateway/simulated/pattern-text.ts'
import { type SimulatedProvider, startSimulatedProvider } from '#gateway/simulated/server.ts'

describe('the simulated model', () => {
  let provider: SimulatedProvider
  let client: OpenAI
  beforeAll(async () => {
    provider = await startSimulatedProvider({ chunkDelayMs: 0 })
    client = new OpenAI({ apiKey: 'x', baseURL: provider.url, maxRetries: 0 })
  })
  afterAll(() => provider.close())

  type Request = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model' | 'messages'>
  const model = 'simulated-1'
  const say = async (content: string, request: Request = {}) =>
    client.chat.completions.create({ model, messages: [{ role: 'user', content }], ...request })
  const text = async (content: string, request: Request = {}) =>
    (await say(content, request)).choices[0]?.message.content ?? ''
  const tool = (name: string, properties: object = { city: { type: 'string' } }) => ({
    type: 'function' as const,
    function: { name, parameters: { type: 'object', properties } },
  })

  it('replies exactly what the prompt requests', async () => {
    expect(await text('Whatever.\nReply exactly: {"a": [1]}')).toBe('{"a": [1]}')
  })

  it('extracts facts by rules and states that no model did', async () => {
    const at = Date.UTC(2026, 10, 22)
    const request = extractionRequest({ user: 'I live in Oslo. fail please', assistant: 'Nice.', observedAt: at })
    const completion = await client.chat.completions.create({
      model,
      messages: [...request.messages],
      response_format: { type: 'json_schema', json_schema: { name: extractionName, schema: {} } },
    })
    const said = completion.choices[0]?.message.content ?? ''
    expect(readExtraction(said, at)).toMatchObject([{ relation: 'lives_in', object: 'Oslo' }])
    expect(said).toContain('no model')
  })

  it('follows a schema in the prompt, in a code block when requested', async () => {
    const schema = JSON.stringify({
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
    })
    const plain = await text(`Weather in Paris for 3 days. Answer by this schema: ${schema}`)
    expect(JSON.parse(plain)).toMatchObject({ city: expect.any(String), days: 3 })
    const block = await text(`Days: 2. Answer in a \`\`\`json block by ${schema}`)
    expect(JSON.parse(block.replaceAll(/```(?:json)?/g, ''))).toMatchObject({ days: 2 })
  })

  it('fills fields between markers with the types that DSPy states', async () => {
    const typed = (type: string) => `(must be formatted as a valid Python ${type})`
    const said = await text(
      `[[ ## question ## ]]\nUse get_weather for 3 days\n\nRespond with the corresponding output fields, starting with the field \`[[ ## reasoning ## ]]\`, then \`[[ ## days ## ]]\` ${typed('int')}, then \`[[ ## share ## ]]\` ${typed('float')}, then \`[[ ## sure ## ]]\` ${typed('bool')}, then \`[[ ## next_tool_name ## ]]\` ${typed("Literal['finish', 'get_weather']")}, then \`[[ ## next_tool_args ## ]]\` ${typed('dict[str, Any]')}, then \`[[ ## all ## ]]\` ${typed('list[str]')}, and then ending with the marker for \`[[ ## completed ## ]]\`.`,
    )
    const fields = Object.fromEntries(
      [...said.matchAll(/\[\[ ## (\w+) ## \]\]\n([^[]*|\[\])\n\n/g)].map(([, name, value = '']) => [
        name,
        value.trim(),
      ]),
    )
    expect(fields).toEqual({
      ...{ reasoning: 'Use get_weather for 3 days', days: '3', share: '3', sure: 'True' },
      ...{ next_tool_name: 'get_weather', next_tool_args: '{}', all: '[]' },
    })
    expect(said.endsWith('[[ ## completed ## ]]')).toBe(true)
  })

  it('fills fields between markers in the format of DSPy', async () => {
    const order =
      'starting with the field `[[ ## answer ## ]]`, and then ending with the marker for `[[ ## completed ## ]]`.'
    expect(await text(`[[ ## question ## ]]\nWhere?\n\nRespond with the fields, ${order}`)).toMatch(
      /^\[\[ ## answer ## \]\]\nWhere\?[\s\S]*\[\[ ## completed ## \]\]$/,
    )
  })

  it('returns n answers, with and without streaming', async () => {
    expect((await say('Hi', { n: 3 })).choices.map(({ index }) => index)).toEqual([0, 1, 2])
    const stream = client.chat.completions.stream({ model, messages: [{ role: 'user', content: 'Hi' }], n: 2 })
    expect((await stream.finalChatCompletion()).choices.map(({ message }) => message.content)).toEqual([
      ...['You said: Hi', 'You said: Hi'],
    ])
  })

  it('calls only allowed tools', async () => {
    const tools = [tool('first'), tool('second')]
    const allowed = { mode: 'required' as const, tools: [{ type: 'function', function: { name: 'second' } }] }
    const { choices } = await say('Hi', { tools, tool_choice: { type: 'allowed_tools', allowed_tools: allowed } })
    expect(choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'second' } }])
  })

  it('calls dependent tools in sequence, with the result of the first one', async () => {
    const tools = [tool('find_city'), tool('get_weather')]
    const question = { role: 'user' as const, content: 'Use find_city, and get_weather with its result.' }
    const first = (await client.chat.completions.create({ model, messages: [question], tools })).choices[0]?.message
    expect(first?.tool_calls).toMatchObject([{ function: { name: 'find_city' } }])
    const found = { role: 'tool' as const, tool_call_id: first?.tool_calls?.[0]?.id ?? '', content: 'city: Paris' }
    const messages = [question, first ?? expect.fail('no answer'), found]
    const second = (await client.chat.completions.create({ model, messages, tools })).choices[0]?.message
    expect(second?.tool_calls).toMatchObject([{ function: { name: 'get_weather', arguments: '{"city":"Paris"}' } }])
  })
})

describe('the text that is generated for a pattern', () => {
  it.each([
    /^[A-Z]{2}-\d{4}$/,
    /^(?:draft|final)$/,
    /^[^a-z]+$/,
    /^\+?[0-9]{7,15}$/,
    /^[a-f0-9]{8}(?:-[a-f0-9]{4}){3}$/,
    /^(?<year>\d{4})-(0[1-9]|1[0-2])$/,
    /^#\w+\.(png|jpe?g)$/,
  ])('matches %s', (pattern) => {
    expect(patternText(pattern.source)).toMatch(pattern)
  })

  it.each(['('.repeat(10_000), '[', '\\', '(a{9999}){9999}', '|'.repeat(10_000)])(
    'has at most 200 characters for %.8s',
    (pattern) => {
      expect(patternText(pattern).length).toBeLessThanOrEqual(200)
    },
  )
})
