import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Refused } from './api.ts'
import { counted, endsTurn, type Frame, type StreamReader, textOf } from './stream-reader.ts'
import { stores, World } from './world.ts'

const sessions = 12
const kills = 4
const turnsBetweenKills = 30

/** One end user who keeps asking, and comes back whenever the connection breaks. */
class Visitor {
  readonly frames: Frame[] = []
  readonly #world: World
  readonly #session: string
  #turns = 0

  constructor(world: World, session: string) {
    this.#world = world
    this.#session = session
  }

  get session(): string {
    return this.#session
  }

  /** Turns that were asked for; each is over. */
  get turns(): number {
    return this.#turns
  }

  /** Asks once, however often that takes: the key makes the request one, and the last event id the stream. */
  async ask(): Promise<void> {
    const turn = ++this.#turns
    const started = () => this.frames.some(({ data }) => data.turn_number === turn)
    const ended = () => this.frames.some((frame) => endsTurn(frame) && frame.data.turn_number === turn)
    while (!ended()) {
      await this.#attempt(async () => {
        const reader = started()
          ? await this.#world.api.follow(this.#session, this.frames.at(-1)?.id ?? '0')
          : await this.#world.api.turn(
              this.#session,
              { input: `question ${turn} of ${this.#session}` },
              { headers: { 'idempotency-key': `turn-${turn}` } },
            )
        await this.#read(reader)
      })
    }
  }

  async #read(reader: StreamReader): Promise<void> {
    await reader.until(endsTurn).catch(() => undefined)
    reader.stop()
    this.frames.push(...reader.frames)
  }

  /** A server that is down, or still starting, is asked again; what it refuses is not. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (error instanceof Refused && error.status !== 503) throw error
      await this.#world.listening
    }
  }
}

describe.each(stores)('many sessions over many kill -9 on $store', ({ store }) => {
  let world: World
  let visitors: readonly Visitor[]
  let asked = 0
  let done = false

  const visit = async (visitor: Visitor): Promise<void> => {
    while (!done) {
      await visitor.ask()
      asked++
    }
  }

  beforeAll(async () => {
    world = await World.start({ store })
    const ids = await Promise.all(Array.from({ length: sessions }, () => world.api.createSession()))
    visitors = ids.map((id) => new Visitor(world, id))
    const visits = visitors.map(visit)
    for (let kill = 0; kill < kills; kill++) {
      const goal = asked + turnsBetweenKills
      await vi.waitFor(() => expect(asked).toBeGreaterThanOrEqual(goal), { timeout: 30_000, interval: 3 })
      await world.crash()
      await world.restart()
    }
    done = true
    await Promise.all(visits)
    console.info(`${store}: ${asked} turns over ${kills} kills`)
  })
  afterAll(() => world.stop())

  it('keeps every event that a client saw, and shows each exactly once', async () => {
    for (const { session, frames } of visitors) {
      expect(frames.map(({ id }) => Number(id))).toEqual(counted(frames))
      const log = await world.api.log(session)
      expect(log.map(({ sequence }) => sequence)).toEqual(counted(log))
      expect(log.map(({ payload }) => payload)).toEqual(frames.map(({ data }) => data))
    }
  })

  it('runs every turn that was asked for once, and ends it once', async () => {
    for (const { session, turns, frames } of visitors) {
      const ends = frames.filter(endsTurn)
      expect(ends.map(({ data }) => data.turn_number)).toEqual(counted(ends))
      expect(ends).toHaveLength(turns)
      expect((await world.api.get(`/v1/sessions/${session}`)).body).toMatchObject({
        turn_count: turns,
        status: 'active',
      })
    }
  })

  it('ends a turn with the text of its deltas', () => {
    for (const { frames } of visitors) {
      let from = 0
      for (const [at, frame] of frames.entries()) {
        if (!endsTurn(frame)) continue
        const text = textOf(frames.slice(from, at))
        if (frame.event === 'turn.completed') expect(frame.data.output).toBe(text)
        else expect(frame.data).toMatchObject({ error: { code: 'interrupted' }, output: { text } })
        from = at + 1
      }
    }
  })
})
