import { Binary, type Collection, type Db } from 'mongodb'
import type { BlobStore } from '../ports.ts'
import { afterPrefix, blobPrefix } from '../record-keys.ts'
import { guarded, isDuplicate } from './errors.ts'
import { removeVectors } from './vectors.ts'

interface Part {
  /** `<project>:<hash>:<n>`. */
  readonly _id: string
  readonly content: Binary
  /** Number of parts; on part 0 only. */
  readonly parts?: number
}

/** Maximum size of a part; a document can hold 16 MB. */
const partBytes = 8 * 1024 * 1024

/** Blobs in MongoDB, split into parts. Part 0 is written last, so that a blob exists completely or not at all. */
export class MongoBlobs implements BlobStore {
  readonly #db: Db
  readonly #parts: Collection<Part>

  constructor(db: Db) {
    this.#db = db
    this.#parts = db.collection<Part>('blobs', { writeConcern: { w: 'majority', j: true } })
  }

  async put(project: string, hash: string, content: string | Uint8Array): Promise<void> {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    const parts = Math.max(1, Math.ceil(bytes.length / partBytes))
    for (let n = parts - 1; n >= 0; n--) {
      const part = {
        _id: `${project}:${hash}:${n}`,
        content: new Binary(bytes.subarray(n * partBytes, (n + 1) * partBytes)),
      }
      await guarded(this.#parts.insertOne(n === 0 ? { ...part, parts } : part)).catch(unlessStored)
    }
  }

  async get(project: string, hash: string): Promise<string | null> {
    return (await this.bytes(project, hash))?.toString() ?? null
  }

  async bytes(project: string, hash: string): Promise<Buffer | null> {
    const first = await guarded(this.#parts.findOne({ _id: `${project}:${hash}:0` }))
    if (!first) return null
    const contents = [first.content.buffer]
    for (let n = 1; n < (first.parts ?? 1); n++) {
      const part = await guarded(this.#parts.findOne({ _id: `${project}:${hash}:${n}` }))
      if (!part) return null
      contents.push(part.content.buffer)
    }
    return Buffer.concat(contents)
  }

  async remove(project: string, prefix: string): Promise<void> {
    const start = `${project}:${blobPrefix(prefix)}`
    // before the blobs: an interrupted removal is repeated for blobs that still exist
    await removeVectors(this.#db, project, start)
    await guarded(this.#parts.deleteMany({ _id: { $gte: start, $lt: afterPrefix(start) } }))
  }

  async hashes(project: string, after: string | null, limit: number): Promise<readonly string[]> {
    if (limit < 1) return []
    const from = after === null ? `${project}:` : `${project}:${after}:0`
    const filter = { _id: { $gt: from, $lt: `${project};` }, parts: { $exists: true } }
    const cursor = this.#parts
      .find(filter, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(limit)
    return (await guarded(cursor.toArray())).map(({ _id }) => _id.slice(project.length + 1, -':0'.length))
  }
}

const unlessStored = (error: unknown): void => {
  if (!isDuplicate(error)) throw error
}
