import type { Fact } from './fact.ts'
import { normalisedName, sameValue } from './names.ts'

/** Whether `newer` has the same subject and relation and states that `older` no longer holds. */
export const supersedes = (newer: Fact, older: Fact): boolean => {
  // the comparison of names takes the longest and comes last
  if (older.ended || !isLater(newer, older)) return false
  if (older.validTo !== null && older.validTo <= newer.validFrom) return false
  if (!isAbout(newer, older)) return false
  if (newer.ended) return newer.object === '' || sameValue(newer.object, older.object)
  return newer.single && !sameValue(newer.object, older.object)
}

/** Returns `older` as changed by `newer`: if superseded, it holds until the newer one begins, and is kept. */
export const closed = (older: Fact, newer: Fact): Fact =>
  supersedes(newer, older) ? { ...older, validTo: Math.max(older.validFrom, newer.validFrom) } : older

/**
 * Returns facts with the times during which they hold. A value of a single-valued relation ends where the next one
 * begins, also when an earlier time is stated later. Repeated values are merged. Facts that only end others are left
 * out.
 */
export const timeline = (facts: readonly Fact[]): readonly Fact[] => {
  const groups = Map.groupBy(facts, ({ subject, relation }) => `${normalisedName(subject)} ${relation}`)
  return [...groups.values()].flatMap(settled)
}

/** Returns the facts that held at a time, by their beginning. */
export const asOf = (facts: readonly Fact[], at: number): readonly Fact[] =>
  timeline(facts)
    .filter(({ validFrom, validTo }) => validFrom <= at && (validTo === null || validTo > at))
    .toSorted(byTime)

/** Returns the facts without an end. */
export const current = (facts: readonly Fact[]): readonly Fact[] =>
  timeline(facts).filter(({ validTo }) => validTo === null)

const settled = (group: readonly Fact[]): readonly Fact[] => {
  const settledFacts: Fact[] = []
  for (const next of group.toSorted(byTime)) {
    for (const [at, fact] of settledFacts.entries()) settledFacts[at] = closed(fact, next)
    const again = settledFacts.some(({ object, validTo }) => validTo === null && sameValue(object, next.object))
    if (!next.ended && !again) settledFacts.push(next)
  }
  return settledFacts
}

const isAbout = (one: Fact, other: Fact): boolean =>
  one.relation === other.relation && normalisedName(one.subject) === normalisedName(other.subject)

const isLater = (newer: Fact, older: Fact): boolean => byTime(newer, older) > 0

const byTime = (one: Fact, other: Fact): number =>
  one.validFrom - other.validFrom || one.observedAt - other.observedAt || Number(one.ended) - Number(other.ended)
