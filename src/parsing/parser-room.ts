import { Worker } from 'node:worker_threads'
import type { Json } from '#storage/ports.ts'
import type { OwnTasks, ParserTask } from './parser-tasks.ts'
import { isReady, isReply } from './schema.ts'

/** Why bytes were not read: they are none of the format, took too long or too much memory, or too many others wait. */
export type ParserFailure = 'unreadable' | 'deadline' | 'memory' | 'busy'

/** Foreign bytes that were not read. */
export class ParserFailed extends Error {
  override readonly name = 'ParserFailed'
  readonly reason: ParserFailure
  constructor(reason: ParserFailure, message: string) {
    super(message)
    this.reason = reason
  }
}

/** What the parsers of a room may take. */
export interface ParserLimits {
  /** ms from the beginning of one parse. */
  readonly deadlineMs: number
  /** Heap of the worker. */
  readonly maxHeapMb: number
  /** Requests that wait for the worker. */
  readonly maxWaiting: number
  /** Memory by which the process may grow during a parse: what lies outside of the heap, such as unpacked streams. */
  readonly maxGrowthMb?: number
}

/** Limits of a room that does not set its own. */
export const parserLimits: ParserLimits = { deadlineMs: 2000, maxHeapMb: 128, maxWaiting: 64 }

/** Between two looks at the memory of the process, in ms. */
const watchMs = 50

interface Waiting {
  readonly task: PropertyKey
  readonly input: unknown
  readonly deadlineMs: number
  readonly settle: (outcome: { readonly value: Json } | { readonly failure: ParserFailed }) => void
}

interface Running {
  readonly id: number
  /** The deadline counts from now. */
  readonly begin: () => void
  readonly end: Waiting['settle']
}

/** What a task of the room reads. */
type InputOf<Task> = Task extends ParserTask<infer Input> ? Input : never

/**
 * Parsers of foreign bytes, in a worker with a deadline and a cap of memory: bytes that keep a parser busy for ever keep
 * neither the loop nor the process (specs/decisions/0137-parsers-in-a-worker.md). One parse at a time; the worker starts
 * with the first, is replaced after a failure, and keeps no process alive.
 */
export class ParserRoom<Tasks = OwnTasks> {
  readonly #limits: ParserLimits
  readonly #module: URL
  readonly #waiting: Waiting[] = []
  #worker: Worker | null = null
  /** The worker has loaded its parsers: that takes longer than most parses, and is not theirs. */
  #ready = false
  #running: Running | null = null
  #ids = 0

  /** @param module of the worker, which serves these tasks. */
  constructor(limits: Partial<ParserLimits> = {}, module = new URL('./parser-worker.ts', import.meta.url)) {
    this.#limits = { ...parserLimits, ...limits }
    this.#module = module
  }

  /** @param deadlineMs time of this parse instead of the room's. @throws {ParserFailed} */
  async parse<Name extends keyof Tasks>(
    task: Name,
    input: InputOf<Tasks[Name]>,
    deadlineMs = this.#limits.deadlineMs,
  ): Promise<Json> {
    if (this.#waiting.length >= this.#limits.maxWaiting) throw new ParserFailed('busy', 'too many parses wait')
    const outcome = await new Promise<Parameters<Waiting['settle']>[0]>((settle) => {
      this.#waiting.push({ task, input, deadlineMs, settle })
      this.#next()
    })
    if ('failure' in outcome) throw outcome.failure
    return outcome.value
  }

  /** Whether the worker has loaded its parsers. */
  get isReady(): boolean {
    return this.#ready
  }

  /** Starts the worker ahead of the next parse. */
  warm(): void {
    this.#open()
  }

  /** Ends the worker; what runs fails. */
  async close(): Promise<void> {
    await this.#replace(new ParserFailed('deadline', 'the room is closed'))
  }

  #next(): void {
    const next = this.#running === null ? this.#waiting.shift() : undefined
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

  /** Ends a parse under which the process grows too far. */
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

  /** Ends the worker with what runs in it; the next parse has a new one. */
  async #replace(failure: ParserFailed): Promise<void> {
    const worker = this.#worker
    this.#worker = null
    this.#ready = false
    this.#running?.end({ failure })
    await worker?.terminate()
  }
}

/** The room of this process. */
export const parserRoom = new ParserRoom()
