import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { ActorNews, FanOut } from '#storage/cluster-ports.ts'
import type { JsonObject } from '#storage/ports.ts'

/** The ends of one fan-out in two processes. */
export interface FanOutSubject {
  readonly mine: FanOut
  readonly theirs: FanOut
  readonly close: () => Promise<void>
}

export const newsOf = (actor: string, lastSequence: number, text = 'hello'): ActorNews => ({
  ...{ actor, busy: true, lastSequence },
  events: [{ sequence: lastSequence, event_type: 'output.delta', turn_number: 1, payload: { delta: text } }],
})

/** Contract of `FanOut` while it is connected. Each test uses its own processes. */
export const fanOutContract = (name: string, open: () => Promise<FanOutSubject>): void => {
  describe(`${name} fan-out`, () => {
    let opened: FanOutSubject | undefined
    let made = 0
    const subject = (): FanOutSubject => {
      if (!opened) throw new Error('the fan-out is not open')
      return opened
    }
    /** Listens for a new process; resolves when news reaches it. */
    const listening = async (fanOut: FanOut, from: FanOut): Promise<{ process: string; batches: ActorNews[][] }> => {
      const process = `process-${++made}`
      const batches: ActorNews[][] = []
      fanOut.listen(process, (news) => batches.push([...news]))
      await vi.waitFor(
        () => {
          from.publish(process, newsOf('probe', 0))
          expect(batches.length).toBeGreaterThan(0)
        },
        { timeout: 30_000 },
      )
      return { process, batches }
    }
    const receivedBy = (batches: readonly ActorNews[][]): ActorNews[] =>
      batches.flat().filter(({ actor }) => actor !== 'probe')
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened?.close())

    it('is up, and delivers news in order to the named process only', async () => {
      const { mine, theirs } = subject()
      expect([mine.up, theirs.up]).toEqual([true, true])
      const first = await listening(theirs, mine)
      const second = await listening(mine, mine)
      const sent = Array.from({ length: 200 }, (_, n) => newsOf('ses_1', n + 1))
      for (const news of sent) mine.publish(first.process, news)
      await vi.waitFor(() => expect(receivedBy(first.batches)).toHaveLength(200), { timeout: 30_000 })
      expect(receivedBy(first.batches)).toEqual(sent)
      expect(receivedBy(second.batches)).toEqual([])
    })

    it('delivers what is published in one turn of the event loop as one batch', async () => {
      const { mine, theirs } = subject()
      const { process, batches } = await listening(theirs, mine)
      for (let n = 1; n <= 50; n++) mine.publish(process, newsOf('ses_1', n))
      await vi.waitFor(() => expect(receivedBy(batches)).toHaveLength(50), { timeout: 30_000 })
      expect(batches.map((batch) => receivedBy([batch]).length).filter((length) => length > 0)).toEqual([50])
    })

    it('delivers a batch of large news', async () => {
      const { mine, theirs } = subject()
      const { process, batches } = await listening(theirs, mine)
      const text = 'é'.repeat(200_000)
      for (let n = 1; n <= 8; n++) mine.publish(process, newsOf('ses_1', n, text))
      await vi.waitFor(() => expect(receivedBy(batches)).toHaveLength(8), { timeout: 60_000 })
      expect(receivedBy(batches)).toEqual(Array.from({ length: 8 }, (_, n) => newsOf('ses_1', n + 1, text)))
    })

    it('delivers each hint of a topic once to every process, including the sender', async () => {
      const { mine, theirs } = subject()
      const [here, there, other]: [JsonObject[], JsonObject[], JsonObject[]] = [[], [], []]
      mine.subscribe('released', (data) => here.push(data))
      theirs.subscribe('released', (data) => there.push(data))
      theirs.subscribe('changed', (data) => other.push(data))
      await vi.waitFor(
        () => {
          mine.announce('released', { probe: true })
          mine.announce('changed', { probe: true })
          expect(Math.min(there.length, other.length)).toBeGreaterThan(0)
        },
        { timeout: 30_000 },
      )
      for (let n = 1; n <= 3; n++) mine.announce('released', { n })
      mine.announce('changed', { last: true })
      await vi.waitFor(() => expect(other).toContainEqual({ last: true }), { timeout: 30_000 })
      const numbered = (hints: readonly JsonObject[]) => hints.filter((hint) => 'n' in hint)
      expect(numbered(there)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
      expect(numbered(here)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
      expect(numbered(other)).toEqual([])
    })

    it('notifies every listener of a topic', async () => {
      const { mine } = subject()
      const [first, second]: [JsonObject[], JsonObject[]] = [[], []]
      mine.subscribe('twice', (data) => first.push(data))
      mine.subscribe('twice', (data) => second.push(data))
      mine.announce('twice', { n: 1 })
      await vi.waitFor(() => expect([first, second]).toEqual([[{ n: 1 }], [{ n: 1 }]]), { timeout: 30_000 })
    })
  })
}
