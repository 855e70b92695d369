import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { boolean, described, integer, nullable, object, string, timestamp } from '#specs/dsl/schema.ts'
import { pageErrors } from '#specs/errors/web-errors.ts'
import { ofWeb, pageRequest, renderOption, untrusted } from './web-fields.ts'

const header = nullable(string())

const fetched = object(
  {
    url: string({ description: 'Requested URL.' }),
    finalUrl: string({ description: 'URL after redirects.' }),
    statusCode: described(integer(), 'HTTP status of the page. Error pages are returned too.'),
    mimeType: string({ description: 'Media type of the page, without parameters.' }),
    charset: string({ description: 'Character encoding with which the bytes were decoded.' }),
    body: string({ description: 'Unmodified text of the page; what its scripts have made of it if it was rendered.' }),
    rendered: described(boolean(), 'Whether the page was rendered in a browser.'),
    bytes: described(integer(), 'Size of the page in bytes after decompression.'),
    contentHash: string({ description: 'SHA-256 of the bytes, as `sha256:` and hex.' }),
    retrievedAt: timestamp(),
    cache: object(
      { etag: header, lastModified: header, cacheControl: header, expires: header, age: header },
      { title: 'WebCacheHeaders', description: 'Caching headers of the page.' },
    ),
    untrusted,
  },
  { title: 'WebPage', description: 'A page as received from its server.' },
)

/** Fetching of pages of the public web, without extraction. */
export const webFetch = defineOperations('web', {
  fetch: {
    ...ofWeb,
    summary: 'Fetch a page',
    description:
      'Reads HTML, XHTML, JSON, JSON-LD, XML, Markdown and plain text from the public internet. Follows at most 5 redirects and checks each of them. Addresses in private networks, URLs with credentials, and pages that robots.txt disallows are refused, as are all pages of a site that fails to deliver its robots.txt.',
    method: 'POST',
    path: '/v1/web/fetch',
    body: object({ ...pageRequest, render: renderOption(false) }),
    answer: isJsonResponse(fetched),
    errors: pageErrors,
    refusals: { url: 'invalid_url' },
    idempotency: 'ignored',
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly webFetch: typeof webFetch
  }
}
