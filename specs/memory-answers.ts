import {
  array,
  boolean,
  constant,
  defaulted,
  described,
  id,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
  union,
} from './dsl/schema.ts'
import { costFields, exchangeFields, fact, memoryFlags, placeFields, userFields, writeMode } from './memory-objects.ts'
import { statuses } from './statuses.ts'

/** Fields in the response of every write of memories. */
export const written = {
  ...costFields,
  embedding: described(oneOf('done', 'pending', 'none'), 'Whether the embedding of the memory has been computed.'),
  warnings: array(string()),
}

const writtenFields = {
  id: id('mem'),
  duplicate: optional(
    described(constant(true), 'Whether the memory was already stored; `id` is then that of the stored memory.'),
  ),
}

/** A written memory. */
export const writtenOne = object(writtenFields)

/** A memory of a batch: where it is stored, or why it is not. */
export const batchedOne = union([
  object({ ...writtenFields, flags: optional(memoryFlags) }),
  object({ error: object({ code: string(), message: string(), param: optional(string()) }) }),
])

/** Body of a request to remember an exchange. */
export const rememberFields = {
  ...userFields,
  ...placeFields,
  ...exchangeFields,
  wait: described(
    defaulted(boolean(), true),
    'Whether to wait until the exchange has been remembered. If false, the response is sent immediately and contains the receipt.',
  ),
  dry_run: writeMode.dry_run,
}

const receiptFields = {
  status: oneOf(...statuses.memory_write),
  extracted: optional(described(integer(), 'Number of facts that were found.')),
  written: optional(described(integer(), 'Number of memories that were stored.')),
  memories: optional(array(writtenOne)),
  extractor: optional(described(oneOf('given', 'rules', 'model'), 'Extractor that was used.')),
  error: optional(object({ code: string(), message: string() })),
  ...costFields,
}

/** The receipt of a write. */
export const receipt = object(
  { request_id: string({ format: 'uuid' }), ...receiptFields, attempts: integer() },
  { title: 'MemoryReceipt', description: 'Progress and result of a memory write.' },
)

/** The response to a request to remember an exchange. */
export const remembered = object({
  request_id: described(nullable(string({ format: 'uuid' })), 'Id of the receipt; null for a dry run.'),
  ...receiptFields,
  facts: optional(described(array(fact), 'Facts that a dry run would store.')),
})

/** What a deletion by filter removed, and where. */
export const forgetReceipt = object({
  at: timestamp(),
  surfaces: described(
    array(object({ surface: string(), removed: integer() })),
    'Every place where memories are stored, with the number of items that were removed there.',
  ),
  files: described(
    oneOf('overwritten', 'pending', 'reused_later', 'unchanged'),
    'What is left in the files of the store. `overwritten`: the removed bytes were overwritten and the write-ahead log was emptied. `pending`: this follows, because another process reads the file or a write is still being stopped. `reused_later`: MongoDB removed the documents, and overwrites their space in its files and its journal as it reuses them. `unchanged`: a dry run.',
  ),
})
