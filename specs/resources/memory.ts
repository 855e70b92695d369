import { type Access, secretKeyOrConsole, secretKeyOrDashboard } from '../access.ts'
import { isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import {
  array,
  boolean,
  constant,
  defaulted,
  described,
  id,
  integer,
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
  batchedOne,
  forgetReceipt,
  receipt,
  remembered,
  rememberFields,
  written,
  writtenOne,
} from '../memory-answers.ts'
import {
  changedFields,
  contentFields,
  costFields,
  importFields,
  maxGraphHits,
  maxMemoryBatch,
  memoryFlags,
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
const common = { access: secretKeyOrConsole, envelope: 'memory' } as const
/** Members may read memories, and search them, since a search changes nothing. */
const shown: Access = { ...secretKeyOrDashboard('member'), changes: 'member' }
const readable = { ...common, access: shown } as const
const quotas = ['memory_quota_exceeded', 'memory_ops_quota_exceeded', 'memory_refused'] as const

/** Memories of end users, which a secret key writes, searches, changes and removes. */
export const memory = defineOperations(group, {
  write: {
    ...common,
    summary: 'Write a memory',
    description:
      "Stores the content verbatim, except for personal data that the project's redaction policy removes. Keyword search finds it immediately; vector search finds it once its embedding has been computed. A statement that contradicts an older one, or updates it, supersedes it. Content that contains a secret is refused; content that seems to instruct a model is flagged, and never given to one. No relations are extracted from the content: use `facts`, or `memory.remember`.",
    method: 'POST',
    path: '/v1/memory/write',
    body: object({ ...userOrAlias, ...contentFields, ...placeFields, ...writeMode }),
    answer: isJsonResponse(
      object({
        id: id('mem'),
        duplicate: optional(constant(true)),
        superseded: described(array(id('mem')), 'Memories whose facts this one superseded.'),
        redacted: array(string()),
        flags: memoryFlags,
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
      'Checks the quota once, stores all memories in one write, and requests their embeddings in one call. An item that is refused does not affect the others; 422 if none can be stored.',
    method: 'POST',
    path: '/v1/memory/write/batch',
    maxBodyBytes: 2 * 1024 * 1024,
    body: object({
      ...userOrAlias,
      ...placeFields,
      ...writeMode,
      memories: array(object({ ...contentFields, ...placeFields }), { minItems: 1, maxItems: maxMemoryBatch }),
    }),
    answer: isJsonResponse(
      object({
        memories: described(
          array(batchedOne),
          'One per item, in order: its id, or the error because of which it was not stored.',
        ),
        ...written,
      }),
      {
        status: 201,
      },
    ),
    errors: quotas,
  },
  search: {
    ...readable,
    summary: 'Search memories',
    description:
      "Searches one user's memories by keywords and by meaning, and follows the relations of the entities that the query names.",
    method: 'POST',
    path: '/v1/memory/search',
    body: object({
      ...userOrAlias,
      ...placeFields,
      query: string({ minLength: 1, maxLength: 4096 }),
      topK: defaulted(integer({ min: 1, max: 100 }), 5),
      threshold: described(
        defaulted(number({ min: 0, max: 1 }), 0.7),
        'Minimum score of a hit. With 0, every hit is returned. If no hit reaches it, `abstained` is true.',
      ),
      asOf: described(optional(timeOrDay()), 'Time as of which memories are searched.'),
      graph: described(
        defaulted(boolean(), true),
        `Whether to follow relations as well, which adds at most ${maxGraphHits} hits to \`topK\`.`,
      ),
      mode: described(
        defaulted(oneOf('inject', 'index'), 'inject'),
        '`index` returns a one-line summary in place of each content.',
      ),
      explain: described(
        defaulted(boolean(), false),
        'Whether to return the parts of each score, and what was left out and why.',
      ),
    }),
    answer: isJsonResponse(
      object({
        results: array(memoryHit),
        abstained: described(boolean(), 'True if no stored memory answers the query.'),
        embedder: nullable(string()),
        left_out: described(
          optional(array(object({ id: string(), reason: string(), score: optional(number()) }))),
          'With `explain`, close memories that are not among the results: `below_threshold`, `beyond_limit`, `other_namespace`, `other_session`, `other_scope`, `no_longer_valid` or `not_yet_valid`.',
        ),
        ...costFields,
      }),
    ),
    errors: ['memory_ops_quota_exceeded'],
    idempotency: 'ignored',
  },
  list: {
    ...readable,
    summary: "List a user's memories",
    description: 'Newest first. Memories that newer facts have superseded are included unless `superseded` is false.',
    method: 'GET',
    path: '/v1/memory/list',
    query: {
      ...userOrAlias,
      ...placeFields,
      ...pageFields,
      superseded: described(defaulted(boolean(), true), 'Include memories that newer facts have superseded.'),
    },
    answer: isJsonResponse(
      object({
        memories: array(memoryObject),
        count: described(integer(), 'Number of memories on this page.'),
        nextCursor: nullable(string()),
      }),
    ),
    errors: ['invalid_field'],
  },
  get: {
    ...readable,
    summary: 'Retrieve a memory',
    description: 'Returns a memory of the user by its id. A memory of another user or scope is 404.',
    method: 'GET',
    path: one,
    answer: isJsonResponse(memoryObject),
    errors: ['not_found'],
  },
  update: {
    ...common,
    summary: 'Update a memory',
    description: 'The previous content is kept in the history.',
    method: 'PATCH',
    path: one,
    body: object(changedFields),
    answer: isJsonResponse(memoryObject),
    errors: ['not_found', 'version_conflict', 'memory_refused', 'memory_ops_quota_exceeded'],
  },
  delete: {
    ...common,
    access: secretKeyOrDashboard('admin'),
    summary: 'Delete a memory',
    description: 'Permanently deletes the memory with its vector and its index entry.',
    method: 'DELETE',
    path: one,
    answer: isJsonResponse(object({ id: id('mem'), deleted: constant(true) })),
    errors: ['not_found'],
  },
  history: {
    ...readable,
    summary: 'Retrieve the history of a memory',
    description:
      'Returns the earlier contents of the memory, the memories that it superseded, and the memories that superseded it, oldest first.',
    method: 'GET',
    path: '/v1/memory/{memory_id}/history',
    answer: isJsonResponse(
      object({
        id: id('mem'),
        history: array(
          object({
            id: id('mem'),
            content: string(),
            valid_from: nullable(timestamp()),
            valid_to: nullable(timestamp()),
            at: described(timestamp(), 'Time at which the content was written.'),
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
      'Extracts the facts worth remembering from an exchange and stores them. Facts come from `facts` if given, otherwise from a model, or from rules where no provider key is configured. `extracted: 0` means that the exchange contained nothing worth remembering. With `wait: false`, the response is a receipt and is sent immediately.',
    method: 'POST',
    path: '/v1/memory/remember',
    body: object(rememberFields),
    answer: isJsonResponse(remembered, { status: 201 }),
    errors: quotas,
  },
  receipt: {
    ...common,
    summary: 'Retrieve the receipt of a write',
    description: 'Available for one day after the write has ended. Also accepts the `write_id` of a webhook event.',
    method: 'GET',
    path: '/v1/memory/writes/{request_id}',
    answer: isJsonResponse(receipt),
    errors: ['not_found'],
  },
  graph: {
    ...readable,
    summary: 'Walk the relations of an entity',
    description:
      'Follows the relations that memories of the user state, from `entity` on, and returns each entity with its path and distance.',
    method: 'GET',
    path: '/v1/memory/graph',
    query: {
      ...userFields,
      entity: described(optional(string({ minLength: 1, maxLength: 256 })), 'Name of the first entity. Required.'),
      hops: described(
        defaulted(integer({ min: 1, max: 4 }), 2),
        'Maximum number of relations between the entity and a result.',
      ),
    },
    answer: isJsonResponse(
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
    summary: 'Remember an exchange as graph relations',
    description: 'Works like `memory.remember`. Every stored fact becomes an edge of the graph.',
    method: 'POST',
    path: '/v1/memory/graph',
    body: object(rememberFields),
    answer: isJsonResponse(remembered, { status: 201 }),
    errors: quotas,
  },
  entities: {
    ...readable,
    summary: "List the entities of a user's memories",
    description: 'Entities with the most relations come first.',
    method: 'GET',
    path: '/v1/memory/entities',
    query: { ...userFields, limit: defaulted(integer({ min: 1, max: 500 }), 100) },
    answer: isJsonResponse(object({ entities: array(object({ name: string(), relations: integer() })) })),
    errors: ['invalid_field'],
  },
  import: {
    ...common,
    summary: 'Import memories',
    description:
      'Accepts a response of `memory.export`, or an export of Mem0: a response of its `get_all` (`results`, and `relations` of its graph), or a list as `memories`; or edges of a graph of Zep as `memories` (`fact`, `valid_at`, `invalid_at`). A memory ends at its `expiration_date`, and `categories` become a field of its metadata. Memories that are already stored are skipped.',
    method: 'POST',
    path: '/v1/memory/import',
    maxBodyBytes: 4 * 1024 * 1024,
    body: object({
      ...userFields,
      ...importFields,
    }),
    answer: isJsonResponse(
      object({ imported: integer(), duplicates: integer(), memories: array(writtenOne), warnings: array(string()) }),
      { status: 201 },
    ),
    errors: quotas,
  },
  forget_suggestions: {
    ...readable,
    summary: 'List candidates for forgetting',
    description: 'Weakest first. Nothing is deleted.',
    method: 'GET',
    path: '/v1/memory/forget-suggestions',
    query: {
      ...userFields,
      minIdleDays: described(defaulted(integer({ min: 0, max: 3650 }), 30), 'Minimum number of days without a hit.'),
      limit: defaulted(integer({ min: 1, max: 100 }), 20),
    },
    answer: isJsonResponse(
      object({
        suggestions: array(
          object({
            id: id('mem'),
            content: string(),
            strength: described(number(), 'Strength of the memory; 0 is the weakest.'),
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
      'Deletes the memories of a user that match every given filter; without a filter, deletes all of them. The deletion is written to the audit log. Repeat the request while `truncated` is true.',
    method: 'POST',
    path: '/v1/memory/forget',
    body: object({
      ...userFields,
      before: described(optional(timeOrDay()), 'Only memories that were written before this time.'),
      namespace: optional(string({ minLength: 1, maxLength: 256 })),
      sessionId: optional(string({ minLength: 1, maxLength: 256 })),
      ids: optional(array(string({ maxLength: 64 }), { maxItems: 1000 })),
      dry_run: optional(boolean()),
    }),
    answer: isJsonResponse(
      object({
        forgotten: integer(),
        truncated: boolean(),
        receipt: forgetReceipt,
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
    answer: isJsonResponse(
      object({ memories: array(memoryObject), nextCursor: nullable(string()), truncated: boolean() }),
    ),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly memory: typeof memory
  }
}
