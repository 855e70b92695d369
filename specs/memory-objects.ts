import {
  array,
  boolean,
  defaulted,
  described,
  id,
  integer,
  json,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  timeOrDay,
  timestamp,
} from './dsl/schema.ts'
import { freeFields, metadata } from './tools.ts'

/** Maximum length of a content in characters; longer content is refused. */
export const maxMemoryLength = 32 * 1024

/** Size of a content in bytes beyond which it is stored with a warning, and only found by its beginning. */
export const softMemoryBytes = 10 * 1024

/** Maximum number of hits that relations add to a search, in addition to `topK`. */
export const maxGraphHits = 3

/** Maximum number of memories in a batch. */
export const maxMemoryBatch = 50

const word = (description: string) => string({ minLength: 1, maxLength: 256, description })

const scopes = oneOf('user', 'session')

/** The user of a memory: a user of the project, or of the tenant that `X-Tenant-Id` names. */
export const userFields = {
  userId: optional(
    word(
      'Your own id of the end user. Required unless `X-External-User-Id` names the user. With `X-Tenant-Id` the user is of that tenant.',
    ),
  ),
}

/** The user in operations that also accept the alias `user`. */
export const userOrAlias = { ...userFields, user: optional(word('Alias of `userId`.')) }

/** Place within a user's memory. */
export const placeFields = {
  scope: described(
    optional(scopes),
    '`user` memories persist; `session` memories belong to `sessionId` and end with it. Default: `user`, or `session` with a `sessionId` and no scope in a search.',
  ),
  sessionId: optional(word('Session that the memory belongs to.')),
  namespace: optional(word('Partition of the memory of a user.')),
}

/** A relation between two things, given by the caller or extracted. */
export const fact = object(
  {
    subject: string({ minLength: 1, maxLength: 256 }),
    relation: string({ minLength: 1, maxLength: 128 }),
    object: string({ minLength: 1, maxLength: 1024 }),
    single: described(
      optional(boolean()),
      'Whether the subject has only one such object at a time, so that a newer fact supersedes an older one.',
    ),
    valid_from: optional(timeOrDay()),
  },
  { title: 'MemoryFact', description: 'A relation of a subject to an object.' },
)

const facts = optional(
  described(array(fact, { maxItems: 32 }), 'Facts in the content. They are stored as given, without a model call.'),
)

/** Fields of a memory to write, other than its user. */
export const contentFields = {
  content: string({
    minLength: 1,
    maxLength: maxMemoryLength,
    description:
      'Text to remember. Only the first 10 KB are searchable; longer text is stored, and the response contains a warning.',
  }),
  importance: optional(number({ min: 0, max: 1, description: 'Weight from 0 to 1. Default: 0.5.' })),
  metadata,
  speaker: optional(
    word(
      'Who said it, in a conversation of several people. A query that names a speaker ranks what that speaker said first.',
    ),
  ),
  observed_at: optional(timeOrDay()),
  valid_from: optional(timeOrDay()),
  valid_to: optional(timeOrDay()),
  pinned: optional(described(boolean(), 'Whether the memory belongs to the profile that every recall starts with.')),
  facts,
}

/** An exchange to remember. */
export const exchangeFields = {
  user: string({ minLength: 1, maxLength: maxMemoryLength, description: 'What the user said.' }),
  assistant: defaulted(string({ maxLength: maxMemoryLength, description: 'What the assistant replied.' }), ''),
  importance: optional(number({ min: 0, max: 1, description: 'Weight from 0 to 1. Default: 0.5.' })),
  metadata,
  observed_at: optional(timeOrDay()),
  facts,
  extract: optional(
    object({
      model: optional(word('Model that extracts the facts.')),
      prompt: optional(string({ minLength: 1, maxLength: 16_384 })),
      minImportance: optional(number({ min: 0, max: 1 })),
    }),
  ),
}

const exported = () => optional(array(jsonObject(), { maxItems: 500 }))
const pageOfExport = described(optional(json()), 'Ignored, so that a page of an export can be sent unchanged.')

/** Memories of an export of ours (`memories`) or of Mem0 (`results`), and the fields of its pages. */
export const importFields = {
  memories: exported(),
  results: exported(),
  relations: described(
    exported(),
    'Edges of a Mem0 graph (`source`, `relationship`, `target`); each becomes a memory with one fact.',
  ),
  nextCursor: pageOfExport,
  truncated: pageOfExport,
  count: pageOfExport,
  next: pageOfExport,
  previous: pageOfExport,
}

/** Fields that a PATCH may change. */
export const changedFields = {
  content: optional(string({ minLength: 1, maxLength: maxMemoryLength })),
  importance: optional(number({ min: 0, max: 1 })),
  metadata: optional(freeFields),
  namespace: optional(nullable(word('Partition of the memory of a user.'))),
  observed_at: optional(timeOrDay()),
  valid_from: optional(nullable(timeOrDay())),
  valid_to: optional(nullable(timeOrDay())),
  pinned: optional(boolean()),
}

/** Options of a write. */
export const writeMode = {
  wait: optional(
    described(boolean(), 'Whether to wait until the embedding of the memory has been computed. Default: false.'),
  ),
  dry_run: optional(described(boolean(), 'If true, nothing is stored, and the response shows what would be stored.')),
}

const storedFact = object({
  subject: string(),
  relation: string(),
  object: string(),
  single: boolean(),
  valid_from: nullable(timestamp()),
})

/** A part of a content that a newer memory superseded. */
const supersededPart = object({
  content: string(),
  valid_to: timestamp(),
  superseded_by: described(string(), 'The memory that superseded it.'),
})

/** What is suspected of a content. */
export const memoryFlags = described(
  array(oneOf('instructions')),
  '`instructions`: the content seems to contain instructions to a model. It is found by searches, but never given to a model.',
)

/** A complete stored memory. */
export const memory = object(
  {
    id: id('mem'),
    userId: string(),
    tenant_id: nullable(string()),
    content: string(),
    scope: scopes,
    sessionId: nullable(string()),
    namespace: nullable(string()),
    importance: number(),
    pinned: boolean(),
    metadata: freeFields,
    source: described(string(), 'Origin of the memory: `write`, `remember`, `import`, `chat`, `session`, `run` …'),
    speaker: described(nullable(string()), 'Who said it.'),
    facts: array(storedFact),
    redacted: described(array(string()), 'Kinds of personal data that were redacted from the content.'),
    observed_at: timestamp(),
    valid_from: nullable(timestamp()),
    valid_to: nullable(timestamp()),
    superseded_by: nullable(string()),
    superseded: described(
      array(supersededPart),
      'Parts of the content that newer memories superseded while others hold.',
    ),
    flags: memoryFlags,
    embedder: described(nullable(string()), 'Embedder of the stored vector; null until the vector has been computed.'),
    created_at: timestamp(),
    updated_at: timestamp(),
    expires_at: nullable(timestamp()),
  },
  { title: 'Memory', description: 'A fact or text that is remembered about an end user.' },
)

/** Cost fields in the response of every write. */
export const costFields = {
  costUsd: described(number(), 'Cost of model calls and embeddings of this request in USD.'),
  model: described(nullable(string()), 'Model that was called; null when none was.'),
  provider: described(nullable(string()), 'Provider that answered; null when none was called.'),
}

const place = described(number(), 'Part of the score.')

/** A hit of a search. */
export const memoryHit = object(
  {
    id: id('mem'),
    content: string(),
    score: number(),
    source: described(oneOf('vector', 'graph'), 'Whether the search or a relation of the graph found it.'),
    match: described(
      optional(oneOf('lexical', 'vector', 'both')),
      'Whether words of the query, its meaning or both match. Absent on hits of the graph.',
    ),
    superseded: described(
      optional(array(supersededPart)),
      'Parts of the stored content that no longer hold; `content` is what holds.',
    ),
    may_be_superseded_by: described(
      optional(string()),
      'A newer memory among the results, which precedes this one and may supersede it. Present when that is not sure.',
    ),
    flags: optional(memoryFlags),
    hops: optional(
      integer({ description: 'Number of relations between the named entity and the fact. Only on hits of the graph.' }),
    ),
    scope: scopes,
    sessionId: nullable(string()),
    namespace: nullable(string()),
    metadata: freeFields,
    observed_at: timestamp(),
    valid_to: nullable(timestamp()),
    parts: optional(object({ lexical: optional(place), vector: optional(place) }, { open: true })),
  },
  { title: 'MemoryHit', description: 'A memory that matches the query.' },
)

/** Query parameters of lists with `nextCursor`. */
export const pageFields = {
  limit: described(defaulted(integer({ min: 1, max: 100 }), 20), 'Maximum number of items on a page.'),
  cursor: optional(
    string({
      maxLength: 1024,
      description: 'Where the page starts: `nextCursor` of the previous page. Default: the first page.',
    }),
  ),
}
