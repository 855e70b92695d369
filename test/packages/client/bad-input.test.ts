import { describe, expect, it, vi } from 'vitest'
import { Troupe, type TroupeOptions, textOf } from '#client/index.ts'
import { scriptedServer } from '#client/test/index.ts'

const open = ({ token, ...options }: Partial<TroupeOptions>) =>
  new Troupe({
    baseUrl: 'http://test',
    ...(token === undefined ? { key: 'csk_test' } : { token }),
    retryForMs: 200,
    ...options,
  }).sessions.open('ses_1')

/** A server that answers everything in one way, and how often it was called. */
const answering = (answer: () => Response) => {
  let calls = 0
  return {
    calls: () => calls,
    fetch: () => {
      calls++
      return Promise.resolve(answer())
    },
  }
}

const page = () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })
const expired = { type: 'authentication_error', code: 'authentication_required', message: 'The token has expired.' }

describe.each([
  { what: 'a page', answer: page },
  { what: 'JSON of another server', answer: () => Response.json({ message: 'Not Found' }, { status: 404 }) },
])('a base URL where $what answers', ({ answer }) => {
  it('is reported in one sentence by whatever is called, after one request', async () => {
    const server = answering(answer)
    const session = open({ fetch: server.fetch })
    const sentence = /^No Troupe at http:\/\/test \(\d+\): is .* baseUrl right\?$/
    await expect(session.send('hi')).rejects.toMatchObject({ code: 'wrong_base_url', message: sentence })
    const after = server.calls()
    expect(after).toBeLessThanOrEqual(2)
    const stop = open({ fetch: server.fetch }).subscribe(() => {})
    await expect.poll(() => server.calls()).toBe(after + 1)
    await expect.poll(() => session.getSnapshot()).toMatchObject({ messages: [], error: { code: 'wrong_base_url' } })
    stop()
  })
})

const unanswered = 'No answer from token(): is its route right?'

/** A signal whose timeout runs by the clock of the test. */
class TimedSignal extends AbortSignal {
  static override timeout(ms: number): AbortSignal {
    const over = new AbortController()
    setTimeout(() => over.abort(new DOMException('timed out', 'TimeoutError')), ms)
    return over.signal
  }
}

describe('a credential', () => {
  it('that has ended and is fetched again as it was ends the session, and says what the function has to return', async () => {
    const server = answering(() =>
      Response.json({ error: expired }, { status: 401, headers: { date: new Date().toUTCString() } }),
    )
    let fetched = 0
    const token = async () => {
      fetched++
      return { token: 'ect_old', expires_at: '2020-01-01T00:00:00Z' }
    }
    const session = open({ token, fetch: server.fetch })
    const stop = session.subscribe(() => {})
    await expect(session.send('hi')).rejects.toThrow('token() must return { token, expires_at }, not expired.')
    await expect.poll(() => session.getSnapshot().connection).toBe('ended')
    expect(server.calls()).toBeLessThanOrEqual(2)
    expect(fetched).toBeLessThanOrEqual(4)
    stop()
  })

  it('that the server refuses is not sent again', async () => {
    const server = answering(() => Response.json({ error: expired }, { status: 401 }))
    await expect(open({ fetch: server.fetch }).send('hi')).rejects.toMatchObject({
      status: 401,
      message: expired.message,
    })
    expect(server.calls()).toBe(1)
  })

  it('is fetched again if its function fails, for as long as requests are repeated', async () => {
    const token = () => Promise.reject(new Error('no network'))
    const session = open({ token })
    await expect(session.send('hi')).rejects.toMatchObject({ code: 'connection', message: unanswered })
  })

  it('whose function never answers is reported, and not waited for', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
    vi.stubGlobal('AbortSignal', TimedSignal)
    let fetched = 0
    const token = () => {
      fetched++
      return new Promise<never>(() => {})
    }
    const sent = open({ token, retryForMs: 15_000 }).send('hi')
    const refused = expect(sent).rejects.toMatchObject({ code: 'connection', message: unanswered })
    await vi.advanceTimersByTimeAsync(60_000)
    await refused
    expect(fetched).toBe(2)
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })
})

it('headers of a request replace those of its client by name, and never its credential or type', async () => {
  const sent: unknown[] = []
  const send: typeof fetch = async (_input, init) => {
    sent.push(Object.fromEntries(new Headers(init?.headers)))
    return Response.json({})
  }
  const headers = { 'x-tenant-id': 'one', 'x-trace': 'a', authorization: 'Basic x', 'content-type': 'text/plain' }
  // @ts-expect-error fetch would send it beside the one in lower case, as one with both values
  expect(() => new Troupe({ baseUrl: 'http://test', key: 'csk_test', headers: { Authorization: 'x' } })).not.toThrow()
  const troupe = new Troupe({ baseUrl: 'http://test', key: 'csk_test', fetch: send, headers })
  await troupe.request('POST', '/v1/x', { body: {}, headers: { 'x-tenant-id': 'two' }, idempotencyKey: 'key' })
  expect(sent).toEqual([
    {
      ...{ authorization: 'Bearer csk_test', 'content-type': 'application/json', 'idempotency-key': 'key' },
      ...{ 'x-tenant-id': 'two', 'x-trace': 'a' },
    },
  ])
})

describe('a server that does not answer', () => {
  it('is called anew when the network changes while a stream opens', async () => {
    const network = new EventTarget()
    vi.stubGlobal('addEventListener', network.addEventListener.bind(network))
    const server = scriptedServer([{ text: 'Hello there.' }])
    let streams = 0
    const send: typeof fetch = (input, init) => {
      if (!String(input).includes('/stream?') || ++streams > 1) return server.fetch(input, init)
      const { promise, reject } = Promise.withResolvers<Response>()
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
      return promise
    }
    const session = new Troupe({ baseUrl: 'http://test', key: 'csk_test', fetch: send }).sessions.open()
    const sent = session.send('hi')
    await expect.poll(() => streams).toBe(1)
    network.dispatchEvent(new Event('online'))
    expect(await sent).toMatchObject({ text: 'Hello there.' })
    vi.unstubAllGlobals()
  })

  it('is sent a turn again whose connection is half open, under the same key', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
    vi.stubGlobal('AbortSignal', TimedSignal)
    const server = scriptedServer([{ text: 'Hello there.' }])
    const keys: (string | null)[] = []
    const send: typeof fetch = (input, init) => {
      if (!String(input).includes('/turns')) return server.fetch(input, init)
      keys.push(new Headers(init?.headers).get('idempotency-key'))
      if (keys.length > 2) return server.fetch(input, init)
      // neither an answer nor, once, the first frame of one
      const body = new ReadableStream({
        start: (controller) => init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason)),
      })
      if (keys.length === 2) return Promise.resolve(new Response(body))
      return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
    }
    const sent = new Troupe({ baseUrl: 'http://test', key: 'csk_test', fetch: send }).sessions.open().send('hi')
    await vi.advanceTimersByTimeAsync(30_000)
    expect(await sent).toMatchObject({ text: 'Hello there.' })
    expect(keys).toEqual([keys[0], keys[0], keys[0]])
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  it('is called for a time, while the session shows why, and then given up', async () => {
    const session = open({ fetch: () => Promise.reject(new TypeError('fetch failed')) })
    const stop = session.subscribe(() => {})
    await expect
      .poll(() => session.getSnapshot())
      .toMatchObject({ connection: 'reconnecting', error: { code: 'connection' } })
    await expect(session.send('hi')).rejects.toThrow(
      'No answer from http://test: is the server running, and is baseUrl right?',
    )
    expect(session.getSnapshot().messages).toEqual([])
    stop()
  })
})

/** A scripted server of another version: what it refuses of a request, and what it does to a stream. */
const versioned = (refuses: (url: URL) => Response | null, line = '') => {
  const server = scriptedServer([{ text: 'Hello there.' }])
  const send: typeof fetch = async (input, init) => {
    const refusal = refuses(new URL(String(input)))
    if (refusal !== null) return refusal
    const response = await server.fetch(input, init)
    if (response.headers.get('content-type') !== 'text/event-stream') return response
    const encoder = new TextEncoder()
    const before = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => controller.enqueue(encoder.encode(line)),
    })
    return new Response(response.body?.pipeThrough(before), { headers: response.headers })
  }
  return new Troupe({ baseUrl: 'http://test', key: 'csk_test', fetch: send }).sessions.open()
}

describe('a server of another version', () => {
  it('that is older and has no snapshots is read from its first event', async () => {
    const session = versioned((url) => {
      const error = { type: 'invalid_request_error', code: 'invalid_query', message: 'Unknown.', param: 'snapshot' }
      return url.searchParams.has('snapshot') ? Response.json({ error }, { status: 400 }) : null
    })
    expect(await session.send('hi')).toMatchObject({ text: 'Hello there.' })
    expect(session.getSnapshot().messages.map(textOf)).toEqual(['hi', 'Hello there.'])
  })

  it('that is newer and sends events, fields and lines that are not known yet is followed all the same', async () => {
    const session = versioned(
      () => null,
      'event: turn.dreamt\nid: 0\nretry: 5\nmood: good\ndata: {"dream":{"deep":true}}\n\nevent: stream.note\ndata: 7\n\n',
    )
    expect(await session.send('hi')).toMatchObject({ text: 'Hello there.', status: 'completed' })
  })

  it('that lacks an operation says so once', async () => {
    const server = answering(() =>
      Response.json(
        { error: { ...expired, type: 'invalid_request_error', code: 'not_found', message: 'No such path.' } },
        { status: 404 },
      ),
    )
    await expect(open({ fetch: server.fetch }).fork()).rejects.toMatchObject({ code: 'not_found' })
    expect(server.calls()).toBe(1)
  })
})
