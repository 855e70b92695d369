import { secretKeyOrDashboard } from '#specs/access.ts'
import { answersBytes, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { openaiList, openaiQuery } from '#specs/dsl/lists.ts'
import { constant, described, id, integer, object, oneOf, optional, string } from '#specs/dsl/schema.ts'
import { maxFileBytes } from './knowledge-limits.ts'

const path = '/v1/files'
const one = '/v1/files/{file_id}'

/** Purposes that callers give files. */
const filePurposes = ['assistants', 'batch', 'user_data', 'vision'] as const

/** All purposes of files; the server makes those of `batch_output`. */
export const allFilePurposes = [...filePurposes, 'batch_output'] as const

const file = object(
  {
    id: id('file'),
    object: oneOf('file'),
    bytes: integer(),
    created_at: integer(),
    expires_at: optional(integer({ description: 'When the file is deleted, in seconds since the epoch.' })),
    filename: string(),
    purpose: oneOf(...allFilePurposes),
    status: described(oneOf('processed'), 'Always `processed`: files are stored as they are.'),
  },
  { title: 'StoredFile', description: "A file in the format of OpenAI's API." },
)

const shared = { access: secretKeyOrDashboard('member'), envelope: 'openai', ofTenants: 'tenant' } as const

/** OpenAI's files: uploads for vector stores and batches, and the documents of knowledge bases. */
export const files = defineOperations('files', {
  create: {
    ...shared,
    summary: 'Upload a file',
    description:
      'Takes a multipart form with `file`, up to 20 MB, and `purpose`. The file is stored until it is deleted or expires. A project has at most 20,000 files.',
    method: 'POST',
    path,
    body: object({
      purpose: described(
        oneOf(...filePurposes),
        '`assistants` and `user_data` for vector stores, `batch` for the requests of a batch; `vision` for images in turns.',
      ),
      'expires_after[anchor]': optional(oneOf('created_at')),
      'expires_after[seconds]': described(
        optional(integer({ min: 3_600, max: 2_592_000 })),
        'Time after which the file is deleted, within an hour.',
      ),
    }),
    files: { fields: ['file'], orJson: false },
    maxBodyBytes: maxFileBytes + 64 * 1024,
    answer: isJsonResponse(file),
    errors: ['bad_request', 'body_too_large', 'knowledge_limit_reached', 'unsupported_media_type'],
  },
  list: {
    ...shared,
    summary: 'List files',
    description:
      'Lists files that were uploaded or made by batches, not the documents of knowledge bases. To get the next page, send the id of the last file as `after`.',
    method: 'GET',
    path,
    query: { ...openaiQuery, purpose: optional(oneOf(...allFilePurposes)) },
    answer: isJsonResponse(openaiList(file)),
  },
  get: {
    ...shared,
    summary: 'Retrieve a file',
    description: 'Returns an uploaded file, a file of a batch, or a document of a knowledge base.',
    method: 'GET',
    path: one,
    answer: isJsonResponse(file),
  },
  content: {
    ...shared,
    summary: 'Retrieve the content of a file',
    description:
      'Returns the bytes as they were uploaded. Of a document of a knowledge base, returns the extracted text.',
    method: 'GET',
    path: `${one}/content`,
    answer: answersBytes('application/octet-stream', 'application/jsonl', 'text/plain'),
  },
  delete: {
    ...shared,
    summary: 'Delete a file',
    description:
      'Vector stores that contain the file keep their copy. A document of a knowledge base is removed from it.',
    method: 'DELETE',
    path: one,
    answer: isJsonResponse(object({ id: string(), object: oneOf('file'), deleted: constant(true) })),
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly files: typeof files
  }
}
