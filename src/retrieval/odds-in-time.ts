import { setTimeout as after } from 'node:timers/promises'
import type { Embedder } from './embedder.ts'
import type { Trait } from './embedding/schema.ts'

/** Texts of one request: a question waits for some 40 ms while the model judges them. */
const atOnce = 4
/** Time in ms after which a model that was busy is requested again. */
const againMs = 50

export interface JudgedTexts {
  readonly texts: readonly string[]
  readonly trait: Trait
  /** Time in ms that all of it may take. */
  readonly waitMs: number
}

/** Returns the logarithm of the odds that texts have a trait: of as many of the first as are judged in time, none without a model. */
export const oddsInTime = async (
  embedder: Pick<Embedder, 'judge'> | null,
  { texts, trait, waitMs }: JudgedTexts,
): Promise<readonly number[]> => {
  const odds: number[] = []
  const [over, until] = [new AbortController(), performance.now() + waitMs]
  const late = after(waitMs, null, { signal: over.signal }).catch(() => null)
  try {
    while (odds.length < texts.length && performance.now() < until) {
      const part = texts.slice(odds.length, odds.length + atOnce)
      const judged = await Promise.race([embedder?.judge?.(part, trait).catch(() => null) ?? null, late])
      if (judged === null) break
      if (judged.length === 0) await Promise.race([after(againMs), late])
      odds.push(...judged)
    }
    return odds
  } finally {
    over.abort()
  }
}
