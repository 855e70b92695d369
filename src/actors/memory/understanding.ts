import { closed, type Fact, factsOf, sameValue, screen, user } from '#facts/index.ts'
import { runInSlices } from '#src/concurrency/run-in-slices.ts'
import type { FactData, MemoryData, MemoryFlag } from './kinds.ts'

/** Result of screening a content before it is stored. */
export interface Screened {
  readonly content: string
  readonly refused: 'secret' | 'empty' | null
  readonly flags: readonly MemoryFlag[]
}

/** Screens a content: removes hidden characters, refuses secrets, and flags instructions to a model. */
export const screened = (content: string): Screened => {
  const result = screen(content)
  if (!result.ok) return { content, refused: result.reason, flags: [] }
  return { content: result.content, refused: null, flags: result.instructs ? ['instructions'] : [] }
}

/** Returns the field `flags` of a stored memory, which unsuspected ones lack. */
export const flaggedAs = (flags: readonly MemoryFlag[]): Pick<MemoryData, 'flags'> =>
  flags.length > 0 ? { flags } : {}

/** Returns the facts that rules find in a content. A named speaker is the subject of facts about themselves. */
export const factsIn = async (
  content: string,
  { observedAt, speaker }: { readonly observedAt: number; readonly speaker: string | null },
): Promise<readonly FactData[]> => {
  const context = { observedAt, speaker: speaker === 'assistant' ? 'assistant' : 'user' } as const
  const facts = (await runInSlices(factsOf(content, context))).map(factData)
  if (speaker === null || speaker === 'assistant' || speaker === user) return facts
  return facts.map((fact) => (fact.subject === user ? { ...fact, subject: speaker } : fact))
}

/** Returns a known fact with the end that a newer fact gives it; the same object when nothing changes. */
export const closedBy = (older: FactData, newer: FactData): FactData => {
  // what `closed` decides by comparing names comes last, since a user may have thousands of such facts
  if (older.ended || older.relation !== newer.relation || !(newer.single || newer.ended)) return older
  if (newer.valid_from_ms < older.valid_from_ms) return older
  if (older.valid_to_ms !== null && older.valid_to_ms <= newer.valid_from_ms) return older
  const { validTo } = closed(factOf(older), factOf(newer))
  return validTo === older.valid_to_ms ? older : { ...older, valid_to_ms: validTo }
}

/** Whether two facts have the same subject, relation and object, and agree on whether the fact has ended. */
export const isSameFact = (one: FactData, other: FactData): boolean =>
  one.relation === other.relation &&
  one.ended === other.ended &&
  sameValue(one.subject, other.subject) &&
  sameValue(one.object, other.object)

/** Whether a fact is part of responses and of the graph: one that has ended only ends others, as an implied one does. */
export const isShown = ({ ended, implied }: Pick<FactData, 'ended' | 'implied'>): boolean => !ended && implied !== true

/** Converts a fact to its stored form. */
export const factData = (fact: Fact): FactData => ({
  ...{ subject: fact.subject, relation: fact.relation, object: fact.object, single: fact.single, ended: fact.ended },
  ...{ valid_from_ms: fact.validFrom, valid_to_ms: fact.validTo, observed_at_ms: fact.observedAt, text: fact.text },
})

/** Converts a stored fact to the form that the rules use. */
export const factOf = (data: FactData): Fact => ({
  ...{ subject: data.subject, relation: data.relation, object: data.object, single: data.single, ended: data.ended },
  ...{ validFrom: data.valid_from_ms, validTo: data.valid_to_ms, observedAt: data.observed_at_ms, text: data.text },
})
