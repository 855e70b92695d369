import { Agent, request } from 'node:http'

/**
 * Clients of a server, in a separate process. `client.ts '{"url":…,"key":…,"create":5000}'` creates that many sessions;
 * `{"stream":1000}` runs a turn in each of that many new ones, all streaming at the same time; `{"chat":1000}` streams as
 * many chat completions. Prints one `Outcome` as
 * JSON.
 */
export interface ClientOrder {
  readonly url: string
  /** Secret key. */
  readonly key: string
  /** Number of sessions to create, 64 at a time. */
  readonly create?: number
  /** Number of turns to run concurrently. */
  readonly stream?: number
  /** Number of chat completions of the gateway to stream concurrently. */
  readonly chat?: number
}

/** Results of the clients. Times in ms. */
export interface Outcome {
  readonly seconds: number
  readonly completed: number
  /** Time from when the model sends a part until it arrives. */
  readonly lateP50: number
  readonly lateP99: number
  /** Time between two events of one stream. */
  readonly gapP99: number
  /** Time from the request of an answer to its first text. */
  readonly firstP50: number
}

const workers = 64
const model = 'gpt-4o-mini'
/** Pause in ms before a request that was answered with 503 is repeated. */
const retryMs = 200
const order: ClientOrder = JSON.parse(process.argv[2] ?? '')
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
const headers = { authorization: `Bearer ${order.key}`, 'content-type': 'application/json' }
const lates: number[] = []
const gaps: number[] = []
const firsts: number[] = []
let completed = 0

const startedAt = performance.now()
if (order.create !== undefined) await atOnce(workers, order.create, newSession)
const streams = order.stream ?? order.chat
if (streams !== undefined) {
  const ends: Promise<void>[] = []
  // each of `workers` lanes begins one turn after the other; a turn streams for longer than all of them take to begin
  await atOnce(workers, streams, async () => {
    // before a chat too, so that both find connections and code that are warm
    const session = await newSession()
    const { begun, ended } = order.chat === undefined ? runTurn(session) : streamChat()
    ends.push(ended)
    await Promise.race([begun, ended])
  })
  await Promise.all(ends)
}
const outcome: Outcome = {
  seconds: (performance.now() - startedAt) / 1000,
  completed,
  lateP50: quantile(lates, 0.5),
  lateP99: quantile(lates, 0.99),
  gapP99: quantile(gaps, 0.99),
  firstP50: quantile(firsts, 0.5),
}
console.log(JSON.stringify(outcome))
process.exit(0)

async function atOnce(width: number, count: number, work: () => Promise<unknown>): Promise<void> {
  let left = count
  const one = async (): Promise<void> => {
    while (left-- > 0) await work()
  }
  await Promise.all(Array.from({ length: width }, one))
}

async function newSession(): Promise<string> {
  const text = await post('/v1/sessions', '{}', () => {})
  const { id }: { readonly id: string } = JSON.parse(text)
  return id
}

interface Running {
  readonly begun: Promise<void>
  readonly ended: Promise<void>
}

function runTurn(session: string): Running {
  return streamed(`/v1/sessions/${session}/turns`, { input: 'hello', model }, 'event: turn.completed')
}

function streamChat(): Running {
  const messages = [{ role: 'user', content: 'hello' }]
  return streamed('/v1/chat/completions', { model, stream: true, messages }, '[DONE]')
}

function streamed(path: string, body: object, ending: string): Running {
  const begun = Promise.withResolvers<void>()
  const requestedAt = performance.now()
  let hasText = false
  let last = 0
  let rest = ''
  const seen = (part: string): void => {
    begun.resolve()
    const now = Date.now()
    const lines = (rest + part).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!line.startsWith('data: ') || !line.includes('"delta"')) continue
      for (const [, sentAt] of line.matchAll(/ @(\d{13})/g)) {
        if (!hasText) firsts.push(performance.now() - requestedAt)
        hasText = true
        lates.push(now - Number(sentAt))
      }
      if (last > 0) gaps.push(now - last)
      last = now
    }
  }
  const ended = async (): Promise<void> => {
    const text = await post(path, JSON.stringify(body), seen)
    if (!text.includes(ending)) throw new Error(`the stream did not complete: ${text.slice(-200)}`)
    completed++
  }
  return { begun: begun.promise, ended: ended() }
}

function post(path: string, body: string, seen: (part: string) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(order.url + path, { method: 'POST', headers, agent }, (response) => {
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
    sent.end(body)
  })
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
}
