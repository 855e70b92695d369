import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { type Embedder, EmbedderUnavailable, type EmbedUse, type OlderText } from '../embedder.ts'
import {
  type EmbedReply,
  type EmbedRequest,
  type ModelPlace,
  maxPairCharacters,
  type ReadersOff,
  replyOf,
  type Trait,
} from './schema.ts'

/**
 * Maximum texts per batch, and their characters if there are several: a question waits for at most one batch, of about
 * a third of a second for a small model.
 */
const maxConcurrent = 16
const maxBatchCharacters = 2_000
/** Timeout for opening the model; it usually takes a second or two, on a busy machine up to a minute. */
const openMs = 180_000

/**
 * Number of questions whose vectors are cached: one message is searched for in memories, in knowledge, and by agents
 * that forward it.
 */
export const maxKeptQuestions = 256
/** Longer questions are not cached. */
const maxKeptLength = 4_096

interface Waiting {
  readonly text: string
  readonly use: EmbedUse
  readonly settle: (vector: Float32Array | Error) => void
}

/** Texts that are to be read with a question, judged or compared. */
interface Reading {
  readonly request: ReadRequest
  /** When it is no longer waited for, by `performance.now()`. */
  readonly until: number
  readonly settle: (odds: readonly number[] | Error) => void
}

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never

type ReadRequest = Without<Exclude<EmbedRequest, { readonly kind: 'embed' }>, 'id'>

/** What the process works at. */
type Running =
  | { readonly kind: 'embed'; readonly batch: readonly Waiting[] }
  | { readonly kind: 'read'; readonly reading: Reading }

/** Maximum readings that wait; another one is refused. */
const maxReadings = 64
/** Time in ms for which a reading waits for its turn: one that a search waits for, and an extraction or a comparison. */
const [maxReadingWaitMs, maxExtractionWaitMs] = [400, 2_000]

/**
 * A sentence model in a separate process, which is restarted with the next text after it has ended. Inference thus does
 * not block the event loop, and a crash of native code ends only that process.
 */
export class LocalEmbedder implements Embedder {
  readonly id: string
  readonly #place: ModelPlace
  /** Questions are processed before passages, since a caller waits for them. */
  readonly #waiting: Readonly<Record<EmbedUse, Waiting[]>> = { query: [], passage: [] }
  /** Processed before all others: their callers have waited before, or wait for a short time. */
  readonly #readings: Reading[] = []
  /**
   * Sentences of messages that are extracted, memories that are compared, and passages of skills: before passages, and after
   * what searches wait for.
   */
  readonly #extractions: Reading[] = []
  /** Least recently used first. */
  readonly #questions = new Map<string, Promise<Float32Array>>()
  #opened: Opened | null = null
  #opening = false
  #running: Running | null = null
  #requests = 0
  #dimensions = 0
  #closed = false

  readonly #off: (off: ReadersOff) => void

  /**
   * The model is opened with the first text, or by `open`.
   *
   * @param off called with the reasons, when texts cannot be read or judged although there are files for it.
   */
  constructor(place: ModelPlace, off: (off: ReadersOff) => void = () => undefined) {
    this.id = idOf(place.folder)
    this.#place = place
    this.#off = off
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

  async read(question: string, texts: readonly string[]): Promise<readonly number[] | null> {
    return this.#place.reader === undefined || this.#opened?.off.read
      ? null
      : await this.#read({ kind: 'read', question, texts })
  }

  async judge(texts: readonly string[], trait: Trait = 'instructions'): Promise<readonly number[] | null> {
    return this.#place.guard === undefined || this.#opened?.off.judge
      ? null
      : await this.#read({ kind: 'judge', texts, trait })
  }

  async compare(text: string, older: readonly OlderText[]): Promise<readonly number[] | null> {
    return this.#place.update === undefined || this.#opened?.off.compare
      ? null
      : await this.#read({ kind: 'compare', texts: older.length === 0 ? [] : [text], older: older.map(beginningOf) })
  }

  async suspect(passages: readonly string[]): Promise<readonly number[] | null> {
    return this.#place.passageReader === undefined || this.#opened?.off.suspect
      ? null
      : await this.#read({ kind: 'suspect', texts: passages })
  }

  async #read(request: ReadRequest): Promise<readonly number[] | null> {
    const isExtraction = request.kind !== 'read' && !(request.kind === 'judge' && request.trait === 'instructions')
    const queue = isExtraction ? this.#extractions : this.#readings
    // skills are read one at a time (`SkillReader`), and one that is not read when memories are many would be published unread
    if (this.#closed || (queue.length >= maxReadings && request.kind !== 'suspect')) return null
    if (request.texts.length === 0) return []
    const until = performance.now() + (isExtraction ? maxExtractionWaitMs : maxReadingWaitMs)
    return await new Promise<readonly number[]>((resolve, reject) => {
      const settle = (odds: readonly number[] | Error) => (odds instanceof Error ? reject(odds) : resolve(odds))
      queue.push({ request, until, settle })
      this.#next()
    })
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
    if (this.#closed || text.length > maxKeptLength) return this.#vector(text, 'query')
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
    if (this.#running !== null || this.#opening) return
    for (const queue of [this.#readings, this.#extractions]) dropLate(queue)
    const use = this.#waiting.query.length > 0 ? 'query' : 'passage'
    if (this.#waiting[use].length + this.#readings.length + this.#extractions.length === 0) this.#rest()
    else if (this.#opened === null) this.#startAgain()
    else this.#run(this.#opened.process, use)
  }

  #run(process: ChildProcess, use: EmbedUse): void {
    const id = ++this.#requests
    const reading = this.#readings.shift() ?? (use === 'passage' ? this.#extractions.shift() : undefined)
    process.ref()
    process.channel?.ref()
    if (reading !== undefined) {
      this.#running = { kind: 'read', reading }
      process.send({ ...reading.request, id } satisfies EmbedRequest)
      return
    }
    const batch = this.#waiting[use].splice(0, batchLength(this.#waiting[use]))
    this.#running = { kind: 'embed', batch }
    process.send({ kind: 'embed', id, texts: batch.map(({ text }) => text), use } satisfies EmbedRequest)
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
      if (Object.values(opened.off).some((reason) => reason !== null)) this.#off(opened.off)
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
    this.#fail(new EmbedderUnavailable('the embedder ended'))
    this.#next()
  }

  #receive(reply: EmbedReply): void {
    const running = this.#running
    if (reply.kind === 'open' || reply.kind === 'closed' || running === null) return
    if (reply.kind === 'failed') this.#fail(new Error(reply.reason))
    else {
      this.#running = null
      if (running.kind === 'read') running.reading.settle(reply.kind === 'read' ? reply.odds : noAnswer())
      else for (const [at, { settle }] of running.batch.entries()) settle(vectorAt(reply, at) ?? noAnswer())
    }
    this.#next()
  }

  /** Fails what the process works at. */
  #fail(error: Error): void {
    const running = this.#running
    this.#running = null
    if (running?.kind === 'read') running.reading.settle(error)
    else for (const { settle } of running?.batch ?? []) settle(error)
  }

  #end(error: Error): void {
    const { query, passage } = this.#waiting
    this.#fail(error)
    for (const { settle } of [...query.splice(0), ...passage.splice(0)]) settle(error)
    for (const { settle } of [...this.#readings.splice(0), ...this.#extractions.splice(0)]) settle(error)
  }
}

/** What is read of an older text: all of 64 texts can be megabytes. */
const beginningOf = ({ text, vector }: OlderText): OlderText => ({ text: text.slice(0, maxPairCharacters), vector })

const vectorAt = (reply: EmbedReply, at: number): Float32Array | undefined =>
  reply.kind === 'embedded' ? reply.vectors[at] : undefined

/** Ends the readings that are no longer waited for. */
const dropLate = (queue: Reading[]): void => {
  const now = performance.now()
  for (const late of queue.filter(({ until }) => until < now)) {
    queue.splice(queue.indexOf(late), 1)
    late.settle([])
  }
}

const noAnswer = (): Error => new Error('the model gave no answer')

/** The model cannot be opened, and could not be later: a file or a package is missing, or is not the right one. */
export class ModelUnusable extends Error {
  override readonly name = 'ModelUnusable'
}

/** Number of texts from the start of the queue that make a batch. */
function batchLength(waiting: readonly Waiting[]): number {
  let characters = 0
  for (const [at, { text }] of waiting.entries()) {
    characters += text.length
    if (at === maxConcurrent || (at > 0 && characters > maxBatchCharacters)) return at
  }
  return waiting.length
}

interface Opened {
  readonly process: ChildProcess
  readonly dimensions: number
  readonly off: ReadersOff
}

/** Starts the process, with an empty environment. */
async function openProcess(place: ModelPlace): Promise<Opened> {
  const started = fork(new URL('./embedder-process.ts', import.meta.url), [JSON.stringify(place)], {
    ...{ env: {}, serialization: 'advanced', execArgv: ['--disable-warning=ExperimentalWarning'] },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  try {
    return { process: started, ...(await opening(started)) }
  } catch (error) {
    started.kill('SIGKILL')
    throw error
  }
}

function opening(process: ChildProcess): Promise<Omit<Opened, 'process'>> {
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
      if (reply.kind === 'open') settled(() => resolve(reply))
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
