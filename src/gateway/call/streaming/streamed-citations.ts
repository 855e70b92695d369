import { arrayOf, type WireObject } from '#outgoing/wire.ts'

/** More than any answer has: further ones are left out. */
export const maxCitations = 10_000

/** Gathers what the deltas of an answer cite, as a whole message has it. */
export class StreamedCitations {
  readonly annotations: unknown[] = []
  readonly citations: unknown[] = []

  add(delta: WireObject): void {
    for (const name of ['annotations', 'citations'] as const)
      for (const each of arrayOf(delta[name])) if (this[name].length < maxCitations) this[name].push(each)
  }
}
