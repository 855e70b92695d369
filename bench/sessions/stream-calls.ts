import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'

/** Server that answers, and the secret key of its callers. */
export interface Answering {
  readonly url: string
  readonly key: string
}

/** Turns of sessions, chat completions of the gateway, and the turns of other servers (bench/sessions/peers). */
export type StreamApi = 'turn' | 'chat' | 'langgraph' | 'restate'

/** Request that streams an answer: what the lines of its deltas contain, and what its end does. */
export interface StreamCall {
  readonly path: string
  readonly body: object
  readonly delta: string
  readonly ending: string
}

type Seen = (part: string) => void

/** Calls of one server. */
export interface Calls {
  /** Prepares a stream, creating the session or the thread that it needs. */
  prepared(api: StreamApi): Promise<StreamCall>
  /** Streams an answer to its end. @throws {Error} when it ends without its `ending`. */
  streamed(call: StreamCall, seen: Seen): Promise<void>
  newSession(): Promise<string>
}

const model = 'gpt-4o-mini'
const messages = [{ role: 'user', content: 'hello' }]
/** Pause in ms before a request that was answered with 503 is repeated. */
const retryMs = 200

/** Returns the calls of a server. */
export function callsOf({ url, key }: Answering): Calls {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = (path: string, body: object, seen: Seen = () => {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = request(url + path, { method: 'POST', headers, agent }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => {
          text += part
          seen(part)
        })
        response.on('end', () => {
          if ((response.statusCode ?? 500) < 300) resolve(text)
          else if (response.statusCode === 503) setTimeout(() => resolve(post(path, body, seen)), retryMs)
          else reject(new Error(`${path}: ${response.statusCode} ${text.slice(0, 200)}`))
        })
        response.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(JSON.stringify(body))
    })
  const newSession = async (): Promise<string> => {
    const { id }: { readonly id: string } = JSON.parse(await post('/v1/sessions', {}))
    return id
  }
  const newThread = async (): Promise<string> => {
    const { thread_id }: { readonly thread_id: string } = JSON.parse(await post('/threads', {}))
    return thread_id
  }
  const prepare: Readonly<Record<StreamApi, () => Promise<StreamCall>>> = {
    turn: async () => ({
      ...{ path: `/v1/sessions/${await newSession()}/turns`, body: { input: 'hello', model } },
      ...{ delta: '"delta"', ending: 'event: turn.completed' },
    }),
    chat: async () => {
      const body = { model, stream: true, messages }
      return { path: '/v1/chat/completions', body, delta: '"delta"', ending: '[DONE]' }
    },
    langgraph: async () => ({
      path: `/threads/${await newThread()}/runs/stream`,
      body: { assistant_id: 'agent', input: { messages }, stream_mode: ['messages-tuple'] },
      ...{ delta: '"content"', ending: '"usage_metadata"' },
    }),
    restate: async () => ({ path: `/turns/${randomUUID()}`, body: {}, delta: '"delta"', ending: '[DONE]' }),
  }
  return {
    newSession,
    prepared: (api) => prepare[api](),
    streamed: async ({ path, body, ending }, seen) => {
      const text = await post(path, body, seen)
      if (!text.includes(ending)) throw new Error(`the stream did not complete: ${text.slice(-200)}`)
    },
  }
}

/** Returns a reader of the parts of a stream that reports each delta's line with when the model sent its tokens. */
export function deltasOf({ delta }: StreamCall, onDelta: (sentAt: readonly number[]) => void): Seen {
  let rest = ''
  return (part) => {
    const lines = (rest + part).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!line.startsWith('data: ') || !line.includes(delta)) continue
      onDelta(Array.from(line.matchAll(/ @(\d{13})/g), ([, sentAt]) => Number(sentAt)))
    }
  }
}

/** The value below which that part of the values is; NaN without any. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}
