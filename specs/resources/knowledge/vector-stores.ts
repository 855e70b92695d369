import { secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { openaiList, openaiQuery } from '#specs/dsl/lists.ts'
import {
  array,
  boolean,
  constant,
  defaulted,
  described,
  id,
  integer,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  record,
  string,
  union,
} from '#specs/dsl/schema.ts'
import { maxFilesAtOnce, maxQueryLength, maxTopK } from './knowledge-limits.ts'
import { everyCaller } from './knowledge-search.ts'

const path = '/v1/vector_stores'
const one = '/v1/vector_stores/{vector_store_id}'

const fileId = string({ minLength: 1, maxLength: 128 })
const name = optional(nullable(string({ minLength: 1, maxLength: 256 })))
const metadata = optional(nullable(record(string({ maxLength: 512 }), { maxProperties: 16 })))

/** Attributes of a file in a vector store, by which searches filter. */
export const attributes = optional(
  nullable(record(union([string({ maxLength: 512 }), number(), boolean()]), { maxProperties: 16 })),
)

/** The chunking of OpenAI's API, which requests may send. */
export const chunking = described(
  defaulted(object({ type: oneOf('auto') }), { type: 'auto' }),
  'Only `auto`: documents are split along their headings and paragraphs.',
)

/** Number of files by status. */
export const fileCounts = object(
  {
    in_progress: integer(),
    completed: integer(),
    failed: integer(),
    cancelled: integer(),
    total: integer(),
  },
  { title: 'VectorStoreFileCounts', description: 'Number of files by status.' },
)

const store = object(
  {
    id: id('vs'),
    object: oneOf('vector_store'),
    created_at: integer(),
    name: string(),
    description: nullable(string()),
    usage_bytes: described(integer(), 'Size of the documents in bytes.'),
    file_counts: fileCounts,
    status: oneOf('in_progress', 'completed'),
    last_active_at: integer(),
    metadata: jsonObject(),
  },
  {
    title: 'VectorStore',
    description:
      "A knowledge base in the format of OpenAI's API: `vs_…` and `kb_…` with the same ending name the same base.",
  },
)

const hit = object(
  {
    file_id: string(),
    filename: string(),
    score: number(),
    attributes: jsonObject(),
    content: array(object({ type: oneOf('text'), text: string() })),
  },
  { title: 'VectorStoreHit', description: 'A part of a file that answers a query.' },
)

const reading = { access: secretKeyOrDashboard('member'), envelope: 'openai', ofTenants: 'tenant' } as const

/** OpenAI's vector stores: views of knowledge bases. */
export const vectorStores = defineOperations('vector_stores', {
  create: {
    ...reading,
    summary: 'Create a vector store',
    description: 'Creates a knowledge base, and adds copies of the files to it.',
    method: 'POST',
    path,
    body: object({
      name,
      description: optional(nullable(string({ maxLength: 4096 }))),
      file_ids: optional(array(fileId, { maxItems: maxFilesAtOnce })),
      chunking_strategy: chunking,
      metadata,
    }),
    answer: isJsonResponse(store),
    errors: ['not_found', 'unsupported_media_type'],
  },
  list: {
    ...reading,
    summary: 'List vector stores',
    description: 'Lists the knowledge bases. To get the next page, send the id of the last one as `after`.',
    method: 'GET',
    path,
    query: openaiQuery,
    answer: isJsonResponse(openaiList(store)),
  },
  get: {
    ...reading,
    summary: 'Retrieve a vector store',
    description: 'Returns the knowledge base, with the number of its files by status.',
    method: 'GET',
    path: one,
    answer: isJsonResponse(store),
  },
  update: {
    ...reading,
    summary: 'Update a vector store',
    description: 'Changes the fields that the body contains.',
    method: 'POST',
    path: one,
    body: object({ name, metadata }),
    answer: isJsonResponse(store),
  },
  delete: {
    ...reading,
    summary: 'Delete a vector store',
    description: 'Deletes the knowledge base with its contents. Uploaded files are kept.',
    method: 'DELETE',
    path: one,
    answer: isJsonResponse(object({ id: string(), object: oneOf('vector_store.deleted'), deleted: constant(true) })),
  },
  search: {
    summary: 'Search a vector store',
    description:
      'Returns the parts of files that answer the query, best first. A client token or an agent key finds only what it may search with `knowledge_bases.search`.',
    method: 'POST',
    path: `${one}/search`,
    access: everyCaller,
    envelope: 'openai',
    ofTenants: 'user',
    idempotency: 'ignored',
    body: object({
      query: union([
        string({ minLength: 1, maxLength: maxQueryLength }),
        array(string({ minLength: 1, maxLength: maxQueryLength }), { minItems: 1, maxItems: 8 }),
      ]),
      max_num_results: described(optional(integer({ min: 1, max: maxTopK })), 'Maximum number of hits. Default: 10.'),
      filters: described(
        optional(nullable(jsonObject({ maxBytes: 8192 }))),
        'Comparisons of attributes, combined by `and` and `or`.',
      ),
      ranking_options: optional(
        nullable(object({ ranker: optional(string()), score_threshold: optional(number({ min: 0, max: 1 })) })),
      ),
      rewrite_query: described(defaulted(constant(false), false), 'Only `false`: queries are searched as they are.'),
    }),
    answer: isJsonResponse(
      object({
        object: oneOf('vector_store.search_results.page'),
        search_query: array(string()),
        data: array(hit),
        has_more: constant(false),
        next_page: described(nullable(string()), 'Always null: there is one page.'),
      }),
    ),
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly vectorStores: typeof vectorStores
  }
}
