import { AnswerMemory } from '#outgoing/answer-memory.ts'

/** Multiple of its bytes that an image takes in a call: as base64, and in the encoded request. */
const copies = 3

/**
 * The memory of the images in model calls at one time. A turn of a few bytes shows all images of its session, so that
 * some such turns at the same time would exhaust the memory of a process. Calls wait for others, of any project at most
 * for a share.
 */
export class ShownMemory {
  readonly #memory: AnswerMemory
  #freed = Promise.withResolvers<void>()

  constructor(memory = new AnswerMemory()) {
    this.#memory = memory
  }

  /** Runs a call that has so many bytes of images as soon as there is room for them. @throws the reason of `signal` */
  async holding<T>(
    { project, bytes, signal }: { readonly project: string; readonly bytes: number; readonly signal: AbortSignal },
    call: () => Promise<T>,
  ): Promise<T> {
    const aborted = Promise.withResolvers<void>()
    const abort = (): void => aborted.resolve()
    signal.addEventListener('abort', abort, { once: true })
    try {
      while (!this.#memory.take(project, bytes * copies, 0)) {
        await Promise.race([this.#freed.promise, aborted.promise])
        signal.throwIfAborted()
      }
    } finally {
      signal.removeEventListener('abort', abort)
    }
    try {
      return await call()
    } finally {
      this.#memory.give(project, bytes * copies)
      this.#freed.resolve()
      this.#freed = Promise.withResolvers()
    }
  }
}
