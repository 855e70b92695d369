import type { SegmentBytes } from '#retrieval/index.ts'
import { newId, timeOfId } from '#runtime/index.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { BlobStore } from '#storage/index.ts'
import type { PageSegmentRef } from '../kinds.ts'

const idPrefix = 'wsg'
/** Bytes of a blob: a multiple of three, so that each can be decoded separately, within a few ms. */
const partBytes = 3 * 512 * 1024
const pageSize = 200
/** Time in ms for which blobs are kept although no corpus names them yet. */
const unnamedMs = 10 * 60_000

type StoredSegment = Pick<PageSegmentRef, 'id' | 'bytes'>

/** A segment that was replaced by another one while it was read. */
export class SegmentGone extends Error {
  override readonly name = 'SegmentGone'
}

/** The bytes of the segments of projects' indexes, in the blobs of the store. */
export class SegmentBlobs {
  readonly #blobs: BlobStore
  readonly #now: () => number

  constructor(blobs: BlobStore, now: () => number) {
    this.#blobs = blobs
    this.#now = now
  }

  /** Stores a segment, which exists once a corpus names it. */
  async put(project: string, segment: SegmentBytes): Promise<StoredSegment> {
    const stored: StoredSegment = { id: newId(idPrefix), bytes: [segment.pages.length, segment.passages.length] }
    for (const { name, part, from, to } of blobsOf(stored)) {
      const { buffer, byteOffset } = segment[part]
      await this.#blobs.put(project, name, Buffer.from(buffer, byteOffset + from, to - from).toString('base64'))
      await nextSlice()
    }
    return stored
  }

  /** @throws {SegmentGone} {StoreUnavailable} */
  async get(project: string, stored: StoredSegment): Promise<SegmentBytes> {
    const [pages, passages] = stored.bytes.map((length) => Buffer.from(new ArrayBuffer(length)))
    if (pages === undefined || passages === undefined) throw new SegmentGone(stored.id)
    for (const { name, part, from } of blobsOf(stored)) {
      const text = await this.#blobs.get(project, name)
      if (text === null) throw new SegmentGone(stored.id)
      const whole = part === 'pages' ? pages : passages
      whole.write(text, from, 'base64')
      await nextSlice()
    }
    return { pages, passages }
  }

  remove(project: string, id: string): Promise<void> {
    return this.#blobs.remove(project, `${id}.`)
  }

  /** Removes segments that a process left behind that ended before the corpus named them. */
  async sweep(project: string, named: ReadonlySet<string>): Promise<void> {
    for (let after = `${idPrefix}_`; ; ) {
      const names = await this.#blobs.hashes(project, after, pageSize)
      const ids = new Set(
        names.filter((name) => name.startsWith(`${idPrefix}_`)).map((name) => name.split('.')[0] ?? ''),
      )
      for (const id of ids) {
        const isOld = this.#now() - (timeOfId(id) ?? 0) > unnamedMs
        if (isOld && !named.has(id)) await this.remove(project, id)
      }
      after = names.at(-1) ?? ''
      if (names.length < pageSize || !after.startsWith(`${idPrefix}_`)) return
    }
  }
}

/** Yields the blobs of a segment, with what each has of its parts. */
function* blobsOf({ id, bytes }: StoredSegment) {
  for (const [at, part] of (['pages', 'passages'] as const).entries()) {
    const length = bytes[at] ?? 0
    for (let from = 0; from < length; from += partBytes)
      yield { name: `${id}.${part}.${from / partBytes}`, part, from, to: Math.min(length, from + partBytes) }
  }
}
