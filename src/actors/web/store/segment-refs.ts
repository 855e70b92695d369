import { type Language, segmentLanguages } from '#retrieval/index.ts'
import type { PageSegmentRef, WebCorpusData } from '../kinds.ts'

/** Number of segments of about one size from which they are merged, and the ratio of two sizes. */
const tierSize = 8
/** Number of pages of a segment from which it is only rewritten to remove pages. */
export const maxPages = 4_096
/** Time in ms after which what removed pages left in segments is removed from them. */
const removedMs = 10 * 60_000

/** Whether the segments have all changes up to a revision. */
export const covers = (refs: readonly PageSegmentRef[], { after, to }: { after: number; to: number }): boolean => {
  let until = after
  for (const ref of refs.toSorted((a, b) => a.from - b.from)) if (ref.from <= until + 1) until = Math.max(until, ref.to)
  return until >= to
}

/** Returns segments of about one size of which there are enough to be merged; null for none. */
export const mergeable = (refs: readonly PageSegmentRef[]): readonly PageSegmentRef[] | null => {
  const tiers = Map.groupBy(
    refs.filter(({ pages }) => pages < maxPages),
    ({ pages }) => Math.floor(Math.log(Math.max(1, pages)) / Math.log(tierSize)),
  )
  return [...tiers.values()].find(({ length }) => length >= tierSize) ?? null
}

/** Whether segments contain removed pages for long enough, or too many that others replace. @param live pages of the corpus */
export const isWasteful = (refs: readonly PageSegmentRef[], { live, now }: { live: number; now: number }): boolean => {
  const pages = refs.reduce((sum, ref) => sum + ref.pages, 0)
  return pages > 2 * live + tierSize ** 2 || hasSettled(refs, now)
}

/** Whether segments contain what was removed long enough ago to be removed from them. */
export const hasSettled = (refs: readonly PageSegmentRef[], now: number): boolean =>
  refs.some(({ removed_at }) => removed_at !== null && isSettled(removed_at, now))

/** Whether a removal can no longer be overtaken by a change that was made before it. */
export const isSettled = (removedAt: number, now: number): boolean => now - removedAt > removedMs

/** Returns the most frequent language of the passages of all segments. */
export const languageOf = (refs: readonly PageSegmentRef[]): Language =>
  segmentLanguages
    .map((language) => [language, refs.reduce((sum, { languages }) => sum + (languages[language] ?? 0), 0)] as const)
    .reduce((best, each) => (each[1] > best[1] ? each : best), ['en', 0] as const)[0]

/** Time in ms after an announcement by which its changes have been made and noted, or never will be. */
const changedMs = 60_000

/** Returns the announcements whose process ended before it noted its changes. */
export const abandoned = ({ changing = {}, announced_at }: WebCorpusData, now: number): readonly string[] => [
  ...Object.entries(changing).flatMap(([process, at]) => (now - at >= changedMs ? [process] : [])),
  ...(announced_at !== undefined && now - announced_at >= changedMs ? [''] : []),
]
