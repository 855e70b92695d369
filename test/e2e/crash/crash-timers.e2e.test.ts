import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { answerTo } from '../gateway/simulated-answer.ts'
import { patience } from '../patience.ts'
import { type Frame, isDelta, textOf } from '../stream-reader.ts'
import { drawnStores, World } from '../world.ts'

describe.each(drawnStores)('after kill -9 on $store', { timeout: 180_000 }, ({ store }) => {
  let world: World
  /** An action that expires in two seconds. */
  let action: string
  /** A session whose turn has ended, with its state before the kill. */
  let session: string
  let before: Readonly<Record<string, unknown>>
  let listedBefore: typeof before | undefined
  /** A session in which the model answers slowly. */
  let delivered: string
  let frames: readonly Frame[]

  const listed = async (path: string, id: string): Promise<typeof before | undefined> => {
    const { body } = await world.api.get(`${path}?limit=100`)
    return body.data.find((row: { id: unknown }) => row.id === id)
  }

  // one kill interrupts all three
  beforeAll(async () => {
    world = await World.start({ store })
    session = await world.api.createSession()
    await (await world.api.turn(session, { input: 'hello' })).all()
    delivered = await world.api.createSession()
    frames = await (await world.api.turn(delivered, { input: 'slow please' })).all()
    before = (await world.api.get(`/v1/sessions/${session}`)).body
    listedBefore = await listed('/v1/sessions', session)
    const { body } = await world.api.post('/v1/actions', { tool: 'refund', arguments: {}, expires_in: 2 })
    expect(body).toMatchObject({ status: 'pending_approval' })
    action = body.id
    await world.crash()
    await world.restart()
  }, 180_000)
  afterAll(() => world.stop())

  it('an action that expired while the server was down is expired after the restart', async () => {
    const status = async () => (await world.api.get(`/v1/actions/${action}`)).body.status
    await vi.waitFor(async () => expect(await status()).toBe('expired'), patience)
    const late = await world.api.post(`/v1/actions/${action}/approve`)
    expect(late).toMatchObject({ status: 409 })
  })

  it('a list shows a session as the session itself, and as before the crash', async () => {
    expect(before).toMatchObject({ turn_count: 1 })
    expect(listedBefore).toEqual(before)
    expect(await listed('/v1/sessions', session)).toEqual(before)
    expect((await world.api.get(`/v1/sessions/${session}`)).body).toEqual(before)
  })

  it('the log of a turn has the text of the model once, as its live stream had', async () => {
    expect(frames.filter(isDelta).length).toBeGreaterThan(3)
    expect(textOf(frames)).toBe(answerTo('slow please'))
    const log = await world.api.log(delivered)
    const said = log.map(({ event_type, payload }) => ({ id: '', event: event_type, data: payload }))
    expect(textOf(said)).toBe(answerTo('slow please'))
    expect(said.at(-1)?.data.output).toBe(answerTo('slow please'))
  })
})
