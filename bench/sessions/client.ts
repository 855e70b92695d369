import { type Answering, callsOf, deltasOf, quantile, type StreamApi } from './stream-calls.ts'

/**
 * Clients of a server, in a separate process. `client.ts '{"url":…,"key":…,"create":5000}'` creates that many sessions;
 * `{"stream":1000}` runs a turn in each of that many new ones, all streaming at the same time; `"api":"chat"` streams as
 * many chat completions. Prints one `Outcome` as JSON.
 */
export interface ClientOrder extends Answering {
  /** Number of sessions to create, 64 at a time. */
  readonly create?: number
  /** Number of answers to stream concurrently. */
  readonly stream?: number
  /** API that streams them: a session's turns, unless another one is named. */
  readonly api?: StreamApi
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
const order: ClientOrder = JSON.parse(process.argv[2] ?? '')
const calls = callsOf(order)
const lates: number[] = []
const gaps: number[] = []
const firsts: number[] = []
let completed = 0

const startedAt = performance.now()
if (order.create !== undefined) await atOnce(workers, order.create, calls.newSession)
if (order.stream !== undefined) {
  const ends: Promise<void>[] = []
  // each of `workers` lanes begins one turn after the other; a turn streams for longer than all of them take to begin
  await atOnce(workers, order.stream, async () => {
    const { begun, ended } = await streamOf(order.api ?? 'turn')
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

interface Running {
  readonly begun: Promise<void>
  readonly ended: Promise<void>
}

async function streamOf(api: StreamApi): Promise<Running> {
  // before a chat too, so that both find connections and code that are warm
  if (api === 'chat') await calls.newSession()
  const call = await calls.prepared(api)
  const begun = Promise.withResolvers<void>()
  const requestedAt = performance.now()
  let hasText = false
  let last = 0
  const read = deltasOf(call, (sentAt) => {
    const now = Date.now()
    for (const each of sentAt) {
      if (!hasText) firsts.push(performance.now() - requestedAt)
      hasText = true
      lates.push(now - each)
    }
    if (last > 0) gaps.push(now - last)
    last = now
  })
  const seen = (part: string): void => {
    begun.resolve()
    read(part)
  }
  const ended = async (): Promise<void> => {
    await calls.streamed(call, seen)
    completed++
  }
  return { begun: begun.promise, ended: ended() }
}
