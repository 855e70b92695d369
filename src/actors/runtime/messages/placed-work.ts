import type { JsonObject } from '#storage/ports.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { type Clock, within } from '../clock.ts'
import { ExpiringNames } from './expiring-names.ts'
import { type PeerAnswer, PeerGone, type PeerRequest, PeerSilent } from './peers.ts'

/** Does work for another process, until `signal` aborts. What it throws, is thrown there. */
export type PlacedService = (input: JsonObject, signal: AbortSignal) => Promise<JsonObject>

/** Work that any process can do, and that one process should do for each key, because of what it keeps in memory. */
export interface PlacedTask<T> {
  /** Name of the service that does it in other processes. */
  readonly service: string
  readonly key: string
  /** Does it in this process. */
  readonly here: () => Promise<T>
  /** Returns what the service of another process gets. */
  readonly input: () => JsonObject
  /** Reads what it answers. */
  readonly answered: (answer: JsonObject) => T
  /** Ends work in another process that is not waited for any more. */
  readonly signal?: AbortSignal | undefined
}

/** Work for another process. */
export type PlacedRequest = Omit<Extract<PeerRequest, { readonly kind: 'task' }>, 'kind'>

/** A process that may do work. */
export interface WorkPlace {
  readonly process: string
  /** Sends it a request; null for this process. */
  readonly request: ((request: PeerRequest, signal?: AbortSignal) => Promise<PeerAnswer>) | null
}

/** Time in ms that a process has to answer before the work is done here, and after which it gives it up. */
const answerMs = 3_000
/** Time in ms for which a process that cannot be reached gets no work. */
const restMs = 5_000
/**
 * Time in ms for which work of a key is done here after its process was too slow with it or failed, and for which a process
 * that does not know a service gets no work: it is of an earlier release, or leaves.
 */
const awayMs = 30_000
/** Number of tasks of one key in progress from which further ones go to the next process. */
const maxOpen = 8
/** Number of tasks that this process does for others at a time, and of one key; they do further ones themselves. */
const [maxServed, maxServedOfKey] = [64, 16]

/**
 * Gives work to the process that should do it. Which one that is follows from the key and from the processes that run:
 * processes that disagree about those do some work twice, and nothing wrong. A process that cannot be reached gets no work
 * for a while. One that is slow or fails keeps all but the work of that key, which is done here: other work would be slower
 * elsewhere, where nothing of it is in memory. Work of a key that comes faster than one process does it is spread over
 * several.
 */
export class PlacedWork {
  readonly #clock: Pick<Clock, 'after' | 'steady'>
  readonly #services = new Map<string, PlacedService>()
  /** Processes that are given no work. */
  readonly #resting: ExpiringNames
  /** Keys whose work is done here. */
  readonly #here: ExpiringNames
  /** Tasks of this process, and those that it does for others. */
  readonly #open = new InProgress()
  readonly #served = new InProgress()
  /** Returns the processes that may do work of a key, in its order of preference; alone, this one does all. */
  places: (key: string) => readonly WorkPlace[] = () => []

  constructor(clock: Pick<Clock, 'after' | 'steady'>) {
    this.#clock = clock
    this.#resting = new ExpiringNames(clock)
    this.#here = new ExpiringNames(clock)
  }

  /** Registers what does the work of other processes. */
  serve(service: string, work: PlacedService): void {
    this.#services.set(service, work)
  }

  /**
   * Does work for another process; null when this one does not know it.
   *
   * @param gone aborts when the other process does not wait any more.
   * @throws {StoreUnavailable} when it does too much for others already.
   */
  async answer({ service, key, input }: PlacedRequest, gone?: AbortSignal): Promise<JsonObject | null> {
    const work = this.#services.get(service)
    if (work === undefined) return null
    if (key === null) return work(input, new AbortController().signal)
    const isFull = this.#served.total >= maxServed || this.#served.of(key) >= maxServedOfKey
    if (isFull) throw new StoreUnavailable('this process does too much for others')
    return this.#served.during(key, () => this.#untilLate(gone, (signal) => work(input, signal)))
  }

  /** Does work, in this process or another one. */
  run<T>(task: PlacedTask<T>): Promise<T> {
    const place = this.#placeFor(task.key)
    return this.#open.during(task.key, () => this.#runAt(place, task))
  }

  /** Has this process and all others that can be reached do the work of a service. */
  async everywhere(service: string, input: JsonObject): Promise<void> {
    const request = { kind: 'task', service, key: null, input } as const
    const others = this.places(service).flatMap((place) => place.request?.(request) ?? [])
    const all = [this.answer(request), ...others.map((each) => within(this.#clock, answerMs, each))]
    await Promise.allSettled(all)
  }

  #placeFor(key: string): WorkPlace | undefined {
    if (this.#here.has(key)) return undefined
    const places = this.places(key).filter(({ process }) => !this.#resting.has(process))
    return places[Math.floor(this.#open.of(key) / maxOpen) % places.length]
  }

  async #runAt<T>(place: WorkPlace | undefined, task: PlacedTask<T>): Promise<T> {
    if (place === undefined || place.request === null) return task.here()
    const { service, key } = task
    const { process, request } = place
    const answer = await this.#untilLate(task.signal, (signal) =>
      this.#answerOf({ process, key }, request({ kind: 'task', service, key, input: task.input() }, signal)),
    )
    return answer === null ? task.here() : task.answered(answer)
  }

  /** Does work with a signal that aborts once it is late, or `gone` aborts. */
  async #untilLate<T>(gone: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const waiting = new AbortController()
    const leave = (): void => waiting.abort(gone?.reason)
    gone?.addEventListener('abort', leave)
    const late = () => waiting.abort(new StoreUnavailable('the work is not waited for any more'))
    const cancel = this.#clock.after(answerMs, late)
    try {
      gone?.throwIfAborted()
      return await work(waiting.signal)
    } finally {
      cancel()
      gone?.removeEventListener('abort', leave)
    }
  }

  /** Returns null when the work has to be done here. */
  async #answerOf(
    { process, key }: { readonly process: string; readonly key: string },
    answering: Promise<PeerAnswer>,
  ): Promise<JsonObject | null> {
    try {
      const answer = await within(this.#clock, answerMs, answering)
      if (answer.kind === 'said' && answer.said !== null) return answer.said
      this.#resting.add(process, awayMs)
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      if (error instanceof PeerGone || error instanceof PeerSilent) this.#resting.add(process, restMs)
      else this.#here.add(key, awayMs)
    }
    return null
  }
}

/** Counts tasks in progress. */
class InProgress {
  readonly #byKey = new Map<string, number>()
  total = 0

  of(key: string): number {
    return this.#byKey.get(key) ?? 0
  }

  async during<T>(key: string, work: () => Promise<T>): Promise<T> {
    this.#add(key, 1)
    try {
      return await work()
    } finally {
      this.#add(key, -1)
    }
  }

  #add(key: string, change: 1 | -1): void {
    this.total += change
    const count = this.of(key) + change
    if (count > 0) this.#byKey.set(key, count)
    else this.#byKey.delete(key)
  }
}
