import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { head, type RawClient, rawClient } from '#test/transport/http/raw-client.ts'
import { patience } from '../patience.ts'
import { counted, isEvent, textOf } from '../stream-reader.ts'
import { either, World } from '../world.ts'

const streams = 200
/** Ratio of the slowest turn to the median: all turns are alike, so none may wait for the others to end. */
const spreadMax = 3
const attempts = 3

const stalledReaders = 30
const stalledTurns = 6
/** Size of the text of one turn; its events contain it twice (question, deltas) and once more at the end. */
const turnBytes = 600_000
/** Upper bound of the memory for all stalled readers together; about 30 × 11 MB are pending for them. */
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

/** Runs turns in `times` new sessions concurrently. @returns the duration of each in ms. */
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

describe.each(either('mongo'))('200 concurrent streams on $store', ({ store }) => {
  let world: World
  beforeAll(async () => {
    world = await World.start({ store })
    await together(world, 20)
  })
  afterAll(() => world.stop())

  it('all complete, and none waits for the others', async () => {
    // a shared machine may stall under one attempt, but not under every one
    const seen: number[] = []
    do {
      const times = await together(world, streams)
      seen.push(Math.max(...times) / median(times))
      console.info(`${store}: median ${Math.round(median(times))} ms, slowest ${Math.round(Math.max(...times))} ms`)
    } while (Math.min(...seen) >= spreadMax && seen.length < attempts)
    expect(Math.min(...seen)).toBeLessThan(spreadMax)
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

  it('cost little memory, slow down no other turn, and are closed after they disconnect', async () => {
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
    // a shared machine may be slow for other reasons, but not every time
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

  it('get every event when they resume reading', async () => {
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
