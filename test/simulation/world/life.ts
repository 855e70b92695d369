/** What happens in a simulation, beside trouble: its clients, and what has to hold of what they did. */
export interface Life {
  /** Puts into the store what is there before the first process starts. */
  prepare(): Promise<void>
  /** Lets clients in; each piece of `work` is one client's, until it has its answers. */
  admit(work: (life: () => Promise<void>) => void): void
  /** Trouble is over, and the work is done. */
  checkCalm(): Promise<void>
  /** That and a restart in peace. */
  checkRest(): Promise<void>
  /** Long after: all that can expire has. */
  checkExpired(): void
}
