import {
  array,
  boolean,
  integer,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  timeOrDay,
  union,
} from './dsl/schema.ts'

const word = () => string({ minLength: 1, maxLength: 256 })

const fields = {
  userId: optional(word()),
  sessionId: optional(word()),
  scope: optional(oneOf('session', 'user')),
  retrieve: optional(boolean()),
  write: optional(boolean()),
  topK: optional(integer({ min: 1, max: 100 })),
  threshold: optional(number({ min: 0, max: 1 })),
  namespace: optional(word()),
  extract: optional(
    object({
      model: optional(word()),
      prompt: optional(string({ maxLength: 16_384 })),
      minImportance: optional(number({ min: 0, max: 1 })),
    }),
  ),
  mode: optional(oneOf('inject', 'index')),
  graph: optional(boolean()),
  asOf: optional(timeOrDay()),
}

/**
 * The `memory` field of `chat_completions.create` and `ai_chat.create`. `true` uses all defaults. Without it, or with
 * `false`, no memory is read or written.
 */
export const memoryField = union([
  boolean(),
  object(fields, { title: 'ChatMemory', description: 'Memory to read before the model call, and to write after it.' }),
])

/** The `memory` field of turns and agents' configs. Unknown fields are refused; the user is the session's or run's. */
export const conversationMemory = union([
  boolean(),
  object(fields, {
    title: 'ConversationMemory',
    description: 'Memory to read before each model call, and to write after the last answer.',
  }),
])

/** The `memory` field of a response. `write_status` is `skipped` when there was nothing to write. */
export const memoryBlock = object(
  {
    retrieved: array(jsonObject()),
    written: array(jsonObject()),
    write_status: oneOf('skipped', 'pending', 'success', 'error'),
    write_request_id: nullable(string()),
  },
  { title: 'ChatMemoryBlock', description: 'Memories that were read and written.' },
)

/** Whether a request uses memory. */
export const usesMemory = (memory: unknown): boolean => memory !== undefined && memory !== null && memory !== false
