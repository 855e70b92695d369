import type { FactData, MemoryData } from '../kinds.ts'
import { closedBy } from '../understanding.ts'
import { factKey, type UserMemoryIndex } from './user-memory-index.ts'

/** Effect of new facts on the known ones. */
export interface SettledFacts {
  /** The new facts; one that a later known fact replaces has an end. */
  readonly facts: readonly FactData[]
  /** Facts of older memories, some of which end, by the memory's id. */
  readonly ended: ReadonlyMap<string, readonly FactData[]>
}

/**
 * Compares the facts of one memory with those in its user's index. No fact is removed: a fact that no longer holds gets
 * an end, and can still be read.
 */
export const settledFacts = (index: UserMemoryIndex, given: readonly FactData[]): SettledFacts => {
  const ended = new Map<string, readonly FactData[]>()
  const facts = given.map((fact) => {
    let settled = fact
    for (const entry of index.about(factKey(fact.subject, fact.relation))) {
      const known = ended.get(entry.id) ?? entry.facts
      const next = closedAll(known, [fact])
      if (next !== known) ended.set(entry.id, next)
      for (const older of next) settled = closedBy(settled, older)
    }
    return settled
  })
  return { facts, ended }
}

/** Returns the older facts with the ends that newer facts give them; the same array when nothing changes. */
export const closedAll = (older: readonly FactData[], newer: readonly FactData[]): readonly FactData[] => {
  const next = older.map((fact) => newer.reduce(closedBy, fact))
  return next.some((fact, at) => fact !== older[at]) ? next : older
}

/** Share of a text that its facts must cover for the memory to end with them. */
const leastCover = 0.6

/**
 * Returns when a memory ends in ms since the epoch: once all of its facts have ended and they cover most of its text.
 * Null while it is valid.
 */
export const endOf = ({ content }: Pick<MemoryData, 'content'>, facts: readonly FactData[]): number | null => {
  const said = facts.filter(({ ended }) => !ended)
  if (said.length === 0) return null
  const ends = said.map(({ valid_to_ms }) => valid_to_ms)
  if (ends.includes(null)) return null
  const cover = [...new Set(said.map(({ text }) => text))].reduce((sum, text) => sum + text.length, 0)
  return cover >= content.length * leastCover ? Math.max(...ends.map((end) => end ?? 0)) : null
}
