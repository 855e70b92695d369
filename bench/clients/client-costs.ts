import { createParser } from 'eventsource-parser'
import { Conversation } from '#client/conversation.ts'
import { framesIn } from '#client/frames.ts'
import { type Session, type SessionEvent, Troupe, textOf } from '#client/index.ts'
import { sized } from '../extent.ts'
import { median, type Row } from '../row.ts'
import { aiStored, aiTyped } from './ai-costs.ts'

/** Deltas of one measured stream, and of the pieces in which they arrive. */
const [deltas, aPiece] = [sized(20_000, 200), 8]

const frameOf = (at: number): string =>
  `event: output_text.delta\nid: ${at + 2}\ndata: ${JSON.stringify({ delta: `word${at} ` })}\n\n`

const pieces = Array.from({ length: deltas / aPiece }, (_, nth) =>
  Array.from({ length: aPiece }, (_each, at) => frameOf(nth * aPiece + at)).join(''),
)

const microsADelta = (work: () => number): number => {
  const before = process.cpuUsage()
  const seen = work()
  const { user, system } = process.cpuUsage(before)
  if (seen !== deltas) throw new Error(`${seen} of ${deltas} deltas`)
  return (user + system) / deltas
}

/** What others begin with: eventsource-parser, and the data as JSON. */
const theirs = (): number => {
  let seen = 0
  const parser = createParser({
    onEvent: ({ data }) => {
      seen += JSON.parse(data).delta === '' ? 0 : 1
    },
  })
  for (const piece of pieces) parser.feed(piece)
  return seen
}

const typed = (): number => {
  const push = framesIn()
  let seen = 0
  for (const piece of pieces) for (const { event } of push(piece)) seen += event === 'output_text.delta' ? 1 : 0
  return seen
}

/** The state of a session, flushed every 256 deltas: a page does so once a frame. */
const stored = (): number => {
  const push = framesIn()
  const state = begun()
  let seen = 0
  for (const piece of pieces) {
    for (const event of push(piece)) {
      state.apply(event)
      seen++
    }
    if (seen % 256 === 0) state.flush()
  }
  return seen
}

const started = (turn_number: number): SessionEvent => ({
  event: 'turn.started',
  id: 1,
  data: { turn_number, model: 'm', input_text: 'hi' },
})

const begun = (): Conversation => {
  const state = new Conversation()
  state.apply(started(1))
  return state
}

/** Time in ms of one flush of a session with 1,000 messages, and how many of them it replaces. */
const flushOf1000 = (): { readonly ms: number; readonly replaced: number } => {
  const state = new Conversation()
  for (let turn = 1; turn <= 500; turn++) state.apply(started(turn))
  const times: number[] = []
  let replaced = 0
  for (let at = 0; at < 200; at++) {
    const before = state.messages
    state.apply({ event: 'output_text.delta', id: at + 2, data: { delta: 'word ' } })
    const since = performance.now()
    state.flush()
    times.push(performance.now() - since)
    replaced = Math.max(replaced, state.messages.filter((message, nth) => message !== before[nth]).length)
  }
  return { ms: median(times), replaced }
}

/** Renders of 1,000 deltas in a page that paints every 16 ms, and the frames that passed meanwhile. */
const rendersOf1000 = async (): Promise<{ readonly renders: number; readonly frames: number }> => {
  const page = { document: { hidden: false }, requestAnimationFrame: (work: () => void) => setTimeout(work, 16) }
  Object.assign(globalThis, page)
  const session = sessionOf(streamOf1000())
  let renders = 0
  const since = performance.now()
  await new Promise<void>((resolve) => {
    const stop = session.subscribe(() => {
      renders++
      if (!textOf(session.getSnapshot().messages.at(-1) ?? { parts: [] }).endsWith('word999 ')) return
      stop()
      resolve()
    })
  })
  Reflect.deleteProperty(globalThis, 'document')
  Reflect.deleteProperty(globalThis, 'requestAnimationFrame')
  return { renders, frames: Math.ceil((performance.now() - since) / 16) }
}

const streamOf1000 = (): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    start: async (controller) => {
      const { data } = started(1)
      controller.enqueue(encoder.encode(`event: turn.started\nid: 1\ndata: ${JSON.stringify(data)}\n\n`))
      for (let at = 0; at < 1000; at++) {
        controller.enqueue(encoder.encode(frameOf(at)))
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    },
  })
}

const sessionOf = (body: ReadableStream<Uint8Array>): Session => {
  const token = async () => ({ token: 'ect_bench', expires_at: '2100-01-01T00:00:00Z' })
  const headers = { 'content-type': 'text/event-stream' }
  const send = async () => new Response(body, { headers })
  return new Troupe({ baseUrl: 'http://bench', token, fetch: send }).sessions.open('ses_bench')
}

const rounds = sized(9, 1)

/** Deltas of a stream of `ai`, whose costs grow with the length of the text. */
const aiDeltas = sized(2000, 50)

const aiMicros = async (work: (deltas: number) => Promise<number>): Promise<number> => {
  const times: number[] = []
  for (let round = 0; round <= Math.min(rounds, 3); round++) {
    const before = process.cpuUsage()
    const seen = await work(aiDeltas)
    const { user, system } = process.cpuUsage(before)
    if (seen !== aiDeltas) throw new Error(`ai: ${seen} of ${aiDeltas} deltas`)
    times.push((user + system) / aiDeltas)
  }
  return median(times.slice(1))
}

/** Measures the CPU a delta beside the parser that others use, and what a page renders. */
export const costRows = async (): Promise<readonly Row[]> => {
  const measured = Array.from({ length: rounds + 1 }, () => [theirs, typed, stored].map(microsADelta)).slice(1)
  const [other = 0, event = 0, store = 0] = [0, 1, 2].map((nth) => median(measured.map((each) => each[nth] ?? 0)))
  const against = { name: 'eventsource-parser + JSON.parse', value: other }
  const { ms, replaced } = flushOf1000()
  const { renders, frames } = await rendersOf1000()
  const [aiEvent, aiStore] = [await aiMicros(aiTyped), await aiMicros(aiStored)]
  const beside = (name: string, value: number) => ({ unit: 'µs', against: { name, value } })
  return [
    { measure: 'CPU a delta to a typed event', unit: 'µs', ours: event, against, bound: { of: 'ratio', atMost: 2 } },
    { measure: 'CPU a delta into a store', unit: 'µs', ours: store, against, bound: { of: 'ratio', atMost: 4 } },
    { measure: 'the same beside useChat', ours: event, ...beside('ai, to a typed chunk', aiEvent) },
    { measure: 'the same beside useChat', ours: store, ...beside('ai, into a message', aiStore) },
    { measure: 'flush with 1,000 messages', unit: 'ms', ours: ms, bound: { of: 'ours', atMost: 1 } },
    { measure: 'messages that a flush replaces', unit: '', ours: replaced, bound: { of: 'ours', atMost: 1 } },
    {
      measure: 'renders of 1,000 deltas',
      unit: '',
      ours: renders,
      against: { name: 'frames of 16 ms', value: frames },
      bound: { of: 'ratio', atMost: 1 },
    },
  ]
}
