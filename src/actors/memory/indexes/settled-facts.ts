import { partsOf } from '#facts/index.ts'
import type { Pause } from '#retrieval/index.ts'
import type { FactData, MemoryData, SupersededPart } from '../kinds.ts'
import { closedBy } from '../understanding.ts'
import { endedParts, endOfParts, states, wordsIn } from './superseded-parts.ts'
import { factKey, mayClose, type UserMemoryIndex } from './user-memory-index.ts'

/** Effect of new facts on the known ones. */
export interface SettledFacts {
  /** The new facts; one that a later known fact replaces has an end. */
  readonly facts: readonly FactData[]
  /** Facts of older memories, some of which end, by the memory's id. */
  readonly ended: ReadonlyMap<string, readonly FactData[]>
  /** The known memory that ends one of the new facts, when they are stated late; null for none. */
  readonly by: string | null
}

/**
 * Compares the facts of one memory with those in its user's index. No fact is removed: a fact that no longer holds gets
 * an end, and can still be read. A fact that ends no other is only compared with facts that may end it.
 */
export const settledFacts = async (
  index: UserMemoryIndex,
  given: readonly FactData[],
  pause: Pause,
): Promise<SettledFacts> => {
  const ended = new Map<string, readonly FactData[]>()
  let facts = given
  let by: string | null = null
  const seen = new Set<string>()
  for (const [key, closing] of keysOf(given)) {
    for (const { id, facts: stored } of index.about(key, { closing })) {
      // a loop of its own for the memories of all keys would hold the event loop
      if (pause.due()) await pause.turn()
      if (seen.has(id)) continue
      seen.add(id)
      const known = closedAll(stored, given)
      if (known !== stored) ended.set(id, known)
      const settled = closedAll(facts, known)
      if (settled !== facts) by = id
      facts = settled
    }
  }
  return { facts, ended, by }
}

/** Returns the keys of facts, and whether those of a key end no other, so that only facts that may end them matter. */
const keysOf = (facts: readonly FactData[]): ReadonlyMap<string, boolean> => {
  const closing = new Map<string, boolean>()
  for (const fact of facts) {
    const key = factKey(fact.subject, fact.relation)
    closing.set(key, (closing.get(key) ?? true) && !mayClose(fact))
  }
  return closing
}

/**
 * Returns the older facts with the ends that newer facts give them; the same array when nothing changes. Each is compared
 * from the first later fact about the same on, since a user may state hundreds of values of one kind in a memory.
 */
export const closedAll = (older: readonly FactData[], newer: readonly FactData[]): readonly FactData[] => {
  const closing = Map.groupBy(newer.filter(mayClose), keyOf)
  if (closing.size === 0) return older
  for (const group of closing.values()) group.sort(byTime)
  let isChanged = false
  const next = older.map((fact) => {
    const changed = closedByFirst(fact, closing.get(keyOf(fact)) ?? [])
    isChanged ||= changed !== fact
    return changed
  })
  return isChanged ? next : older
}

/** Returns a fact with the end that the earliest of the newer facts gives it. @param newer sorted by time. */
const closedByFirst = (fact: FactData, newer: readonly FactData[]): FactData => {
  for (const next of newer.slice(firstLater(fact, newer))) {
    if (fact.valid_to_ms !== null && fact.valid_to_ms <= next.valid_from_ms) break
    const changed = closedBy(fact, next)
    if (changed !== fact) return changed
  }
  return fact
}

const firstLater = (fact: FactData, newer: readonly FactData[]): number => {
  let [from, to] = [0, newer.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const each = newer[middle]
    if (each !== undefined && byTime(each, fact) > 0) to = middle
    else from = middle + 1
  }
  return from
}

const keyOf = ({ subject, relation }: FactData): string => factKey(subject, relation)

const byTime = (one: FactData, other: FactData): number =>
  one.valid_from_ms - other.valid_from_ms ||
  one.observed_at_ms - other.observed_at_ms ||
  Number(one.ended) - Number(other.ended)

/** Share of a text that its facts must cover for the memory to end with them. */
const minCover = 0.6

/**
 * Returns when a memory ends in ms since the epoch: once all of its facts have ended and they cover most of its text.
 * Null while it is valid.
 */
const endOf = ({ content }: Pick<MemoryData, 'content'>, facts: readonly FactData[]): number | null => {
  const current = facts.filter(({ ended }) => !ended)
  if (current.length === 0 || areDisjoint(content, current)) return null
  const ends = current.map(({ valid_to_ms }) => valid_to_ms)
  if (ends.includes(null)) return null
  return covers(content, current) ? Math.max(...ends.map((end) => end ?? 0)) : null
}

/** Whether a content has several parts, one of which states each fact: then it ends by parts. */
const areDisjoint = (content: string, facts: readonly FactData[]): boolean => {
  const parts = partsOf(content)
  if (parts.length < 2) return false
  const all = parts.map(({ text }) => wordsIn(text))
  const objects = facts.map(({ object }) => wordsIn(object))
  return objects.every((object) => all.some((words) => states(words, object)))
}

/** Whether facts cover most of a content. */
const covers = (content: string, facts: readonly FactData[]): boolean => {
  const cover = [...new Set(facts.map(({ text }) => text))].reduce((sum, text) => sum + text.length, 0)
  return cover >= content.length * minCover
}

/** New facts of a memory some of which ended, and the memory that ended them. */
export interface EndedMemory {
  readonly facts: readonly FactData[]
  readonly by: string
  /** Parts of its content that an update of the same subject superseded, whatever their facts. */
  readonly parts?: readonly SupersededPart[]
}

/** Returns a memory with facts that ended; it ends with them once they cover its text, and so do parts of it before. */
export const endedBy = (data: MemoryData, { facts, by, parts: updated = [] }: EndedMemory): MemoryData => {
  const known = endedParts(data, facts, by)
  const parts = [...known, ...updated.filter(({ text }) => !known.some((part) => part.text === text))]
  // the vector is that of what holds
  const less = parts.length > (data.superseded ?? []).length ? { superseded: parts, embedder: null, vector: null } : {}
  const next: MemoryData = { ...data, facts, ...less }
  const end = endOf(data, facts) ?? endOfParts(next)
  return end === null ? next : withEnd(next, end, by)
}

/** Returns a memory that ends; an end that was known before stays, unless this one is earlier. */
const withEnd = (data: MemoryData, end: number, by: string): MemoryData =>
  data.valid_to_ms !== null && data.valid_to_ms <= end
    ? { ...data, superseded_by: data.superseded_by ?? by }
    : { ...data, valid_to_ms: end, superseded_by: by }

/**
 * Returns when a memory begins to hold in ms since the epoch: as given, or with the earliest of the facts that cover its
 * text ("I moved to Oslo last week"), or when it was said.
 */
export const startOf = ({ content, facts, valid_from_ms: given, observed_at_ms: observedAt }: MemoryData): number => {
  if (given !== null) return given
  const current = facts.filter(({ ended }) => !ended)
  return covers(content, current)
    ? Math.min(observedAt, ...current.map(({ valid_from_ms }) => valid_from_ms))
    : observedAt
}
