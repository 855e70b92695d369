import { answersJson } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import {
  array,
  boolean,
  defaulted,
  described,
  id,
  integer,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'
import { pageErrors } from '#specs/errors/web-errors.ts'
import { ofWeb, pageRequest, untrusted } from './web-fields.ts'
import { maxSchemaBytes } from './web-limits.ts'

/** A passage of a page that can be cited. */
export const evidenceSpan = object(
  {
    id: id('ev'),
    text: string(),
    start: described(integer(), 'First character of the span in `content`, in UTF-16 code units.'),
    end: described(integer(), 'Character after its last one.'),
  },
  { title: 'WebEvidenceSpan', description: 'A passage of a page: `content.slice(start, end)` is its text.' },
)

/** A link of a page. */
export const pageLink = object(
  {
    url: string({ description: 'Absolute address, without its fragment.' }),
    text: string(),
    nofollow: described(boolean(), 'Whether the page marks it as `nofollow`, `ugc` or `sponsored`.'),
  },
  { title: 'WebLink', description: 'A link of a page.' },
)

/** Where a value comes from. */
const dataEvidence = object(
  {
    path: string({ description: 'JSON Pointer of the value in `data`.' }),
    source: described(
      oneOf('json_ld', 'microdata', 'meta', 'table', 'label', 'heading'),
      'Part of the page that says it: structured data comes before tables, labelled lines and headings.',
    ),
    text: string({ description: 'What the page wrote. Untrusted.' }),
    start: described(
      nullable(integer()),
      'First character of it in `content`; null where only structured data has it.',
    ),
    end: described(nullable(integer()), 'Character after its last one.'),
  },
  { title: 'WebDataEvidence', description: 'Where a value of the data comes from.' },
)

const extracted = object(
  {
    url: string({ description: 'Address of the request.' }),
    canonicalUrl: string({ description: 'Address that the page names as its own, or the one it came from.' }),
    title: string(),
    description: string(),
    language: string({ description: 'Language as a BCP 47 tag; `und` when the page does not say.' }),
    content: string({ description: 'Main text of the page.' }),
    contentHash: string({ description: 'SHA-256 of `content`, as `sha256:` and hex.' }),
    retrievedAt: timestamp(),
    publishedAt: nullable(timestamp()),
    modifiedAt: nullable(timestamp()),
    links: described(array(pageLink), 'Links of the whole page, at most 1,000.'),
    evidenceSpans: described(array(evidenceSpan), 'Paragraphs of `content`, long ones by sentences. At most 500.'),
    metadata: described(
      jsonObject(),
      'What else the page says of itself: `author`, `siteName`, `type`, `image`, `keywords`, `feeds`, `jsonLd`, `mimeType`, `charset`, `pageCount` of a PDF file, and `leftOut`: what a page had too much of to be read whole.',
    ),
    data: described(
      optional(jsonObject()),
      'With `schema`: what the page says of it. Valid by the schema but for what `dataErrors` names.',
    ),
    dataEvidence: described(optional(array(dataEvidence)), 'With `schema`: where each value of `data` comes from.'),
    dataErrors: described(
      optional(array(object({ path: string({ description: 'JSON Pointer.' }), message: string() }))),
      'With `schema`: what it requires and the page does not say, and what the page says that it does not allow.',
    ),
    untrusted,
  },
  { title: 'WebExtract', description: 'What a page says.' },
)

/** Texts of pages of the public web. */
export const webExtract = defineOperations('web', {
  extract: {
    ...ofWeb,
    summary: 'Extract the text of a page',
    description:
      'Reads a page as `web.fetch` does, and PDF files as well. A page with an error status is refused with `fetch_failed`. Navigation, forms, comments and advertisements are left out.',
    method: 'POST',
    path: '/v1/web/extract',
    body: object({
      ...pageRequest,
      format: described(defaulted(oneOf('text', 'markdown'), 'text'), 'Form of `content`. Default: `text`.'),
      schema: described(
        optional(jsonObject({ maxBytes: maxSchemaBytes })),
        'JSON Schema of an object, at most 32 KiB: `data` is what the page says of its properties, found by their names and titles in structured data, tables, labelled lines and headings.',
      ),
    }),
    answer: answersJson(extracted),
    errors: pageErrors,
    idempotency: 'ignored',
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly webExtract: typeof webExtract
  }
}
