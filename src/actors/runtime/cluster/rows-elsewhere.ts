/**
 * Has other processes write the list rows of what they have acknowledged. Callers that come while a request is on its
 * way shares the next one: that one covers what was acknowledged before they called, this one may not.
 */
export class RowsElsewhere {
  readonly #request: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  /** @param request goes to all of them at once; never rejects. */
  constructor(request: () => Promise<void>) {
    this.#request = request
  }

  /** Resolves when what was acknowledged anywhere before this call is written, or after a moment. */
  shown(): Promise<void> {
    this.#next ??= this.#start(this.#running)
    return this.#next
  }

  async #start(before: Promise<void> | undefined): Promise<void> {
    // one turn of the loop: what is requested in it travels together
    await (before ?? Promise.resolve())
    this.#next = undefined
    this.#running = this.#request().finally(() => {
      this.#running = undefined
    })
    await this.#running
  }
}
