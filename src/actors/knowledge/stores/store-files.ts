import { isDeepStrictEqual } from 'node:util'
import { isNotFound, orNotFound } from '#actors/call/not-found.ts'
import { sourceDefinition } from '#machines/knowledge-source/knowledge-source-definition.ts'
import type { AuditActor } from '#records/audit-note.ts'
import { RowTurns } from '#records/row-turns.ts'
import { rowOf } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { derivedId, newId, timeOfId } from '#runtime/index.ts'
import { isErased, markErased, rowRecord } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { JsonObject, RecordStore, Scope } from '#storage/index.ts'
import type { FileStore } from '../files/file-store.ts'
import { sourceRows } from '../kinds.ts'
import type { SourceRow } from '../schema.ts'
import type { FilteredSource } from '../search/metadata-filter.ts'
import { copiedContent } from '../sources/source-content.ts'
import { type SourceParts, Sources } from '../sources/sources.ts'

export interface StoreFileParts extends SourceParts {
  readonly files: FileStore
  readonly records: RecordStore
}

/** A file that is added to a base, with the path that names it in errors. */
export interface AddedFile {
  readonly file_id: string
  readonly attributes?: JsonObject | null | undefined
  readonly param: string
}

/** Files that one request adds to a base. */
export interface Additions {
  readonly base: string
  readonly files: readonly AddedFile[]
  readonly by: AuditActor
  /** Id of the record that the request created. */
  readonly request: string
}

/** A file with the caller who adds it. */
type AddedBy = AddedFile & { readonly by: AuditActor }

/** Id of a source as a file: that of the uploaded file that it is a copy of, or its own with the prefix of files. */
export const fileIdOf = ({ id, data: { file_id } }: FilteredSource): string => file_id ?? `file_${endOf(id)}`

/** The part of an id after its prefix. */
export const endOf = (id: string): string => id.slice(id.indexOf('_') + 1)

/** Files of vector stores: the sources of knowledge bases, by the ids of OpenAI's files. */
export class StoreFiles {
  readonly table
  readonly sources: Sources
  readonly #parts: StoreFileParts

  constructor(parts: StoreFileParts) {
    this.#parts = parts
    this.table = new Table(parts.records, sourceRows, parts.clock.now)
    this.sources = new Sources(parts)
  }

  /** Returns the document that a file id names by itself; null when there is none. */
  async document(scope: Scope, fileId: string): Promise<SourceRow | null> {
    const { host } = this.#parts
    for (const prefix of [sourceDefinition.idPrefix, sourceDefinition.olderIdPrefix]) {
      try {
        const resident = await host.find(scope, sourceDefinition, `${prefix}_${endOf(fileId)}`)
        return rowOf(sourceRows, rowRecord(resident))
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    }
    return null
  }

  /** Returns a file of a base; null when the base does not contain it. */
  async inBase(scope: Scope, base: string, fileId: string): Promise<SourceRow | null> {
    await this.#parts.host.rows.shown()
    const [copy] = await this.table.list(scope, { where: { base_file: `${base} ${fileId}` }, limit: 1 })
    const id = copy === undefined ? fileId : copy.id
    const row = await this.document(scope, id)
    if (row === null || row.data.knowledge_base_id !== base) return null
    return copy !== undefined || row.data.file_id === undefined ? row : null
  }

  /** @throws {ServiceError} `not_found` */
  async found(scope: Scope, base: string, fileId: string): Promise<SourceRow> {
    await this.sources.baseOf(scope, base)
    const row = await this.inBase(scope, base, fileId)
    if (row !== null) return row
    throw new ServiceError('not_found', { param: 'file_id', message: `The vector store has no file ${fileId}.` })
  }

  /** Checks that the files exist and can be added. @throws {ServiceError} `not_found`, `invalid_field` */
  async check(scope: Scope, added: readonly AddedFile[]): Promise<void> {
    for (const each of added) await this.#uploaded(scope, each)
  }

  /**
   * Adds a copy of an uploaded file to a base. If the base already contains one, only its attributes are changed.
   *
   * @throws {ServiceError} `not_found`, `invalid_field`, `unsupported_media_type`, `knowledge_limit_reached`
   */
  add(scope: Scope, base: string, added: AddedBy & { readonly once?: string }): Promise<SourceRow> {
    const { once } = added
    const turn = `vector_store_files/${base}/${added.file_id}`
    return RowTurns.at(this.#parts.records).take(turn, async () => {
      const known = await this.inBase(scope, base, added.file_id)
      if (known !== null) return known.id === once ? known : this.#withAttributes(scope, known, added)
      const { host, files } = this.#parts
      const { id: file_id, data, ...file } = await this.#uploaded(scope, added)
      const copy = copiedContent(data, files.content({ ...file, id: file_id, data }))
      const place = await this.sources.add(scope, {
        ...{ id: once ?? host.newActorId(sourceDefinition.idPrefix), again: once !== undefined },
        ...{ base, file_id, by: added.by, cause: newId('req') },
        body: { metadata: added.attributes ?? {} },
        ...{ files: [], copy },
      })
      this.#parts.changed(base)
      return rowOf(sourceRows, rowRecord(await this.sources.find(scope, place)))
    })
  }

  /** Adds copies of several files, one after the other. @throws {ServiceError} as `add` */
  async addAll(scope: Scope, { files, ...request }: Additions): Promise<void> {
    for (const each of files) await this.addOnce(scope, { ...request, ...each })
  }

  /**
   * Adds a file for a request, however often that is attempted: not again if it was removed since, within the hour for
   * which erased actors are marked. @throws {ServiceError} as `add`
   */
  async addOnce(scope: Scope, { base, request, ...added }: AddedBy & Omit<Additions, 'files'>): Promise<void> {
    const { records, clock } = this.#parts
    const id = derivedId(sourceDefinition.idPrefix, timeOfId(request) ?? 0, `${request} ${added.file_id}`)
    if (await isErased(records, id)) return
    const row = await this.add(scope, base, { ...added, once: id })
    // the base had the file before: this addition is done, too
    const now = clock.now()
    if (row.id !== id) await markErased(records, { actor: id, made: now, now })
  }

  /** Replaces the attributes of a file. */
  async change(scope: Scope, row: SourceRow, change: { attributes: JsonObject; by: AuditActor }): Promise<SourceRow> {
    const { host, changed } = this.#parts
    const source = await host.find(scope, sourceDefinition, row.id)
    const event = { type: 'update', by: change.by, metadata: change.attributes }
    await host.deliverTo(source, { event, cause: newId('req') })
    changed(row.data.knowledge_base_id)
    return rowOf(sourceRows, rowRecord(await host.find(scope, sourceDefinition, row.id)))
  }

  async #withAttributes(scope: Scope, row: SourceRow, added: AddedBy): Promise<SourceRow> {
    const { attributes, by } = added
    if (attributes === undefined || attributes === null || isDeepStrictEqual(attributes, row.data.metadata)) return row
    return this.change(scope, row, { attributes, by })
  }

  /** Removes a file from its base. */
  remove(scope: Scope, row: SourceRow, by: AuditActor): Promise<void> {
    const place = { knowledge_base_id: row.data.knowledge_base_id, source_id: row.id }
    return this.sources.remove(scope, place, by)
  }

  /** Yields the text that was extracted from a document, in parts. */
  texts(row: SourceRow): AsyncGenerator<string> {
    return this.#parts.blobs.texts(...textOf(row))
  }

  /** Returns that text as a whole. */
  text(row: SourceRow): Promise<string> {
    return this.#parts.blobs.text(...textOf(row))
  }

  async #uploaded(scope: Scope, { file_id, param }: AddedFile) {
    const row = orNotFound(await this.#parts.files.table.get(scope, file_id), param, `There is no file ${file_id}.`)
    if (row.data.purpose === 'assistants' || row.data.purpose === 'user_data') return row
    const message = 'Vector stores take files with the purpose assistants or user_data.'
    throw invalidField(param, message)
  }
}

/** The owner and the names of the blobs of a document's text. */
const textOf = ({ id, project, tenant, data: { document } }: SourceRow) =>
  [{ project, tenant, source: id }, document?.text ?? []] as const
