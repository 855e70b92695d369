import type { FactData, MemoryData } from '../kinds.ts'
import { closedBy } from '../understanding.ts'
import { factKey, type ScopeIndex } from './scope-index.ts'

/** What new facts do to those that are known. */
export interface SettledFacts {
  /** The new ones, closed where a later one is known. */
  readonly facts: readonly FactData[]
  /** Facts of older memories that end, by the memory's id. */
  readonly ended: ReadonlyMap<string, readonly FactData[]>
}

/** Facts of one memory against what its user's index holds. Nothing is taken away: what ends has an end, and can be read. */
export const settledFacts = (index: ScopeIndex, given: readonly FactData[]): SettledFacts => {
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

/** Facts as they stand after newer ones; the same list when nothing changes. */
export const closedAll = (older: readonly FactData[], newer: readonly FactData[]): readonly FactData[] => {
  const next = older.map((fact) => newer.reduce(closedBy, fact))
  return next.some((fact, at) => fact !== older[at]) ? next : older
}

/** A memory says little beside its facts when they cover so much of its text. */
const leastCover = 0.6

/** When a memory ends with its facts: once all have ended and its text says hardly anything else; null while it holds. */
export const endOf = ({ content }: Pick<MemoryData, 'content'>, facts: readonly FactData[]): number | null => {
  const said = facts.filter(({ ended }) => !ended)
  if (said.length === 0) return null
  const ends = said.map(({ valid_to_ms }) => valid_to_ms)
  if (ends.includes(null)) return null
  const cover = [...new Set(said.map(({ text }) => text))].reduce((sum, text) => sum + text.length, 0)
  return cover >= content.length * leastCover ? Math.max(...ends.map((end) => end ?? 0)) : null
}
