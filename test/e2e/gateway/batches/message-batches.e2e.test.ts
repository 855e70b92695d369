import Anthropic from '@anthropic-ai/sdk'
import type { MessageBatch, MessageBatchIndividualResponse } from '@anthropic-ai/sdk/resources/messages'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { patience } from '#test/e2e/patience.ts'
import { either, World } from '#test/e2e/world.ts'
import { openProvider } from './batch-provider.ts'

const model = 'gpt-4o-mini'
const requestOf = (custom_id: string, content = custom_id, more: object = {}) => ({
  custom_id,
  params: { model, max_tokens: 50, messages: [{ role: 'user' as const, content }], ...more },
})

describe.each(either('sqlite'))("Anthropic's batches on $store, with the official client", ({ store }) => {
  let provider: Awaited<ReturnType<typeof openProvider>>
  let world: World
  let client: Anthropic

  beforeAll(async () => {
    provider = await openProvider()
    // requests that wait for a rate limit do not end
    const env = { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: provider.url, SHUTDOWN_GRACE_S: '1' }
    world = await World.start({ store, env })
    client = clientOf()
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    provider.close()
  })
  beforeEach(() => {
    provider.counts.clear()
    provider.held.until = () => Promise.resolve()
  })

  const clientOf = (defaultHeaders: Record<string, string> = {}) =>
    new Anthropic({ apiKey: world.secretKey, baseURL: world.url, maxRetries: 2, defaultHeaders })
  const begin = (requests: readonly ReturnType<typeof requestOf>[], of = client) =>
    of.messages.batches.create({ requests: [...requests] })
  const having = (id: string, check: (batch: MessageBatch) => void): Promise<MessageBatch> =>
    vi.waitFor(
      async () => {
        const batch = await client.messages.batches.retrieve(id)
        check(batch)
        return batch
      },
      { ...patience, timeout: 60_000 },
    )
  const ended = (id: string) => having(id, (batch) => expect(batch.processing_status).toBe('ended'))
  const resultsOf = async (id: string): Promise<readonly MessageBatchIndividualResponse[]> => {
    const all: MessageBatchIndividualResponse[] = []
    for await (const result of await client.messages.batches.results(id)) all.push(result)
    return all
  }

  it('make each message once, and give each its own result', async () => {
    const batch = await begin([
      requestOf('a', 'one'),
      requestOf('b', 'refuse me'),
      requestOf('c', '', { max_tokens: 0 }),
    ])
    expect(batch).toMatchObject({ type: 'message_batch', processing_status: 'in_progress', results_url: null })
    expect(batch.request_counts).toEqual({ processing: 3, succeeded: 0, errored: 0, canceled: 0, expired: 0 })
    expect(Date.parse(batch.expires_at) - Date.parse(batch.created_at)).toBe(86_400_000)
    await expect(client.messages.batches.results(batch.id)).rejects.toThrow('finished processing')
    const done = await ended(batch.id)
    expect(done.request_counts).toEqual({ processing: 0, succeeded: 1, errored: 2, canceled: 0, expired: 0 })
    expect(done.ended_at).not.toBeNull()
    const results = await resultsOf(batch.id)
    expect(results).toMatchObject([
      {
        custom_id: 'a',
        result: {
          type: 'succeeded',
          message: { type: 'message', content: [{ type: 'text', text: 'You said: one' }], usage: { input_tokens: 10 } },
        },
      },
      {
        custom_id: 'b',
        result: { type: 'errored', error: { type: 'error', error: { type: 'invalid_request_error' } } },
      },
      { custom_id: 'c', result: { type: 'errored', error: { error: { param: 'max_tokens' } } } },
    ])
    expect([...provider.counts]).toEqual([
      ['one', 1],
      ['refuse me', 1],
    ])
  })

  it('resume after the process was killed, and make each message once', async () => {
    let held = 0
    let release = () => {}
    const killed = new Promise<void>((resolve) => {
      release = resolve
    })
    provider.held.until = () => (++held <= 20 ? Promise.resolve() : killed)
    const ids = Array.from({ length: 60 }, (_, at) => `line-${at}`)
    const { id } = await begin(ids.map((each) => requestOf(each)))
    await having(id, ({ request_counts }) => expect(request_counts.succeeded).toBeGreaterThan(12))
    await world.crash()
    release()
    await world.restart()
    client = clientOf()
    expect((await ended(id)).request_counts).toMatchObject({ succeeded: 60, errored: 0 })
    expect((await resultsOf(id)).map(({ custom_id }) => custom_id)).toEqual(ids)
    // only requests that were in progress when the process was killed are made again
    expect([...provider.counts.values()].filter((count) => count > 1).length).toBeLessThanOrEqual(8)
  }, 120_000)

  it('end at once when they are canceled while their requests only wait for a rate limit', async () => {
    const { id } = await begin(['a', 'b', 'c'].map((name) => requestOf(name, 'limit me')))
    await vi.waitFor(() => expect(provider.counts.get('limit me')).toBeGreaterThanOrEqual(3), patience)
    await client.messages.batches.cancel(id)
    const from = performance.now()
    expect((await ended(id)).request_counts).toMatchObject({ succeeded: 0, errored: 3, canceled: 0 })
    expect(performance.now() - from).toBeLessThan(30_000)
  })

  it('are canceled in the middle, keep what was done, name the rest, and can then be deleted', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    provider.held.until = () => released
    const { id } = await begin(Array.from({ length: 30 }, (_, at) => requestOf(`${at}`)))
    await vi.waitFor(() => expect(provider.counts.size).toBe(8), patience)
    await expect(client.messages.batches.delete(id)).rejects.toMatchObject({ status: 409 })
    const results = await world.api.get(`/v1/messages/batches/${id}/results`)
    expect([results.status, results.body.error.type]).toEqual([409, 'invalid_request_error'])
    expect(await client.messages.batches.cancel(id)).toMatchObject({ processing_status: 'canceling' })
    release()
    const done = await ended(id)
    expect(done.request_counts).toEqual({ processing: 0, succeeded: 8, errored: 0, canceled: 22, expired: 0 })
    expect(done.cancel_initiated_at).not.toBeNull()
    const named = await resultsOf(id)
    expect(named.map(({ result }) => result.type)).toEqual([
      ...Array(8).fill('succeeded'),
      ...Array(22).fill('canceled'),
    ])
    const { data } = (await world.api.get('/v1/files?limit=100')).body
    const input = data.find(({ filename }: { readonly filename: string }) => filename === `${id}_input.jsonl`)
    expect((await world.api.get(`/v1/files/${input.id}`, { method: 'DELETE' })).status).toBe(200)
    expect(await resultsOf(id)).toEqual(named)
    const files = () => world.api.get('/v1/files?limit=100').then(({ body }) => JSON.stringify(body))
    expect(await client.messages.batches.delete(id)).toEqual({ id, type: 'message_batch_deleted' })
    await expect(client.messages.batches.retrieve(id)).rejects.toBeInstanceOf(Anthropic.NotFoundError)
    await vi.waitFor(async () => expect(await files()).not.toContain(id), patience)
  })

  it('are listed newest first, page by page in both directions, and as batches of their endpoint', async () => {
    const made = []
    for (const name of ['x', 'y', 'z']) made.unshift((await begin([requestOf(name)])).id)
    const all = []
    for await (const { id } of client.messages.batches.list({ limit: 2 })) all.push(id)
    expect(all.slice(0, 3)).toEqual(made)
    const before = await client.messages.batches.list({ limit: 1, before_id: made[2] ?? '' })
    expect([before.data.map(({ id }) => id), before.has_more]).toEqual([[made[1]], true])
    const { body } = await world.api.get('/v1/batches?limit=1')
    expect(body.data).toMatchObject([{ id: made[0], endpoint: '/v1/messages' }])
  })

  it.each([
    ['no requests', [], 'requests'],
    ['an id that is given twice', [requestOf('a'), requestOf('a')], 'requests[1].custom_id'],
    ['an id with other characters', [requestOf('a b')], 'requests[0].custom_id'],
    ['a streamed answer', [requestOf('a', 'x', { stream: true })], 'requests[0].params.stream'],
  ])("with %s are refused in Anthropic's envelope", async (_, requests, param) => {
    const error = await begin(requests).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(Anthropic.BadRequestError)
    expect(error).toMatchObject({ error: { type: 'error', error: { type: 'invalid_request_error', param } } })
  })

  it('with a request that is too long are refused, and store nothing', async () => {
    const tooLarge = { status: 413, error: { error: { param: 'requests[1]' } } }
    const long = requestOf('b', 'x'.repeat(1024 * 1024))
    await expect(begin([requestOf('a'), long])).rejects.toMatchObject(tooLarge)
    const many = requestOf('b', 'x', { x: Array.from({ length: 25_000 }, () => ({})) })
    await expect(begin([requestOf('a'), many])).rejects.toMatchObject(tooLarge)
  })

  it('use at most half of a rate limit, and are reached only by their project and tenant', async () => {
    const tenants = await Promise.all(
      ['acme', 'globex'].map(
        async (name) => (await world.api.post('/v1/tenants', { external_id: name, name })).body.id,
      ),
    )
    const [own, foreign] = tenants.map((id) => clientOf({ 'x-tenant-id': id }))
    if (own === undefined || foreign === undefined) throw new Error('no tenants')
    const limit = { subject: 'tenant', subject_id: tenants[0], requests_per_minute: 10 }
    expect((await world.api.post('/v1/limits', limit)).status).toBe(201)
    const { id } = await begin(
      Array.from({ length: 9 }, (_, at) => requestOf(`half-${at}`)),
      own,
    )
    await having(id, ({ request_counts }) => expect(request_counts.succeeded).toBe(5))
    for (const call of [foreign.messages.batches.retrieve(id), foreign.messages.batches.cancel(id)])
      await expect(call).rejects.toBeInstanceOf(Anthropic.NotFoundError)
    expect((await foreign.messages.batches.list()).data).toEqual([])
    const usage = await world.api.get(`/v1/usage/events?tenant_id=${tenants[0]}`)
    expect(usage.body.data).toHaveLength(5)
    await own.messages.batches.cancel(id)
  })
})
