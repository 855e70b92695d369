import { type Answering, callsOf, deltasOf, quantile, type StreamApi } from './stream-calls.ts'

/**
 * Readers of a server whose number grows until their deltas are late: `ramp-client.ts '{"url":…,"key":…,"api":"chat"}'`. Each
 * reads one answer after the other; a session's turns are of one session. Prints one `Ramp` as JSON.
 */
export interface RampOrder extends Answering {
  readonly api: StreamApi
  /** Number of readers after which it ends anyhow. */
  readonly max: number
}

/** How many answers were read at once when their deltas began to be late. */
export interface Ramp {
  readonly streams: number
}

const everyMs = 100
const windowMs = 1_000
/** Age of a delta in ms that 99 of 100 must not exceed. */
const lateMs = 100
/** Windows that have to be late one after the other, since a machine may stop for one. */
const lateWindows = 2

const order: RampOrder = JSON.parse(process.argv[2] ?? '')
const calls = callsOf(order)
const readers: Promise<void>[] = []
let ages: number[] = []
let isOver = false

let streams = 0
for (let late = 0; late < lateWindows && readers.length < order.max; ) {
  const before = readers.length
  for (let ms = 0; ms < windowMs && readers.length < order.max; ms += everyMs) {
    readers.push(read())
    await wait(everyMs)
  }
  const isLate = quantile(ages, 0.99) > lateMs
  ages = []
  if (!isLate) streams = readers.length
  else if (late === 0) streams = before
  late = isLate ? late + 1 : 0
}
isOver = true
await Promise.all(readers)
const ramp: Ramp = { streams }
console.log(JSON.stringify(ramp))
process.exit(0)

async function read(): Promise<void> {
  const call = await calls.prepared(order.api)
  while (!isOver) {
    const seen = deltasOf(call, (sentAt) => {
      const now = Date.now()
      for (const each of sentAt) ages.push(now - each)
    })
    await calls.streamed(call, seen)
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
