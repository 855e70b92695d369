import type { Approves } from '#actors/call/call.ts'
import { isObject } from '#runtime/index.ts'
import type { JsonObject } from '#storage/index.ts'
import { decidesHere, text } from './shown-call.ts'

const approval = {
  type: 'object',
  properties: { approved: { type: 'boolean' } },
  required: ['approved'],
  additionalProperties: false,
}

/** What the turn waits for as an interrupt of AG-UI. Only what this credential can answer has a schema. */
export const interruptOf = (id: string, payload: JsonObject, approves: Approves): JsonObject => {
  const { connection, input, tool } = payload
  const wait = { id, toolCallId: id }
  if (isObject(connection)) {
    const message = `Sign in to ${text(connection.connector)}.`
    return { ...wait, reason: 'connection_required', message, metadata: { connection } }
  }
  const isOpen = decidesHere(payload, approves)
  const operator = isOpen ? {} : { approver: 'operator' }
  if (isObject(input)) {
    const responseSchema = isObject(input.schema) ? input.schema : approval
    const metadata = { input, ...operator }
    return {
      ...wait,
      reason: 'input_required',
      message: text(input.message),
      ...(isOpen && { responseSchema }),
      metadata,
    }
  }
  const message = `Approve the call of ${text(tool)}.`
  return {
    ...{ ...wait, reason: 'approval_required', message },
    ...(isOpen ? { responseSchema: approval } : { metadata: operator }),
  }
}
