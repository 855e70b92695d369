import type { Call } from '#actors/call/call.ts'
import { isServerSide } from '#actors/call/speaker.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'

/** Users named by a request. */
export interface NamedUsers {
  /** User named in the body. */
  readonly named: string | undefined
  /** User named by headers or by the credential. */
  readonly attributed: string | null
}

/**
 * Returns the user whose memory a request uses. A browser's credential gives access only to the memory of its own user;
 * one without a user gives access to none, whichever user the request names.
 *
 * @throws {ServiceError} `secret_key_required`, `missing_field`, `invalid_field`
 */
export const memoryUserOf = (
  { principal, scope }: Pick<Call<unknown, unknown, unknown>, 'principal' | 'scope'>,
  { named, attributed }: NamedUsers,
): string => {
  if (!isServerSide(principal)) {
    if (scope.user !== null) return scope.user
    throw new ServiceError('secret_key_required', {
      param: 'memory',
      message: 'A public key is visible in browsers and does not identify a user, so it has no access to memory.',
    })
  }
  if (named !== undefined && attributed !== null && named !== attributed)
    throw invalidField('memory.userId', 'memory.userId and X-External-User-Id name different users.')
  const user = named ?? attributed
  if (user !== null) return user
  throw new ServiceError('missing_field', {
    param: 'memory.userId',
    message: 'memory.userId is required: it identifies the user of the memory.',
  })
}
