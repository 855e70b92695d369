import { describe, expect, it } from 'vitest'
import { cut, endless, hangUp, refusal } from '../call/scripted-upstream.ts'
import { json, listOf, openHarness } from './embedding-harness.ts'

const model = 'text-embedding-3-small'
const zeroAndOne = Buffer.from(new Float32Array([0, 1]).buffer).toString('base64')

describe('embeddings by an OpenAI-compatible provider', () => {
  const { script, create, received, recorded, admissions, settled } = openHarness()

  it('pass on the body of the caller and the answer of the provider, with the cost added', async () => {
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
      ['x-redaction', 'off'],
    ])
  })

  it('send the model name of the provider and leave out the fallback models', async () => {
    script(json(listOf([1])))
    await create({ model: `${model}@openai`, models: ['other'], input: ['a'], user: 'u' })
    expect(received()[0]?.body).toEqual({ model, input: ['a'], user: 'u' })
  })

  it('accept tokens as one list or several lists', async () => {
    script(json(listOf([1], [2])))
    await create({ model, input: [[1, 2], [3]] })
    expect(received()[0]?.body).toMatchObject({ input: [[1, 2], [3]] })
    script(json(listOf([1])))
    expect((await create({ model, input: [1, 2, 3] })).vectors).toEqual([[1]])
  })

  it('return base64 when requested, also from a provider without support for it', async () => {
    script(json(listOf(zeroAndOne)))
    const known = await create({ model, input: 'a', encoding_format: 'base64' })
    expect(known.vectors).toEqual([zeroAndOne])
    expect(known.bytes).not.toBeNull()
    script(json(listOf([0, 1])))
    const converted = await create({ model, input: 'a', encoding_format: 'base64' })
    expect(converted.vectors).toEqual([zeroAndOne])
    expect(converted.bytes).toBeNull()
  })

  it('return numbers by default', async () => {
    script(json(listOf(zeroAndOne)))
    expect(await create({ model, input: 'a' })).toMatchObject({ vectors: [[0, 1]], bytes: null })
  })

  it('return vectors in the order of the inputs', async () => {
    const { data, ...rest } = listOf([1], [2])
    script(json({ ...rest, data: data.toReversed() }))
    expect((await create({ model, input: ['a', 'b'] })).vectors).toEqual([[1], [2]])
  })

  it('record the usage with its price and settle the admission with the cost', async () => {
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
    expect(admissions[0]?.maxUsd()).toBe('0.0000001')
    expect(recorded[0]?.bodies?.()).toMatchObject({
      request: expect.stringContaining('Hello'),
      response: expect.not.stringContaining('[1]'),
    })
  })

  it('estimate the tokens by length when the provider reports no usage', async () => {
    const { usage: _, ...uncounted } = listOf([1], [2])
    script(json(uncounted))
    const { usage } = await create({ model, input: ['twelve chars', [1, 2, 3]] })
    expect(usage).toMatchObject({ inputTokens: 6, estimated: true })
  })

  it('take an index of null as the place in the list', async () => {
    script(json({ ...listOf([1]), data: [{ index: null, embedding: [1] }] }))
    expect((await create({ model, input: 'one' })).vectors).toEqual([[1]])
  })

  it.each([
    ['fewer vectors than inputs', listOf([1])],
    ['more vectors than inputs', listOf([1], [2], [3])],
    ['a vector at the place 4,000,000,000', { ...listOf([1]), data: [{ index: 4_000_000_000, embedding: [1] }] }],
    ['a vector before the first place', { ...listOf([1]), data: [{ index: -1, embedding: [1] }] }],
    [
      'invalid vectors',
      {
        ...listOf([1]),
        data: [
          { index: 0, embedding: null },
          { index: 1, embedding: [] },
        ],
      },
    ],
    [
      'the same index twice',
      {
        ...listOf([1]),
        data: [
          { index: 1, embedding: [1] },
          { index: 1, embedding: [2] },
        ],
      },
    ],
    ['text', 'hello'],
  ])('fail for an answer with %s', async (_, answer) => {
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

  it('are requested in the format of Google with its key', async () => {
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

  it('are normalised when fewer dimensions are requested, and available in base64', async () => {
    script(json({ ...vectorsFor([3, 4]), usageMetadata: { promptTokenCount: 7 } }))
    const { vectors, usage } = await create({ model: gemini, input: 'a', dimensions: 2, encoding_format: 'base64' })
    const [first] = vectors
    expect(typeof first === 'string' && Buffer.from(first, 'base64').readFloatLE(0)).toBeCloseTo(0.6, 6)
    expect(received()[0]?.body).toMatchObject({ requests: [{ outputDimensionality: 2 }] })
    expect(usage).toEqual({ inputTokens: 7, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 })
  })

  it('are collected in order from several requests within the batch limit', async () => {
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

  it('are refused for token inputs', async () => {
    await expect(create({ model: gemini, input: [1, 2] })).rejects.toMatchObject({
      code: 'invalid_field',
      details: { param: 'input' },
    })
    expect(recorded).toMatchObject([{ status: 400, error: 'invalid_field', attempts: 0 }])
  })
})

describe('embeddings by Google with one failed request', () => {
  const { script, create } = openHarness()

  it('fail completely', async () => {
    script(refusal(400, { status: 'INVALID_ARGUMENT', message: 'bad' }))
    const input = Array.from({ length: 150 }, () => 'a')
    await expect(create({ model: gemini, input })).rejects.toMatchObject({ code: 'bad_request' })
  })
})

const never = (): never => {
  throw new Error('nothing received')
}

describe('an embeddings call that fails', () => {
  const { script, create, received, recorded, settled } = openHarness()
  const good = json(listOf([1]))

  it.each([
    ['a 500', refusal(500, {})],
    ['a 429', refusal(429, { type: 'rate_limit_error' }, { 'retry-after': '0' })],
    ['a connection that hangs up', hangUp],
  ])('is retried after %s', async (_, trouble) => {
    script(trouble, good)
    expect((await create({ model, input: 'a' })).vectors).toEqual([[1]])
    expect(received()).toHaveLength(2)
    expect(recorded).toMatchObject([{ attempts: 2, status: 200 }])
  })

  it.each([
    [400, { message: 'bad' }, 'bad_request'],
    [404, { code: 'model_not_found' }, 'model_not_found'],
    [401, {}, 'provider_error'],
  ])('is not retried after %d', async (status, error, code) => {
    script(refusal(status, error))
    await expect(create({ model, input: 'a' })).rejects.toMatchObject({ code })
    expect(received()).toHaveLength(1)
    expect(settled).toEqual(['0'])
  })

  it('uses the next route and then the next model', async () => {
    script(refusal(401, {}), refusal(401, {}), good)
    await create({ model: 'a+b@openai', models: ['c'], input: 'a' })
    expect(received().map(({ body }) => body.model)).toEqual(['a', 'b', 'c'])
    expect(recorded).toMatchObject([{ attempts: 3, route: { model: 'c' }, requestedModel: 'a+b@openai' }])
  })

  it('uses no fallback for an invalid request', async () => {
    script(refusal(400, { message: 'bad' }), good)
    await expect(create({ model: 'a', models: ['b'], input: 'a' })).rejects.toMatchObject({ code: 'bad_request' })
    expect(received()).toHaveLength(1)
  })

  it('is reported as a broken stream when the answer breaks off', async () => {
    script(cut('{"object":"list","data":['))
    await expect(create({ model, input: 'a' })).rejects.toMatchObject({ code: 'provider_stream_broken' })
  })

  it('closes the connection to the provider when its caller disconnects', async () => {
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

  it('calls no provider when its caller has already disconnected', async () => {
    script(good)
    await expect(create({ model, input: 'a' }, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'cancelled',
    })
    expect(received()).toHaveLength(0)
  })
})

describe('a silent provider', () => {
  const { script, create } = openHarness({ policy: { firstByteTimeoutMs: 100 } })

  it('causes a timeout', async () => {
    script(() => {})
    await expect(create({ model, input: 'a' })).rejects.toMatchObject({ code: 'provider_timeout' })
  })
})

describe('a provider that sends single bytes without an end', () => {
  const { script, create, received, recorded } = openHarness({ policy: { totalTimeoutMs: 200 } })

  it('causes a timeout', async () => {
    script(endless('{"data":[', ' ', 'application/json'))
    await expect(create({ model, input: 'a' })).rejects.toMatchObject({ code: 'provider_timeout' })
    await received()[0]?.closed
    expect(recorded).toMatchObject([{ status: 504, error: 'provider_timeout', units: null }])
  })
})

describe('personal data in embedding inputs', () => {
  const redact = (texts: readonly string[]) => ({
    texts: texts.map((text) => text.replace('a@b.test', '[EMAIL_1]')),
    ...{ toolArguments: [], restorer: null },
  })
  const { script, create, received, recorded } = openHarness({
    redaction: {
      ...{ key: '', input: true, toolArguments: true, embeddings: true, speech: false, redact },
      redactInBackground: async (texts) => redact(texts),
    },
  })

  const plain = openHarness()

  it('is sent to no provider and written to no log', async () => {
    script(json(listOf([1], [2])))
    await create({ model, input: ['I am a@b.test', 'me'] })
    expect(received()[0]?.body.input).toEqual(['I am [EMAIL_1]', 'me'])
    expect(recorded[0]?.bodies?.().request).not.toContain('a@b.test')
    script(json(listOf([1])))
    await create({ model, input: 'I am a@b.test' })
    expect(received()[0]?.body.input).toBe('I am [EMAIL_1]')
  })

  it('leaves a mark on the answer when it was sent, and none when the policy covers it', async () => {
    script(json(listOf([1])))
    expect((await create({ model, input: 'I am a@b.test' })).headers).not.toContainEqual(['x-redaction', 'off'])
    plain.script(json(listOf([1])))
    expect((await plain.create({ model, input: 'I am a@b.test' })).headers).toContainEqual(['x-redaction', 'off'])
  })

  it('leaves inputs without findings unchanged', async () => {
    script(json(listOf([1])))
    await create({ model, input: 'plain' })
    expect(received()[0]?.body).toEqual({ model, input: 'plain' })
  })
})

describe('embeddings by a key with a limit of requests', () => {
  const { script, create, received, recorded } = openHarness({
    keyLimits: { requestsPerMinute: 2, tokensPerMinute: null },
  })

  it('count their retries, and beyond the limit go to the next key or are refused, with nothing sent', async () => {
    script(refusal(503, {}), json(listOf([1])))
    await create({ model: 'a', input: 'Hello' })
    await expect(create({ model: 'a', input: 'Hello' })).rejects.toMatchObject({
      ...{ code: 'rate_limit_exceeded', details: { retryAfterS: 60 } },
    })
    expect(recorded).toMatchObject([{ attempts: 2 }, { attempts: 0, error: 'rate_limit_exceeded', status: 429 }])
    await create({ model: 'a+b', input: 'Hello' })
    expect(received().map(({ body }) => body.model)).toEqual(['a', 'a', 'b'])
  })

  it('are sent again with a key that failed when the others of its pool are at their limits', async () => {
    script(json(listOf([1])), json(listOf([1])), refusal(503, {}), json(listOf([1])))
    for (let call = 0; call < 2; call++) await create({ model: 'd', input: 'Hello' })
    await create({ model: 'c+d', input: 'Hello' })
    expect(received().map(({ body }) => body.model)).toEqual(['d', 'd', 'c', 'c'])
  })

  it('count each of several requests of one call, which is made only where all of them are left', async () => {
    script((response, { body }) => {
      const { requests } = body
      json({ embeddings: Array.isArray(requests) ? requests.map(() => ({ values: [1] })) : [] })(response, {
        ...{ path: '', headers: {}, body, closed: Promise.resolve(0) },
      })
    })
    const inputs = (length: number) => ({ model: gemini, input: Array.from({ length }, () => 'a') })
    // three requests, which no minute has: waiting for one would never end
    await expect(create(inputs(250))).rejects.toMatchObject({ code: 'bad_request' })
    expect(received()).toEqual([])
    expect((await create(inputs(150))).vectors).toHaveLength(150)
    expect(received()).toHaveLength(2)
    await expect(create(inputs(1))).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
  })
})

describe('an embeddings call of several requests that fails at the first', () => {
  const { script, create, recorded } = openHarness({ keyLimits: { requestsPerMinute: 10, tokensPerMinute: null } })

  it('gives back the requests of its key that it has not sent', async () => {
    const inputs = { model: gemini, input: Array.from({ length: 600 }, () => 'a') }
    script(refusal(400, { error: { message: 'no' } }))
    await expect(create(inputs)).rejects.toMatchObject({ code: 'bad_request' })
    expect(recorded).toMatchObject([{ attempts: 4 }])
    script((response, sent) => {
      const { requests } = sent.body
      json({ embeddings: Array.isArray(requests) ? requests.map(() => ({ values: [1] })) : [] })(response, sent)
    })
    await create(inputs)
    expect(recorded).toMatchObject([{ attempts: 4 }, { attempts: 6 }])
    await expect(create({ ...inputs, input: 'a' })).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
  })
})
