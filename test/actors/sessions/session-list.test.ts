import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { QueryOf } from '#specs/index.ts'
import { asUser } from './approving.ts'
import { callOf, newSession, openWorld, type World } from './harness.ts'

let world: World
let sessions: readonly string[]

beforeEach(async () => {
  world = await openWorld({})
  const made: string[] = []
  for (let n = 0; n < 7; n++) made.push(await newSession(world))
  sessions = made.toReversed()
})
afterEach(() => world.runtime.drain(0))

const list = (query: Partial<QueryOf<'sessions.list'>>) =>
  world.useCases['sessions.list'](callOf({}, { page: 1, limit: 3, ...query }, undefined))

const ids = async (query: Partial<QueryOf<'sessions.list'>>) => (await list(query)).data.map(({ id }) => id)

describe('a list of sessions', () => {
  it('is paged by number, newest first', async () => {
    expect(await ids({})).toEqual(sessions.slice(0, 3))
    expect(await ids({ page: 3 })).toEqual(sessions.slice(6))
    expect(await ids({ page: 4 })).toEqual([])
    expect((await list({ page: 2 })).pagination).toEqual({
      page: 2,
      limit: 3,
      total: 7,
      total_is: 'exact',
      total_pages: 3,
      has_more: true,
    })
  })

  it('continues after a session, even if sessions are created meanwhile', async () => {
    const [, , last = ''] = await ids({})
    await newSession(world)
    expect(await ids({ starting_after: last })).toEqual(sessions.slice(3, 6))
    expect(await ids({ starting_after: last, page: 2 })).toEqual(sessions.slice(6))
    expect(await ids({ starting_after: sessions.at(-1) ?? '' })).toEqual([])
  })

  it('has no more on its last page, by number and after a session', async () => {
    const more = async (query: Partial<QueryOf<'sessions.list'>>) => (await list(query)).pagination.has_more
    expect(await more({ page: 3 })).toBe(false)
    expect(await more({ limit: 7 })).toBe(false)
    expect(await more({ starting_after: sessions[2] ?? '' })).toBe(true)
    expect(await more({ starting_after: sessions[3] ?? '' })).toBe(false)
    expect(await more({ starting_after: sessions[5] ?? '' })).toBe(false)
    expect(await more({ starting_after: sessions[6] ?? '' })).toBe(false)
  })

  it('continues after a deleted session', async () => {
    const [, , last = ''] = await ids({})
    await world.useCases['sessions.delete'](callOf({ session_id: last }, {}, undefined))
    expect(await ids({ starting_after: last })).toEqual(sessions.slice(3, 6))
  })

  it('of a token for one session has it once, also for a client that continues until a page is empty', async () => {
    const owner = { tenant_id: 'ten_a', external_user_id: 'ada' }
    const { id } = await world.useCases['sessions.create'](callOf({}, {}, { metadata: {}, ...owner }))
    const bound = async (query: Partial<QueryOf<'sessions.list'>>) => {
      const call = asUser(callOf({}, { page: 1, limit: 3, ...query }, undefined), 'ten_a', 'ada', id)
      return (await world.useCases['sessions.list'](call)).data.map((session) => session.id)
    }
    expect([await bound({}), await bound({ page: 2 }), await bound({ starting_after: id })]).toEqual([[id], [], []])
    await expect(bound({ starting_after: 'ses_x' })).rejects.toMatchObject({ code: 'invalid_query' })
  })

  it('refuses pages beyond its depth limit, and refers to starting_after', async () => {
    await expect(list({ page: 33_333 })).resolves.toMatchObject({ data: [] })
    await expect(list({ page: 33_334 })).rejects.toMatchObject({
      code: 'invalid_query',
      message: expect.stringContaining('starting_after'),
      details: { param: 'page' },
    })
  })

  it('accepts only a session id in starting_after', async () => {
    const wrong = list({ starting_after: 'run_01m7zye3gvdcf593a6j86jntm6' })
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_query', details: { param: 'starting_after' } })
  })
})
