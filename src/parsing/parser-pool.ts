import type { Json } from '#storage/ports.ts'
import { FairLine, type LineOwner } from './fair-line.ts'
import { ParserFailed } from './parser-failed.ts'
import { type ParseOutcome, type ParseRequest, type ParserLimits, ParserSeat } from './parser-seat.ts'
import type { OwnTasks, ParserTask } from './parser-tasks.ts'

export { ParserFailed, type ParserFailure } from './parser-failed.ts'
export type { ParserLimits } from './parser-seat.ts'

/** Default limits of a room. */
export const parserLimits: ParserLimits = { deadlineMs: 2000, maxHeapMb: 128, maxWaiting: 64 }

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

/** Input type of a task. */
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
  readonly #waiting = new FairLine<ParseRequest>()
  /** Requests that are to be run with nothing beside them, before all others. */
  readonly #alone: ParseRequest[] = []
  readonly #first: ParserSeat
  /** Reads while the first is slow; null in a room without `slowMs`. */
  readonly #second: ParserSeat | null

  /** @param module entry module of the worker, which has to serve the room's tasks. */
  constructor(limits: Partial<ParserLimits> = {}, module = new URL('./parser-worker.ts', import.meta.url)) {
    this.#limits = { ...parserLimits, ...limits }
    const again = (request: ParseRequest): void => void this.#alone.push({ ...request, isAlone: true })
    const listener = { changed: () => this.#next(), again }
    this.#first = new ParserSeat(this.#limits, module, listener)
    this.#second = this.#limits.slowMs === undefined ? null : new ParserSeat(this.#limits, module, listener)
  }

  /** Runs a task. @throws {ParserFailed} */
  async parse<Name extends keyof Tasks>(
    task: Name,
    input: InputOf<Tasks[Name]>,
    { deadlineMs = this.#limits.deadlineMs, owner = noOwner }: ParseOptions = {},
  ): Promise<Json> {
    if (!this.#hasPlace(owner)) throw new ParserFailed('busy', 'too many parses wait')
    const outcome = await new Promise<ParseOutcome>((settle) => {
      this.#waiting.add(owner, { task, input, deadlineMs, owner, isAlone: false, settle })
      this.#next()
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
    await Promise.all(this.#seats.map((seat) => seat.close()))
  }

  get #seats(): readonly ParserSeat[] {
    return this.#second === null ? [this.#first] : [this.#first, this.#second]
  }

  #hasPlace(owner: LineOwner): boolean {
    const { maxWaiting } = this.#limits
    const own = this.#waiting.sizeOf(owner)
    if (owner === noOwner) return this.#waiting.size < maxWaiting
    return own === 0 || (own < Math.ceil(maxWaiting * ownersShare) && this.#waiting.size < maxWaiting)
  }

  #next(): void {
    const free = this.#seats.find(({ isFree }) => isFree)
    const next = free === undefined ? undefined : this.#take()
    if (free === undefined || next === undefined) {
      if (this.#first.isFree) this.#second?.release()
      return
    }
    free.run(next)
    const busy = this.#seats.filter(({ isFree }) => !isFree)
    if (busy.length > 1) for (const seat of busy) seat.share()
  }

  /** Takes the next request that may run beside the parses in progress. */
  #take(): ParseRequest | undefined {
    const busy = this.#seats.filter(({ isFree }) => !isFree)
    if (busy.some(({ isSlow, isAlone }) => !isSlow || isAlone)) return undefined
    if (this.#alone.length > 0) return busy.length === 0 ? this.#alone.shift() : undefined
    const isBusy = ({ project, tenant }: LineOwner): boolean =>
      busy.some(({ owner }) => owner?.project === project && owner.tenant === tenant)
    return this.#waiting.take((owner) => !isBusy(owner))
  }
}

/** The shared room of this process. */
export const parserRoom = new ParserPool()
