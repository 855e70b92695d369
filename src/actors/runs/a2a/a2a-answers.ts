import type { Principal } from '#actors/call/call.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import { isObject } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { A2aMessage } from './a2a-message.ts'
import type { WaitingCall } from './a2a-task.ts'

/** What a message decides about a call that its task waits for. */
type Answer = Pick<Parameters<UseCases['actions.approve']>[0]['body'] & object, 'tool_results' | 'content'> & {
  readonly action_id: string
  readonly approved: boolean
}

/**
 * Reads the decision of a message. Pure.
 *
 * @throws {ServiceError} `invalid_field` where it decides nothing; `forbidden` for an agent's key.
 */
export const answerOf = (principal: Principal, message: A2aMessage, calls: readonly WaitingCall[]): Answer => {
  if (principal.kind !== 'secret_key')
    throw new ServiceError('forbidden', { message: 'Only a secret key decides about calls of a run.' })
  const [data] = message.data
  const fields = isObject(data) ? data : {}
  const call = calls.find(({ action_id }) => action_id === (fields.action_id ?? calls[0]?.action_id))
  const isNamed = fields.action_id !== undefined || calls.length === 1
  if (call === undefined || !isNamed)
    throw invalid('The task waits for several calls, or has no such call: send action_id in a JSON value.')
  const { action_id, reason } = call
  if (reason === 'connection_required') throw invalid('The task waits for a connection, which its owner establishes.')
  if (fields.approved === false || (data === undefined && /^(reject|no)$/i.test(message.text.trim())))
    return { action_id, approved: false }
  if (reason === 'tool_output_required') {
    const output = data === undefined ? message.text : outputText(fields.output ?? data)
    return { action_id, approved: true, tool_results: [{ action_id, output }] }
  }
  if (reason === 'input_required') {
    const { action_id: _, approved: __, ...content } = fields
    return { action_id, approved: true, ...(Object.keys(content).length > 0 && { content }) }
  }
  if (fields.approved === true || (data === undefined && /^(approve|yes)$/i.test(message.text.trim())))
    return { action_id, approved: true }
  throw invalid('Send {"approved": true} or {"approved": false} as a JSON value.')
}

const invalid = (message: string): ServiceError => invalidField('message.parts', message)

const outputText = (output: unknown): string => (typeof output === 'string' ? output : JSON.stringify(output))
