import type { Access } from '#specs/access.ts'
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
  oneOf,
  optional,
  string,
  union,
} from '#specs/dsl/schema.ts'
import { subjectTypes } from './knowledge-grants.ts'
import { maxQueryLength, maxTopK } from './knowledge-limits.ts'

/** Callers that may search: all that may be granted a knowledge base. */
export const everyCaller: Access = {
  kinds: ['secret_key', 'agent_key', 'client_token', 'dashboard'],
  role: 'member',
  changes: 'member',
}

/** Location from which a hit comes. */
const citation = object(
  {
    source_id: id('src', 'ksr'),
    title: nullable(string()),
    page: described(
      optional(integer()),
      'Number of the page of a PDF file, or of the slide of a presentation, starting at 1.',
    ),
    start: described(integer(), 'Offset of the first character of the hit in the text of the source.'),
    end: described(integer(), 'Offset after its last character.'),
    url: optional(string()),
    filename: optional(string()),
  },
  {
    title: 'KnowledgeCitation',
    description: 'The exact location of a hit. Offsets count UTF-16 code units of the text.',
  },
)

const hit = object(
  {
    chunk_id: string(),
    source_id: id('src', 'ksr'),
    content: string(),
    score: described(
      number(),
      'Relevance from 0 to 1: how likely the hit is about the query. Comparable across queries.',
    ),
    heading: described(nullable(string()), 'Headings above the hit; in a workbook, the name of its sheet.'),
    metadata: described(jsonObject(), 'Metadata of the source.'),
    citation,
    parts: described(optional(jsonObject()), 'Components of the score. Present with `explain`.'),
  },
  { title: 'KnowledgeHit', description: 'A chunk that answers a query.' },
)

const subjectId = string({ minLength: 1, maxLength: 128 })

/** A subject, as grants name it. */
const grantedSubject = object({ subject_type: oneOf(...subjectTypes), subject_id: subjectId })

const namedSubject = object({ type: oneOf(...subjectTypes), id: subjectId })

/** Search of a knowledge base. */
export const knowledgeSearch = defineOperations('knowledge_bases', {
  search: {
    summary: 'Search a knowledge base',
    description:
      'Returns the chunks that answer the query, best first, each with the exact location that it comes from. Grants and filters are applied before ranking. A client token or an agent key finds only what its tenant, user, installations or agent have been granted.',
    method: 'POST',
    path: '/v1/knowledge-bases/{knowledge_base_id}/search',
    access: everyCaller,
    ofTenants: 'user',
    body: object({
      query: described(
        string({ minLength: 1, maxLength: maxQueryLength }),
        'Question or words, up to 20,000 characters. Up to 5,000 different words of it are searched; by meaning, its first 2,000 characters.',
      ),
      top_k: described(defaulted(integer({ min: 1, max: maxTopK }), 5), 'Maximum number of hits. Default: 5.'),
      filter: described(
        optional(jsonObject({ maxBytes: 8192 })),
        'Metadata that a source must have, such as `{"lang": "en", "year": [2025, 2026]}`; a list matches any of its values. `source_id` filters by source.',
      ),
      subject: described(
        optional(union([grantedSubject, namedSubject])),
        'Subject to search as, with only its grants: `subject_type` and `subject_id` of a grant, or `type` and `id`. Only for secret keys and the dashboard.',
      ),
      threshold: described(
        defaulted(number({ min: 0, max: 1 }), 0),
        'Minimum score of a hit. Default: 0, which excludes none.',
      ),
      explain: described(optional(boolean()), 'Whether to return the parts of each score and what was left out.'),
    }),
    answer: isJsonResponse(
      object({
        data: array(hit),
        abstained: described(
          boolean(),
          'True if no chunk passes the filter and the threshold: the knowledge base does not answer the query.',
        ),
        embedder: described(nullable(string()), 'Embedder of the query. Null if only keywords were searched.'),
        left_out: described(optional(array(jsonObject())), 'What was left out, and why. Present with `explain`.'),
      }),
    ),
    idempotency: 'ignored',
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly knowledgeSearch: typeof knowledgeSearch
  }
}
