/** Time in ms that clients and drivers need to recover after a service is back. */
const afterwardsMs = 1000

/**
 * Periods in which a store or node was disturbed, by performance.now(): measurements during them do not show the effect
 * of a kill alone.
 */
export class DisturbedPeriods {
  readonly #spans: { readonly from: number; until: number }[] = []

  /** Starts a period. @returns a function that ends it */
  begin(): () => void {
    const span = { from: performance.now(), until: Number.POSITIVE_INFINITY }
    this.#spans.push(span)
    return () => {
      span.until = performance.now() + afterwardsMs
    }
  }

  /** Whether no period overlaps this time range. */
  spare(from: number, until: number): boolean {
    return this.#spans.every((span) => span.until < from || span.from > until)
  }
}
