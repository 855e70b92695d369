import { judgedParts } from '#facts/index.ts'
import type { Embedder } from '#retrieval/index.ts'

/** Returns the places of those texts that seem to instruct an assistant, as far as that could be judged in time. */
export type JudgeContents = (texts: readonly string[]) => Promise<ReadonlySet<number>>

/** Time in ms that a write waits for the judgement of its first content, of each further one, and of all. */
const waits = { first: 300, further: 20, all: 2_000 } as const
/** Contents of one request to the embedder, which judges for a quarter of a second at most. */
const atOnce = 4

/**
 * Judges contents by their meaning, with the sentence model of this machine (specs/decisions/0317-instructions-by-meaning.md).
 * Without it, or when it is slow or opens only now, nothing is found: the rules have judged before.
 */
export const judgeContents =
  (embedder: Pick<Embedder, 'judge'> | null): JudgeContents =>
  async (texts) => {
    const found = new Set<number>()
    if (embedder?.judge === undefined || texts.length === 0) return found
    const late = Promise.withResolvers<null>()
    const waitMs = Math.min(waits.all, waits.first + waits.further * (texts.length - 1))
    const timer = setTimeout(() => late.resolve(null), waitMs)
    try {
      for (let first = 0; first < texts.length; first += atOnce) {
        const parts = texts
          .slice(first, first + atOnce)
          .flatMap((text, at) => judgedParts(text).map((part) => ({ part, place: first + at })))
        const judging = embedder.judge(parts.map(({ part }) => part)).catch(() => null)
        const odds = await Promise.race([judging, late.promise])
        if (odds === null) break
        for (const [at, { place }] of parts.entries()) if ((odds[at] ?? 0) > 0) found.add(place)
      }
      return found
    } finally {
      clearTimeout(timer)
    }
  }
