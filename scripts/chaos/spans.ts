/** Clients and drivers come back so long after what they need is back, in ms. */
const afterwardsMs = 1000

/** When something was away or cut off, by performance.now(): what is measured meanwhile says nothing of a kill alone. */
export class Spans {
  readonly #spans: { readonly from: number; until: number }[] = []

  /** It begins now. @returns what ends it */
  begin(): () => void {
    const span = { from: performance.now(), until: Number.POSITIVE_INFINITY }
    this.#spans.push(span)
    return () => {
      span.until = performance.now() + afterwardsMs
    }
  }

  /** Whether none of them touches this time. */
  spare(from: number, until: number): boolean {
    return this.#spans.every((span) => span.until < from || span.from > until)
  }
}
