/** Lets a writer wait until its reader has caught up. */
export class Gate {
  #open: (() => void) | null = null

  /** Resolves at the next call of `open`. */
  closed(): Promise<void> {
    return new Promise((resolve) => {
      this.#open = resolve
    })
  }

  open(): void {
    this.#open?.()
    this.#open = null
  }
}
