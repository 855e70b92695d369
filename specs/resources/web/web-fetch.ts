import { answersJson } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { described, integer, nullable, object, string, timestamp } from '#specs/dsl/schema.ts'
import { pageErrors } from '#specs/errors/web-errors.ts'
import { ofWeb, pageRequest, untrusted } from './web-fields.ts'

const header = nullable(string())

const fetched = object(
  {
    url: string({ description: 'Address of the request.' }),
    finalUrl: string({ description: 'Address after redirects.' }),
    statusCode: described(integer(), 'Status that the page came with; also of an error page.'),
    mimeType: string({ description: 'Type of the page, without parameters.' }),
    charset: string({ description: 'Encoding that the bytes were read in.' }),
    body: string({ description: 'Text of the page as it came.' }),
    bytes: described(integer(), 'Size of the page after decompression.'),
    contentHash: string({ description: 'SHA-256 of the bytes, as `sha256:` and hex.' }),
    retrievedAt: timestamp(),
    cache: object(
      { etag: header, lastModified: header, cacheControl: header, expires: header, age: header },
      { title: 'WebCacheHeaders', description: 'Headers of the page about its freshness.' },
    ),
    untrusted,
  },
  { title: 'WebPage', description: 'A page as its server sent it.' },
)

/** Pages of the public web as they come. */
export const webFetch = defineOperations('web', {
  fetch: {
    ...ofWeb,
    summary: 'Fetch a page',
    description:
      'Reads HTML, XHTML, JSON, JSON-LD, XML, Markdown and plain text from the public internet. Follows at most 5 redirects and checks each of them. Private networks, credentials in URLs and what robots.txt denies are refused.',
    method: 'POST',
    path: '/v1/web/fetch',
    body: object(pageRequest),
    answer: answersJson(fetched),
    errors: pageErrors,
    idempotency: 'ignored',
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly webFetch: typeof webFetch
  }
}
