/** What happens in a simulation apart from faults: its clients, and the checks of what they did. */
export interface Life {
  /** Writes to the store what exists before the first process starts. */
  prepare(): Promise<void>
  /** Starts the clients; each piece of `work` is one client, until it has its answers. */
  admit(work: (life: () => Promise<void>) => void): void
  /** Checks after the faults have ended and the work is done. */
  checkCalm(): Promise<void>
  /** Checks after that and a clean restart. */
  checkRest(): Promise<void>
  /** Checks long afterwards, when everything that can expire has expired. */
  checkExpired(): void
}
