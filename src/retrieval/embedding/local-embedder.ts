import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { type Embedder, EmbedderUnavailable, type EmbedUse } from '../embedder.ts'
import { type EmbedReply, type EmbedRequest, type ModelPlace, replyOf } from './schema.ts'

/**
 * Maximum texts per batch, and their characters if there are several: a question waits for at most one batch, of about
 * a third of a second for a small model.
 */
const mostAtOnce = 16
const mostCharactersAtOnce = 2_000
/** Timeout for opening the model; it usually takes a second or two, on a busy machine up to a minute. */
const openMs = 180_000

/**
 * Number of questions whose vectors are cached: one message is searched for in memories, in knowledge, and by agents
 * that forward it.
 */
export const maxKeptQuestions = 256
/** Longer questions are not cached. */
const mostKeptLength = 4_096

interface Waiting {
  readonly text: string
  readonly use: EmbedUse
  readonly settle: (vector: Float32Array | Error) => void
}

/**
 * A sentence model in a separate process, which is restarted with the next text after it has ended. Inference thus does
 * not block the event loop, and a crash of native code ends only that process.
 */
export class LocalEmbedder implements Embedder {
  readonly id: string
  readonly #place: ModelPlace
  /** Questions are processed before passages, since a caller waits for them. */
  readonly #waiting: Readonly<Record<EmbedUse, Waiting[]>> = { query: [], passage: [] }
  /** Least recently used first. */
  readonly #questions = new Map<string, Promise<Float32Array>>()
  #opened: Opened | null = null
  #opening = false
  #running: readonly Waiting[] = []
  #requests = 0
  #dimensions = 0
  #closed = false

  /** The model is opened with the first text, or by `open`. */
  constructor(place: ModelPlace) {
    this.id = idOf(place.folder)
    this.#place = place
  }

  get dimensions(): number {
    return this.#dimensions
  }

  /** @throws {Error} that names what is missing, when the model cannot be opened. */
  static async open(place: ModelPlace): Promise<LocalEmbedder> {
    const embedder = new LocalEmbedder(place)
    await embedder.#start()
    return embedder
  }

  async embed(texts: readonly string[], use: EmbedUse): Promise<readonly Float32Array[]> {
    return await Promise.all(texts.map((text) => (use === 'query' ? this.#ofQuestion(text) : this.#vector(text, use))))
  }

  async close(): Promise<void> {
    this.#closed = true
    const { process } = this.#opened ?? {}
    this.#end(new EmbedderUnavailable('the embedder is closed'))
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return
    process.ref()
    const exit = once(process, 'exit')
    process.kill('SIGKILL')
    await exit
  }

  /** Returns the cached vector of a question, which may still be in progress; failures are not cached. */
  #ofQuestion(text: string): Promise<Float32Array> {
    if (this.#closed || text.length > mostKeptLength) return this.#vector(text, 'query')
    const known = this.#questions.get(text)
    this.#questions.delete(text)
    const vector = known ?? this.#vector(text, 'query')
    this.#questions.set(text, vector)
    if (known !== undefined) return known
    vector.catch(() => {
      if (this.#questions.get(text) === vector) this.#questions.delete(text)
    })
    for (const [oldest] of this.#questions) {
      if (this.#questions.size <= maxKeptQuestions) break
      this.#questions.delete(oldest)
    }
    return vector
  }

  #vector(text: string, use: EmbedUse): Promise<Float32Array> {
    if (this.#closed) return Promise.reject(new EmbedderUnavailable('the embedder is closed'))
    return new Promise((resolve, reject) => {
      const settle = (vector: Float32Array | Error) => (vector instanceof Error ? reject(vector) : resolve(vector))
      this.#waiting[use].push({ text, use, settle })
      // Requests of the same turn of the event loop join the batch.
      queueMicrotask(() => this.#next())
    })
  }

  #next(): void {
    if (this.#running.length > 0 || this.#opening) return
    const use = this.#waiting.query.length > 0 ? 'query' : 'passage'
    if (this.#waiting[use].length === 0) this.#rest()
    else if (this.#opened === null) this.#startAgain()
    else this.#run(this.#opened.process, use)
  }

  #run(process: ChildProcess, use: EmbedUse): void {
    this.#running = this.#waiting[use].splice(0, batchLength(this.#waiting[use]))
    const texts = this.#running.map(({ text }) => text)
    process.ref()
    process.channel?.ref()
    process.send({ id: ++this.#requests, texts, use } satisfies EmbedRequest)
  }

  /** Lets this process exit while the embedder has no work. */
  #rest(): void {
    this.#opened?.process.unref()
    this.#opened?.process.channel?.unref()
  }

  async #start(): Promise<void> {
    this.#opening = true
    try {
      const opened = await openProcess(this.#place)
      if (this.#closed) return void opened.process.kill('SIGKILL')
      this.#opened = opened
      this.#dimensions = opened.dimensions
      opened.process.on('message', (message: unknown) => this.#receive(replyOf(message)))
      opened.process.on('exit', () => this.#lose(opened))
      opened.process.on('error', () => this.#lose(opened))
      this.#rest()
    } finally {
      this.#opening = false
    }
  }

  #startAgain(): void {
    this.#start().then(
      () => this.#next(),
      (error: unknown) => this.#end(new EmbedderUnavailable('the embedder failed', { cause: error })),
    )
  }

  #lose(opened: Opened): void {
    if (this.#opened !== opened) return
    this.#opened = null
    const lost = this.#running
    this.#running = []
    for (const { settle } of lost) settle(new EmbedderUnavailable('the embedder ended'))
    this.#next()
  }

  #receive(reply: EmbedReply): void {
    if (reply.kind !== 'embedded' && reply.kind !== 'failed') return
    const batch = this.#running
    this.#running = []
    for (const [at, { settle }] of batch.entries()) {
      const vector = reply.kind === 'embedded' ? reply.vectors[at] : undefined
      settle(vector ?? new Error('reason' in reply ? reply.reason : 'the model gave no vector'))
    }
    this.#next()
  }

  #end(error: Error): void {
    const { query, passage } = this.#waiting
    for (const { settle } of [...this.#running, ...query.splice(0), ...passage.splice(0)]) settle(error)
    this.#running = []
  }
}

/** The model cannot be opened, and could not be later: a file or a package is missing, or is not the right one. */
export class ModelUnusable extends Error {
  override readonly name = 'ModelUnusable'
}

/** Number of texts from the start of the queue that make a batch. */
function batchLength(waiting: readonly Waiting[]): number {
  let characters = 0
  for (const [at, { text }] of waiting.entries()) {
    characters += text.length
    if (at === mostAtOnce || (at > 0 && characters > mostCharactersAtOnce)) return at
  }
  return waiting.length
}

interface Opened {
  readonly process: ChildProcess
  readonly dimensions: number
}

/** Starts the process, with an empty environment. */
async function openProcess(place: ModelPlace): Promise<Opened> {
  const started = fork(new URL('./embedder-process.ts', import.meta.url), [JSON.stringify(place)], {
    ...{ env: {}, serialization: 'advanced', execArgv: ['--disable-warning=ExperimentalWarning'] },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  try {
    return { process: started, dimensions: await dimensionsOf(started) }
  } catch (error) {
    started.kill('SIGKILL')
    throw error
  }
}

function dimensionsOf(process: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('the embedder did not open in time')), openMs)
    const settled = (settle: () => void): void => {
      clearTimeout(late)
      process.removeAllListeners()
      settle()
    }
    process.on('error', (error) => settled(() => reject(new Error('the embedder failed', { cause: error }))))
    process.on('exit', () => settled(() => reject(new Error('the embedder ended'))))
    process.on('message', (message: unknown) => {
      const reply = replyOf(message)
      if (reply.kind === 'open') settled(() => resolve(reply.dimensions))
      if (reply.kind === 'closed') settled(() => reject(new ModelUnusable(reply.reason)))
    })
  })
}

/**
 * Returns an id from the folder's name, as the model files contain none; different models have to be in different
 * folders.
 */
const idOf = (folder: string): string =>
  `local/${
    basename(folder)
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, '-')
      .slice(0, 100) || 'model'
  }`
