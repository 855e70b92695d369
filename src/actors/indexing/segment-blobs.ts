import { type SegmentBytes, type SegmentPart, type SegmentReader, segmentParts } from '#retrieval/index.ts'
import { newId, timeOfId } from '#runtime/index.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { BlobStore } from '#storage/index.ts'
import { type IndexPlace, type SegmentRef, segmentFormat } from './stored-index.ts'

const idPrefix = 'wsg'
/** Bytes of a blob, which are read within a few ms: a multiple of eight, as numbers of a segment are. */
const partBytes = 3 * 512 * 1024
const alignment = 8
const pageSize = 200
/** Time in ms for which blobs are kept although no index names them yet. */
const unnamedMs = 10 * 60_000

const segmentName = /(?:^|\.)wsg_[0-9a-z]+\.[a-z]+\.\d+$/

/** Whether a blob of this name is a part of a segment: made of other records, from which it is made again. */
export const isOfSegment = (name: string): boolean => segmentName.test(name)

type StoredSegment = Pick<SegmentRef, 'id' | 'bytes' | 'format'>

/** A segment that was replaced by another one while it was read, is damaged, or has another format. */
export class SegmentGone extends Error {
  override readonly name = 'SegmentGone'
}

/** The bytes of the segments of indexes, in the blobs of the store. */
export class SegmentBlobs {
  readonly #blobs: BlobStore
  readonly #prefixOf: (place: IndexPlace) => string
  readonly #now: () => number

  constructor(blobs: BlobStore, prefixOf: (place: IndexPlace) => string, now: () => number) {
    this.#blobs = blobs
    this.#prefixOf = prefixOf
    this.#now = now
  }

  /** Stores a segment, which exists once an index names it. */
  async put(place: IndexPlace, segment: SegmentBytes): Promise<StoredSegment> {
    const lengths = segmentParts.flatMap((part) => (segment[part] === undefined ? [] : [[part, segment[part].length]]))
    const stored: StoredSegment = { id: newId(idPrefix), format: segmentFormat, bytes: Object.fromEntries(lengths) }
    for (const part of segmentParts) {
      const whole = segment[part] ?? new Uint8Array(0)
      for (const { name, from, to } of blobsOf(stored, part)) {
        await this.#blobs.put(place.project, this.#prefixOf(place) + name, whole.subarray(from, to))
        await nextSlice()
      }
    }
    return stored
  }

  /** Returns a reader of a segment, which rejects with `SegmentGone` and `StoreUnavailable`. */
  reader(place: IndexPlace, stored: StoredSegment): SegmentReader {
    return (part) => this.#part(place, stored, part)
  }

  async #part(place: IndexPlace, stored: StoredSegment, part: SegmentPart): Promise<Uint8Array | undefined> {
    if (stored.format !== segmentFormat) throw new SegmentGone(`${stored.id} has another format`)
    const length = stored.bytes[part]
    if (length === undefined) return undefined
    const whole = new Uint8Array(length)
    for (const { name, from, to } of blobsOf(stored, part)) {
      const bytes = await this.#blobs.bytes(place.project, this.#prefixOf(place) + name)
      if (bytes?.length !== to - from) throw new SegmentGone(stored.id)
      await nextSlice()
      // without a copy where numbers can be read where they are
      if (bytes.length === length && bytes.byteOffset % alignment === 0) return bytes
      whole.set(bytes, from)
    }
    return whole
  }

  remove(place: IndexPlace, id: string): Promise<void> {
    return this.#blobs.remove(place.project, `${this.#prefixOf(place)}${id}.`)
  }

  /** Removes segments that a process left behind that ended before the index named them. */
  async sweep(place: IndexPlace, named: ReadonlySet<string>): Promise<void> {
    const prefix = this.#prefixOf(place)
    const isOurs = (name: string): boolean => name.startsWith(`${prefix}${idPrefix}_`)
    for (let after = `${prefix}${idPrefix}_`; ; ) {
      const names = await this.#blobs.hashes(place.project, after, pageSize)
      const ids = new Set(names.filter(isOurs).map((name) => name.slice(prefix.length).split('.')[0] ?? ''))
      for (const id of ids) {
        const isOld = this.#now() - (timeOfId(id) ?? 0) > unnamedMs
        if (isOld && !named.has(id)) await this.remove(place, id)
      }
      after = names.at(-1) ?? ''
      if (names.length < pageSize || !isOurs(after)) return
    }
  }
}

/** Yields the blobs of a part of a segment. */
function* blobsOf({ id, bytes }: StoredSegment, part: SegmentPart) {
  const length = bytes[part] ?? 0
  for (let from = 0; from < length; from += partBytes)
    yield { name: `${id}.${part}.${from / partBytes}`, from, to: Math.min(length, from + partBytes) }
}
