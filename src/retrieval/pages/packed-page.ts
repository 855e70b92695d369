import { atOnce } from '#src/concurrency/run-in-slices.ts'
import { Columns, packed } from '../segments/columns.ts'
import { type SegmentBytes, segmentParts } from '../segments/document-segment.ts'
import { hash53 } from '../segments/hash.ts'
import type { PageSegment } from './page-segment.ts'
import { PageSegmentWriter } from './page-segment-writer.ts'

/** A page of a segment by itself: what finds it, and what ranks it. */
export interface PackedPage {
  readonly id: string
  readonly version: number
  readonly url: string
  readonly language: string | null
  readonly publishedAt: number | null
  /** Words of each passage, repeated as often as it has them, and its vector. */
  readonly passages: readonly { readonly words: readonly string[]; readonly numbers: Int8Array | null }[]
  /** A segment that has only this page. */
  readonly content: Uint8Array
}

/** Number of repetitions of a word that are distinguished. */
const maxTimes = 16

/** A word as an engine outside of this process has it: not readable, and without white space. */
export const wordKey = (word: string): string => hash53(word).toString(36)

export const packedPage = (segment: PageSegment, page: number): PackedPage => {
  const writer = new PageSegmentWriter()
  writer.take(segment, page)
  const { ids, versions, starts, lists, terms, vectors } = segment
  const from = starts[page] ?? 0
  const passages = Array.from({ length: (starts[page + 1] ?? 0) - from }, (_, n) => {
    const counts = lists?.countsOf(from + n, terms) ?? []
    const words = counts.flatMap(([word, times]) => new Array<string>(Math.min(times, maxTimes)).fill(wordKey(word)))
    const { dimensions = 0, numbers } = vectors ?? {}
    const row = numbers?.subarray((from + n) * dimensions, (from + n + 1) * dimensions) ?? null
    return { words, numbers: row }
  })
  const { url, language, publishedAt } = segment.facts(page)
  const content = packed({ ...atOnce(writer.finished()) })
  return { id: ids[page] ?? '', version: versions[page] ?? 0, url, language, publishedAt, passages, content }
}

/** Returns the segment of a packed page. */
export const unpackedPage = (content: Uint8Array): SegmentBytes => {
  const columns = new Columns(content)
  const { documents, passages, vectors, lists } = Object.fromEntries(
    segmentParts.map((part) => [part, columns.bytes(part)]),
  )
  const none = new Uint8Array(0)
  return {
    ...{ documents: documents ?? none, passages: passages ?? none },
    ...(vectors !== undefined && vectors.length > 0 && { vectors }),
    ...(lists !== undefined && lists.length > 0 && { lists }),
  }
}
