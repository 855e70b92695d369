import type { SlicedWork } from '#src/concurrency/run-in-slices.ts'
import type { SegmentIds } from './document-segment.ts'
import { hash32 } from './hash.ts'

/** What a document of a segment is among those of all segments of an index: `copied` is the newest version, of which there are others. */
export const standing = { replaced: 0, newest: 1, copied: 2, removed: 3 } as const

/** Number of documents whose ids are compared at a time. */
const documentsEach = 262_144

type KnownIds = Pick<SegmentIds, 'ids' | 'versions' | 'removals'>

/**
 * Returns what each document of some segments is. However many there are, only a range of their ids is in memory at a time,
 * besides what `read` keeps.
 *
 * @param segments reads one, each time that it is called.
 */
export function* standingsIn(
  segments: readonly (() => KnownIds)[],
  each = documentsEach,
): SlicedWork<readonly Uint8Array[]> {
  const removed = new Set<string>()
  const found: Uint8Array[] = []
  for (const read of segments) {
    const { ids, removals } = read()
    found.push(new Uint8Array(ids.length))
    for (const [id] of removals) removed.add(id)
    yield
  }
  const total = found.reduce((sum, { length }) => sum + length, 0)
  const ranges = Math.max(1, Math.ceil(total / each))
  for (let range = 0; range < ranges; range++) {
    const isIn = (id: string): boolean => ranges === 1 || hash32(id) % ranges === range
    const newest = yield* newestIn(segments, isIn)
    for (const [n, read] of segments.entries()) {
      const { ids, versions } = read()
      for (const [at, id] of ids.entries()) {
        const known = newest.get(id)
        const isNewest = known !== undefined && Math.floor(known / 2) === versions[at]
        const own = isNewest ? newestOrCopied(known) : standing.replaced
        if (known !== undefined) found[n]?.fill(removed.has(id) ? standing.removed : own, at, at + 1)
      }
      yield
    }
  }
  return found
}

/** Returns the newest versions of documents, twice, and one more where several have it. */
function* newestIn(
  segments: readonly (() => KnownIds)[],
  isIn: (id: string) => boolean,
): SlicedWork<ReadonlyMap<string, number>> {
  const newest = new Map<string, number>()
  for (const read of segments) {
    const { ids, versions } = read()
    for (const [at, id] of ids.entries()) {
      if (!isIn(id)) continue
      const [version, known] = [2 * (versions[at] ?? 0), newest.get(id)]
      // a copy, since a part of a text keeps all of it
      if (known === undefined) newest.set(Buffer.from(id).toString(), version)
      else newest.set(id, version > known ? version : known + Number(version === known))
    }
    yield
  }
  return newest
}

const newestOrCopied = (twice: number) => (twice % 2 === 0 ? standing.newest : standing.copied)
