/** Work that is done one piece after the other, in the order in which it comes. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve()

  /** Resolves with what `work` comes to, once everything before it is over. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }
}
