import type { UploadedFile } from '#actors/call/call.ts'
import { orNotFound } from '#actors/call/not-found.ts'
import type { UseCasesOf } from '#actors/call/use-cases.ts'
import { openAiPage, openAiRows, secondsOf } from '#actors/capability/openai-pages.ts'
import { actorOf, type Caller } from '#records/audit-note.ts'
import { Audited } from '#records/audited.ts'
import { newIdFor } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { missing } from '#specs/errors/invalid-field.ts'
import type { ResultOf } from '#specs/index.ts'
import { maxFileBytes } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { Scope } from '#storage/index.ts'
import type { SourceRow } from '../schema.ts'
import { nameOf } from '../sources/source-content.ts'
import { fileIdOf, type StoreFiles } from '../stores/store-files.ts'
import type { FileRow, FileStore } from './file-store.ts'

export interface FileParts {
  readonly files: FileStore
  /** The documents of knowledge bases, which are files too. */
  readonly storeFiles: StoreFiles
}

type FileUseCases = UseCasesOf<'files'>
type FileView = ResultOf<'files.get'>

/** Use-cases of OpenAI's files. */
export const fileUseCases = ({ files, storeFiles }: FileParts): FileUseCases => {
  const found = async (scope: Scope, id: string): Promise<FileRow | SourceRow> => {
    const found = (await files.table.get(scope, id)) ?? (await storeFiles.document(scope, id))
    return orNotFound(found, 'file_id', `There is no file ${id}.`)
  }
  return {
    'files.create': async (call) => {
      const { filename, contentType, bytes } = fileOf(call.files)
      const { project, tenant } = call.scope
      const id = newIdFor(call, 'file')
      const { purpose, 'expires_after[anchor]': anchor, 'expires_after[seconds]': seconds } = call.body
      if (anchor !== undefined && seconds === undefined) throw missing('expires_after[seconds]')
      const data = { filename: nameOf(filename) ?? 'file', purpose, mime_type: contentType, ...files.expiry(seconds) }
      const content = inParts(bytes)
      return fileView(
        await files.upload({ id, project, tenant }, { ...data, content }, [audited(call).line('created', id)]),
      )
    },
    'files.list': async ({ scope, query: { purpose, ...query } }) => {
      const where = purpose === undefined ? {} : { where: { purpose } }
      const { rows, more } = await openAiRows(files.table, scope, { ...query, ...where })
      return openAiPage(rows.map(fileView), more)
    },
    'files.get': async ({ scope, params }) => {
      const row = await found(scope, params.file_id)
      return isFile(row) ? fileView(row) : documentView(row)
    },
    'files.content': async ({ scope, params }) => {
      const row = await found(scope, params.file_id)
      if (!isFile(row)) return { contentType: 'text/plain; charset=utf-8', bytes: storeFiles.texts(row) }
      const contentType = row.data.purpose === 'batch_output' ? 'application/jsonl' : 'application/octet-stream'
      return { contentType, bytes: files.content(row) }
    },
    'files.delete': async (call) => {
      const { file_id: id } = call.params
      const row = await found(call.scope, id)
      if (isFile(row)) await files.remove(call.scope, id, audited(call).removed())
      else await storeFiles.remove(call.scope, row, actorOf(call))
      return { id, object: 'file', deleted: true }
    },
  }
}

const audited = (caller: Caller) => new Audited(caller, 'file')

const isFile = (row: FileRow | SourceRow): row is FileRow => 'purpose' in row.data

/** @throws {ServiceError} `missing_field`, `invalid_field`, `body_too_large` */
const fileOf = ([file, second]: readonly UploadedFile[]): UploadedFile => {
  const at = { param: 'file' }
  if (file === undefined) throw new ServiceError('missing_field', { ...at, message: 'The form has no file.' })
  if (second !== undefined) throw new ServiceError('invalid_field', { ...at, message: 'The form has several files.' })
  if (file.bytes.length === 0) throw new ServiceError('invalid_field', { ...at, message: 'The file is empty.' })
  if (file.bytes.length > maxFileBytes)
    throw new ServiceError('body_too_large', { ...at, message: 'A file must not be larger than 20 MB.' })
  return file
}

async function* inParts(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

const fileView = ({ id, data: { filename, purpose, bytes, expires_at_ms: at }, created_at }: FileRow): FileView => ({
  ...{ id, object: 'file', bytes, created_at: secondsOf(created_at), filename, purpose, status: 'processed' },
  ...(at !== undefined && { expires_at: secondsOf(at) }),
})

const documentView = (row: SourceRow): FileView => ({
  ...{ id: fileIdOf(row), object: 'file', bytes: row.data.size_bytes ?? 0, created_at: secondsOf(row.created_at) },
  ...{ filename: row.data.filename ?? row.data.title ?? row.data.url ?? row.id },
  ...{ purpose: 'assistants', status: 'processed' },
})
