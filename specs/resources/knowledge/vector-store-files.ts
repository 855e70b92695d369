import { secretKeyOrDashboard } from '#specs/access.ts'
import { answersJsonWithHeaders, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { openaiList, openaiQuery } from '#specs/dsl/lists.ts'
import {
  array,
  constant,
  described,
  id,
  integer,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  string,
} from '#specs/dsl/schema.ts'
import { maxFilesAtOnce } from './knowledge-limits.ts'
import { attributes, chunking, fileCounts } from './vector-stores.ts'

const path = '/v1/vector_stores/{vector_store_id}/files'
const one = '/v1/vector_stores/{vector_store_id}/files/{file_id}'
const batches = '/v1/vector_stores/{vector_store_id}/file_batches'
const batch = '/v1/vector_stores/{vector_store_id}/file_batches/{file_batch_id}'

/** Memory that is reserved for the answer with a text, which a request of a few bytes names. Nearly all are shorter. */
const maxContentBytes = 32 * 1024 * 1024

const fileId = string({ minLength: 1, maxLength: 128 })
const fileStatuses = ['in_progress', 'completed', 'failed', 'cancelled'] as const

const storeFile = object(
  {
    id: id('file'),
    object: oneOf('vector_store.file'),
    created_at: integer(),
    vector_store_id: id('vs'),
    status: oneOf(...fileStatuses),
    usage_bytes: integer(),
    last_error: nullable(object({ code: oneOf('server_error', 'invalid_file'), message: string() })),
    attributes: jsonObject(),
    chunking_strategy: object({ type: oneOf('other') }),
  },
  {
    title: 'VectorStoreFile',
    description: "A source of a knowledge base in the format of OpenAI's API.",
  },
)

const fileBatch = object(
  {
    id: id('vsfb'),
    object: oneOf('vector_store.files_batch'),
    created_at: integer(),
    vector_store_id: id('vs'),
    status: oneOf('in_progress', 'completed', 'cancelled'),
    file_counts: fileCounts,
  },
  { title: 'VectorStoreFileBatch', description: 'Files that one request added to a vector store.' },
)

const shared = { access: secretKeyOrDashboard('member'), envelope: 'openai', ofTenants: 'tenant' } as const
const listQuery = { ...openaiQuery, filter: optional(oneOf(...fileStatuses)) }
const adding = ['not_found', 'knowledge_limit_reached', 'unsupported_media_type'] as const

/** Files of vector stores: views of the sources of knowledge bases. */
export const vectorStoreFiles = defineOperations('vector_store_files', {
  create: {
    ...shared,
    summary: 'Add a file to a vector store',
    description:
      'Adds a copy of an uploaded file as a source, which is indexed in the background. Of a file that the store already contains, only the attributes are replaced, if the body has any.',
    method: 'POST',
    path,
    body: object({ file_id: fileId, attributes, chunking_strategy: chunking }),
    answer: isJsonResponse(storeFile),
    errors: adding,
  },
  list: {
    ...shared,
    summary: 'List the files of a vector store',
    description:
      'Lists all sources of the knowledge base. To get the next page, send the id of the last one as `after`.',
    method: 'GET',
    path,
    query: listQuery,
    answer: isJsonResponse(openaiList(storeFile)),
  },
  get: {
    ...shared,
    summary: 'Retrieve a file of a vector store',
    description: 'Returns the file with the status of its indexing.',
    method: 'GET',
    path: one,
    answer: answersJsonWithHeaders(storeFile),
  },
  update: {
    ...shared,
    summary: 'Update the attributes of a file',
    description: 'Replaces the attributes of the file in this vector store.',
    method: 'POST',
    path: one,
    body: object({ attributes }),
    answer: isJsonResponse(storeFile),
  },
  content: {
    ...shared,
    summary: 'Retrieve the text of a file of a vector store',
    description: 'Returns the text that was extracted from the file.',
    method: 'GET',
    path: `${one}/content`,
    answer: isJsonResponse(
      object({
        object: oneOf('vector_store.file_content.page'),
        data: array(object({ type: oneOf('text'), text: string() })),
        has_more: constant(false),
        next_page: described(nullable(string()), 'Always null: there is one page.'),
      }),
      { maxBytes: maxContentBytes },
    ),
  },
  delete: {
    ...shared,
    summary: 'Remove a file from a vector store',
    description: 'The uploaded file is kept.',
    method: 'DELETE',
    path: one,
    answer: isJsonResponse(
      object({ id: string(), object: oneOf('vector_store.file.deleted'), deleted: constant(true) }),
    ),
  },
})

/** Batches of files that are added to vector stores by one request. */
export const vectorStoreFileBatches = defineOperations('vector_store_file_batches', {
  create: {
    ...shared,
    summary: 'Add several files to a vector store',
    description: `Adds up to ${maxFilesAtOnce} files, either \`file_ids\` with common attributes, or \`files\` with their own.`,
    method: 'POST',
    path: batches,
    body: object({
      file_ids: optional(array(fileId, { minItems: 1, maxItems: maxFilesAtOnce })),
      files: optional(
        array(object({ file_id: fileId, attributes, chunking_strategy: chunking }), {
          minItems: 1,
          maxItems: maxFilesAtOnce,
        }),
      ),
      attributes,
      chunking_strategy: chunking,
    }),
    answer: isJsonResponse(fileBatch),
    errors: adding,
  },
  get: {
    ...shared,
    summary: 'Retrieve a batch of files',
    description: 'Returns the number of its files by status.',
    method: 'GET',
    path: batch,
    answer: answersJsonWithHeaders(fileBatch),
  },
  cancel: {
    ...shared,
    summary: 'Cancel a batch of files',
    description: 'Removes those of its files that are not indexed yet.',
    method: 'POST',
    path: `${batch}/cancel`,
    idempotency: 'ignored',
    answer: isJsonResponse(fileBatch),
  },
  files: {
    ...shared,
    summary: 'List the files of a batch',
    description: 'The last one that the request named comes first, unless `order` is `asc`.',
    method: 'GET',
    path: `${batch}/files`,
    query: listQuery,
    answer: isJsonResponse(openaiList(storeFile)),
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly vectorStoreFiles: typeof vectorStoreFiles
    readonly vectorStoreFileBatches: typeof vectorStoreFileBatches
  }
}
