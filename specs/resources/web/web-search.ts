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
  number,
  object,
  optional,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'
import { ofWeb, untrusted } from './web-fields.ts'
import { maxSearchLength, maxSearchResults } from './web-limits.ts'

const result = object(
  {
    id: id('wpg'),
    title: string(),
    url: string({ description: 'URL at which the page was read.' }),
    canonicalUrl: string(),
    snippet: string({ description: 'Best-matching passage of the page. Untrusted.' }),
    score: described(number(), 'From 0 to 1. Results are ordered by it.'),
    contentHash: string(),
    retrievedAt: timestamp(),
    publishedAt: nullable(timestamp()),
    evidence: object(
      { quote: string(), contentHash: string(), retrievedAt: timestamp() },
      { title: 'WebEvidence', description: 'Evidence of the content of the page at the time it was fetched.' },
    ),
    corpus: described(
      string(),
      'Index that contains the page: `project`; `shared`, which every project can search; or `engine` for results of a third-party engine, whose pages were not fetched.',
    ),
    signals: described(
      optional(jsonObject()),
      'Parts of the score. Present with `explain`: `relevance`, `lexical`, `semantic`, `title`, `authority`, `freshness`, `quality`, `spam` and `diversity`.',
    ),
  },
  { title: 'WebSearchResult', description: 'A page that matches a query.' },
)

/** Searches of crawled pages. */
export const webSearch = defineOperations('web', {
  search: {
    ...ofWeb,
    summary: 'Search pages',
    description:
      'Searches the pages that the project has crawled, and the shared corpus of the installation. The query does not leave the server unless `engine` names a third-party engine. Results are ranked by keywords, embeddings (where the server has an embedder), title, inbound links from other hosts, age, quality and spam signals. Mirrors are omitted, and results from different hosts alternate.',
    method: 'POST',
    path: '/v1/web/search',
    body: object({
      query: string({ minLength: 1, maxLength: maxSearchLength }),
      limit: described(
        defaulted(integer({ min: 1, max: maxSearchResults }), 10),
        'Maximum number of results. Default: 10.',
      ),
      domain: described(
        optional(string({ minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9.:\\[\\]-]+$' })),
        'Only pages of this host and its subdomains.',
      ),
      freshness: described(
        optional(string({ minLength: 2, maxLength: 40 })),
        'Only pages that were published since a time, or within a duration such as `24h`, `7d`, `2w`, `3m` (months) or `1y`. Pages without a date are excluded.',
      ),
      language: described(
        optional(string({ minLength: 2, maxLength: 35, pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$' })),
        'Only pages in this language, a BCP 47 tag.',
      ),
      engine: described(
        optional(string({ minLength: 1, maxLength: 32 })),
        'Name of a third-party engine that the operator has configured. It receives the query. Default: the built-in index.',
      ),
      explain: described(optional(boolean()), 'Whether to return the parts of each score.'),
    }),
    answer: isJsonResponse(
      object({
        query: string(),
        count: integer(),
        searchEngine: string({
          description:
            'Identifier of the ranking, followed by `+` and the id of the embedder if vector search contributed, and by `:project-only` or `:shared-only` if the other index could not be searched. With `engine`, the name of that engine.',
        }),
        results: array(result),
        untrusted,
      }),
    ),
    errors: ['fetch_failed', 'fetch_timeout'],
    idempotency: 'ignored',
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly webSearch: typeof webSearch
  }
}
