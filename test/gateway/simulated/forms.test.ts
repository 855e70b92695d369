import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SimulatedProvider, startSimulatedProvider } from '#gateway/simulated/server.ts'
import { jpeg, png } from './image-bytes.ts'

type ChatOptions = Partial<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming>

const tool = (name: string, required: string[] = []) =>
  ({
    type: 'function',
    function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } }, required } },
  }) as const

const dataUrl = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`
const image = (url: string) => ({ type: 'image_url', image_url: { url } }) as const
const text = (words: string) => ({ type: 'text', text: words }) as const

describe('the simulated model', () => {
  let simulated: SimulatedProvider
  let sdk: OpenAI

  beforeAll(async () => {
    simulated = await startSimulatedProvider({ chunkDelayMs: 0 })
    sdk = new OpenAI({ baseURL: simulated.url, apiKey: 'none', maxRetries: 0 })
  })
  afterAll(() => simulated.close())

  const request = async (content: OpenAI.Chat.ChatCompletionUserMessageParam['content'], more: ChatOptions = {}) => {
    const messages = [{ role: 'user', content }] as const
    const { choices, usage } = await sdk.chat.completions.create({
      ...{ model: 'simulated-1', messages: [...messages] },
      ...more,
      stream: false,
    })
    const [choice] = choices
    return { text: choice?.message.content ?? '', calls: choice?.message.tool_calls ?? [], choice, usage }
  }
  const names = (calls: readonly OpenAI.Chat.ChatCompletionMessageToolCall[]) =>
    calls.map((call) => (call.type === 'function' ? call.function.name : ''))

  it('describes format and size of each image and repeats the question', async () => {
    const parts = [
      text('What is this?'),
      image(dataUrl('image/png', png(640, 480))),
      image(dataUrl('image/jpeg', jpeg(1000, 2000))),
      image('https://example.com/cat.png'),
    ]
    expect((await request(parts)).text).toBe(
      'Image 1 is a PNG of 640 × 480 pixels. Image 2 is a JPEG of 1000 × 2000 pixels. ' +
        'Image 3 is at https://example.com/cat.png, which a simulated model does not open. You said: What is this?',
    )
  })

  it('counts images by their tiles instead of their bytes', async () => {
    const padded = Buffer.concat([png(512, 512), Buffer.alloc(400_000)])
    const small = await request([text('?'), image(dataUrl('image/png', png(512, 512)))])
    const large = await request([text('?'), image(dataUrl('image/png', padded))])
    expect(large.usage?.prompt_tokens).toBe(small.usage?.prompt_tokens)
    const tall = await request([text('?'), image(dataUrl('image/png', png(2048, 4096)))])
    expect((tall.usage?.prompt_tokens ?? 0) - (small.usage?.prompt_tokens ?? 0)).toBe(5 * 170)
  })

  it('refuses an invalid image', async () => {
    const parts = [text('?'), image(dataUrl('image/png', Buffer.from('no image')))]
    await expect(request(parts)).rejects.toMatchObject({ status: 400, code: 'invalid_image_format' })
  })

  it('answers JSON when requested, according to the schema when there is one', async () => {
    const any = await request('hello', { response_format: { type: 'json_object' } })
    expect(JSON.parse(any.text)).toEqual({ reply: 'You said: hello' })
    const seen = await request([text('x'), image(dataUrl('image/png', png(3, 4)))], {
      response_format: { type: 'json_object' },
    })
    expect(JSON.parse(seen.text)).toMatchObject({ images: [{ format: 'PNG', width: 3, height: 4 }] })
    const example = 'Classify it: {"tags": [short words], "subject": what it is}'
    const classified = await request([text(example), image(dataUrl('image/png', png(3, 4)))], {
      response_format: { type: 'json_object' },
    })
    expect(JSON.parse(classified.text)).toEqual({ tags: ['png', '3x4'], subject: expect.stringContaining('3 × 4') })
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer' },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['city', 'days', 'tags'],
    }
    const named = await request('A trip to Paris for 4 days', {
      response_format: { type: 'json_schema', json_schema: { name: 'trip', schema, strict: true } },
    })
    expect(JSON.parse(named.text)).toEqual({ city: 'Paris', days: 4, tags: [expect.any(String)] })
  })

  it('calls tools according to tool_choice, regardless of the text', async () => {
    const tools = [tool('get_weather'), tool('send_email')]
    expect((await request('hello', { tools, tool_choice: 'required' })).calls).toHaveLength(1)
    expect((await request('use get_weather', { tools, tool_choice: 'none' })).calls).toEqual([])
    const forced = await request('use get_weather', {
      tools,
      tool_choice: { type: 'function', function: { name: 'send_email' } },
    })
    expect(names(forced.calls)).toEqual(['send_email'])
    expect(forced.choice?.finish_reason).toBe('tool_calls')
    const both = 'get_weather and then send_email'
    expect(names((await request(both, { tools })).calls)).toEqual(['get_weather', 'send_email'])
    expect(names((await request(both, { tools, parallel_tool_calls: false })).calls)).toEqual(['get_weather'])
  })

  it('counts reasoning tokens for a reasoning effort', async () => {
    const [plain, deep] = [await request('hello'), await request('hello', { reasoning_effort: 'high' })]
    expect(plain.usage?.completion_tokens_details?.reasoning_tokens).toBe(0)
    expect(deep.usage?.completion_tokens_details?.reasoning_tokens).toBe(256)
    expect(deep.usage?.completion_tokens).toBe(Number(plain.usage?.completion_tokens) + 256)
  })

  it('stops before a stop sequence', async () => {
    expect((await request('one two three', { stop: ['three', 'two'] })).text).toBe('You said: one ')
  })

  it('reports cached tokens for the beginning of an earlier conversation', async () => {
    const system = { role: 'system', content: 'Be brief. '.repeat(1000) } as const
    const reported = async (content: string) => {
      const messages = [system, { role: 'user', content } as const]
      const { usage } = await sdk.chat.completions.create({ model: 'simulated-1', messages })
      return usage?.prompt_tokens_details?.cached_tokens
    }
    expect(await reported('first')).toBe(0)
    const cached = await reported('second')
    expect(cached).toBeGreaterThanOrEqual(2432)
    expect(Number(cached) % 128).toBe(0)
    expect((await request('short')).usage?.prompt_tokens_details?.cached_tokens).toBe(0)
  })

  it('streams the same answer, with usage when requested', async () => {
    const parts = [text('What is this?'), image(dataUrl('image/png', png(640, 480)))]
    const whole = await request(parts)
    const stream = await sdk.chat.completions.create({
      model: 'simulated-1',
      messages: [{ role: 'user', content: parts }],
      stream: true,
      stream_options: { include_usage: true },
    })
    let streamed = ''
    let usage: unknown
    for await (const chunk of stream) {
      streamed += chunk.choices[0]?.delta.content ?? ''
      usage = chunk.usage ?? usage
    }
    expect(streamed).toBe(whole.text)
    expect(usage).toMatchObject({ completion_tokens: whole.usage?.completion_tokens })
  })

  it('embeds texts and tokens in the requested dimensions', async () => {
    const embed = async (input: OpenAI.EmbeddingCreateParams['input'], dimensions?: number) => {
      const { data, usage } = await sdk.embeddings.create({
        ...{ model: 'simulated-1', input },
        ...(dimensions !== undefined && { dimensions }),
      })
      return { vectors: data.map(({ embedding }) => embedding), usage }
    }
    const { vectors } = await embed(['a', 'b'], 64)
    expect(vectors.map((vector) => vector.length)).toEqual([64, 64])
    expect(Math.hypot(...(vectors[0] ?? []))).toBeCloseTo(1, 5)
    const tokens = await embed([
      [1, 2, 3],
      [4, 5],
    ])
    expect(tokens.vectors.map((vector) => vector.length)).toEqual([256, 256])
    expect(tokens.usage.prompt_tokens).toBe(5)
    expect((await embed([1, 2, 3])).vectors).toEqual([tokens.vectors[0]])
  })

  it.each([
    [[], undefined],
    ['', undefined],
    [['a', ''], undefined],
    ['a', 0],
    ['a', 5000],
  ])('refuses to embed %j in %s dimensions', async (input, dimensions) => {
    const requested = { model: 'simulated-1', input, ...(dimensions !== undefined && { dimensions }) }
    await expect(sdk.embeddings.create(requested)).rejects.toMatchObject({ status: 400 })
  })
})
