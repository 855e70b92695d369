import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { answerTo } from '../gateway/simulated-answer.ts'
import { patience } from '../patience.ts'
import { isDelta, textOf } from '../stream-reader.ts'
import { stores, World } from '../world.ts'

describe.each(stores)('over kill -9 on $store', { timeout: 180_000 }, ({ store }) => {
  let world: World
  beforeAll(async () => {
    world = await World.start({ store })
  })
  afterAll(() => world.stop())

  const listed = async (path: string, id: string): Promise<Record<string, unknown> | undefined> => {
    const { body } = await world.api.get(`${path}?limit=100`)
    return body.data.find((row: { id: unknown }) => row.id === id)
  }

  it('what falls due while the server is away happens once it is back', async () => {
    const { body: action } = await world.api.post('/v1/actions', { tool: 'refund', arguments: {}, expires_in: 2 })
    expect(action).toMatchObject({ status: 'pending_approval' })
    await world.crash()
    await world.restart()
    const status = async () => (await world.api.get(`/v1/actions/${action.id}`)).body.status
    await vi.waitFor(async () => expect(await status()).toBe('expired'), patience)
    const late = await world.api.post(`/v1/actions/${action.id}/approve`)
    expect(late).toMatchObject({ status: 409 })
  })

  it('a list says of a session what the session says, after the crash as before', async () => {
    const session = await world.api.createSession()
    await (await world.api.turn(session, { input: 'hello' })).all()
    const { body: before } = await world.api.get(`/v1/sessions/${session}`)
    expect(before).toMatchObject({ turn_count: 1 })
    expect(await listed('/v1/sessions', session)).toEqual(before)
    await world.crash()
    await world.restart()
    expect(await listed('/v1/sessions', session)).toEqual(before)
    expect((await world.api.get(`/v1/sessions/${session}`)).body).toEqual(before)
  })

  it('a stream says what the model said, each part once, live and in the log', async () => {
    const session = await world.api.createSession()
    const frames = await (await world.api.turn(session, { input: 'slow please' })).all()
    expect(frames.filter(isDelta).length).toBeGreaterThan(3)
    expect(textOf(frames)).toBe(answerTo('slow please'))
    await world.crash()
    await world.restart()
    const log = await world.api.log(session)
    const said = log.map(({ event_type, payload }) => ({ id: '', event: event_type, data: payload }))
    expect(textOf(said)).toBe(answerTo('slow please'))
    expect(said.at(-1)?.data.output).toBe(answerTo('slow please'))
  })
})
