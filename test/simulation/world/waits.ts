/** How long clients waited, in ms of virtual time. */
export interface Waits {
  /** From the first attempt to send a turn to its acknowledgement, with every attempt in between. */
  readonly acknowledged: number[]
  /** From there to the first event after the one that says that the turn has started. */
  readonly answered: number[]
  /** From the commit that requests a model call to the call: what the server itself adds. */
  readonly called: number[]
}

export const noWaits = (): Waits => ({ acknowledged: [], answered: [], called: [] })

/** The wait that this share of them does not exceed. */
export const quantile = (waits: readonly number[], share: number): number =>
  waits.toSorted((a, b) => a - b)[Math.ceil(share * waits.length) - 1] ?? 0
