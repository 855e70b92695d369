import { AnswerMemory } from '#outgoing/answer-memory.ts'

/** Multiple of its bytes that an image takes in a call: as base64, and in the encoded request. */
const copies = 3

interface Waiter {
  readonly project: string
  readonly bytes: number
  readonly admission: PromiseWithResolvers<void>
}

/**
 * The memory of the images in model calls at one time. A turn of a few bytes shows all images of its session, so that
 * some such turns at the same time would exhaust the memory of a process. Calls wait for others, of any project at most
 * for a share. No call overtakes an earlier one of its project, nor one of a project that has no memory yet, which many
 * small calls would keep waiting for ever.
 */
export class ShownMemory {
  readonly #memory: AnswerMemory
  readonly #waiting = new Set<Waiter>()

  constructor(memory = new AnswerMemory()) {
    this.#memory = memory
  }

  /** Runs a call that has so many bytes of images as soon as there is room for them. @throws the reason of `signal` */
  async holding<T>(
    { project, bytes, signal }: { readonly project: string; readonly bytes: number; readonly signal: AbortSignal },
    call: () => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted()
    const waiter = { project, bytes: bytes * copies, admission: Promise.withResolvers<void>() }
    this.#waiting.add(waiter)
    this.#admit()
    if (this.#waiting.has(waiter)) await this.#admitted(waiter, signal)
    try {
      return await call()
    } finally {
      this.#memory.give(project, waiter.bytes)
      this.#admit()
    }
  }

  async #admitted(waiter: Waiter, signal: AbortSignal): Promise<void> {
    const abort = (): void => {
      if (!this.#waiting.delete(waiter)) return
      waiter.admission.reject(signal.reason)
      this.#admit()
    }
    signal.addEventListener('abort', abort, { once: true })
    await waiter.admission.promise.finally(() => signal.removeEventListener('abort', abort))
  }

  #admit(): void {
    const full = new Set<string>()
    for (const waiter of this.#waiting) {
      const { project, bytes, admission } = waiter
      if (full.has(project)) continue
      if (this.#memory.take(project, bytes, 0)) {
        this.#waiting.delete(waiter)
        admission.resolve()
      } else if (this.#memory.isHeldBy(project)) full.add(project)
      else return
    }
  }
}
