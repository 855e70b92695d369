import type { JsonObject, LogEvent } from '#storage/ports.ts'

/** Events of one turn, numbered as in a log. */
export const logOf = (
  turn_number: number,
  ...events: readonly (readonly [event_type: string, payload: JsonObject, hidden?: JsonObject])[]
): readonly LogEvent[] =>
  events.map(([event_type, payload, hidden], at) => ({
    ...{ sequence: at + 1, turn_number, event_type, payload },
    ...(hidden !== undefined && { hidden }),
  }))

const call = { tool: 'issue_refund', arguments: { order: '1042' }, action_id: 'act_1' }

/** A turn that refunds an order after an approval by its end user, in the form in which a server writes it. */
export const refundLog = logOf(
  1,
  ['turn.started', { turn_number: 1, model: 'simulated-1', input_text: 'Please refund 1042' }],
  ['output_text.delta', { delta: 'I will ' }],
  ['output_text.delta', { delta: 'refund it.' }],
  ['tool_call.started', call],
  ['turn.paused', { reason: 'approval_required', ...call, approver: 'end_user' }],
  ['turn.resumed', { action_id: 'act_1', resolution: 'approved' }],
  ['tool_call.completed', { tool: 'issue_refund', action_id: 'act_1', output: '{"receipt":1}' }],
  ['output_text.delta', { delta: 'Done.' }],
  ['turn.completed', { turn_number: 1, output: 'I will refund it.Done.', usage: { input_tokens: 3 } }],
)

/** The same turn with what a guardrail found in its first answer, and its events up to the approval. */
const finding = { guardrail: 'house', check: 'words', stage: 'input', outcome: 'flagged', found: 1 }
export const flaggedLog = refundLog.toSpliced(4, 0, ...logOf(1, ['guardrail.triggered', finding])).slice(0, 6)

/** A turn whose second model call began again after a crash; the log repeats the text of the first for other readers. */
export const restartedLog = logOf(
  2,
  ['turn.started', { turn_number: 2, model: 'simulated-1', input_text: 'And now?' }],
  ['output_text.delta', { delta: 'First. ' }],
  ['tool_call.started', { ...call, run_by: 'caller', declared_by: 'page', tool: 'get_page' }],
  ['turn.paused', { reason: 'approval_required', ...call, tool: 'get_page', run_by: 'caller', declared_by: 'page' }],
  ['turn.resumed', { action_id: 'act_1', resolution: 'approved', output: 'a title' }],
  ['output_text.delta', { delta: 'Sec' }],
  ['turn.restarted', { from_sequence: 2, attempt: 2 }],
  ['output_text.delta', { delta: 'First. ', attempt: 2 }, { kept: true }],
  ['output_text.delta', { delta: 'Second.', attempt: 2 }],
  ['turn.completed', { turn_number: 2, output: 'First. Second.', usage: null }],
)
