import type { JsonObject, LogEvent } from '#storage/index.ts'
import { isObject } from '../runtime/index.ts'
import type { ReadLog } from '../sessions/conversations.ts'

/**
 * Reads a run's log as the log of a session with one turn, so that `Conversation` handles both
 * (src/actors/sessions/conversation.ts). Events keep their sequences.
 */
export const readAsTurn =
  (readLog: ReadLog): ReadLog =>
  (run, after) => {
    const events = readLog(run, after)
    return events instanceof Promise ? events.then(asTurn) : asTurn(events)
  }

/** Returns a run's events as those of a session with one turn. */
export const asTurn = (events: readonly LogEvent[]): readonly LogEvent[] => events.map(asTurnEvent)

const asTurnEvent = (event: LogEvent): LogEvent => {
  const { payload, hidden } = event
  switch (event.event_type) {
    case 'run.queued':
      // a run that goes on from a step of another begins with what that one knew there, as a fork does
      if (typeof hidden?.conversation === 'string') return { ...event, event_type: 'session.forked' }
      return withInput(event, isObject(payload.input) ? promptOf(payload.input) : '')
    case 'run.model_call.started':
      return typeof hidden?.told === 'string' ? withInput(event, hidden.told) : event
    case 'run.model_call.completed':
      return { ...event, event_type: 'output_text.delta', payload: { delta: payload.text } }
    case 'run.tool_call.started':
      return { ...event, event_type: 'tool_call.started' }
    case 'run.tool_call.completed':
      return { ...event, event_type: 'tool_call.completed' }
    case 'run.context.compacted':
      return { ...event, event_type: 'context.compacted' }
    case 'run.guardrail.triggered':
      return { ...event, event_type: 'guardrail.triggered' }
    case 'run.action.approved':
      return { ...event, event_type: 'turn.resumed', payload: { ...payload, resolution: 'approved' } }
    case 'run.action.rejected':
      return { ...event, event_type: 'turn.resumed', payload: { ...payload, resolution: 'rejected' } }
    default:
      return event
  }
}

const withInput = (event: LogEvent, input_text: string): LogEvent => ({
  ...event,
  event_type: 'turn.started',
  payload: { input_text },
})

/** The user message for the model: the prompt, followed by the other fields of the input as JSON. */
export const promptOf = ({ prompt, ...more }: JsonObject): string => {
  const rest = Object.keys(more).length > 0 ? JSON.stringify(more, null, 2) : ''
  return [typeof prompt === 'string' ? prompt : '', rest].filter(Boolean).join('\n\n')
}
