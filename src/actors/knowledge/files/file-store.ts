import { createHash } from 'node:crypto'
import { orNotFound } from '#actors/call/not-found.ts'
import type { FileService } from '#actors/capability/file-service.ts'
import { CountedLimits } from '#records/counted-limits.ts'
import type { Notice } from '#records/notices.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { actorBlobs, type Sink } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { maxFiles } from '#specs/resources/knowledge/knowledge-limits.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { BlobStore, RecordStore, Scope, StoredRecord } from '#storage/index.ts'
import { projectScope } from '#storage/index.ts'
import { type FileData, storedFiles } from '../kinds.ts'

export type FileRow = Row<FileData>

export interface FileOwner {
  readonly id: string
  readonly project: string
  readonly tenant: string | null
}

/** Name of the sink that receives `{ type: 'delete', file_id }` and removes the content of the file. */
export const fileDeletionSink = 'file_deletions'

/** Expired files that are read at once. */
const pageSize = 100

/** Bytes in one blob: a multiple of three, so that each part can be decoded separately. */
const partBytes = 3 * 256 * 1024

/** Files with their content, which is stored as blobs in base64 and deleted with the file or its tenant. */
export class FileStore {
  readonly table: Table<FileData>
  readonly #records: RecordStore
  readonly #blobs: BlobStore
  readonly #now: () => number

  constructor({ records, blobs, now }: { records: RecordStore; blobs: BlobStore; now: () => number }) {
    this.table = new Table(records, storedFiles, now)
    this.#records = records
    this.#blobs = blobs
    this.#now = now
  }

  /** When a file that is stored now expires; nothing for one that does not. */
  expiry(seconds: number | undefined): Pick<FileData, 'expires_at_ms' | 'removed_at'> {
    if (seconds === undefined) return {}
    const at = this.#now() + seconds * 1000
    return { expires_at_ms: at, removed_at: timeOf(at) }
  }

  /** Deletes the files of all projects that have expired. @throws {StoreUnavailable} */
  async removeExpired(): Promise<void> {
    const now = timeOf(this.#now())
    for (let page: readonly StoredRecord[]; ; ) {
      page = await this.#records.due(storedFiles, now, pageSize)
      for (const { id, project } of page) await this.#remove(projectScope(project), id, () => [])
      if (page.length < pageSize) return
    }
  }

  /**
   * Stores a file of a caller.
   *
   * @throws {ServiceError} `knowledge_limit_reached`
   */
  async upload(...[owner, file, notices]: Parameters<FileStore['create']>): Promise<FileRow> {
    const { project } = owner
    const limit = {
      max: maxFiles,
      count: () => this.#records.count(storedFiles, projectScope(project)),
      full: () => new ServiceError('knowledge_limit_reached', { message: `A project has at most ${maxFiles} files.` }),
    }
    const create = () => this.create(owner, file, notices)
    return CountedLimits.at(this.#records).within(`files ${project}`, limit, create)
  }

  /** Stores a file; one with this id that exists already is returned, so that a creation may be repeated. */
  async create(
    { id, project, tenant }: FileOwner,
    { content, ...data }: Omit<FileData, 'bytes' | 'parts'> & { readonly content: AsyncIterable<Uint8Array> },
    notices: readonly Notice[] = [],
  ): Promise<FileRow> {
    const stored = await this.#put({ id, project, tenant }, content)
    const row = await this.table.insert({ id, project, tenant, data: { ...data, ...stored }, notices })
    const made = row ?? (await this.table.get(projectScope(project), id))
    if (made === null) throw new ServiceError('version_conflict')
    return made
  }

  /** Yields the content of a file in parts. @throws {ServiceError} `not_found` when it was deleted meanwhile */
  async *content({ project, data: { parts } }: FileRow): AsyncGenerator<Buffer> {
    for (const name of parts) {
      await nextSlice()
      const part = orNotFound(await this.#blobs.get(project, name))
      yield Buffer.from(part, 'base64')
    }
  }

  /** Deletes a file; its content is removed even after a crash. @throws {ServiceError} `not_found` */
  async remove(scope: Scope, id: string, line: (row: FileRow) => readonly Notice[]): Promise<void> {
    if (!(await this.#remove(scope, id, line))) throw new ServiceError('not_found', { param: 'file_id' })
  }

  #remove(scope: Scope, id: string, line: (row: FileRow) => readonly Notice[]): Promise<unknown> {
    return this.table.remove(scope, id, (row) => [
      ...line(row),
      { kind: 'message', to: fileDeletionSink, event: { type: 'delete', file_id: id, tenant: row.tenant } },
    ])
  }

  /** Removes the contents of deleted files. */
  readonly deletions: Sink = async ({ project }, { event: { file_id, tenant } }) => {
    if (typeof file_id !== 'string') return
    await this.#blobs.remove(project, prefixOf({ id: file_id, tenant: typeof tenant === 'string' ? tenant : null }))
  }

  /** Files, as batches read and write them. */
  get service(): FileService {
    return {
      find: async (scope, id) => {
        const row = await this.table.get(scope, id)
        return row === null ? null : { purpose: row.data.purpose, tenant: row.tenant, content: () => this.content(row) }
      },
      keep: async (scope, id, untilMs) => {
        const until = timeOf(untilMs)
        const edit = ({ data }: FileRow): FileData | null =>
          data.removed_at === undefined || data.removed_at >= until ? null : { ...data, removed_at: until }
        await this.table.change(scope, id, { edit })
      },
      make: async ({ id, project, tenant, filename, purpose, content }) => {
        const data = { filename, purpose, mime_type: 'application/jsonl' } as const
        await this.create({ id, project, tenant }, { ...data, content })
      },
      remove: async (scope, id) => {
        await this.#remove(scope, id, () => [])
      },
    }
  }

  async #put(owner: FileOwner, content: AsyncIterable<Uint8Array>): Promise<Pick<FileData, 'bytes' | 'parts'>> {
    const parts: string[] = []
    let bytes = 0
    let waiting: Uint8Array[] = []
    let length = 0
    const put = async (part: Buffer): Promise<void> => {
      await nextSlice()
      const text = part.toString('base64')
      const name = `${prefixOf(owner)}raw${parts.length}.${createHash('sha256').update(text).digest('hex')}`
      await this.#blobs.put(owner.project, name, text)
      parts.push(name)
    }
    for await (const some of content) {
      bytes += some.length
      waiting.push(some)
      length += some.length
      if (length < partBytes) continue
      let rest = joined(waiting)
      for (; rest.length >= partBytes; rest = rest.subarray(partBytes)) await put(rest.subarray(0, partBytes))
      waiting = [rest]
      length = rest.length
    }
    if (length > 0) await put(joined(waiting))
    return { bytes, parts }
  }
}

const timeOf = (ms: number): string => new Date(ms).toISOString()

/** One chunk is not copied: an upload of 20 MB is one, and a copy would hold the loop for 15 ms. */
const joined = (chunks: readonly Uint8Array[]): Buffer => {
  const [first, second] = chunks
  if (first === undefined || second !== undefined) return Buffer.concat(chunks)
  return Buffer.from(first.buffer, first.byteOffset, first.byteLength)
}

const prefixOf = ({ id, tenant }: Omit<FileOwner, 'project'>): string => actorBlobs({ tenant, actor: id })
