import OpenAI, { NotFoundError, toFile } from 'openai'
import type { Batch, BatchCreateParams } from 'openai/resources/batches'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { LoopProbe, limitOf } from '#test/e2e/loop-probe.ts'
import { patience } from '#test/e2e/patience.ts'
import { either, World } from '#test/e2e/world.ts'
import { openProvider } from './batch-provider.ts'

const model = 'gpt-4o-mini'
const chat = '/v1/chat/completions'

const lineOf = (custom_id: string, text: string, more: object = {}): string =>
  JSON.stringify({
    ...{ custom_id, method: 'POST', url: chat, body: { model, messages: [{ role: 'user', content: text }] } },
    ...more,
  })

describe.each(either('mongo'))("OpenAI's batches on $store, with the official client", ({ store }) => {
  const probe = new LoopProbe()
  let provider: Awaited<ReturnType<typeof openProvider>>
  let world: World
  let client: OpenAI

  beforeAll(async () => {
    provider = await openProvider()
    // requests that wait for a rate limit do not end
    const env = { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: provider.url, SHUTDOWN_GRACE_S: '1', ...probe.env }
    world = await World.start({ store, env })
    client = clientOf()
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    provider.close()
    probe.close()
  })
  beforeEach(() => {
    provider.counts.clear()
    provider.held.until = () => Promise.resolve()
  })

  const clientOf = (headers: Record<string, string> = {}) =>
    new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 2, defaultHeaders: headers })
  const uploaded = async (content: string | Buffer, of = client) =>
    (await of.files.create({ file: await toFile(Buffer.from(content), 'in.jsonl'), purpose: 'batch' })).id
  const begin = async (content: string | Buffer, more: Partial<BatchCreateParams> = {}, of = client) =>
    of.batches.create({
      ...{ input_file_id: await uploaded(content, of), endpoint: chat, completion_window: '24h' },
      ...more,
    })
  const having = (id: string, check: (batch: Batch) => void): Promise<Batch> =>
    vi.waitFor(
      async () => {
        const batch = await client.batches.retrieve(id)
        check(batch)
        return batch
      },
      { ...patience, timeout: 60_000 },
    )
  const ended = (id: string) =>
    having(id, ({ status }) => expect(['completed', 'failed', 'expired', 'cancelled']).toContain(status))
  const linesOf = async (file: string | undefined): Promise<readonly ReturnType<typeof JSON.parse>[]> => {
    if (file === undefined) return []
    const text = await (await client.files.content(file)).text()
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  }
  const usageOf = async (tenant: string): Promise<number> => {
    let count = 0
    for (let cursor = ''; ; ) {
      const { body } = await world.api.get(`/v1/usage/events?tenant_id=${tenant}&limit=100${cursor}`)
      count += body.data.length
      if (body.next_cursor === null) return count
      cursor = `&cursor=${body.next_cursor}`
    }
  }

  it('makes each request once, keeps the order, and puts those that fail into a file of their own', async () => {
    const content = [
      lineOf('a', 'one'),
      '',
      lineOf('b', 'refuse me'),
      lineOf('c', 'three'),
      lineOf('d', 'x', { body: { model } }),
    ]
    const batch = await begin(`${content.join('\r\n')}\n`, { metadata: { job: 'nightly' } })
    expect(batch).toMatchObject({ object: 'batch', status: 'validating', metadata: { job: 'nightly' } })
    const done = await ended(batch.id)
    expect(done).toMatchObject({
      status: 'completed',
      request_counts: { total: 4, completed: 2, failed: 2 },
      usage: { input_tokens: 20, output_tokens: 10, total_tokens: 30 },
    })
    expect(done.completed_at).toBeGreaterThanOrEqual(done.created_at)
    const output = await linesOf(done.output_file_id)
    expect(output.map(({ custom_id }) => custom_id)).toEqual(['a', 'c'])
    expect(output[0]).toMatchObject({
      error: null,
      response: { status_code: 200, body: { choices: [{ message: { content: 'You said: one' } }] } },
    })
    const errors = await linesOf(done.error_file_id)
    expect(errors).toMatchObject([
      { custom_id: 'b', response: { status_code: 400, body: { error: { code: expect.any(String) } } } },
      { custom_id: 'd', response: { status_code: 400, body: { error: { code: 'missing_field', param: 'messages' } } } },
    ])
    expect(await client.files.retrieve(done.output_file_id ?? '')).toMatchObject({ purpose: 'batch_output' })
    expect((await client.batches.list()).data[0]).toEqual(done)
  })

  it('also makes responses and embeddings', async () => {
    const response = await begin(lineOf('r', '', { url: '/v1/responses', body: { model, input: 'hello' } }), {
      endpoint: '/v1/responses',
    })
    const embedding = await begin(
      lineOf('e', '', { url: '/v1/embeddings', body: { model: 'text-embedding-3-small', input: 'hello' } }),
      { endpoint: '/v1/embeddings' },
    )
    const [first] = await linesOf((await ended(response.id)).output_file_id)
    expect(first).toMatchObject({ response: { body: { object: 'response', status: 'completed' } } })
    const [second] = await linesOf((await ended(embedding.id)).output_file_id)
    expect(second).toMatchObject({ response: { body: { data: [{ embedding: [1, 0] }] } } })
  })

  it('makes every one of 200 requests once in output and usage, although the process is killed in the middle', async () => {
    const { body: tenant } = await world.api.post('/v1/tenants', { external_id: 'killed', name: 'Killed' })
    let held = 0
    let release = () => {}
    // the provider answers sixty requests, and holds those after them until the process is killed
    const killed = new Promise<void>((resolve) => {
      release = resolve
    })
    provider.held.until = () => (++held <= 60 ? Promise.resolve() : killed)
    const ids = Array.from({ length: 200 }, (_, at) => `line-${at}`)
    const own = clientOf({ 'x-tenant-id': tenant.id })
    const { id } = await begin(ids.map((each) => lineOf(each, each)).join('\n'), {}, own)
    await vi.waitFor(() => expect(held).toBeGreaterThan(60), patience)
    await having(id, ({ request_counts }) => expect(request_counts?.completed).toBeGreaterThan(40))
    await world.crash()
    release()
    await world.restart()
    client = clientOf()
    const done = await ended(id)
    expect(done).toMatchObject({ status: 'completed', request_counts: { total: 200, completed: 200, failed: 0 } })
    const output = await linesOf(done.output_file_id)
    expect(output.map(({ custom_id }) => custom_id)).toEqual(ids)
    expect(await usageOf(tenant.id)).toBe(200)
    // only requests that were in progress when the process was killed are made again
    expect([...provider.counts.values()].filter((count) => count > 1).length).toBeLessThanOrEqual(8)
    expect(Math.max(...provider.counts.values())).toBe(2)
  }, 120_000)

  it('is cancelled in the middle, and keeps what was done', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    provider.held.until = () => released
    const { id } = await begin(Array.from({ length: 30 }, (_, at) => lineOf(`${at}`, `${at}`)).join('\n'))
    await vi.waitFor(() => expect(provider.counts.size).toBe(8), patience)
    expect(await client.batches.cancel(id)).toMatchObject({ status: 'cancelling' })
    expect(await client.batches.cancel(id)).toMatchObject({ status: 'cancelling' })
    release()
    const done = await ended(id)
    expect(done).toMatchObject({ status: 'cancelled', request_counts: { total: 30, completed: 8, failed: 0 } })
    expect(done.cancelled_at).toBeGreaterThanOrEqual(done.cancelling_at ?? 0)
    expect(await linesOf(done.output_file_id)).toHaveLength(8)
    expect(provider.counts.size).toBe(8)
    expect(await client.batches.cancel(id)).toMatchObject({ status: 'cancelled' })
  })

  it('expires after its window, and lists the requests that it had no time for', async () => {
    provider.held.until = () => new Promise(() => {})
    const content = Array.from({ length: 12 }, (_, at) => lineOf(`${at}`, `${at}`)).join('\n')
    const window: string = '2s'
    const { id } = await world.api
      .post('/v1/batches', { input_file_id: await uploaded(content), endpoint: chat, completion_window: window })
      .then(({ body }) => body)
    const done = await ended(id)
    expect(done).toMatchObject({ status: 'expired', request_counts: { total: 12, completed: 0 } })
    expect(done.output_file_id).toBeUndefined()
    const errors = await linesOf(done.error_file_id)
    expect(errors).toHaveLength(12)
    expect(errors[0]).toMatchObject({ custom_id: '0', response: null, error: { code: 'batch_expired' } })
  })

  const good = lineOf('a', 'one')
  it.each([
    ['a line that is not JSON', `${good}\nnonsense`, 'invalid_json_line', 2],
    ['a line that is no object', '[1]', 'invalid_json_line', 1],
    [
      'bytes that are not UTF-8',
      Buffer.concat([Buffer.from(`${good}\n"`), Buffer.from([0xff, 0xfe])]),
      'invalid_utf8',
      2,
    ],
    ['a line of 10 MB', `${lineOf('b', 'x'.repeat(10 * 1024 * 1024))}\n${good}`, 'line_too_long', 1],
    ['another method', lineOf('a', 'one', { method: 'GET' }), 'invalid_method', 1],
    ['another URL', lineOf('a', 'one', { url: '/v1/embeddings' }), 'invalid_url', 1],
    ['a custom_id twice', `${good}\n${good}`, 'duplicate_custom_id', 2],
    ['no custom_id', lineOf('', 'one'), 'invalid_custom_id', 1],
    ['a streamed answer', lineOf('a', '', { body: { model, messages: [], stream: true } }), 'invalid_body', 1],
    ['no lines', '\n\n', 'empty_file', null],
  ])('fails as a whole for %s', async (_, content, code, line) => {
    const done = await ended((await begin(content)).id)
    expect(done).toMatchObject({ status: 'failed', request_counts: { total: 0 } })
    expect(done.errors?.data).toMatchObject([{ code, line }])
    expect(done.failed_at).toBeGreaterThan(0)
    expect(provider.counts.size).toBe(0)
  })

  it('checks 20 MB of lines without holding the loop', async () => {
    const lines = Array.from({ length: 19 }, (_, at) => lineOf(`${at}`, 'x'.repeat(1_000_000)))
    const content = `${lines.join('\n')}\n${lines[0]}`
    const held = await probe.heldMs(world, async () => {
      const done = await ended((await begin(content)).id)
      expect(done.errors?.data).toMatchObject([{ code: 'duplicate_custom_id', line: 20 }])
    })
    expect(Math.min(...held)).toBeLessThan(limitOf(held))
  }, 120_000)

  it('uses at most half of a rate limit, and waits for the rest', async () => {
    const { body: tenant } = await world.api.post('/v1/tenants', { external_id: 'limited', name: 'Limited' })
    const limit = { subject: 'tenant', subject_id: tenant.id, requests_per_minute: 10 }
    expect((await world.api.post('/v1/limits', limit)).status).toBe(201)
    const own = clientOf({ 'x-tenant-id': tenant.id })
    const { id } = await begin(Array.from({ length: 9 }, (_, at) => lineOf(`${at}`, `half ${at}`)).join('\n'), {}, own)
    await having(id, ({ request_counts }) => expect(request_counts?.completed).toBe(5))
    const messages = [{ role: 'user' as const, content: 'at once' }]
    for (let n = 0; n < 5; n++) await own.chat.completions.create({ model, messages })
    expect((await client.batches.retrieve(id)).request_counts).toMatchObject({ completed: 5, failed: 0 })
    await own.batches.cancel(id)
  })

  it('is reached only by its project and tenant', async () => {
    const tenants = await Promise.all(
      ['acme', 'globex'].map(
        async (name) => (await world.api.post('/v1/tenants', { external_id: name, name })).body.id,
      ),
    )
    const [own, foreign] = tenants.map((id) => clientOf({ 'x-tenant-id': id }))
    if (own === undefined || foreign === undefined) throw new Error('no tenants')
    const { id, input_file_id } = await begin(good, {}, own)
    await expect(foreign.batches.retrieve(id)).rejects.toThrow(NotFoundError)
    await expect(foreign.batches.cancel(id)).rejects.toThrow(NotFoundError)
    expect((await foreign.batches.list()).data).toEqual([])
    const body = { input_file_id, endpoint: chat, completion_window: '24h' } as const
    await expect(foreign.batches.create(body)).rejects.toThrow(NotFoundError)
    const done = await ended(id)
    const usage = await world.api.get(`/v1/usage/events?tenant_id=${tenants[0]}`)
    expect(usage.body.data).toMatchObject([{ operation: 'chat', input_tokens: 10, output_tokens: 5 }])
    await expect(foreign.files.content(done.output_file_id ?? '')).rejects.toThrow(NotFoundError)
    expect((await world.as('csk_wrong').get('/v1/batches')).status).toBe(401)
    const dashboard = await world.dashboard()
    expect((await dashboard.get(`/v1/batches/${id}`)).body).toMatchObject({ id, status: 'completed' })
    const notes = await client.files.create({ file: await toFile(Buffer.from('x'), 'x.txt'), purpose: 'user_data' })
    const wrong = client.batches.create({ ...body, input_file_id: notes.id })
    await expect(wrong).rejects.toMatchObject({ status: 400, param: 'input_file_id' })
  })
})
