import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { head, type RawClient, rawClient } from '#test/transport/http/raw-client.ts'
import { patience } from '../patience.ts'
import { counted, isEvent, textOf } from '../stream-reader.ts'
import { either, World } from '../world.ts'

const streams = 200
/** Of the slowest turn and of the median one: all are alike, so none may wait for the others to be over. */
const spreadMax = 3

const stalledReaders = 30
const stalledTurns = 6
/** Text of one turn; its events carry it twice (question, deltas) and once more at the end. */
const turnBytes = 600_000
/** What all readers that stopped may cost together; what waits for them is about 30 × 11 MB. */
const memoryMaxBytes = 120 * 1024 * 1024

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const residentBytes = async (world: World): Promise<number> => {
  const { body } = await world.api.get('/metrics')
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(body)?.[1])
}

const openStreams = async (world: World): Promise<number> => {
  const { body } = await world.api.get('/metrics')
  return Number(/^troupe_open_streams (\S+)$/m.exec(body)?.[1])
}

/** Runs turns in so many new sessions at the same time; how long each took, in ms. */
const together = async (world: World, times: number): Promise<readonly number[]> => {
  const sessions = await Promise.all(Array.from({ length: times }, () => world.api.createSession()))
  return Promise.all(
    sessions.map(async (session, at) => {
      const startedMs = performance.now()
      const turn = await world.api.turn(session, {
        input: `Please tell visitor ${at} about ${'many things '.repeat(20)}`,
      })
      const frames = await turn.all()
      const [end] = frames.filter(isEvent('turn.completed'))
      expect(end?.data.output).toBe(textOf(frames))
      expect(frames.map(({ id }) => Number(id))).toEqual(counted(frames))
      return performance.now() - startedMs
    }),
  )
}

describe.each(either('mongo'))('200 streams at once on $store', ({ store }) => {
  let world: World
  beforeAll(async () => {
    world = await World.start({ store })
    await together(world, 20)
  })
  afterAll(() => world.stop())

  it('all finish, and none waits for the others', async () => {
    const times = await together(world, streams)
    const slowest = Math.max(...times)
    console.info(`${store}: median ${Math.round(median(times))} ms, slowest ${Math.round(slowest)} ms`)
    expect(slowest).toBeLessThan(median(times) * spreadMax)
  })
})

describe('readers that stop reading', () => {
  let world: World
  let session: string
  const stalled: RawClient[] = []
  beforeAll(async () => {
    world = await World.start()
    session = await world.api.createSession()
    for (let turn = 0; turn < stalledTurns; turn++) {
      const input = `${'x'.repeat(turnBytes / 10)} `.repeat(10)
      await (await world.api.turn(session, { input })).all()
    }
  })
  afterAll(async () => {
    for (const { socket } of stalled) socket.destroy()
    await world.stop()
  })

  it('cost little memory, slow nobody, and hold nothing once they are gone', async () => {
    const whole = await world.api.follow(session, '0')
    await whole.until(({ event, data }) => event === 'turn.completed' && data.turn_number === stalledTurns)
    whole.stop()
    const alone = median(await together(world, 20))
    const before = await residentBytes(world)

    for (let reader = 0; reader < stalledReaders; reader++) {
      const client = await rawClient(world.port)
      client.write(head('GET', `/v1/sessions/${session}/stream?after=0`, `authorization: Bearer ${world.secretKey}`))
      await client.until('event: turn.started')
      client.socket.pause()
      stalled.push(client)
    }
    await vi.waitFor(async () => expect(await openStreams(world)).toBe(stalledReaders), patience)
    // a machine that is shared may be slow for other reasons, but not each time
    const beside = await vi.waitFor(async () => {
      const took = median(await together(world, 20))
      expect(took).toBeLessThan(alone * 3)
      return took
    }, patience)
    const grown = (await residentBytes(world)) - before
    console.info(
      `${stalledReaders} stopped readers: ${Math.round(grown / 2 ** 20)} MB more,` +
        ` turns ${Math.round(alone)} ms before and ${Math.round(beside)} ms beside them`,
    )
    expect(grown).toBeLessThan(memoryMaxBytes)

    for (const { socket } of stalled) socket.destroy()
    await vi.waitFor(async () => expect(await openStreams(world)).toBe(0), patience)
  })

  it('get everything when they read on', async () => {
    const client = await rawClient(world.port)
    client.write(head('GET', `/v1/sessions/${session}/stream?after=0`, `authorization: Bearer ${world.secretKey}`))
    await client.until('event: turn.started')
    client.socket.pause()
    await together(world, 5)
    client.socket.resume()
    const all = await client.until(`"turn_number":${stalledTurns},"output"`)
    client.socket.destroy()
    const ids = [...all.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]))
    expect(ids).toEqual(counted(ids))
  })
})
