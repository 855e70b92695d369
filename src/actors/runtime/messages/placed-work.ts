import type { JsonObject } from '#storage/ports.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { type Clock, within } from '../clock.ts'
import type { PeerAnswer, PeerRequest } from './peers.ts'

/** Does work for another process. What it throws, is thrown there. */
export type PlacedService = (input: JsonObject) => Promise<JsonObject>

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
}

/** A process that may do work. */
export interface WorkPlace {
  readonly process: string
  /** Sends it a request; null for this process. */
  readonly request: ((request: PeerRequest) => Promise<PeerAnswer>) | null
}

/** Time in ms that a process has to answer before the work is done here, and for which it gets no more then. */
const [answerMs, restMs] = [3_000, 5_000]
/** Time in ms for which a process that does not know a service gets no work: it is of an earlier release, or leaves. */
const unknownMs = 30_000
/** Number of tasks of one key in progress from which further ones go to the next process. */
const maxOpen = 8

/**
 * Gives work to the process that should do it. Which one that is follows from the key and from the processes that run:
 * processes that disagree about those do some work twice, and nothing wrong. When a process does not answer, the work is
 * done here, and by the next process for a while. Work of a key that comes faster than one process does it is spread over
 * several.
 */
export class PlacedWork {
  readonly #clock: Pick<Clock, 'after' | 'steady'>
  readonly #services = new Map<string, PlacedService>()
  /** Processes that are given no work, and until when. */
  readonly #resting = new Map<string, number>()
  /** Number of tasks in progress, by key. */
  readonly #open = new Map<string, number>()
  /** Returns the processes that may do work of a key, in its order of preference; alone, this one does all. */
  places: (key: string) => readonly WorkPlace[] = () => []

  constructor(clock: Pick<Clock, 'after' | 'steady'>) {
    this.#clock = clock
  }

  /** Registers what does the work of other processes. */
  serve(service: string, work: PlacedService): void {
    this.#services.set(service, work)
  }

  /** Does work for another process; null when this one does not know it. */
  async answer(service: string, input: JsonObject): Promise<JsonObject | null> {
    return (await this.#services.get(service)?.(input)) ?? null
  }

  /** Does work, in this process or another one. */
  async run<T>(task: PlacedTask<T>): Promise<T> {
    const open = this.#open.get(task.key) ?? 0
    this.#open.set(task.key, open + 1)
    try {
      return await this.#runAt(this.#placeFor(task.key, open), task)
    } finally {
      const left = (this.#open.get(task.key) ?? 1) - 1
      if (left > 0) this.#open.set(task.key, left)
      else this.#open.delete(task.key)
    }
  }

  #placeFor(key: string, open: number): WorkPlace | undefined {
    const now = this.#clock.steady()
    for (const [process, until] of this.#resting) if (until <= now) this.#resting.delete(process)
    const places = this.places(key).filter(({ process }) => !this.#resting.has(process))
    return places[Math.floor(open / maxOpen) % places.length]
  }

  async #runAt<T>(place: WorkPlace | undefined, task: PlacedTask<T>): Promise<T> {
    if (place === undefined || place.request === null) return task.here()
    const answer = await this.#answerOf(
      place.process,
      place.request({
        ...{ kind: 'task', service: task.service, input: task.input() },
      }),
    )
    return answer === null ? task.here() : task.answered(answer)
  }

  /** Returns null when the work has to be done here. */
  async #answerOf(process: string, answering: Promise<PeerAnswer>): Promise<JsonObject | null> {
    try {
      const answer = await within(this.#clock, answerMs, answering)
      if (answer.kind === 'said' && answer.said !== null) return answer.said
      this.#rest(process, unknownMs)
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      this.#rest(process, restMs)
    }
    return null
  }

  #rest(process: string, ms: number): void {
    this.#resting.set(process, this.#clock.steady() + ms)
  }
}
