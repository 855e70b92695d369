import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { credentialOf } from '../../../packages/client/src/credential.ts'
import type { SessionEvent } from '../../../packages/client/src/events.ts'
import { follow, type Transport } from '../../../packages/client/src/follow.ts'
import { Troupe } from '../../../packages/client/src/index.ts'
import { page } from '../../../packages/client/src/page.ts'
import { asFields } from '../../../packages/client/src/schema.ts'

type Reading = Parameters<Transport>[0]

/** One connection of a log that the test speaks for. */
interface Spoken {
  readonly after: number
  readonly signal: AbortSignal
  /** Sends deltas with these sequences; none: a keep-alive. */
  readonly say: (...ids: readonly number[]) => boolean
  readonly end: (cause?: unknown) => void
}

const delta = (id: number): SessionEvent => asFields({ event: 'output_text.delta', id, data: { delta: `${id}` } })

let connections: Spoken[] = []
let taken: number[] = []
let over = new AbortController()

const spoken: Transport = ({ after, signal, take }: Reading) =>
  new Promise((resolve, reject) => {
    const end = (cause?: unknown) => (cause === undefined ? resolve() : reject(cause))
    signal.addEventListener('abort', () => end())
    connections.push({ after, signal, end, say: (...ids) => take(ids.map(delta)) })
  })

const following = (after = 0): void => {
  const client = new Troupe({ baseUrl: 'http://test', key: 'k', transport: spoken, keepAliveMs: 1000 })
  const take = (events: readonly SessionEvent[]) => void taken.push(...events.map(({ id }) => id))
  follow({ client, sessionId: 'ses_1', after, signal: over.signal, take }).catch(() => {})
}

/** The newest connection, after this much time. */
const newest = async (ms = 0): Promise<Spoken> => {
  await vi.advanceTimersByTimeAsync(ms)
  const last = connections.at(-1)
  if (last === undefined) throw new Error('nothing is connected')
  return last
}

beforeEach(() => {
  vi.useFakeTimers()
  connections = []
  taken = []
  over = new AbortController()
})
afterEach(() => {
  over.abort()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

describe('a followed log', () => {
  it('is connected to again once two keep-alives are missed, and not before', async () => {
    following()
    const first = await newest()
    first.say()
    await newest(1900)
    first.say()
    await newest(2100)
    expect(connections).toHaveLength(1)
    await newest(200)
    expect([first.signal.aborted, connections.length]).toEqual([true, 2])
  })

  it('is connected to again when no byte comes in ten seconds', async () => {
    following()
    await newest(9_900)
    expect(connections).toHaveLength(1)
    await newest(200)
    expect(connections).toHaveLength(2)
  })

  it('drops what the reader has had', async () => {
    following()
    const first = await newest()
    first.say(1, 2)
    first.end()
    const second = await newest(400)
    expect(second.after).toBe(2)
    second.say(1, 2, 3)
    expect(taken).toEqual([1, 2, 3])
  })

  it('is read again from before a hole, once, and goes on where the log itself has it', async () => {
    following()
    const first = await newest()
    expect(first.say(1, 2, 5)).toBe(false)
    expect(taken).toEqual([1, 2])
    first.end()
    const second = await newest(400)
    expect(second.after).toBe(2)
    second.say(3, 4, 5)
    expect(taken).toEqual([1, 2, 3, 4, 5])
    expect(second.say(9)).toBe(false)
    second.end()
    const third = await newest(400)
    expect(third.say(9)).toBe(true)
    expect(taken).toEqual([1, 2, 3, 4, 5, 9])
  })

  it('is not connected to without a pause while connections end as soon as they began', async () => {
    following()
    for (let at = 0; at < 40; at++) {
      const each = await newest()
      each.say()
      each.end()
    }
    expect(connections.length).toBeLessThan(5)
    await newest(2_000)
    expect(connections.length).toBeLessThan(15)
  })

  it('waits as long as the server says', async () => {
    following()
    const { TroupeError } = await import('../../../packages/client/src/errors.ts')
    const first = await newest()
    first.end(new TroupeError('Too many streams.', { code: 'too_many_streams', status: 429, retryAfterMs: 7000 }))
    await newest(6_900)
    expect(connections).toHaveLength(1)
    await newest(200)
    expect(connections).toHaveLength(2)
  })

  it('is connected to at once when its page is shown again', async () => {
    const events = new EventTarget()
    vi.stubGlobal('addEventListener', events.addEventListener.bind(events))
    following()
    const { TroupeError } = await import('../../../packages/client/src/errors.ts')
    const first = await newest()
    first.end(new TroupeError('Too many streams.', { code: 'too_many_streams', status: 429, retryAfterMs: 7000 }))
    await newest(100)
    expect(connections).toHaveLength(1)
    events.dispatchEvent(new Event('visibilitychange'))
    await newest()
    expect(connections).toHaveLength(2)
  })
})

describe('a credential', () => {
  it('in a page is never a secret key', () => {
    vi.stubGlobal('document', { hidden: false })
    expect(page.document).toBeDefined()
    expect(() => credentialOf({ key: 'csk_1' })).toThrow('Pages pass token.')
  })

  it.each([
    ['ten minutes ahead', 600_000],
    ['ten minutes behind', -600_000],
  ])('is renewed at four fifths of its life by the clock of the server, with one that is %s', async (_, by) => {
    const server = () => Date.now() + by
    let minted = 0
    const token = async () => ({ token: `t${++minted}`, expires_at: new Date(server() + 10_000).toISOString() })
    const credential = credentialOf({ token })
    credential.heard(new Date(server()).toUTCString())
    expect(await credential.bearer()).toBe('t1')
    await vi.advanceTimersByTimeAsync(6_500)
    expect(await credential.bearer()).toBe('t1')
    await vi.advanceTimersByTimeAsync(2_600)
    expect(await credential.bearer()).toBe('t2')
  })
})
