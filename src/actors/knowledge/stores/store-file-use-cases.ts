import type { UseCases, UseCasesOf, WithHeaders } from '#actors/call/use-cases.ts'
import { openAiPage, openAiRows, secondsOf } from '#actors/capability/openai-pages.ts'
import { actorOf } from '#records/audit-note.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { newIdFor } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { ResultOf } from '#specs/index.ts'
import type { RecordStore, Scope } from '#storage/index.ts'
import { type FileBatchData, fileBatches } from '../kinds.ts'
import type { SourceRow } from '../schema.ts'
import { additionNotice } from './store-additions.ts'
import { type AddedFile, fileIdOf, type StoreFileParts, type StoreFiles } from './store-files.ts'
import { baseIdOf, countsOf, fileStatusOf, sourceStatusOf, storeFileView, storeIdOf } from './store-views.ts'

export interface StoreFileUseParts extends Pick<StoreFileParts, 'host' | 'clock'> {
  readonly records: RecordStore
  readonly storeFiles: StoreFiles
}

type FileUseCases = UseCasesOf<'vector_store_files' | 'vector_store_file_batches'>
type BatchView = ResultOf<'vector_store_file_batches.get'>

/** Use-cases of the files of vector stores, and of the batches that add several. */
export const storeFileUseCases = (parts: StoreFileUseParts): FileUseCases => ({
  ...singleUseCases(parts),
  ...batchUseCases(parts),
})

/** Reading a file takes less than a second mostly; without this header, OpenAI's SDKs poll every five. */
const polled = <T>(body: T): WithHeaders<T> => ({ body, headers: [['openai-poll-after-ms', '500']] })

type Single = Pick<FileUseCases, Extract<keyof FileUseCases, `vector_store_files.${string}`>>
type Batches = Pick<FileUseCases, Extract<keyof FileUseCases, `vector_store_file_batches.${string}`>>

const singleUseCases = ({ storeFiles, host }: StoreFileUseParts): Single => ({
  'vector_store_files.create': async (call) => {
    const base = baseIdOf(call.params.vector_store_id)
    await storeFiles.sources.baseOf(call.scope, base)
    const { file_id, attributes } = call.body
    const by = actorOf(call)
    return storeFileView(await storeFiles.add(call.scope, base, { file_id, attributes, by, param: 'file_id' }))
  },
  'vector_store_files.list': async ({ scope, params, query: { filter, after, ...page } }) => {
    const { id: base } = await storeFiles.sources.baseOf(scope, baseIdOf(params.vector_store_id))
    await host.rows.shown()
    // after a file that was removed, the list begins again: what it had before it may be read twice, but nothing is skipped
    const before = after === undefined ? undefined : (await storeFiles.inBase(scope, base, after))?.id
    const status = filter === undefined ? undefined : sourceStatusOf(filter)
    if (status === null) return openAiPage([], false)
    const where = status === undefined ? { knowledge_base_id: base } : { base_status: `${base} ${status}` }
    const query = { ...page, where, ...(before !== undefined && { after: before }) }
    const { rows, more } = await openAiRows(storeFiles.table, scope, query)
    return openAiPage(rows.map(storeFileView), more)
  },
  'vector_store_files.get': async ({ scope, params }) =>
    polled(storeFileView(await storeFiles.found(scope, baseIdOf(params.vector_store_id), params.file_id))),
  'vector_store_files.update': async (call) => {
    const { scope, params, body } = call
    const row = await storeFiles.found(scope, baseIdOf(params.vector_store_id), params.file_id)
    const change = { attributes: body.attributes ?? {}, by: actorOf(call) }
    return storeFileView(await storeFiles.change(scope, row, change))
  },
  'vector_store_files.content': async ({ scope, params }) => {
    const row = await storeFiles.found(scope, baseIdOf(params.vector_store_id), params.file_id)
    const text = await storeFiles.text(row)
    return {
      object: 'vector_store.file_content.page',
      data: text === '' ? [] : [{ type: 'text', text }],
      ...{ has_more: false, next_page: null },
    }
  },
  'vector_store_files.delete': async (call) => {
    const { scope, params } = call
    const row = await storeFiles.found(scope, baseIdOf(params.vector_store_id), params.file_id)
    await storeFiles.remove(scope, row, actorOf(call))
    return { id: fileIdOf(row), object: 'vector_store.file.deleted', deleted: true }
  },
})

const batchUseCases = ({ records, storeFiles, clock }: StoreFileUseParts): Batches => {
  const table = new Table(records, fileBatches, clock.now)
  const find = async (scope: Scope, store: string, id: string): Promise<Row<FileBatchData>> => {
    const row = await table.get(scope, id)
    if (row === null || row.data.knowledge_base_id !== baseIdOf(store))
      throw new ServiceError('not_found', { param: 'file_batch_id' })
    return row
  }
  const filesOf = async (scope: Scope, { data }: Row<FileBatchData>): Promise<readonly (SourceRow | null)[]> => {
    const files = []
    for (const each of data.file_ids) files.push(await storeFiles.inBase(scope, data.knowledge_base_id, each))
    return files
  }
  const view = async (scope: Scope, row: Row<FileBatchData>): Promise<BatchView> => {
    const { id, data, created_at } = row
    const files = await filesOf(scope, row)
    const counts = countsOf(files.map((file) => (file === null ? 'cancelled' : fileStatusOf(file.data.status))))
    const status = counts.in_progress > 0 ? 'in_progress' : 'completed'
    return {
      ...{ id, object: 'vector_store.files_batch', created_at: secondsOf(created_at) },
      vector_store_id: storeIdOf(data.knowledge_base_id),
      status: data.cancelled ? 'cancelled' : status,
      file_counts: counts,
    }
  }
  return {
    'vector_store_file_batches.create': async (call) => {
      const { scope, params } = call
      const base = await storeFiles.sources.baseOf(scope, baseIdOf(params.vector_store_id))
      const added = addedBy(call.body)
      await storeFiles.check(scope, added)
      const id = newIdFor(call, 'vsfb')
      const file_ids = [...new Set(added.map(({ file_id }) => file_id))]
      const data = { knowledge_base_id: base.id, file_ids, cancelled: false }
      const additions = { base: base.id, files: added, by: actorOf(call), request: id }
      await table.insert({ id, project: base.project, tenant: base.tenant, data, notices: additionNotice(additions) })
      await storeFiles.addAll(scope, additions)
      return view(scope, await find(scope, base.id, id))
    },
    'vector_store_file_batches.get': async ({ scope, params }) =>
      polled(await view(scope, await find(scope, params.vector_store_id, params.file_batch_id))),
    'vector_store_file_batches.cancel': async (call) => {
      const { scope, params } = call
      const row = await find(scope, params.vector_store_id, params.file_batch_id)
      const open = (await filesOf(scope, row)).filter((file) => file?.data.status === 'pending')
      if (open.length === 0 || row.data.cancelled) return view(scope, row)
      for (const file of open) if (file !== null) await storeFiles.remove(scope, file, actorOf(call))
      const edit = ({ data }: Row<FileBatchData>) => ({ ...data, cancelled: true })
      return view(scope, (await table.change(scope, row.id, { edit })) ?? row)
    },
    'vector_store_file_batches.files': async ({ scope, params, query }) => {
      const row = await find(scope, params.vector_store_id, params.file_batch_id)
      return batchPage(row.data.file_ids, await filesOf(scope, row), query)
    },
  }
}

type FileQuery = Parameters<UseCases['vector_store_file_batches.files']>[0]['query']

/** Returns a page of the files of a batch. A file that was removed keeps its position. */
const batchPage = (
  ids: readonly string[],
  files: readonly (SourceRow | null)[],
  { filter, after, limit, order = 'desc' }: FileQuery,
) => {
  const named = ids.map((id, at) => ({ id, file: files[at] ?? null }))
  const ordered = order === 'asc' ? named : named.toReversed()
  const rest = ordered.slice(after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1)
  const views = rest.flatMap(({ file }) => (file === null ? [] : [storeFileView(file)]))
  const listed = views.filter(({ status }) => filter === undefined || status === filter)
  return openAiPage(listed.slice(0, limit), listed.length > limit)
}

type BatchBody = Parameters<UseCases['vector_store_file_batches.create']>[0]['body']

/** @throws {ServiceError} `missing_field`, `invalid_field` */
const addedBy = ({ file_ids, files, attributes }: BatchBody): readonly AddedFile[] => {
  if (file_ids !== undefined && files !== undefined) throw invalidField('files', 'Send file_ids or files, not both.')
  if (files !== undefined)
    return files.map((file, at) => ({
      ...file,
      attributes: file.attributes ?? attributes,
      param: `files[${at}].file_id`,
    }))
  if (file_ids === undefined) throw new ServiceError('missing_field', { param: 'file_ids' })
  return file_ids.map((file_id, at) => ({ file_id, attributes, param: `file_ids[${at}]` }))
}
