import type { Principal } from '#actors/call/call.ts'
import { speakerOf } from '#actors/call/speaker.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { checkFieldAccess, type ReservedField } from '#specs/field-access.ts'
import { checkModels, checkPathModel, checkToolServers } from './credentials/check-models.ts'

/**
 * Checks a validated body against the field rules of its operation (`fields` in the declaration), and the models and tool
 * servers that it and the path name against those that the credential reaches (`reach` in specs/reach/subjects.ts).
 *
 * @returns fields that the caller may set only if the agent allows it, which the use-case checks.
 * @throws {ServiceError} `secret_key_required` with the field's path, for one that this caller may not set.
 */
export const checkFields = (
  { fields, body: declared }: Pick<Operation, 'fields' | 'body'>,
  principal: Principal,
  { body, params = {} }: { readonly body: unknown; readonly params?: { readonly model?: string } },
): readonly ReservedField[] => {
  const speaker = speakerOf(principal)
  if (speaker === null) return none
  if (declared !== null) checkPathModel(principal, params.model)
  checkToolServers(principal, body)
  const { refused, reserved } = checkFieldAccess(fields, speaker, body)
  if (refused === null) return merged(reserved, checkModels({ fields }, principal, body))
  throw new ServiceError('secret_key_required', {
    param: refused,
    message: `${refused} can be set only with a secret key, or in the agent's config.`,
  })
}

const none: readonly ReservedField[] = []

const merged = (reserved: readonly ReservedField[], models: readonly ReservedField[]): readonly ReservedField[] =>
  models.length === 0
    ? reserved
    : [...reserved, ...models.filter(({ param }) => !reserved.some((one) => one.param === param))]
