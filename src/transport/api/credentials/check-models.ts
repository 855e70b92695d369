import type { Principal } from '#actors/call/call.ts'
import { limitsOf, modelMissing, modelsOf } from '#actors/call/reach.ts'
import { isObject } from '#runtime/index.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ReservedField } from '#specs/field-access.ts'
import { subjectFields } from '#specs/reach/subjects.ts'

/** A value in a body, and its path for messages. */
interface Named {
  readonly value: string
  readonly param: string
}

const modelPaths = subjectFields.body.model.map((path) => path.split('.'))

/**
 * Checks the models that a body names against those that the credential reaches.
 *
 * @returns fields that the caller may set only if the agent allows it, which the use-case checks.
 * @throws {ServiceError} `secret_key_required`, or `insufficient_scope` for one that only the key's scopes exclude; with
 * the path of the model
 */
export const checkModels = (
  { fields }: Pick<Operation, 'fields'>,
  principal: Principal,
  body: unknown,
): readonly ReservedField[] => {
  const own = modelsOf(principal)
  if (own === null || !isObject(body)) return none
  const foreign = modelPaths.flatMap((path) => valuesAt(body, path, '')).filter(({ value }) => !own.has(value))
  return foreign.map(({ value, param }) => {
    const leave = fields.find(({ field }) => field === param)?.unlessLeave
    if (limitsOf(principal)?.models?.has(value) === false) throw modelMissing(value, param)
    if (leave === undefined) throw unreached(value, param)
    return { field: param, param, leave }
  })
}

/**
 * Checks the model in the path of a call, as `checkModels` those in its body. One that is only read is not found instead.
 *
 * @throws {ServiceError} as `checkModels`
 */
export const checkPathModel = (principal: Principal, model: string | undefined): void => {
  const own = modelsOf(principal)
  if (own === null || model === undefined || own.has(model)) return
  throw limitsOf(principal)?.models?.has(model) === false ? modelMissing(model, 'model') : unreached(model, 'model')
}

/**
 * Checks the remote tool servers that a body names: an agent's key reaches those of its agent's config, and servers that the
 * request brings by URL.
 *
 * @throws {ServiceError} `secret_key_required` with the path of the server
 */
export const checkToolServers = (principal: Principal, body: unknown): void => {
  if (principal.kind !== 'agent_key' || !isObject(body) || !Array.isArray(body.tools)) return
  for (const [at, tool] of body.tools.entries()) {
    if (!isObject(tool) || tool.type !== 'mcp') continue
    const { server_id, server_label, server_url } = tool
    const isBrought = server_id === undefined && server_url !== undefined
    const named = typeof server_id === 'string' ? server_id : server_label
    if (isBrought || (typeof named === 'string' && principal.reach.toolServers.has(named))) continue
    throw new ServiceError('secret_key_required', {
      param: `tools[${at}].${server_id === undefined ? 'server_label' : 'server_id'}`,
      message:
        "An agent's key can use only the tool servers of its agent, or one that the request defines by server_url.",
    })
  }
}

const none: readonly ReservedField[] = []

const unreached = (model: string, param: string): ServiceError =>
  new ServiceError('secret_key_required', {
    param,
    message: `An agent's key can use only the models of its agent, which ${JSON.stringify(model.slice(0, 64))} is not one of.`,
  })

/** The texts at a path such as `memory.extract.model` or `models[]`. */
const valuesAt = (body: unknown, [step, ...rest]: readonly string[], before: string): readonly Named[] => {
  if (step === undefined) return typeof body === 'string' ? [{ value: body, param: before }] : []
  if (!isObject(body)) return []
  const field = step.replace('[]', '')
  const place = before === '' ? field : `${before}.${field}`
  const value = body[field]
  if (field === step) return valuesAt(value, rest, place)
  return Array.isArray(value) ? value.flatMap((item, at) => valuesAt(item, rest, `${place}[${at}]`)) : []
}
