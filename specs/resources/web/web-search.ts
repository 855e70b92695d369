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
    url: string({ description: 'Address that the page was read at.' }),
    canonicalUrl: string(),
    snippet: string({ description: 'Passage of the page that fits best. Untrusted.' }),
    score: described(number(), 'From 0 to 1. Results are ordered by it.'),
    contentHash: string(),
    retrievedAt: timestamp(),
    publishedAt: nullable(timestamp()),
    evidence: object(
      { quote: string(), contentHash: string(), retrievedAt: timestamp() },
      { title: 'WebEvidence', description: 'What the page said, and when.' },
    ),
    corpus: described(
      string(),
      '`project`, `shared` for pages that every project finds, or `engine` for what an engine of a third party named: nothing of that was read.',
    ),
    signals: described(
      optional(jsonObject()),
      'Parts of the score, with `explain`: `relevance`, `lexical`, `semantic`, `title`, `authority`, `freshness`, `quality`, `spam` and `diversity`.',
    ),
  },
  { title: 'WebSearchResult', description: 'A page that answers a query.' },
)

/** Searches of the own index. */
export const webSearch = defineOperations('web', {
  search: {
    ...ofWeb,
    summary: 'Search pages',
    description:
      'Searches the pages that the project has crawled, and the shared corpus of the installation. No query leaves the server, unless `engine` names an engine of a third party. Ranked by words, vectors where the server has an embedder, title, links of other hosts, age, quality and signs of spam; mirrors are left out, and hosts take turns.',
    method: 'POST',
    path: '/v1/web/search',
    body: object({
      query: string({ minLength: 1, maxLength: maxSearchLength }),
      limit: described(defaulted(integer({ min: 1, max: maxSearchResults }), 10), 'Most results. Default: 10.'),
      domain: described(
        optional(string({ minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9.:\\[\\]-]+$' })),
        'Only pages of this host and of hosts below it.',
      ),
      freshness: described(
        optional(string({ minLength: 2, maxLength: 40 })),
        'Only pages that were published since: a time, or a duration such as `24h`, `7d`, `2w`, `3m` (months) or `1y`. A page without a date is not fresh.',
      ),
      language: described(
        optional(string({ minLength: 2, maxLength: 35, pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$' })),
        'Only pages in this language, a BCP 47 tag.',
      ),
      engine: described(
        optional(string({ minLength: 1, maxLength: 32 })),
        'Engine of a third party, by the name that the operator gave it: it sees the query. `searchEngine` names it in the answer. Default: the own index.',
      ),
      explain: described(optional(boolean()), 'Shows the parts of each score.'),
    }),
    answer: answersJson(
      object({
        query: string(),
        count: integer(),
        searchEngine: string({
          description:
            'Identifier of the ranking. `+` and the id of an embedder follow when vectors take part. With `engine`, its name.',
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
