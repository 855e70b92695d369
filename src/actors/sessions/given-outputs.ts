import { actionDefinition } from '#machines/action/action-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { Scope } from '#storage/index.ts'
import { nullWhenNotFound } from '../call/not-found.ts'
import { contextOf } from '../runtime/index.ts'
import type { Host, Resident } from '../runtime/internal.ts'

interface Given {
  readonly scope: Scope
  /** The action that is approved. */
  readonly action: Resident
  readonly results: readonly { readonly action_id: string; readonly output: string }[]
}

interface Outputs {
  /** The output of the approved action itself; undefined for none. */
  readonly own: string | undefined
  /** The outputs of other calls of the same session or run, whose approvals they are. */
  readonly others: readonly { readonly action: Resident; readonly output: string }[]
}

/**
 * Assigns the outputs of an approval to its action and to other calls that wait in the same session or run.
 *
 * @throws {ServiceError} `not_found` for an output of any other action; `invalid_field` for one of an action that the
 * server executes; `action_already_resolved` for one of a call that does not wait and was not approved.
 */
export const outputsOf = async (host: Host, { scope, action, results }: Given): Promise<Outputs> => {
  const outputs = new Map(results.map(({ action_id, output }) => [action_id, output]))
  const own = outputs.get(action.id)
  if (own !== undefined) checkTakesOutput(action)
  outputs.delete(action.id)
  const others = [...outputs].map(async ([id, output]) => ({
    action: await findOther(host, scope, { action, id }),
    output,
  }))
  return { own, others: await Promise.all(others) }
}

const findOther = async (
  host: Host,
  scope: Scope,
  { action, id }: { readonly action: Resident; readonly id: string },
): Promise<Resident> => {
  const { owner } = contextOf(actionDefinition, action.state.snapshot)
  const other = owner === null ? null : await host.find(scope, actionDefinition, id).catch(nullWhenNotFound)
  if (other === null || contextOf(actionDefinition, other.state.snapshot).owner !== owner)
    throw new ServiceError('not_found', {
      param: 'tool_results',
      message: `No call of the same session or run is ${id}.`,
    })
  checkTakesOutput(other)
  if (!takes.has(other.state.snapshot.value))
    throw new ServiceError('action_already_resolved', { param: 'tool_results' })
  return other
}

/** States in which an action takes an output, or has one: a repeated approval changes nothing. */
const takes: ReadonlySet<unknown> = new Set(['pending_approval', 'executed'])

const checkTakesOutput = (action: Resident): void => {
  const { kind } = contextOf(actionDefinition, action.state.snapshot)
  if (kind !== 'function' && kind !== 'caller')
    throw invalidField('tool_results', 'The server executes this action itself.')
}
