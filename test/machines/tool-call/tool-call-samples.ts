import { type CallTraits, type ToolCallEvent, toolCallMachine } from '#machines/tool-call/tool-call.ts'
import { pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

const action_id = 'act_1'

/** The events of a call, by name. */
export const events = {
  approved: { type: 'action_approved', action_id },
  'approved with an output': { type: 'action_approved', action_id, output: '1' },
  rejected: { type: 'action_rejected', action_id, reason: 'rejected' },
  'its action has run': { type: 'action_executed', action_id, output: '1' },
  'its tool has answered': { type: 'tool_answered', action_id, output: '1' },
  'its connection is missing': { type: 'connection_required', action_id, connection: {}, by: 'tool' },
  'its server requests input': { type: 'input_required', action_id, input: {}, by: 'tool' },
  'its input is answered': { type: 'action_approved', action_id, answered: 'accept' },
  'its child has ended': { type: 'child_ended' },
  'its child was refused': { type: 'child_refused' },
  'the next turn': { type: 'turn' },
} satisfies Record<string, ToolCallEvent>

/** Every event in every state of a call with these traits; by default it needs a person. */
export const walkOf = (traits: Partial<CallTraits> = {}): Walk => ({
  machine: toolCallMachine,
  input: { runs: true, gated: true, by: 'server', ...traits },
  events: Object.values(events),
  kindOf: ({ value }) => pathOf(value),
})
