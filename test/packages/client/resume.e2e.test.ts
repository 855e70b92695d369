import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SessionEvent } from '#client/events.ts'
import { type Transport, Troupe, webSocket } from '#client/index.ts'
import type { Session } from '#client/session.ts'
import { rise } from '#test/e2e/stream-reader.ts'
import { World } from '#test/e2e/world.ts'
import { atNight } from '#test/setup/at-night.ts'
import { expectWithin } from '#test/support/expect-within.ts'
import { CuttingProxy } from './cutting-proxy.ts'

let world: World
let proxy: CuttingProxy
beforeAll(async () => {
  world = await World.start()
  proxy = await CuttingProxy.open(() => world.port)
})
afterAll(async () => {
  proxy.close()
  await world.stop()
})

const client = (transport?: Transport) => new Troupe({ baseUrl: proxy.url, key: world.secretKey, transport })

const isStream = (request: string): boolean => /\/(stream|ws)\?/.test(request)

/** Sequences and names of a session's log, as the server's own list has them. */
const logOf = async (session: Session) =>
  (await world.api.log(String(session.id))).map(({ sequence, event_type }) => [sequence, event_type])

/** Reads a session's events up to the sequence. */
const read = async (session: Session, last: number): Promise<SessionEvent[]> => {
  const events: SessionEvent[] = []
  for await (const event of session.events()) {
    events.push(event)
    if (event.id >= last) break
  }
  return events
}

const named = (events: readonly SessionEvent[]) => events.map(({ id, event }) => [id, event])

describe.each([
  { over: 'server-sent events', transport: undefined },
  { over: 'a WebSocket', transport: webSocket },
])('over $over', ({ transport }) => {
  it('a connection that is cut at any byte of its response costs no event and doubles none', async () => {
    proxy.next = () => null
    const session = client(transport).sessions.open()
    await session.send('reply exactly: A short text of a few words, with a 🙂 and a line\nbreak.')
    const log = await logOf(session)
    const last = Number(log.at(-1)?.[0])
    const most = transport === undefined ? 1400 : 900
    // by day at every third byte, which is also within each character of more than two
    const step = atNight ? 1 : 3
    let [at, whole] = [0, 0]
    const worker = async (): Promise<void> => {
      for (let bytes = step * at++; bytes < most; bytes = step * at++) {
        cuts.push({ afterBytes: bytes })
        const events = await read(client(transport).sessions.open(session.id), last)
        expect(named(events), `cut after ${bytes} bytes`).toEqual(log)
        whole++
      }
    }
    const cuts: { afterBytes: number }[] = []
    proxy.next = (request) => (isStream(request) ? (cuts.shift() ?? null) : null)
    await Promise.all(Array.from({ length: 16 }, worker))
    expect(whole).toBe(Math.ceil(most / step))
  })
})

describe('a session whose server is killed', () => {
  it('loses no message and no event, and is back within half a second of the server', async () => {
    proxy.next = () => null
    const session = client().sessions.open()
    await session.send('reply exactly: begin')
    const seen: SessionEvent[] = []
    const collecting = (async () => {
      for await (const event of session.events()) {
        seen.push(event)
        if (event.event === 'turn.completed' && event.data.output === 'the end') break
      }
    })()
    const stop = session.subscribe(() => {})
    const times = atNight ? 50 : 6
    const lateMs: number[] = []
    for (let kill = 0; kill < times; kill++) {
      const sent = session.send(`reply exactly: answer ${kill}`)
      if (kill % 3 > 0) await new Promise((resolve) => setImmediate(resolve))
      if (kill % 3 > 1) await expect.poll(() => session.getSnapshot().run.status, { interval: 1 }).not.toBe('sending')
      await world.crash()
      await expect.poll(() => session.getSnapshot().connection, { interval: 5 }).toBe('reconnecting')
      await world.restart()
      const since = performance.now()
      await expect.poll(() => session.getSnapshot().connection, { interval: 5 }).toBe('live')
      lateMs.push(performance.now() - since)
      expect(await sent).toMatchObject({ status: 'completed', text: `answer ${kill}` })
    }
    await session.send('reply exactly: the end')
    await collecting
    stop()
    const log = await logOf(session)
    const kept = new Set(log.map(([sequence]) => sequence))
    expect(named(seen.filter(({ id }) => kept.has(id)))).toEqual(log)
    expect(rise(seen.map(({ id }) => id))).toBe(true)
    // text that was shown and not durable yet is void, and no other event gets its place
    const lost = seen.filter(({ id }) => !kept.has(id))
    expect(lost.every(({ event }) => event === 'output_text.delta')).toBe(true)
    const users = session.getSnapshot().messages.filter(({ role }) => role === 'user')
    expect(users).toHaveLength(times + 2)
    console.info(`${times} kills: back ${Math.round(Math.max(...lateMs))} ms after the server at most`)
    await expectWithin(atNight ? 500 : 2000, Math.max(...lateMs), async () => {
      const other = client().sessions.open(session.id)
      const leave = other.subscribe(() => {})
      await expect.poll(() => other.getSnapshot().connection, { interval: 5 }).toBe('live')
      leave()
    })
  })

  it('shows the text of a turn once that began again', async () => {
    const session = client().sessions.open()
    const texts = new Set<string>()
    const stop = session.subscribe(() => {
      const [part] = session.getSnapshot().messages.at(-1)?.parts ?? []
      if (part?.type === 'text') texts.add(part.text)
    })
    const sent = session.send('slow please')
    await expect.poll(() => texts.size).toBeGreaterThan(3)
    await world.crash()
    await world.restart()
    const { text } = await sent
    stop()
    for (const shown of texts) expect(text.startsWith(shown) || shown === 'slow please', shown).toBe(true)
    const lengths = [...texts].filter((each) => each !== 'slow please').map(({ length }) => length)
    expect(lengths).toEqual(lengths.toSorted((one, other) => one - other))
  })
})

describe('a message', () => {
  it('is sent once, wherever its request or the response breaks', async () => {
    for (const transport of [undefined, webSocket]) {
      const session = client(transport).sessions.open()
      await session.send('reply exactly: begin')
      let bytes = 0
      proxy.next = (request) => {
        if (!request.includes('/turns') || bytes >= 600) return null
        bytes += 40
        return { afterBytes: bytes - 40 }
      }
      expect(await session.send('reply exactly: once')).toMatchObject({ turn: 2, text: 'once' })
      proxy.next = () => null
      const started = (await logOf(session)).filter(([, name]) => name === 'turn.started')
      expect(started).toHaveLength(2)
      expect(session.getSnapshot().messages).toHaveLength(4)
    }
  })

  it('that is sent while the network is away arrives when it is back', async () => {
    const session = client().sessions.open()
    await session.send('reply exactly: begin')
    const stop = session.subscribe(() => {})
    proxy.offline = true
    const sent = session.send('reply exactly: later')
    await expect.poll(() => session.getSnapshot().connection).toBe('reconnecting')
    await expect.poll(() => session.getSnapshot().error?.code).toBe('connection')
    expect(session.getSnapshot().messages.at(-1)).toMatchObject({ role: 'user', status: 'sending' })
    proxy.offline = false
    expect(await sent).toMatchObject({ turn: 2, text: 'later' })
    expect(session.getSnapshot()).toMatchObject({ connection: 'live', error: null })
    stop()
  })
})
