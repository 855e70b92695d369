import { createRequire } from 'node:module'
import { MongoClient } from 'mongodb'
import { Pool } from 'undici'

/**
 * Server with the lowest cost per turn that the design allows, for comparison with Troupe's turns: uWebSockets.js for
 * HTTP, two batched durable commits to MongoDB, undici to the model, SSE to the client. It has no auth, state machine,
 * recovery or history.
 *
 * `node bench/floor/server.ts PORT MONGODB_URL MODEL_URL`; `POST /turn {session, turn, text}`.
 */
interface Turn {
  readonly session: string
  readonly turn: number
  readonly text: string
}

/** The subset of the uWebSockets.js API that the floor uses. */
interface Response {
  onAborted(listener: () => void): void
  onData(listener: (part: ArrayBuffer, last: boolean) => void): void
  cork(write: () => void): void
  writeStatus(status: string): Response
  writeHeader(name: string, value: string): Response
  write(part: string): boolean
  end(part: string): void
}
interface App {
  post(path: string, handler: (response: Response) => void): App
  listen(host: string, port: number, listening: () => void): void
}

const [port = '', mongodbUrl = '', modelUrl = ''] = process.argv.slice(2)
const uws: { App(): App } = createRequire(import.meta.url)('uWebSockets.js')
const model = new Pool(modelUrl, { connections: 64, pipelining: 1 })
const database = (await MongoClient.connect(mongodbUrl)).db('floor')
const commits = database.collection<{ _id: string }>('commits', { writeConcern: { w: 'majority', journal: true } })
await commits.createIndex({ actor: 1, cause: 1 }, { unique: true })
await commits.createIndex({ shard: 1, open: 1 }, { partialFilterExpression: { open: true } })

const lastSequence = new Map<string, number>()
let waiting: { readonly commit: { _id: string }; readonly done: () => void }[] = []
let batchesInFlight = 0

uws
  .App()
  .post('/turn', (response) => {
    let gone = false
    response.onAborted(() => {
      gone = true
    })
    response.onData((part, last) => {
      if (!last) return
      const turn: Turn = JSON.parse(Buffer.from(part).toString())
      void answer(turn, response, () => gone)
    })
  })
  .listen('127.0.0.1', Number(port), () => {})

async function answer({ session, turn, text }: Turn, response: Response, isGone: () => boolean): Promise<void> {
  const first = (lastSequence.get(session) ?? 0) + 1
  const started = {
    sequence: first,
    event_type: 'turn.started',
    payload: { turn_number: turn, input_text: text, model: 'm' },
  }
  await write(commitOf(session, first, `req:${turn}`, turn, text, [started]))
  if (!isGone()) {
    response.cork(() => {
      response.writeStatus('200').writeHeader('content-type', 'text/event-stream')
      response.write(`event: turn.started\ndata: {"turn_number":${turn}}\n\n`)
    })
  }
  const deltas = deltasIn(await callModel(JSON.stringify({ key: `${session}:${turn}` })))
  const output = deltas.join('')
  const ended = [
    { sequence: first + 1, event_type: 'output_text.delta', payload: { delta: output } },
    { sequence: first + 2, event_type: 'turn.completed', payload: { output, usage: {} } },
  ]
  await write(commitOf(session, first + 1, `${session}:${first + 1}:fx`, turn, text, ended))
  lastSequence.set(session, first + 1)
  if (isGone()) return
  response.cork(() => {
    for (const delta of deltas) response.write(`event: output_text.delta\ndata: {"delta":${JSON.stringify(delta)}}\n\n`)
    response.end('event: turn.completed\ndata: {}\n\n')
  })
}

function callModel(body: string): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    model.dispatch(
      { path: '/model', method: 'POST', body },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData(_, part) {
          text += part
        },
        onResponseEnd: () => resolve(text),
        onResponseError: (_, error) => reject(error),
      },
    )
  })
}

function deltasIn(stream: string): readonly string[] {
  const frames = stream.split('\n\n').filter((frame) => frame.startsWith('data: {'))
  return frames.map((frame) => {
    const data: { delta: string } = JSON.parse(frame.slice('data: '.length))
    return data.delta
  })
}

/** Returns a commit of the same size as Troupe's, with the fields that the runtime would write. */
function commitOf(actor: string, seq: number, cause: string, turn: number, text: string, events: readonly object[]) {
  return {
    _id: `${actor}:${String(seq).padStart(9, '0')}`,
    ...{ actor, seq, shard: 1, epoch: 1, at: new Date(), project: 'p', tenant: 't', machine: 'session@1', cause },
    ...{ event: { type: 'turn', text }, events, effects: [], messages: [] },
    snapshot: { value: 'running', context: { turn, model: 'm', pending: [] } },
    reminders: { expire: { due: Date.now() + 6e8, n: 1 } },
    in_flight: {},
    open: false,
  }
}

/**
 * Resolves when the commit is durable. Commits of one event-loop turn are written as one batch; at most two batches are
 * in flight.
 */
function write(commit: { _id: string }): Promise<void> {
  return new Promise((done) => {
    waiting.push({ commit, done })
    if (waiting.length === 1) setImmediate(flush)
  })
}

async function flush(): Promise<void> {
  if (batchesInFlight >= 2 || waiting.length === 0) return
  batchesInFlight += 1
  const batch = waiting
  waiting = []
  try {
    await commits.insertMany(
      batch.map(({ commit }) => commit),
      { ordered: false },
    )
    for (const { done } of batch) done()
  } finally {
    batchesInFlight -= 1
    if (waiting.length > 0) setImmediate(flush)
  }
}
