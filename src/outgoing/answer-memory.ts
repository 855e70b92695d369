import { getHeapStatistics } from 'node:v8'

/** Bytes of each answer that are not counted: the number of calls bounds them. */
const freeBytes = 64 * 1024

/** Share of the heap: an answer takes up to four times its bytes, and request bodies have another sixth of the heap. */
const shareOfHeap = 1 / 8
/** Share of this memory for one project, so that a project whose providers send much leaves some to others. */
const shareOfProject = 3 / 4

/** Memory of the answers of one call, released when the call ends. */
export class AnswerReservation {
  readonly #memory: AnswerMemory
  readonly #project: string
  #came = 0
  #held = 0

  constructor(memory: AnswerMemory, project: string) {
    this.#memory = memory
    this.#project = project
  }

  /** Adds received bytes. @returns false when they exceed the memory. */
  grow(bytes: number): boolean {
    this.#came += bytes
    const more = this.#came - freeBytes - this.#held
    if (more <= 0) return true
    if (!this.#memory.take(this.#project, more, this.#held)) return false
    this.#held += more
    return true
  }

  leave(): void {
    this.#memory.give(this.#project, this.#held)
    this.#held = 0
    this.#came = 0
  }
}

/**
 * The memory that buffered answers of providers may use at one time. Each answer is limited, but a server chosen by a
 * customer can produce many of them from requests of a few bytes, which exhausted the memory of a process.
 */
export class AnswerMemory {
  readonly max: number
  readonly #maxPerProject: number
  readonly #held = new Map<string, number>()
  /** Bytes in use. */
  bytes = 0

  constructor(max = Math.floor(getHeapStatistics().heap_size_limit * shareOfHeap)) {
    this.max = max
    this.#maxPerProject = Math.floor(max * shareOfProject)
  }

  reserve(project: string): AnswerReservation {
    return new AnswerReservation(this, project)
  }

  /** @param own bytes that the answer holds already: an answer that is alone may exceed the limit. */
  take(project: string, bytes: number, own: number): boolean {
    const held = this.#held.get(project) ?? 0
    const isAlone = this.bytes === own
    const fits = this.bytes + bytes <= this.max && (held === own || held + bytes <= this.#maxPerProject)
    if (!fits && !isAlone) return false
    this.bytes += bytes
    this.#held.set(project, held + bytes)
    return true
  }

  isHeldBy(project: string): boolean {
    return this.#held.has(project)
  }

  give(project: string, bytes: number): void {
    const left = (this.#held.get(project) ?? 0) - bytes
    this.bytes -= bytes
    if (left > 0) this.#held.set(project, left)
    else this.#held.delete(project)
  }
}

/** The memory of this process. */
export const answerMemory = new AnswerMemory()
