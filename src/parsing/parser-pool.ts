import { FairSemaphore } from '#src/concurrency/fair-semaphore.ts'
import type { Json } from '../storage/index.ts'
import { ownerPath, type ParseOwner } from './parse-owner.ts'
import { ParserFailed } from './parser-failed.ts'
import type { OwnTasks, ParserTask } from './parser-tasks.ts'
import { type ParseOutcome, type ParseRequest, type ParserLimits, ParserWorker } from './pooled-worker.ts'

export { ParserFailed, type ParserFailure } from './parser-failed.ts'
export type { ParserLimits } from './pooled-worker.ts'

/** Default limits of a pool. */
const parserLimits: ParserLimits = { deadlineMs: 2000, maxHeapMb: 128, maxWaiting: 64 }

/** A parse without a timeout of its own ends after so many times the pool's deadline. */
const maxDeadlines = 5

/** Share of the waiting places that one owner may take. */
const ownerFraction = 0.25

/** Requests that name no owner. */
const noOwner: ParseOwner = { project: '', tenant: null }

export interface ParseOptions {
  /** Timeout in ms from its start; default: the pool's deadline, which begins anew on a machine that is busy. */
  readonly deadlineMs?: number
  /** Owners take turns; requests without one share all waiting places. */
  readonly owner?: ParseOwner | undefined
}

type InputOf<Task> = Task extends ParserTask<infer Input> ? Input : never

/**
 * Runs parsers of untrusted bytes in a worker with a deadline and a memory limit: bytes that keep a parser busy for
 * ever block neither the event loop nor the process (specs/decisions/0137-parsers-in-a-worker.md). It runs one parse at
 * a time, and owners take turns (specs/decisions/0137-parsers-in-a-worker.md). While one is slow, a second worker
 * reads for the other owners (specs/decisions/0137-parsers-in-a-worker.md). Workers start with a parse and do not keep the
 * process alive.
 */
export class ParserPool<Tasks = OwnTasks> {
  readonly #limits: ParserLimits
  /** An owner has one parse at a time. */
  readonly #turns = new FairSemaphore<ParseOwner>({
    path: ownerPath,
    running: [2, 2, 1],
    mayStart: () => this.#mayStart(),
  })
  /** Requests that are to be run with nothing beside them, before all others. */
  readonly #alone: ParseRequest[] = []
  readonly #first: ParserWorker
  /** Reads while the first is slow; null in a pool without `slowMs`. */
  readonly #second: ParserWorker | null

  /** @param module entry module of the worker, which has to serve the pool's tasks. */
  constructor(limits: Partial<ParserLimits> = {}, module = new URL('./parser-worker.ts', import.meta.url)) {
    this.#limits = { ...parserLimits, ...limits }
    const again = (request: ParseRequest): void => void this.#alone.push({ ...request, isAlone: true })
    const listener = { changed: () => this.#changed(), again }
    this.#first = new ParserWorker(this.#limits, module, listener)
    this.#second = this.#limits.slowMs === undefined ? null : new ParserWorker(this.#limits, module, listener)
  }

  /** Runs a task. @throws {ParserFailed} */
  async parse<Name extends keyof Tasks>(
    task: Name,
    input: InputOf<Tasks[Name]>,
    { deadlineMs: ownMs, owner = noOwner }: ParseOptions = {},
  ): Promise<Json> {
    if (!this.#mayWait(owner)) throw new ParserFailed('busy', 'too many parses wait')
    const usualMs = this.#limits.deadlineMs
    const limits = { deadlineMs: Math.min(usualMs, ownMs ?? usualMs), maxMs: ownMs ?? maxDeadlines * usualMs }
    const outcome = await new Promise<ParseOutcome>((settle) => {
      void this.#turns.run(owner, () => this.#run({ task, input, ...limits, isAlone: false, settle }))
    })
    if ('failure' in outcome) throw outcome.failure
    return outcome.value
  }

  /** Whether the worker has loaded its parsers. */
  get isReady(): boolean {
    return this.#first.isReady
  }

  /** Starts the worker in advance of the next parse, once a terminated one has ended. */
  warm(): void {
    this.#first.warm()
  }

  /** Terminates the workers; parses in progress fail. */
  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.close()))
  }

  get #workers(): readonly ParserWorker[] {
    return this.#second === null ? [this.#first] : [this.#first, this.#second]
  }

  #mayWait(owner: ParseOwner): boolean {
    const { maxWaiting } = this.#limits
    const own = this.#turns.waitingOf(owner)
    if (owner === noOwner) return this.#turns.waiting < maxWaiting
    return own === 0 || (own < Math.ceil(maxWaiting * ownerFraction) && this.#turns.waiting < maxWaiting)
  }

  /** Whether a worker is free and another parse may run beside those in progress. */
  #mayStart(): boolean {
    const busy = this.#busy
    const isSettled = busy.length === this.#turns.running && this.#alone.length === 0
    return isSettled && busy.length < this.#workers.length && busy.every(({ isSlow, isAlone }) => isSlow && !isAlone)
  }

  /** Resolves when the worker of the parse is free again. */
  async #run(request: ParseRequest): Promise<void> {
    const freed = this.#workers.find(({ isFree }) => isFree)?.run(request)
    if (this.#busy.length > 1) for (const worker of this.#busy) worker.markShared()
    await freed
  }

  #changed(): void {
    const [alone] = this.#busy.length === 0 ? this.#alone.splice(0, 1) : []
    if (alone !== undefined) void this.#first.run(alone)
    else this.#turns.changed()
    if (this.#first.isFree && this.#turns.waiting === 0) this.#second?.release()
  }

  get #busy(): readonly ParserWorker[] {
    return this.#workers.filter(({ isFree }) => !isFree)
  }
}

/** The shared pool of this process. */
export const sharedParsers = new ParserPool()
