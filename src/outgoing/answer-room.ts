import { getHeapStatistics } from 'node:v8'

/** The first of each answer are not counted: the number of calls bounds them. */
const freeBytes = 64 * 1024

/** Of the heap: an answer has about four times its bytes at its most, and bodies of requests have a sixth beside it. */
const shareOfHeap = 1 / 8
/** Of the room: one whose providers send much leaves some to others. */
const shareOfProject = 3 / 4

/** The room of the answers of one call, given back when the call is over. */
export class AnswerSeat {
  readonly #room: AnswerRoom
  readonly #project: string
  #came = 0
  #held = 0

  constructor(room: AnswerRoom, project: string) {
    this.#room = room
    this.#project = project
  }

  /** So many bytes more have come. @returns false when there is no room for them. */
  grow(bytes: number): boolean {
    this.#came += bytes
    const more = this.#came - freeBytes - this.#held
    if (more <= 0) return true
    if (!this.#room.take(this.#project, more, this.#held)) return false
    this.#held += more
    return true
  }

  leave(): void {
    this.#room.give(this.#project, this.#held)
    this.#held = 0
    this.#came = 0
  }
}

/**
 * The memory that whole answers of providers may take at one time. Each is bounded; a server that a customer names makes many
 * of them with requests of a few bytes, which ended a process.
 */
export class AnswerRoom {
  readonly most: number
  readonly #mostOfProject: number
  readonly #held = new Map<string, number>()
  /** Bytes that are taken now. */
  bytes = 0

  constructor(most = Math.floor(getHeapStatistics().heap_size_limit * shareOfHeap)) {
    this.most = most
    this.#mostOfProject = Math.floor(most * shareOfProject)
  }

  seat(project: string): AnswerSeat {
    return new AnswerSeat(this, project)
  }

  /** @param own what the answer holds already: one that is alone may take more than there is. */
  take(project: string, bytes: number, own: number): boolean {
    const held = this.#held.get(project) ?? 0
    const isAlone = this.bytes === own
    const fits = this.bytes + bytes <= this.most && (held === own || held + bytes <= this.#mostOfProject)
    if (!fits && !isAlone) return false
    this.bytes += bytes
    this.#held.set(project, held + bytes)
    return true
  }

  give(project: string, bytes: number): void {
    const left = (this.#held.get(project) ?? 0) - bytes
    this.bytes -= bytes
    if (left > 0) this.#held.set(project, left)
    else this.#held.delete(project)
  }
}

/** The room of this process. */
export const answerRoom = new AnswerRoom()
