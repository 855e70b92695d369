import { secretKeyOrConsole, secretKeyOrDashboard } from '#specs/access.ts'
import { answersBytes, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import {
  array,
  described,
  id,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'
import { statuses } from '#specs/statuses.ts'
import { freeFields, metadata } from '#specs/tools.ts'
import { maxFileBytes, maxTextLength } from './knowledge-limits.ts'

/** Maximum size of a form without its file, in bytes. */
const formSlackBytes = 256 * 1024

const all = '/v1/knowledge-bases/{knowledge_base_id}/sources'
const one = `${all}/{source_id}` as const

const title = string({ minLength: 1, maxLength: 512 })
const url = string({ minLength: 1, maxLength: 2048, pattern: '^https?://' })
const text = described(
  string({ minLength: 1, maxLength: maxTextLength }),
  'Text of the source, up to 2,000,000 characters.',
)
const interval = described(
  nullable(integer({ min: 300, max: 31_536_000 })),
  'Seconds after which the URL is fetched again, unless its tenant is suspended then. If null, it is fetched only when a sync is requested. Only for a source with a URL.',
)

const fields = {
  knowledge_base_id: id('kb'),
  type: oneOf('text', 'file', 'url'),
  status: described(
    oneOf(...statuses.knowledge_source),
    '`pending` while a sync is in progress or will be retried. Until it ends, searches find the previous content.',
  ),
  title: nullable(string()),
  filename: nullable(string()),
  mime_type: nullable(string()),
  url: nullable(string()),
  refresh_interval_s: interval,
  metadata: described(metadata, 'Your own fields. Searches filter on them.'),
  checksum: described(nullable(string()), 'SHA-256 of the content of the last sync.'),
  size_bytes: described(nullable(integer()), 'Size of that content in bytes.'),
  characters: described(
    integer(),
    'Length of the extracted text, in the same units as citation offsets (UTF-16 code units).',
  ),
  page_count: described(nullable(integer()), 'Number of pages of a PDF file, or of slides of a presentation.'),
  chunk_count: integer(),
  embedder: described(nullable(string()), 'Embedder of the vectors. Null if only keyword search finds the chunks.'),
  embedded_count: described(integer(), 'Number of chunks that have an embedding.'),
  changes: described(
    nullable(object({ added: integer(), removed: integer(), unchanged: integer() })),
    'Number of chunks that the last sync added, removed and left unchanged.',
  ),
  error: described(nullable(object({ code: string(), message: string() })), 'Reason for which the last sync failed.'),
  synced_at: described(nullable(timestamp()), 'Time at which the last successful sync ended.'),
}

const description = 'A document of a knowledge base: a text, a file or a URL.'
const source = object(
  {
    id: id('src', 'ksr'),
    ...fields,
    created_at: described(timestamp(), 'Time at which the resource was created.'),
    updated_at: described(timestamp(), 'Time at which the resource was last updated.'),
  },
  { title: 'KnowledgeSource', description },
)

const listed = defineResource('knowledge_sources', {
  path: all,
  key: 'source_id',
  idPrefix: 'src',
  olderIdPrefix: 'ksr',
  title: 'KnowledgeSource',
  description,
  fields,
  writable: [],
  access: secretKeyOrConsole,
  ofTenants: 'tenant',
  operations: {
    list: { access: secretKeyOrDashboard('member'), query: { status: optional(oneOf(...statuses.knowledge_source)) } },
    get: {
      access: secretKeyOrDashboard('member'),
      description:
        'Returns the source with the result of its last sync. Its text is returned by `knowledge_sources.text`.',
    },
    delete: { summary: 'Delete a knowledge source', description: 'Its chunks are deleted too.' },
  },
})

const work = defineOperations('knowledge_sources', {
  create: {
    summary: 'Add a knowledge source',
    description:
      'Takes `text`, `url`, or a multipart form with `file`: txt, md, html, pdf, docx, pptx, xlsx, epub, csv or json, up to 20 MB; also png, jpg, webp, gif and scanned PDF files of up to 50 pages, whose text the model `knowledge.vision_model` of the project reads, one call for each page. The response is sent as soon as the content is stored. The content is indexed in the background; searches find it once `status` is `ready`.',
    method: 'POST',
    path: all,
    access: secretKeyOrDashboard('admin'),
    ofTenants: 'tenant',
    body: object({
      text: optional(text),
      url: described(optional(url), 'Page or file that the server fetches. Private addresses are refused.'),
      refresh_interval_s: optional(interval),
      title: described(optional(title), 'Title of the source. Default: the title in the content, or the file name.'),
      mime_type: described(
        optional(string({ minLength: 1, maxLength: 128 })),
        'MIME type of `text`: `text/plain`, `text/markdown`, `text/html`, `text/csv` or `application/json`. Default: `text/markdown`.',
      ),
      metadata,
    }),
    files: { fields: ['file'], orJson: true },
    maxBodyBytes: maxFileBytes + formSlackBytes,
    answer: isJsonResponse(source, { status: 201 }),
    errors: ['not_found', 'knowledge_limit_reached', 'body_too_large', 'unsupported_media_type'],
  },
  update: {
    summary: 'Update a knowledge source',
    description: 'A new `url` is validated and fetched immediately.',
    method: 'PATCH',
    path: one,
    access: secretKeyOrConsole,
    ofTenants: 'tenant',
    body: object({
      title: optional(title),
      metadata: optional(freeFields),
      url: optional(url),
      refresh_interval_s: optional(interval),
    }),
    answer: isJsonResponse(source),
  },
  sync: {
    summary: 'Sync a knowledge source',
    description:
      'Reads the source again: from the new `text` or `file`, or from its URL. If the checksum is unchanged, nothing changes. Unchanged chunks keep their ids.',
    method: 'POST',
    path: `${one}/sync`,
    access: secretKeyOrDashboard('admin'),
    ofTenants: 'tenant',
    body: object({ text: optional(text) }),
    files: { fields: ['file'], orJson: true },
    maxBodyBytes: maxFileBytes + formSlackBytes,
    answer: isJsonResponse(source),
    errors: ['body_too_large', 'unsupported_media_type'],
  },
  text: {
    summary: 'Retrieve the text of a knowledge source',
    description: 'Returns the extracted text. Citation offsets count UTF-16 code units of this text.',
    method: 'GET',
    path: `${one}/text`,
    access: secretKeyOrDashboard('member'),
    ofTenants: 'tenant',
    answer: answersBytes('text/plain'),
  },
  chunks: {
    summary: 'List chunks of a knowledge source',
    description: 'In the order in which they appear in the text.',
    method: 'GET',
    path: `${one}/chunks`,
    access: secretKeyOrDashboard('member'),
    ofTenants: 'tenant',
    query: {
      limit: optional(integer({ min: 1, max: 100 })),
      cursor: optional(string({ maxLength: 64 })),
    },
    answer: isJsonResponse(
      object({
        data: array(
          object(
            {
              id: string(),
              content: string(),
              start: integer(),
              end: integer(),
              page: nullable(integer()),
              heading: nullable(string()),
            },
            { title: 'KnowledgeChunk', description: 'A part of a source. Searches return whole chunks.' },
          ),
        ),
        next_cursor: nullable(string()),
      }),
    ),
  },
})

/** Documents of a knowledge base. */
export const knowledgeSources = { ...listed, ...work } as const

declare module '#specs/index.ts' {
  interface Resources {
    readonly knowledgeSources: typeof knowledgeSources
  }
}
