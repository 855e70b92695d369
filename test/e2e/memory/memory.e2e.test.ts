import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Api } from '../api.ts'
import { either, World } from '../world.ts'

describe.each(either('sqlite'))('memory of users on $store', ({ store }) => {
  let world: World
  let api: Api

  beforeAll(async () => {
    world = await World.start({ store })
    api = world.api
  })
  afterAll(() => world.stop())

  const written = async (userId: string, content: string, more: object = {}) => {
    const answer = await api.post('/v1/memory/write', { userId, content, ...more })
    expect(answer.status).toBe(201)
    return String(answer.body.id)
  }
  const search = async (userId: string, query: string, more: object = {}) =>
    (await api.post('/v1/memory/search', { userId, query, ...more })).body

  it('finds a new memory by its words at once, and abstains without a match', async () => {
    const id = await written('ada', 'Ada keeps bees on the roof of her house in Leeds')
    const { results, abstained } = await search('ada', 'Where does Ada keep her bees?')
    expect(results).toMatchObject([
      { id, content: expect.stringContaining('Leeds'), source: 'vector', match: 'lexical' },
    ])
    expect(abstained).toBe(false)
    expect(await search('ada', 'Which motorbike does Ada ride?')).toMatchObject({ results: [], abstained: true })
    expect(await search('nobody', 'bees')).toMatchObject({ results: [], abstained: true })
  })

  it('answers a batch in order with duplicates marked, and refuses more than 50 memories', async () => {
    const known = await written('bob', 'Bob plays the cello')
    const { status, body } = await api.post('/v1/memory/write/batch', {
      userId: 'bob',
      memories: [
        { content: 'Bob is allergic to peanuts' },
        { content: 'bob plays the CELLO.' },
        { content: 'Bob is tall' },
      ],
    })
    expect(status).toBe(201)
    expect(body.memories).toEqual([
      { id: expect.stringMatching(/^mem_/) },
      { id: known, duplicate: true },
      { id: expect.stringMatching(/^mem_/) },
    ])
    const tooMany = Array.from({ length: 51 }, (_, n) => ({ content: `memory ${n}` }))
    const refused = await api.post('/v1/memory/write/batch', { userId: 'bob', memories: tooMany })
    expect(refused).toMatchObject({ status: 422, body: { error: { param: 'memories' } } })
  })

  it('is listed in pages, changed with a history, and permanently deleted', async () => {
    const ids = []
    for (const n of [1, 2, 3]) ids.push(await written('cleo', `Cleo has read volume ${n}`))
    const first = await api.get('/v1/memory/list?userId=cleo&limit=2')
    expect(first.body).toMatchObject({ count: 2, memories: [{ id: ids[2] }, { id: ids[1] }] })
    const second = await api.get(`/v1/memory/list?userId=cleo&limit=2&cursor=${first.body.nextCursor}`)
    expect(second.body).toMatchObject({ memories: [{ id: ids[0] }], nextCursor: null })
    const changed = await api.post(
      `/v1/memory/${ids[0]}`,
      { content: 'Cleo has read the marmalade volume' },
      { method: 'PATCH' },
    )
    expect(changed.body).toMatchObject({ content: 'Cleo has read the marmalade volume', userId: 'cleo' })
    const { history } = (await api.get(`/v1/memory/${ids[0]}/history`)).body
    expect(history).toMatchObject([
      { content: 'Cleo has read volume 1' },
      { content: 'Cleo has read the marmalade volume' },
    ])
    expect((await search('cleo', 'marmalade', { threshold: 0 })).results[0]).toMatchObject({ id: ids[0] })
    expect(await world.mentions('marmalade')).not.toEqual({})
    expect((await api.get(`/v1/memory/${ids[0]}`, { method: 'DELETE' })).body).toEqual({ id: ids[0], deleted: true })
    expect((await api.get(`/v1/memory/${ids[0]}`)).status).toBe(404)
    expect((await search('cleo', 'marmalade')).results).toEqual([])
    await expect.poll(() => world.mentions('marmalade')).toEqual({})
  })

  it('is forgotten by filter with a receipt and an audit log entry, and exported', async () => {
    // no id has these letters
    const user = 'louis'
    await written(user, 'Louis likes quinoa', { namespace: 'food' })
    const kept = await written(user, 'Louis likes trams', { namespace: 'travel' })
    const { body } = await api.post('/v1/memory/forget', { userId: user, namespace: 'food' })
    expect(body).toMatchObject({ forgotten: 1, truncated: false })
    expect(body.receipt.surfaces).toContainEqual({ surface: 'store', removed: 1 })
    expect(await world.mentions('quinoa')).toEqual({})
    const lines = await api.get('/v1/audit-log?action=memory.forgotten')
    expect(lines.body.data).toMatchObject([{ action: 'memory.forgotten', changes: ['namespace'] }])
    expect(JSON.stringify(lines.body)).not.toContain(user)
    const exported = await api.post('/v1/memory/export', { userId: user })
    expect(exported.body).toMatchObject({ memories: [{ id: kept }], truncated: false, nextCursor: null })
    const { suggestions } = (await api.get(`/v1/memory/forget-suggestions?userId=${user}&minIdleDays=0`)).body
    expect(suggestions).toMatchObject([{ id: kept, idle_days: 0, reason: 'unused' }])
    const over = await written(user, 'Louis rents a flat', { valid_to: '2020-01-01T00:00:00Z' })
    const weakest = await api.get(`/v1/memory/forget-suggestions?userId=${user}&minIdleDays=0`)
    expect(weakest.body.suggestions[0]).toMatchObject({ id: over, reason: 'expired' })
  })

  it('accepts contents of up to 32,768 characters with a warning, and refuses longer ones', async () => {
    const write = (length: number) =>
      api.post('/v1/memory/write', { userId: 'fritz', content: 'word '.repeat(length / 5) })
    expect(await write(32_765)).toMatchObject({ status: 201, body: { warnings: ['content_over_soft_cap'] } })
    expect(await write(32_770)).toMatchObject({ status: 422, body: { error: { param: 'content' } } })
  })

  it('of a session is found only in that session', async () => {
    await written('eve', 'Eve talks of a saxophone', { scope: 'session', sessionId: 's1' })
    const at = async (more: object) => (await search('eve', 'saxophone', { threshold: 0, ...more })).results.length
    expect([await at({}), await at({ sessionId: 's2' }), await at({ sessionId: 's1' })]).toEqual([0, 0, 1])
    const refused = await api.post('/v1/memory/write', { userId: 'eve', content: 'x', scope: 'session' })
    expect(refused).toMatchObject({ status: 422, body: { error: { code: 'missing_field', param: 'sessionId' } } })
  })
})
