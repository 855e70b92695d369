import { describe, expect, it } from 'vitest'
import { cut, endless, hangUp, refusal } from '../call/scripted-upstream.ts'
import { json, listOf, openHarness } from './embedding-harness.ts'

const model = 'text-embedding-3-small'
const zeroAndOne = Buffer.from(new Float32Array([0, 1]).buffer).toString('base64')

describe('embeddings by a provider of the same form', () => {
  const { script, create, received, recorded, admissions, settled } = openHarness()

  it('hands on what the caller wrote and what the provider answered, and adds what it cost', async () => {
    script(json(listOf([0.5, -0.25])))
    const body = { model, input: 'Hello', dimensions: 2, custom: { kept: true } }
    const { bytes, vectors, headers } = await create(body)
    expect(received()[0]?.path).toBe('/v1/embeddings')
    expect(received()[0]?.headers).toMatchObject({
      ...{ authorization: 'Bearer key-1', via: '1.1 troupe', 'accept-encoding': 'identity' },
    })
    expect(received()[0]?.body).toEqual(body)
    const came = listOf([0.5, -0.25])
    expect(JSON.parse(bytes?.toString('utf8') ?? '')).toEqual({ ...came, usage: { ...came.usage, cost_usd: 1.6e-7 } })
    expect(vectors).toEqual([[0.5, -0.25]])
    expect(headers).toEqual([
      ['x-provider', 'openai'],
      ['x-billing-mode', 'managed'],
      ['x-ratelimit-limit', '9'],
      ['x-cost-usd', '0.00000016'],
    ])
  })

  it('asks for the model as its provider knows it, and keeps the fallbacks to itself', async () => {
    script(json(listOf([1])))
    await create({ model: `${model}@openai`, models: ['other'], input: ['a'], user: 'u' })
    expect(received()[0]?.body).toEqual({ model, input: ['a'], user: 'u' })
  })

  it('takes tokens, one text of them or many', async () => {
    script(json(listOf([1], [2])))
    await create({ model, input: [[1, 2], [3]] })
    expect(received()[0]?.body).toMatchObject({ input: [[1, 2], [3]] })
    script(json(listOf([1])))
    expect((await create({ model, input: [1, 2, 3] })).vectors).toEqual([[1]])
  })

  it('gives base64 to those who asked for it, whether the provider knows it or not', async () => {
    script(json(listOf(zeroAndOne)))
    const known = await create({ model, input: 'a', encoding_format: 'base64' })
    expect(known.vectors).toEqual([zeroAndOne])
    expect(known.bytes).not.toBeNull()
    script(json(listOf([0, 1])))
    const converted = await create({ model, input: 'a', encoding_format: 'base64' })
    expect(converted.vectors).toEqual([zeroAndOne])
    expect(converted.bytes).toBeNull()
  })

  it('gives numbers to those who asked for them, or for nothing', async () => {
    script(json(listOf(zeroAndOne)))
    expect(await create({ model, input: 'a' })).toMatchObject({ vectors: [[0, 1]], bytes: null })
  })

  it('puts vectors in the order of the inputs', async () => {
    const { data, ...rest } = listOf([1], [2])
    script(json({ ...rest, data: data.toReversed() }))
    expect((await create({ model, input: ['a', 'b'] })).vectors).toEqual([[1], [2]])
  })

  it('records what it took, priced, and gives leave back for what it cost', async () => {
    script(json(listOf([1])))
    await create({ model, input: 'Hello' })
    expect(recorded).toEqual([
      expect.objectContaining({
        operation: 'embeddings.create',
        need: 'embedding',
        requestedModel: model,
        route: expect.objectContaining({ provider: 'openai' }),
        units: { tokens: { inputTokens: 8, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 } },
        costUsd: '0.00000016',
        ...{ status: 200, error: null, streamed: false, attempts: 1 },
      }),
    ])
    expect(settled).toEqual(['0.00000016'])
    expect(admissions).toMatchObject([{ need: 'embedding', model, source: 'managed' }])
    expect(admissions[0]?.mostUsd()).toBe('0.0000001')
    expect(recorded[0]?.bodies?.()).toMatchObject({
      request: expect.stringContaining('Hello'),
      response: expect.not.stringContaining('[1]'),
    })
  })

  it('estimates by length what nobody counted, and says so', async () => {
    const { usage: _, ...uncounted } = listOf([1], [2])
    script(json(uncounted))
    const { usage } = await create({ model, input: ['twelve chars', [1, 2, 3]] })
    expect(usage).toMatchObject({ inputTokens: 6, estimated: true })
  })

  it.each([
    ['fewer vectors than inputs', listOf([1])],
    ['more vectors than inputs', listOf([1], [2], [3])],
    [
      'vectors that are none',
      {
        ...listOf([1]),
        data: [
          { index: 0, embedding: null },
          { index: 1, embedding: [] },
        ],
      },
    ],
    [
      'one place twice',
      {
        ...listOf([1]),
        data: [
          { index: 1, embedding: [1] },
          { index: 1, embedding: [2] },
        ],
      },
    ],
    ['text', 'hello'],
  ])('fails on an answer with %s', async (_, answer) => {
    script(json(answer))
    await expect(create({ model, input: ['a', 'b'] })).rejects.toMatchObject({ code: 'provider_error' })
    expect(settled).toEqual(['0'])
    expect(recorded).toMatchObject([{ status: 502, error: 'provider_error', units: null }])
  })
})

const gemini = 'gemini-embedding-001@google'

describe('embeddings by Google', () => {
  const { script, create, received, recorded } = openHarness()
  const vectorsFor = (...values: readonly (readonly number[])[]) => ({
    embeddings: values.map((each) => ({ values: each })),
  })

  it('are asked for in its words, under its key', async () => {
    script(json(vectorsFor([1, 0], [0, 1])))
    const { vectors, model: named, bytes, usage } = await create({ model: gemini, input: ['a', 'b'] })
    expect(received()[0]).toMatchObject({
      path: '/v1/models/gemini-embedding-001:batchEmbedContents',
      headers: { 'x-goog-api-key': 'key-1' },
      body: {
        requests: [
          { model: 'models/gemini-embedding-001', content: { parts: [{ text: 'a' }] } },
          { model: 'models/gemini-embedding-001', content: { parts: [{ text: 'b' }] } },
        ],
      },
    })
    expect({ vectors, named, bytes }).toEqual({
      vectors: [
        [1, 0],
        [0, 1],
      ],
      named: 'gemini-embedding-001',
      bytes: null,
    })
    expect(usage).toMatchObject({ inputTokens: 2, estimated: true })
  })

  it('have length 1 when fewer dimensions are asked for, and come in base64 too', async () => {
    script(json({ ...vectorsFor([3, 4]), usageMetadata: { promptTokenCount: 7 } }))
    const { vectors, usage } = await create({ model: gemini, input: 'a', dimensions: 2, encoding_format: 'base64' })
    const [first] = vectors
    expect(typeof first === 'string' && Buffer.from(first, 'base64').readFloatLE(0)).toBeCloseTo(0.6, 6)
    expect(received()[0]?.body).toMatchObject({ requests: [{ outputDimensionality: 2 }] })
    expect(usage).toEqual({ inputTokens: 7, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 })
  })

  it('are gathered from as many requests as its limit makes, in order', async () => {
    script((response, { body }) => {
      const requests = Array.isArray(body.requests) ? body.requests : []
      json(vectorsFor(...requests.map(({ content }) => [Number(content.parts[0].text)])))(
        response,
        received()[0] ?? never(),
      )
    })
    const input = Array.from({ length: 250 }, (_, place) => String(place + 1))
    const { vectors } = await create({ model: gemini, input })
    expect(vectors).toEqual(input.map((text) => [Number(text)]))
    expect(received()).toHaveLength(3)
    expect(recorded).toMatchObject([{ attempts: 3, status: 200 }])
  })

  it('are refused for tokens', async () => {
    await expect(create({ model: gemini, input: [1, 2] })).rejects.toMatchObject({
      code: 'invalid_field',
      details: { param: 'input' },
    })
    expect(recorded).toMatchObject([{ status: 400, error: 'invalid_field', attempts: 0 }])
  })
})

describe('embeddings by Google of which one request fails', () => {
  const { script, create } = openHarness()

  it('fail as a whole', async () => {
    script(refusal(400, { status: 'INVALID_ARGUMENT', message: 'bad' }))
    const input = Array.from({ length: 150 }, () => 'a')
    await expect(create({ model: gemini, input })).rejects.toMatchObject({ code: 'bad_request' })
  })
})

const never = (): never => {
  throw new Error('nothing received')
}

describe('trouble with embeddings', () => {
  const { script, create, received, recorded, settled } = openHarness()
  const good = json(listOf([1]))

  it.each([
    ['a 500', refusal(500, {})],
    ['a 429', refusal(429, { type: 'rate_limit_error' }, { 'retry-after': '0' })],
    ['a connection that hangs up', hangUp],
  ])('is tried again after %s', async (_, trouble) => {
    script(trouble, good)
    expect((await create({ model, input: 'a' })).vectors).toEqual([[1]])
    expect(received()).toHaveLength(2)
    expect(recorded).toMatchObject([{ attempts: 2, status: 200 }])
  })

  it.each([
    [400, { message: 'bad' }, 'bad_request'],
    [404, { code: 'model_not_found' }, 'model_not_found'],
    [401, {}, 'provider_error'],
  ])('is not tried again after %d', async (status, error, code) => {
    script(refusal(status, error))
    await expect(create({ model, input: 'a' })).rejects.toMatchObject({ code })
    expect(received()).toHaveLength(1)
    expect(settled).toEqual(['0'])
  })

  it('goes on with the next way, then with the next model', async () => {
    script(refusal(401, {}), refusal(401, {}), good)
    await create({ model: 'a+b@openai', models: ['c'], input: 'a' })
    expect(received().map(({ body }) => body.model)).toEqual(['a', 'b', 'c'])
    expect(recorded).toMatchObject([{ attempts: 3, route: { model: 'c' }, requestedModel: 'a+b@openai' }])
  })

  it('goes nowhere else with what is wrong in itself', async () => {
    script(refusal(400, { message: 'bad' }), good)
    await expect(create({ model: 'a', models: ['b'], input: 'a' })).rejects.toMatchObject({ code: 'bad_request' })
    expect(received()).toHaveLength(1)
  })

  it('takes an answer that breaks off for none', async () => {
    script(cut('{"object":"list","data":['))
    await expect(create({ model, input: 'a' })).rejects.toMatchObject({ code: 'provider_stream_broken' })
  })

  it('cancels the provider when the caller goes', async () => {
    const gone = new AbortController()
    const receivedNow = Promise.withResolvers<void>()
    script(() => receivedNow.resolve())
    const going = create({ model, input: 'a' }, { signal: gone.signal })
    await receivedNow.promise
    gone.abort()
    await expect(going).rejects.toMatchObject({ code: 'cancelled' })
    await received()[0]?.closed
    expect(recorded).toMatchObject([{ status: 499, error: 'cancelled' }])
  })

  it('sends nothing for a caller who is gone already', async () => {
    script(good)
    await expect(create({ model, input: 'a' }, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'cancelled',
    })
    expect(received()).toHaveLength(0)
  })
})

describe('a provider that is silent', () => {
  const { script, create } = openHarness({ policy: { firstByteTimeoutMs: 100 } })

  it('has timed out', async () => {
    script(() => {})
    await expect(create({ model, input: 'a' })).rejects.toMatchObject({ code: 'provider_timeout' })
  })
})

describe('a provider that sends byte by byte, without end', () => {
  const { script, create, received, recorded } = openHarness({ policy: { totalTimeoutMs: 200 } })

  it('has timed out', async () => {
    script(endless('{"data":[', ' ', 'application/json'))
    await expect(create({ model, input: 'a' })).rejects.toMatchObject({ code: 'provider_timeout' })
    await received()[0]?.closed
    expect(recorded).toMatchObject([{ status: 504, error: 'provider_timeout', units: null }])
  })
})

describe('personal data in what is embedded', () => {
  const redact = (texts: readonly string[]) => ({
    texts: texts.map((text) => text.replace('a@b.test', '[EMAIL_1]')),
    ...{ toolArguments: [], restorer: null },
  })
  const { script, create, received, recorded } = openHarness({
    redaction: {
      ...{ key: '', input: true, toolArguments: true, embeddings: true, speech: false, redact },
      redactApart: async (texts) => redact(texts),
    },
  })

  it('goes to no provider and into no log', async () => {
    script(json(listOf([1], [2])))
    await create({ model, input: ['I am a@b.test', 'me'] })
    expect(received()[0]?.body.input).toEqual(['I am [EMAIL_1]', 'me'])
    expect(recorded[0]?.bodies?.().request).not.toContain('a@b.test')
    script(json(listOf([1])))
    await create({ model, input: 'I am a@b.test' })
    expect(received()[0]?.body.input).toBe('I am [EMAIL_1]')
  })

  it('leaves what has none as it came', async () => {
    script(json(listOf([1])))
    await create({ model, input: 'plain' })
    expect(received()[0]?.body).toEqual({ model, input: 'plain' })
  })
})
