import { type Exchange, judgedFacts, readExchange } from '#facts/index.ts'
import { type Embedder, oddsInTime } from '#retrieval/index.ts'
import { runInSlices } from '#src/concurrency/run-in-slices.ts'
import type { FactData } from './kinds.ts'
import { factData } from './understanding.ts'

/** Extracts the facts of an exchange without a model of a provider. */
export type ExtractByRules = (exchange: Exchange) => Promise<readonly FactData[]>

/** Time in ms for which an exchange waits for the sentence model, which may open only then. */
const waitMs = 4_000

/**
 * Extracts facts by rules, and by the sentence model of this machine, which judges each sentence (specs/decisions/0138-facts-by-rules.md).
 * Without it, or when it is slow, the rules alone decide.
 */
export const extractByRules =
  (embedder: Pick<Embedder, 'judge'> | null): ExtractByRules =>
  async (exchange) => {
    const read = await runInSlices(readExchange(exchange))
    const odds = await oddsInTime(embedder, { texts: read.sentences, trait: 'lasting', waitMs })
    return judgedFacts(read, odds, exchange.observedAt).map(factData)
  }
