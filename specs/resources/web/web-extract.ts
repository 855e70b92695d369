import { isJsonResponse } from '#specs/dsl/answer.ts'
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
import { ofWeb, pageRequest, renderOption, untrusted } from './web-fields.ts'
import { maxSchemaBytes } from './web-limits.ts'

/** A citable passage of a page. */
const evidenceSpan = object(
  {
    id: id('ev'),
    text: string(),
    start: described(integer(), 'Offset of the first character of the span in `content`, in UTF-16 code units.'),
    end: described(integer(), 'Offset after its last character.'),
  },
  { title: 'WebEvidenceSpan', description: 'A passage of a page: `content.slice(start, end)` is its text.' },
)

/** A link on a page. */
const pageLink = object(
  {
    url: string({ description: 'Absolute URL without its fragment.' }),
    text: string(),
    nofollow: described(boolean(), 'Whether the page marks the link as `nofollow`, `ugc` or `sponsored`.'),
  },
  { title: 'WebLink', description: 'A link on a page.' },
)

/** Where a value was found on the page. */
const dataEvidence = object(
  {
    path: string({ description: 'JSON Pointer of the value in `data`.' }),
    source: described(
      oneOf('json_ld', 'microdata', 'meta', 'table', 'label', 'heading'),
      'Part of the page that contains the value. Structured data takes precedence over tables, labelled lines and headings.',
    ),
    text: string({ description: 'Text on the page. Untrusted.' }),
    start: described(
      nullable(integer()),
      'Offset of its first character in `content`; null if it occurs only in structured data.',
    ),
    end: described(nullable(integer()), 'Offset after its last character.'),
  },
  { title: 'WebDataEvidence', description: 'Source of a value in `data`.' },
)

const extracted = object(
  {
    url: string({ description: 'Requested URL.' }),
    canonicalUrl: string({
      description: 'Canonical URL that the page declares, or the URL from which it was fetched.',
    }),
    title: string(),
    description: string(),
    language: string({ description: 'Language as a BCP 47 tag; `und` if the page does not declare one.' }),
    content: string({ description: 'Main text of the page.' }),
    contentHash: string({ description: 'SHA-256 of `content`, as `sha256:` and hex.' }),
    retrievedAt: timestamp(),
    publishedAt: nullable(timestamp()),
    modifiedAt: nullable(timestamp()),
    links: described(array(pageLink), 'Links on the whole page, at most 1,000.'),
    evidenceSpans: described(
      array(evidenceSpan),
      'Paragraphs of `content`; long paragraphs are split into sentences. At most 500.',
    ),
    metadata: described(
      jsonObject(),
      'Further metadata of the page: `author`, `siteName`, `type`, `image`, `keywords`, `feeds`, `jsonLd`, `mimeType`, `charset`, `pageCount` of a PDF file, `contentSource` (`json_ld` if `content` is the article that the page has in JSON-LD only), `rendered` (true if the page was rendered in a browser), and `leftOut`, which lists what was omitted because the page had too much of it.',
    ),
    data: described(
      optional(jsonObject()),
      'Data that was extracted for `schema`. It conforms to the schema except for what `dataErrors` lists. Present with `schema`.',
    ),
    dataEvidence: described(optional(array(dataEvidence)), 'Source of each value in `data`. Present with `schema`.'),
    dataErrors: described(
      optional(array(object({ path: string({ description: 'JSON Pointer.' }), message: string() }))),
      'Required values that the page does not contain, and values on the page that the schema does not allow. Present with `schema`.',
    ),
    untrusted,
  },
  { title: 'WebExtract', description: 'Content extracted from a page.' },
)

/** Extraction of text from pages of the public web. */
export const webExtract = defineOperations('web', {
  extract: {
    ...ofWeb,
    summary: 'Extract the text of a page',
    description:
      'Fetches a page as `web.fetch` does, and PDF files as well. A page with an error status fails with `fetch_failed`. Navigation, forms, comments and advertisements are removed.',
    method: 'POST',
    path: '/v1/web/extract',
    body: object({
      ...pageRequest,
      render: renderOption('auto'),
      format: described(defaulted(oneOf('text', 'markdown'), 'text'), 'Format of `content`. Default: `text`.'),
      schema: described(
        optional(jsonObject({ maxBytes: maxSchemaBytes })),
        'JSON Schema of an object, at most 32 KiB. Its properties are extracted into `data`: they are located by their names and titles in structured data, tables, labelled lines and headings.',
      ),
    }),
    answer: isJsonResponse(extracted),
    errors: pageErrors,
    refusals: { url: 'invalid_url' },
    idempotency: 'ignored',
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly webExtract: typeof webExtract
  }
}
