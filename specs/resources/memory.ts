import { type Access, secretKeyOnly, secretKeyOrDashboard } from '../access.ts'
import { answersJson } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import {
  array,
  boolean,
  constant,
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
  timeOrDay,
  timestamp,
} from '../dsl/schema.ts'
import {
  changedFields,
  contentFields,
  costFields,
  exchangeFields,
  fact,
  maxMemoryBatch,
  memoryHit,
  memory as memoryObject,
  pageFields,
  placeFields,
  userFields,
  userOrAlias,
  writeMode,
} from '../memory-objects.ts'

const one = '/v1/memory/{memory_id}'
const group = { name: 'memory', ofTenants: 'user' } as const
const common = { access: secretKeyOnly, envelope: 'memory' } as const
/** Members look at what is remembered; a search changes nothing either. */
const shown: Access = { ...secretKeyOrDashboard('member'), changes: 'member' }
const looked = { ...common, access: shown } as const
const quotas = ['memory_quota_exceeded', 'memory_ops_quota_exceeded', 'memory_refused'] as const

const written = {
  ...costFields,
  embedding: described(oneOf('done', 'pending', 'none'), 'Whether the memory has its vector.'),
  warnings: array(string()),
}

const writtenOne = object({
  id: id('mem'),
  duplicate: optional(described(constant(true), 'The memory was stored already; `id` is that of the stored one.')),
})

const rememberFields = {
  ...userFields,
  ...placeFields,
  ...exchangeFields,
  wait: described(
    defaulted(boolean(), true),
    'Whether the response is sent when the exchange is remembered. With false it is sent at once, with the receipt.',
  ),
  dry_run: writeMode.dry_run,
}

const receiptFields = {
  status: oneOf('pending', 'success', 'error'),
  extracted: optional(described(integer(), 'Number of facts that were found.')),
  written: optional(described(integer(), 'Number of memories that were stored.')),
  memories: optional(array(writtenOne)),
  extractor: optional(described(oneOf('given', 'rules', 'model'), 'What extracted the facts.')),
  error: optional(object({ code: string(), message: string() })),
  ...costFields,
}

const receipt = object(
  { request_id: string({ format: 'uuid' }), ...receiptFields, attempts: integer() },
  { title: 'MemoryReceipt', description: 'Where a write of memory stands.' },
)

const remembered = object({
  request_id: described(nullable(string({ format: 'uuid' })), 'Receipt; null for a dry run.'),
  ...receiptFields,
  facts: optional(described(array(fact), 'What a dry run would store.')),
})

/** What is remembered of end users: written, searched, changed and removed by a secret key. */
export const memory = defineOperations(group, {
  write: {
    ...common,
    summary: 'Write a memory',
    description:
      'Stores the content as it is, without personal data that the policy of the project redacts. It is found by its words at once, and by its vector when that is made. A fact that contradicts an older one supersedes it. Content with a secret in it is refused.',
    method: 'POST',
    path: '/v1/memory/write',
    body: object({ ...userOrAlias, ...contentFields, ...placeFields, ...writeMode }),
    answer: answersJson(
      object({
        id: id('mem'),
        duplicate: optional(constant(true)),
        superseded: described(array(id('mem')), 'Memories whose facts this one ended.'),
        redacted: array(string()),
        ...written,
      }),
      { status: 201 },
    ),
    errors: quotas,
  },
  write_batch: {
    ...common,
    summary: 'Write up to 50 memories',
    description:
      'One check of the quota, one durable write and one call for embeddings for all. All are stored or none.',
    method: 'POST',
    path: '/v1/memory/write/batch',
    maxBodyBytes: 2 * 1024 * 1024,
    body: object({
      ...userOrAlias,
      ...placeFields,
      ...writeMode,
      memories: array(object({ ...contentFields, ...placeFields }), { minItems: 1, maxItems: maxMemoryBatch }),
    }),
    answer: answersJson(object({ memories: described(array(writtenOne), 'One per item, in order.'), ...written }), {
      status: 201,
    }),
    errors: quotas,
  },
  search: {
    ...looked,
    summary: 'Search memories',
    description:
      "Searches one user's memories by words and meaning, and follows relations of entities that the query names.",
    method: 'POST',
    path: '/v1/memory/search',
    body: object({
      ...userOrAlias,
      ...placeFields,
      query: string({ minLength: 1, maxLength: 4096 }),
      topK: defaulted(integer({ min: 1, max: 100 }), 5),
      threshold: described(
        defaulted(number({ min: 0, max: 1 }), 0.7),
        'Least score of a hit. With 0 every hit is returned. When no hit reaches it, `abstained` is true.',
      ),
      asOf: described(optional(timeOrDay()), 'Searches the memories as of this time.'),
      graph: described(defaulted(boolean(), true), 'Whether relations are followed, beside words and vectors.'),
      mode: described(
        defaulted(oneOf('inject', 'index'), 'inject'),
        '`index` returns a one-line summary in place of each content.',
      ),
      explain: described(defaulted(boolean(), false), 'Shows the parts of each score, and what was left out and why.'),
    }),
    answer: answersJson(
      object({
        results: array(memoryHit),
        abstained: described(boolean(), 'No stored memory answers the query.'),
        embedder: nullable(string()),
        left_out: optional(array(object({ id: string(), reason: string(), score: optional(number()) }))),
        ...costFields,
      }),
    ),
    errors: ['memory_ops_quota_exceeded'],
    idempotency: 'ignored',
  },
  list: {
    ...looked,
    summary: "List a user's memories",
    description: 'Newest first.',
    method: 'GET',
    path: '/v1/memory/list',
    query: {
      ...userOrAlias,
      ...placeFields,
      ...pageFields,
      superseded: described(defaulted(boolean(), true), 'Include memories that newer facts ended.'),
    },
    answer: answersJson(
      object({
        memories: array(memoryObject),
        count: described(integer(), 'Number of memories on this page.'),
        nextCursor: nullable(string()),
      }),
    ),
    errors: ['invalid_field'],
  },
  get: {
    ...looked,
    summary: 'Retrieve a memory',
    method: 'GET',
    path: one,
    answer: answersJson(memoryObject),
    errors: ['not_found'],
  },
  update: {
    ...common,
    summary: 'Change a memory',
    description: 'The previous content stays in the history.',
    method: 'PATCH',
    path: one,
    body: object(changedFields),
    answer: answersJson(memoryObject),
    errors: ['not_found', 'version_conflict', 'memory_refused', 'memory_ops_quota_exceeded'],
  },
  delete: {
    ...common,
    access: secretKeyOrDashboard('admin'),
    summary: 'Delete a memory',
    description: 'Deletes the memory for good, with its vector and its index entry.',
    method: 'DELETE',
    path: one,
    answer: answersJson(object({ id: id('mem'), deleted: constant(true) })),
    errors: ['not_found'],
  },
  history: {
    ...looked,
    summary: 'Retrieve the history of a memory',
    description:
      'Returns the earlier contents of the memory, the memories that it superseded and those that superseded it, oldest first.',
    method: 'GET',
    path: '/v1/memory/{memory_id}/history',
    answer: answersJson(
      object({
        id: id('mem'),
        history: array(
          object({
            id: id('mem'),
            content: string(),
            valid_from: nullable(timestamp()),
            valid_to: nullable(timestamp()),
            at: described(timestamp(), 'Time of the writing.'),
            event: oneOf('written', 'changed', 'superseded'),
          }),
        ),
      }),
    ),
    errors: ['not_found'],
  },
  remember: {
    ...common,
    summary: 'Remember an exchange',
    description:
      'Extracts what is worth remembering of an exchange and stores it: as `facts` say, by a model, or by rules where no provider has a key. With `extracted: 0` the exchange held nothing worth remembering. With `wait: false` the response is the receipt, at once.',
    method: 'POST',
    path: '/v1/memory/remember',
    body: object(rememberFields),
    answer: answersJson(remembered, { status: 201 }),
    errors: quotas,
  },
  receipt: {
    ...common,
    summary: 'Retrieve the receipt of a write',
    description: 'A receipt can be read for a day after its write has ended.',
    method: 'GET',
    path: '/v1/memory/writes/{request_id}',
    answer: answersJson(receipt),
    errors: ['not_found'],
  },
  graph: {
    ...looked,
    summary: 'Walk the relations of an entity',
    method: 'GET',
    path: '/v1/memory/graph',
    query: {
      ...userFields,
      entity: described(optional(string({ minLength: 1, maxLength: 256 })), 'Name of the first entity. Required.'),
      hops: described(defaulted(integer({ min: 1, max: 4 }), 2), 'Most relations between the entity and a result.'),
    },
    answer: answersJson(
      object({
        seed: string(),
        nodes: array(object({ name: string(), hops: integer(), path: array(string()) })),
        edges: array(object({ source: string(), relation: string(), target: string() })),
      }),
    ),
    errors: ['invalid_field'],
  },
  graph_remember: {
    ...common,
    summary: 'Remember an exchange into the graph',
    description: 'Works as `memory.remember`. Every stored fact is an edge of the graph.',
    method: 'POST',
    path: '/v1/memory/graph',
    body: object(rememberFields),
    answer: answersJson(remembered, { status: 201 }),
    errors: quotas,
  },
  entities: {
    ...looked,
    summary: "List the entities of a user's memories",
    description: 'Entities with the most relations come first.',
    method: 'GET',
    path: '/v1/memory/entities',
    query: { ...userFields, limit: defaulted(integer({ min: 1, max: 500 }), 100) },
    answer: answersJson(object({ entities: array(object({ name: string(), relations: integer() })) })),
    errors: ['invalid_field'],
  },
  import: {
    ...common,
    summary: 'Import memories',
    description:
      'Takes the `memories` of `memory.export`, or an export of Mem0 (`memory`, `metadata`, `created_at`, or the whole export under `results`). Memories that are stored already are not stored twice.',
    method: 'POST',
    path: '/v1/memory/import',
    maxBodyBytes: 4 * 1024 * 1024,
    body: object({
      ...userFields,
      memories: optional(array(jsonObject(), { maxItems: 500 })),
      results: optional(array(jsonObject(), { maxItems: 500 })),
    }),
    answer: answersJson(
      object({ imported: integer(), duplicates: integer(), memories: array(writtenOne), warnings: array(string()) }),
      { status: 201 },
    ),
    errors: quotas,
  },
  forget_suggestions: {
    ...looked,
    summary: 'List memories that may be forgotten',
    description: 'Weakest first. Nothing is removed.',
    method: 'GET',
    path: '/v1/memory/forget-suggestions',
    query: {
      ...userFields,
      minIdleDays: described(defaulted(integer({ min: 0, max: 3650 }), 30), 'Least number of days without a hit.'),
      limit: defaulted(integer({ min: 1, max: 100 }), 20),
    },
    answer: answersJson(
      object({
        suggestions: array(
          object({
            id: id('mem'),
            content: string(),
            strength: described(number(), 'From 0, weakest.'),
            idle_days: integer(),
            reason: oneOf('superseded', 'expired', 'unused', 'unimportant'),
          }),
        ),
      }),
    ),
    errors: ['invalid_field'],
  },
  forget: {
    ...common,
    summary: 'Forget memories by filter',
    description:
      'Deletes the memories of a user that match every given filter, or all of them without a filter. The deletion is written to the audit log. Repeat the request while `truncated` is true.',
    method: 'POST',
    path: '/v1/memory/forget',
    body: object({
      ...userFields,
      before: described(optional(timeOrDay()), 'Written before this time.'),
      namespace: optional(string({ minLength: 1, maxLength: 256 })),
      sessionId: optional(string({ minLength: 1, maxLength: 256 })),
      ids: optional(array(string({ maxLength: 64 }), { maxItems: 1000 })),
      dry_run: optional(boolean()),
    }),
    answer: answersJson(
      object({
        forgotten: integer(),
        truncated: boolean(),
        receipt: object({
          at: timestamp(),
          surfaces: described(
            array(object({ surface: string(), removed: integer() })),
            'Every place that memories are kept in, and what was removed there.',
          ),
        }),
      }),
    ),
  },
  export: {
    ...common,
    summary: "Export a user's memories",
    description: 'Oldest first. Follow `nextCursor` until `truncated` is false.',
    method: 'POST',
    path: '/v1/memory/export',
    idempotency: 'ignored',
    body: object({ ...userFields, cursor: pageFields.cursor, limit: optional(integer({ min: 1, max: 500 })) }),
    answer: answersJson(
      object({ memories: array(memoryObject), nextCursor: nullable(string()), truncated: boolean() }),
    ),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly memory: typeof memory
  }
}
