import OpenAI, { BadRequestError, NotFoundError, toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LoopProbe, limitOf } from '../loop-probe.ts'
import { drawnStores, World } from '../world.ts'
import { KnowledgeBase } from './knowledge-world.ts'

describe.each(drawnStores)("OpenAI's files and vector stores on $store, with the official client", ({ store }) => {
  const probe = new LoopProbe()
  let world: World
  let client: OpenAI
  const clientOf = (apiKey: string, defaultHeaders: Record<string, string> = {}) =>
    new OpenAI({ apiKey, baseURL: `${world.url}/v1`, maxRetries: 0, defaultHeaders })
  const uploaded = async (text: string, name = 'notes.txt', of = client) =>
    of.files.create({ file: await toFile(Buffer.from(text), name), purpose: 'assistants' })
  const tenantOf = async (name: string): Promise<string> =>
    (await world.api.post('/v1/tenants', { external_id: name, name })).body.id

  beforeAll(async () => {
    world = await World.start({ store, env: probe.env })
    client = clientOf(world.secretKey)
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    probe.close()
  })

  it('a file is stored, listed in pages, read back byte by byte, and deleted', async () => {
    const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * 7) % 251))
    const file = await client.files.create({ file: await toFile(bytes, '../up/data.bin'), purpose: 'user_data' })
    expect(file).toMatchObject({ object: 'file', bytes: bytes.length, filename: 'data.bin', purpose: 'user_data' })
    expect(await client.files.retrieve(file.id)).toEqual(file)
    expect(Buffer.from(await (await client.files.content(file.id)).arrayBuffer()).equals(bytes)).toBe(true)
    const more = [await uploaded('one'), await uploaded('two'), await uploaded('three')]
    const listed: string[] = []
    for await (const each of client.files.list({ limit: 2, order: 'asc' })) listed.push(each.id)
    expect(listed).toEqual([file, ...more].map(({ id }) => id))
    expect((await client.files.list({ purpose: 'user_data' })).data).toEqual([file])
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true })
    await expect(client.files.retrieve(file.id)).rejects.toThrow(NotFoundError)
    await expect(client.files.content(file.id)).rejects.toThrow(NotFoundError)
    for (const { id } of more) await client.files.delete(id)
  })

  it('a file without content, of an unknown purpose or too large is refused in the envelope of OpenAI', async () => {
    await expect(uploaded('')).rejects.toThrow(BadRequestError)
    const file = await toFile(Buffer.from('x'), 'x.txt')
    await expect(client.files.create({ file, purpose: 'fine-tune' })).rejects.toMatchObject({
      status: 400,
      param: 'purpose',
    })
    const large = await toFile(Buffer.alloc(21 * 1024 * 1024), 'large.txt')
    await expect(client.files.create({ file: large, purpose: 'batch' })).rejects.toMatchObject({ status: 413 })
  })

  it('a file of 20 MB is stored and read without holding the loop', async () => {
    const bytes = Buffer.alloc(20 * 1024 * 1024, 'abc ')
    const held = await probe.heldMs(world, async () => {
      const file = await client.files.create({ file: await toFile(bytes, 'long.txt'), purpose: 'batch' })
      expect((await (await client.files.content(file.id)).arrayBuffer()).byteLength).toBe(bytes.length)
      await client.files.delete(file.id)
    })
    expect(Math.min(...held)).toBeLessThan(limitOf(held))
  }, 120_000)

  it('a vector store is another name of a knowledge base, and its files are the sources', async () => {
    const file = await uploaded('Otters hold hands while they sleep.', 'otters.md')
    const made = await client.vectorStores.create({ name: 'Zoo', file_ids: [file.id], metadata: { kind: 'zoo' } })
    const base = new KnowledgeBase(world.api, made.id.replace('vs_', 'kb_'))
    expect((await world.api.get(base.path)).body).toMatchObject({ name: 'Zoo', metadata: { kind: 'zoo' } })
    await base.add({ text: 'Penguins propose with pebbles.', title: 'Penguins' })
    const indexed = await client.vectorStores.files.poll(made.id, file.id)
    const { response } = await client.vectorStores.files.retrieve(file.id, { vector_store_id: made.id }).withResponse()
    // the SDKs poll every five seconds otherwise
    expect(response.headers.get('openai-poll-after-ms')).toBe('500')
    const content = [{ type: 'input_file' as const, file_id: file.id }]
    const named = client.responses.create({ model: 'simulated-1', input: [{ role: 'user', content }] })
    await expect(named).rejects.toThrow('files of /v1/files are for vector stores and batches')
    expect(indexed).toMatchObject({ id: file.id, status: 'completed', vector_store_id: made.id, last_error: null })
    const found = await client.vectorStores.retrieve(made.id)
    expect(found).toMatchObject({ status: 'completed', file_counts: { completed: 2, total: 2 } })
    expect(found.usage_bytes).toBeGreaterThan(35)

    const listed: string[] = []
    for await (const each of client.vectorStores.files.list(made.id, { limit: 1 })) listed.push(each.id)
    expect(listed).toHaveLength(2)
    expect(listed).toContain(file.id)
    const penguins = listed.find((id) => id !== file.id) ?? ''
    expect(await client.files.retrieve(penguins)).toMatchObject({ id: penguins, filename: 'Penguins' })
    expect(await (await client.files.content(penguins)).text()).toBe('Penguins propose with pebbles.')

    const { data: hits } = await client.vectorStores.search(made.id, { query: 'otters sleep' })
    expect(hits[0]).toMatchObject({ file_id: file.id, filename: 'otters.md' })
    expect(hits[0]?.content[0]?.text).toContain('hold hands')
    expect(await client.vectorStores.update(made.id, { name: 'Ark' })).toMatchObject({ id: made.id, name: 'Ark' })
    expect((await client.vectorStores.list()).data.map(({ id }) => id)).toContain(made.id)

    expect(await client.vectorStores.files.delete(file.id, { vector_store_id: made.id })).toMatchObject({
      deleted: true,
    })
    await expect(client.vectorStores.files.retrieve(file.id, { vector_store_id: made.id })).rejects.toThrow(
      NotFoundError,
    )
    expect(await client.files.retrieve(file.id)).toEqual(file)
    await client.vectorStores.delete(made.id)
    expect((await world.api.get(base.path)).status).toBe(404)
  })

  it('a file is in several stores and once in each, with its own attributes, by which searches filter', async () => {
    const file = await uploaded('The tariff is ten euros.')
    const [one, other] = [await client.vectorStores.create({}), await client.vectorStores.create({})]
    const adding = { file_id: file.id, attributes: { year: 2026, lang: 'en' } }
    const added = await Promise.all([1, 2, 3].map(() => client.vectorStores.files.create(one.id, adding)))
    expect(new Set(added.map(({ id }) => id))).toEqual(new Set([file.id]))
    expect(await client.vectorStores.files.createAndPoll(one.id, adding)).toMatchObject({
      attributes: adding.attributes,
    })
    expect((await client.vectorStores.files.list(one.id)).data).toHaveLength(1)
    await client.vectorStores.files.createAndPoll(other.id, { file_id: file.id })
    const years = async (value: number, id = one.id) =>
      (await client.vectorStores.search(id, { query: 'tariff', filters: { type: 'eq', key: 'year', value } })).data
        .length
    expect([await years(2026), await years(2025), await years(2026, other.id)]).toEqual([1, 0, 0])
    await client.vectorStores.files.update(file.id, { vector_store_id: one.id, attributes: { year: 2025 } })
    expect([await years(2026), await years(2025)]).toEqual([0, 1])
    const pages = await client.vectorStores.files.content(file.id, { vector_store_id: one.id })
    expect(pages.data).toEqual([{ type: 'text', text: 'The tariff is ten euros.' }])
  })

  it('several files are added by a batch, which counts those that cannot be read as failed', async () => {
    const [good, broken] = [await uploaded('Good words.'), await uploaded('not a PDF', 'broken.pdf')]
    const { id } = await client.vectorStores.create({ name: 'Batch' })
    const batch = await client.vectorStores.fileBatches.createAndPoll(id, { file_ids: [good.id, broken.id] })
    expect(batch).toMatchObject({ status: 'completed', file_counts: { completed: 1, failed: 1, total: 2 } })
    const files = await client.vectorStores.fileBatches.listFiles(batch.id, { vector_store_id: id, filter: 'failed' })
    expect(files.data).toMatchObject([{ id: broken.id, last_error: { code: 'invalid_file' } }])
    expect(await client.vectorStores.fileBatches.cancel(batch.id, { vector_store_id: id })).toMatchObject({
      status: 'completed',
    })
    await expect(client.vectorStores.fileBatches.create(id, { file_ids: ['file_none'] })).rejects.toMatchObject({
      status: 404,
      param: 'file_ids[0]',
    })
  })

  it('stores and files of another tenant or that do not exist are 404', async () => {
    const [acme, globex] = [await tenantOf('acme'), await tenantOf('globex')]
    const own = clientOf(world.secretKey, { 'x-tenant-id': acme })
    const foreign = clientOf(world.secretKey, { 'x-tenant-id': globex })
    const file = await uploaded('Secret plans.', 'plans.txt', own)
    const { id } = await own.vectorStores.create({ file_ids: [file.id] })
    const theirs = await foreign.vectorStores.create({})
    expect((await own.files.list()).data).toEqual([file])
    expect((await foreign.files.list()).data).toEqual([])
    const in404: readonly (() => PromiseLike<unknown>)[] = [
      () => foreign.files.retrieve(file.id),
      () => foreign.files.content(file.id),
      () => foreign.files.delete(file.id),
      () => foreign.vectorStores.retrieve(id),
      () => foreign.vectorStores.search(id, { query: 'plans' }),
      () => foreign.vectorStores.update(id, { name: 'x' }),
      () => foreign.vectorStores.delete(id),
      () => foreign.vectorStores.files.list(id),
      () => foreign.vectorStores.files.create(theirs.id, { file_id: file.id }),
      () => foreign.vectorStores.create({ file_ids: [file.id] }),
      () => client.vectorStores.files.retrieve(file.id, { vector_store_id: theirs.id }),
    ]
    for (const each of in404) await expect(each()).rejects.toThrow(NotFoundError)
    expect((await own.vectorStores.search(id, { query: 'plans' })).data).toHaveLength(1)
  })

  it('agents and users search what they were granted, and can do nothing else', async () => {
    const { id } = await client.vectorStores.create({ file_ids: [(await uploaded('Otters swim.')).id] })
    const config = { model: 'simulated-1', system_prompt: 'x' }
    const { body: agent } = await world.api.post('/v1/agents', { name: 'guide', config })
    const { key } = (await world.api.post(`/v1/agents/${agent.id}/keys`, { name: 'k', key_type: 'secret' })).body
    const guide = clientOf(key)
    await expect(guide.vectorStores.search(id, { query: 'otters' })).rejects.toThrow(NotFoundError)
    await new KnowledgeBase(world.api, id.replace('vs_', 'kb_')).grant('agent', agent.id)
    expect((await guide.vectorStores.search(id, { query: 'otters' })).data).toHaveLength(1)
    for (const refused of [
      () => guide.vectorStores.list(),
      () => guide.files.list(),
      () => guide.vectorStores.retrieve(id),
    ])
      await expect<PromiseLike<unknown>>(refused()).rejects.toMatchObject({ status: 403 })
    const dashboard = await world.dashboard()
    expect((await dashboard.get(`/v1/vector_stores/${id}`)).body).toMatchObject({ id })
    expect((await dashboard.get('/v1/files')).status).toBe(200)
    expect((await world.as('csk_wrong').get('/v1/files')).status).toBe(401)
  })

  it('file_search takes the id of a vector store, and cites files; one that does not exist is 404', async () => {
    const file = await uploaded('Goods may be returned within thirty days.', 'returns.txt')
    const { id } = await client.vectorStores.create({})
    await client.vectorStores.files.createAndPoll(id, { file_id: file.id })
    const searching = (vector_store_ids: string[]) =>
      client.responses.create({
        model: 'simulated-1',
        input: 'Use file_search with "goods returned".',
        tools: [{ type: 'file_search', vector_store_ids }],
        include: ['file_search_call.results'],
      })
    expect((await searching([id])).output[0]).toMatchObject({
      type: 'file_search_call',
      results: [{ file_id: file.id, filename: 'returns.txt' }],
    })
    const foreign = `vs_${'0'.repeat(25)}1`
    for (const none of [foreign, 'vs_1', 'nothing'])
      await expect(searching([none])).rejects.toMatchObject({ status: 404, param: 'tools[0].vector_store_ids[0]' })
  })
})
