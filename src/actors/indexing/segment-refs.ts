import { type Language, segmentLanguages } from '#retrieval/index.ts'
import type { IndexState, SegmentRef } from './stored-index.ts'

/** Number of segments of about one size from which they are merged, and the ratio of two sizes. */
const tierSize = 8
/** Number of passages of a segment from which it is only rewritten to remove documents. */
export const maxPassages = 16_384
/** Time in ms after which a removal can no longer be overtaken by a change that was made before it. */
const removedMs = 10 * 60_000

/** Whether the segments have all changes up to a revision. */
export const covers = (refs: readonly SegmentRef[], { after, to }: { after: number; to: number }): boolean => {
  let until = after
  for (const ref of refs.toSorted((a, b) => a.from - b.from)) if (ref.from <= until + 1) until = Math.max(until, ref.to)
  return until >= to
}

/**
 * Returns segments of about one size of which there are enough to be merged; null for none. The process that holds the
 * project's shard merges them; another one only if that has not done it for long, so that two seldom do the same work.
 */
export const mergeable = (refs: readonly SegmentRef[], isOurs: boolean): readonly SegmentRef[] | null => {
  const tiers = Map.groupBy(
    refs.filter(({ passages }) => passages < maxPassages),
    ({ passages }) => Math.floor(Math.log(Math.max(1, passages)) / Math.log(tierSize)),
  )
  return [...tiers.values()].find(({ length }) => length >= (isOurs ? tierSize : 2 * tierSize)) ?? null
}

/** Whether segments have too many documents that others replace, or removals that are settled. @param live documents of the index */
export const isWasteful = (refs: readonly SegmentRef[], { live, now }: { live: number; now: number }): boolean => {
  const documents = refs.reduce((sum, ref) => sum + ref.documents, 0)
  return documents > 2 * live + tierSize ** 2 || hasSettled(refs, now)
}

/** Whether segments contain removals that need not be known any longer. */
export const hasSettled = (refs: readonly SegmentRef[], now: number): boolean =>
  refs.some(({ removed_at }) => removed_at !== null && isSettled(removed_at, now))

export const isSettled = (removedAt: number, now: number): boolean => now - removedAt > removedMs

/** Returns the most frequent language of the passages of all segments. */
export const languageOf = (refs: readonly SegmentRef[]): Language =>
  segmentLanguages
    .map((language) => [language, refs.reduce((sum, { languages }) => sum + (languages[language] ?? 0), 0)] as const)
    .reduce((best, each) => (each[1] > best[1] ? each : best), ['en', 0] as const)[0]

/** Time in ms after an announcement by which its changes have been made and noted, or never will be. */
const changedMs = 60_000

/** Returns the announcements whose process ended before it noted its changes. */
export const abandoned = ({ changing = {}, announced_at }: IndexState, now: number): readonly string[] => [
  ...Object.entries(changing).flatMap(([process, at]) => (now - at >= changedMs ? [process] : [])),
  ...(announced_at !== undefined && now - announced_at >= changedMs ? [''] : []),
]

/** Whether documents may have changed of which no segment knows. */
export const isPartial = (state: IndexState, now: number): boolean =>
  !covers(state.segments ?? [], { after: 0, to: state.revision }) || abandoned(state, now).length > 0

/** Returns how many of the passages of all segments are not of replaced documents. @param live documents of the index */
export const livePassages = (refs: readonly SegmentRef[], live: number): number => {
  const documents = refs.reduce((sum, ref) => sum + ref.documents, 0)
  return documents === 0 ? 0 : passagesIn(refs) * Math.min(1, live / documents)
}

/** Returns the number of passages of all segments. */
export const passagesIn = (refs: readonly SegmentRef[]): number => refs.reduce((sum, { passages }) => sum + passages, 0)
