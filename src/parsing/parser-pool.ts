import { Worker } from 'node:worker_threads'
import type { Json } from '#storage/ports.ts'
import { FairLine, type LineOwner } from './fair-line.ts'
import type { OwnTasks, ParserTask } from './parser-tasks.ts'
import { isReady, isReply } from './schema.ts'

/**
 * Reason why bytes were not read: they are not in the format, took too long or too much memory, or too many requests
 * are waiting.
 */
export type ParserFailure = 'unreadable' | 'deadline' | 'memory' | 'busy'

/** Untrusted bytes could not be read. */
export class ParserFailed extends Error {
  override readonly name = 'ParserFailed'
  readonly reason: ParserFailure
  constructor(reason: ParserFailure, message: string) {
    super(message)
    this.reason = reason
  }
}

/** Resource limits of a room's parsers. */
export interface ParserLimits {
  /** Timeout of one parse, in ms from its start. */
  readonly deadlineMs: number
  /**
   * Heap limit of the worker. Where `maxGrowthMb` is set, it is higher: near its heap limit, V8 collects garbage again
   * and again within one call of native code, such as `JSON.parse`, which cannot be terminated meanwhile.
   */
  readonly maxHeapMb: number
  /** Maximum number of requests waiting for the worker. An owner has a quarter of the places, and always one. */
  readonly maxWaiting: number
  /** Maximum growth of the process during a parse; it covers memory outside the heap, such as unpacked streams. */
  readonly maxGrowthMb?: number
}

/** Default limits of a room. */
export const parserLimits: ParserLimits = { deadlineMs: 2000, maxHeapMb: 128, maxWaiting: 64 }

/** Interval between checks of the process's memory, in ms. */
const watchMs = 50

/** Share of the waiting places that one owner may take. */
const ownersShare = 0.25

/** Requests that name no owner. */
const noOwner: LineOwner = { project: '', tenant: null }

/** Options of one parse. */
export interface ParseOptions {
  /** Timeout in ms from its start; default: the room's. */
  readonly deadlineMs?: number
  /** Owners take turns; requests without one share all waiting places. */
  readonly owner?: LineOwner | undefined
}

interface Waiting {
  readonly task: PropertyKey
  readonly input: unknown
  readonly deadlineMs: number
  readonly settle: (outcome: { readonly value: Json } | { readonly failure: ParserFailed }) => void
}

interface Running {
  readonly id: number
  /** Starts the deadline. */
  readonly begin: () => void
  readonly end: Waiting['settle']
}

/** Input type of a task. */
type InputOf<Task> = Task extends ParserTask<infer Input> ? Input : never

/**
 * Runs parsers of untrusted bytes in a worker with a deadline and a memory limit: bytes that keep a parser busy for
 * ever block neither the event loop nor the process (specs/decisions/0137-parsers-in-a-worker.md). It runs one parse at
 * a time, and owners take turns (specs/decisions/0258-turns-at-reading-documents.md). The worker starts with the first
 * parse, is replaced after a failure, and does not keep the process alive.
 */
export class ParserPool<Tasks = OwnTasks> {
  readonly #limits: ParserLimits
  readonly #module: URL
  readonly #waiting = new FairLine<Waiting>()
  #worker: Worker | null = null
  /**
   * Whether the worker has loaded its parsers. Loading takes longer than most parses and does not count towards their
   * deadline.
   */
  #ready = false
  #running: Running | null = null
  /** Number of terminated workers that have not ended: they use memory and a core until they have. */
  #ending = 0
  /** Whether a worker is to be started when they have ended. */
  #isWanted = false
  #ids = 0

  /** @param module entry module of the worker, which has to serve the room's tasks. */
  constructor(limits: Partial<ParserLimits> = {}, module = new URL('./parser-worker.ts', import.meta.url)) {
    this.#limits = { ...parserLimits, ...limits }
    this.#module = module
  }

  /** Runs a task. @throws {ParserFailed} */
  async parse<Name extends keyof Tasks>(
    task: Name,
    input: InputOf<Tasks[Name]>,
    { deadlineMs = this.#limits.deadlineMs, owner = noOwner }: ParseOptions = {},
  ): Promise<Json> {
    if (!this.#hasPlace(owner)) throw new ParserFailed('busy', 'too many parses wait')
    const outcome = await new Promise<Parameters<Waiting['settle']>[0]>((settle) => {
      this.#waiting.add(owner, { task, input, deadlineMs, settle })
      this.#next()
    })
    if ('failure' in outcome) throw outcome.failure
    return outcome.value
  }

  /** Whether the worker has loaded its parsers. */
  get isReady(): boolean {
    return this.#ready
  }

  /** Starts the worker in advance of the next parse, once a terminated one has ended. */
  warm(): void {
    if (this.#ending === 0) this.#open()
    else this.#isWanted = true
  }

  /** Terminates the worker; a parse in progress fails. */
  async close(): Promise<void> {
    this.#isWanted = false
    await this.#replace(new ParserFailed('deadline', 'the room is closed'))
  }

  #hasPlace(owner: LineOwner): boolean {
    const { maxWaiting } = this.#limits
    const own = this.#waiting.sizeOf(owner)
    if (owner === noOwner) return this.#waiting.size < maxWaiting
    return own === 0 || (own < Math.ceil(maxWaiting * ownersShare) && this.#waiting.size < maxWaiting)
  }

  #next(): void {
    const next = this.#running === null && this.#ending === 0 ? this.#waiting.take() : undefined
    if (next === undefined) return
    const id = ++this.#ids
    const { deadlineMs } = next
    const late = new ParserFailed('deadline', `the parser took longer than ${deadlineMs} ms`)
    let timer: NodeJS.Timeout | undefined
    let watch: NodeJS.Timeout | undefined
    this.#running = {
      id,
      begin: () => {
        timer = setTimeout(() => void this.#replace(late), deadlineMs)
        watch = this.#watched()
      },
      end: (outcome) => {
        clearTimeout(timer)
        clearInterval(watch)
        this.#running = null
        next.settle(outcome)
        this.#next()
      },
    }
    this.#open().postMessage({ id, task: next.task, input: next.input })
    if (this.#ready) this.#running.begin()
  }

  /** Watches the memory of the process, and terminates a parse during which it grows too much. */
  #watched(): NodeJS.Timeout | undefined {
    const { maxGrowthMb } = this.#limits
    if (maxGrowthMb === undefined) return undefined
    const most = process.memoryUsage.rss() + maxGrowthMb * 1024 * 1024
    const large = new ParserFailed('memory', `the process grew by more than ${maxGrowthMb} MB`)
    return setInterval(() => {
      if (process.memoryUsage.rss() > most) void this.#replace(large)
    }, watchMs)
  }

  #open(): Worker {
    if (this.#worker !== null) return this.#worker
    const resourceLimits = { maxOldGenerationSizeMb: this.#limits.maxHeapMb }
    const worker = new Worker(this.#module, { resourceLimits })
    this.#worker = worker
    worker.unref()
    worker.on('message', (reply: unknown) => {
      if (isReady(reply)) this.#begin(worker)
      if (!isReply(reply) || reply.id !== this.#running?.id) return
      const failure = 'error' in reply ? new ParserFailed('unreadable', String(reply.error)) : null
      this.#running.end(failure === null ? { value: reply.value ?? null } : { failure })
    })
    worker.on('error', (error) => {
      if (this.#worker === worker) void this.#replace(new ParserFailed('memory', String(error)))
    })
    return worker
  }

  #begin(worker: Worker): void {
    if (this.#worker !== worker) return
    this.#ready = true
    this.#running?.begin()
  }

  /** Terminates the worker and fails its parse; the next parse starts a new worker once this one has ended. */
  async #replace(failure: ParserFailed): Promise<void> {
    const worker = this.#worker
    this.#worker = null
    this.#ready = false
    this.#ending += 1
    this.#running?.end({ failure })
    await worker?.terminate()
    this.#ending -= 1
    if (this.#ending === 0 && this.#isWanted) this.#open()
    this.#isWanted &&= this.#ending > 0
    this.#next()
  }
}

/** The shared room of this process. */
export const parserRoom = new ParserPool()
