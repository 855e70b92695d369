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
  string,
  timestamp,
} from '#specs/dsl/schema.ts'
import { pageErrors } from '#specs/errors/web-errors.ts'
import { ofWeb, pageRequest, untrusted } from './web-fields.ts'

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

const extracted = object(
  {
    url: string({ description: 'Address of the request.' }),
    canonicalUrl: string({ description: 'Address that the page names as its own, or the one it came from.' }),
    title: string(),
    description: string(),
    language: string({ description: 'Language as a BCP 47 tag; `und` when the page does not say.' }),
    content: string({ description: 'Text of the page without what frames it.' }),
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
      'Reads a page as `web.fetch` does, and PDF files beside; a page that does not answer with a status of success is `fetch_failed`. Navigation, forms, comments and advertisements are left out.',
    method: 'POST',
    path: '/v1/web/extract',
    body: object({
      ...pageRequest,
      format: described(defaulted(oneOf('text', 'markdown'), 'text'), 'Form of `content`. Default: `text`.'),
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
