/**
 * Events that an EventSource listens to by name, as sent by the server. An event missing here shows up as a gap in the
 * sequence and is read from the log. A test compares this list with specs/events/events.ts.
 */
export const eventNames = [
  'session.forked',
  'turn.started',
  'turn.restarted',
  'response.output_text.delta',
  'reasoning.delta',
  'tool_call.started',
  'tool_call.progress',
  'tool_call.completed',
  'turn.paused',
  'turn.resumed',
  'turn.completed',
  'turn.failed',
  'context.compacted',
  'guardrail.triggered',
  'run.queued',
  'run.started',
  'run.model_call.started',
  'run.model_call.completed',
  'run.context.compacted',
  'run.guardrail.triggered',
  'run.tool_call.started',
  'run.tool_call.progress',
  'run.tool_call.completed',
  'run.requires_action',
  'run.action.approved',
  'run.action.answered',
  'run.action.connected',
  'run.action.rejected',
  'run.delegated',
  'run.child.completed',
  'run.completed',
  'run.failed',
  'run.cancelled',
  'run.expired',
  'delivery.attempted',
  'source.synced',
  'source.unchanged',
  'source.sync_failed',
]

/** Last event of a stream that the server ends: its reason says whether reconnecting makes sense. It is not in the log. */
export const endedEvent = 'stream.ended'

/** Name of the text event in the log; the server's streams use a longer one. */
export const textEvent = 'output_text.delta'

/** @param {string} wireName */
export const logName = (wireName) => (wireName === `response.${textEvent}` ? textEvent : wireName)
