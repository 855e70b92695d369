import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { answerTo } from '../gateway/simulated-answer.ts'
import { patience } from '../patience.ts'
import { counted, endsTurn, rise, sinceRestart, textOf } from '../stream-reader.ts'
import { either, World } from '../world.ts'
import { Visitor } from './visitor.ts'

const sessions = 12
const kills = 4
const turnsBetweenKills = 30

describe.each(either('mongo'))('many sessions interrupted by repeated kill -9 on $store', ({ store }) => {
  let world: World
  let visitors: readonly Visitor[]
  let requestCount = 0
  let done = false

  const visit = async (visitor: Visitor): Promise<void> => {
    while (!done) {
      await visitor.request({ input: `question ${visitor.turns + 1} of ${visitor.session}` })
      requestCount++
    }
  }

  beforeAll(async () => {
    world = await World.start({ store })
    const ids = await Promise.all(Array.from({ length: sessions }, () => world.api.createSession()))
    visitors = ids.map((id) => new Visitor(world, id))
    const visits = visitors.map(visit)
    for (let kill = 0; kill < kills; kill++) {
      const goal = requestCount + turnsBetweenKills
      await vi.waitFor(() => expect(requestCount).toBeGreaterThanOrEqual(goal), { ...patience, interval: 3 })
      await world.crash()
      await world.restart()
    }
    done = true
    await Promise.all(visits)
    console.info(`${store}: ${requestCount} turns over ${kills} kills`)
  }, 300_000)
  afterAll(() => world.stop())

  it('keep every event that a client saw, and show each exactly once', async () => {
    for (const visitor of visitors) {
      expect(rise(visitor.frames.map(({ id }) => Number(id)))).toBe(true)
      const log = await world.api.log(visitor.session)
      expect(log.map(({ payload }) => payload)).toEqual(visitor.inLog(log).map(({ data }) => data))
    }
  })

  it('run every requested turn once, and end it once', async () => {
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

  it('end a turn with the text of its deltas', () => {
    for (const { frames } of visitors) {
      let from = 0
      for (const [at, frame] of frames.entries()) {
        if (!endsTurn(frame)) continue
        const turn = frames.slice(from, at)
        const text = textOf(sinceRestart(turn))
        expect(answerTo(String(turn[0]?.data.input_text)).startsWith(text), text).toBe(true)
        if (frame.event === 'turn.completed') {
          expect(frame.data.output).toBe(text)
          expect(text).toBe(answerTo(String(turn[0]?.data.input_text)))
        } else {
          // after several crashes it gives up; what was shown last may not have become durable
          expect(frame.data).toMatchObject({ error: { code: 'interrupted' } })
          expect(text.startsWith(Object(frame.data.output).text)).toBe(true)
        }
        from = at + 1
      }
    }
  })
})
