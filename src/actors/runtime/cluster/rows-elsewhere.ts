/**
 * Makes other processes write the list rows of what they have acknowledged. Callers that arrive while a request is in
 * flight share the next one: it covers everything acknowledged before they called, which the one in flight may not.
 */
export class RowsElsewhere {
  readonly #request: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  /** @param request sends the request to all other processes at once; never rejects. */
  constructor(request: () => Promise<void>) {
    this.#request = request
  }

  /** Resolves when the rows of all that was acknowledged anywhere before this call are written, or after a timeout. */
  shown(): Promise<void> {
    this.#next ??= this.#start(this.#running)
    return this.#next
  }

  async #start(before: Promise<void> | undefined): Promise<void> {
    // waits one turn of the event loop: calls made in it share one request
    await (before ?? Promise.resolve())
    this.#next = undefined
    this.#running = this.#request().finally(() => {
      this.#running = undefined
    })
    await this.#running
  }
}
