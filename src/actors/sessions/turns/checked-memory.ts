import type { Infer } from '#specs/dsl/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { type conversationMemory, usesMemory } from '#specs/memory-field.ts'

/** The `memory` field of a turn or run, and the user of the session or run, whose memory is the only one allowed. */
export interface Remembering {
  readonly memory: Infer<typeof conversationMemory> | null | undefined
  /** External id of the end user; null for none. */
  readonly user: string | null
  readonly of: 'session' | 'run'
}

/** @throws {ServiceError} `missing_field` without a user; `invalid_field` for another user. */
export const checkMemory = ({ memory, user, of }: Remembering): void => {
  if (!usesMemory(memory)) return
  if (user === null)
    throw new ServiceError('missing_field', {
      param: 'external_user_id',
      message: `The ${of} was created without external_user_id, which memory requires.`,
    })
  const { userId: named } = typeof memory === 'object' && memory !== null ? memory : {}
  if (named === undefined || named === user) return
  throw invalidField('memory.userId', `memory.userId differs from the user of the ${of}.`)
}
