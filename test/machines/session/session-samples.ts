import { type AnyMachineSnapshot, initialTransition } from 'xstate'
import type { MachineDefinition } from '#machines/definition.ts'
import type { SessionTool } from '#machines/session/session-data.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { maxModelCalls } from '#machines/session/session-steps.ts'
import { contextOf } from '#runtime/schema.ts'
import type { JsonObject, StoredEvent } from '#storage/ports.ts'
import { after, pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The machine as the runtime knows it. */
export const { machine }: MachineDefinition = sessionDefinition

const tool = (kind: SessionTool['kind'], gated: boolean): SessionTool => ({
  kind,
  gated,
  risk_level: 'medium',
  policy: 'at_most_once',
  expires_in_ms: 1000,
})

const tools: JsonObject = {
  confirm: tool('function', true),
  give: tool('function', false),
  post: tool('http', false),
  guarded: tool('http', true),
}

const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15, cost_usd: '0.1' }

/**
 * Starts a turn with the tools `confirm` and `guarded` (gated), `give` (run by the caller) and `post` (run by the
 * server).
 */
export const turn = (...results: readonly string[]): StoredEvent => ({
  type: 'turn',
  input: 'hi',
  tool_results: results.map((action_id) => ({ action_id, output: '1' })),
  model: 'm',
  config: {},
  tools,
})

/**
 * The model's answer with a call of each named tool; the id of an action is the name of its tool, optionally with a
 * number.
 */
export const answer = (...names: readonly string[]): StoredEvent => ({
  type: 'model_answered',
  delta: 'text',
  calls: names.map((name) => ({ action_id: name, tool: name.replace(/\d+$/, ''), arguments: { a: 1 } })),
  usage,
})

/** The conversation was too long: its first two messages are left out. */
export const compacted: StoredEvent = {
  type: 'context_compacted',
  ...{
    strategy: 'truncate',
    cuts: [[0, 2]],
    summary: null,
    removed_messages: 2,
    tokens_before: 900,
    tokens_after: 600,
  },
  usage,
}
export const delta: StoredEvent = { type: 'model_delta', delta: 'more' }
export const reasoned: StoredEvent = { type: 'model_reasoned', delta: 'so' }
export const restarts: StoredEvent = { type: 'model_restarted', from_sequence: 2, kept: '' }
export const fails: StoredEvent = { type: 'model_failed', delta: '', code: 'provider_error', message: 'It broke.' }
export const ran = (action_id: string): StoredEvent => ({ type: 'tool_answered', action_id, output: '1' })
export const executed = (action_id: string): StoredEvent => ({ type: 'action_executed', action_id, output: '1' })
/** An approval: of a function with its output, of a server tool without. */
export const approves = (action_id: string): StoredEvent => ({
  type: 'action_approved',
  action_id,
  ...(action_id.startsWith('confirm') && { output: '1' }),
})
export const needs = (action_id: string, by: 'tool' | 'action' = 'tool'): StoredEvent => ({
  type: 'connection_required',
  action_id,
  connection: { connection_id: 'con_1', connector: 'github', authorize_url: null, expires_at: null },
  by,
})
export const requiresInput = (action_id: string, by: 'tool' | 'action' = 'tool'): StoredEvent => ({
  type: 'input_required',
  action_id,
  input: { server: 'Notes', mode: 'form', message: 'Which one?', schema: { type: 'object' }, round: 1, resume: '{}' },
  by,
})
export const answersInput = (action_id: string): StoredEvent => ({
  type: 'action_approved',
  action_id,
  answered: 'accept',
})
export const connects = (action_id: string): StoredEvent => ({ type: 'action_approved', action_id, connected: true })
export const rejects = (action_id: string): StoredEvent => ({ type: 'action_rejected', action_id, reason: 'rejected' })
/** The progress of a tool, reported by its server. */
export const progresses = (action_id: string): StoredEvent => ({
  type: 'tool_progressed',
  action_id,
  progress: 1,
  total: null,
  message: 'Reading.',
})
export const cancel: StoredEvent = { type: 'cancel' }
export const remove: StoredEvent = { type: 'delete' }
export const inactivity: StoredEvent = { type: 'xstate.after.inactivity.session.active.idle' }
/** As `inactivity`, of a session that a rejection has completed. */
export const inactivityAfterRejection: StoredEvent = { type: 'xstate.after.inactivity.session.completed' }

const input = { session_id: 'ses_1', agent_id: null, metadata: {} }

/** A new session. */
export const fresh = (): AnyMachineSnapshot => initialTransition(machine, input)[0]

/** A session after these events. */
export const session = (...events: readonly StoredEvent[]): AnyMachineSnapshot => after(machine, fresh(), ...events)

/**
 * Every kind of event in every state; two sessions are of one kind if they are in one state with the same open calls.
 */
export const walk: Walk = {
  machine,
  input,
  events: [
    turn(),
    turn('give'),
    delta,
    reasoned,
    restarts,
    compacted,
    answer(),
    ...['confirm', 'guarded', 'post', 'give', 'made_up'].map((name) => answer(name)),
    answer('confirm', 'guarded'),
    answer('confirm', 'post', 'give'),
    fails,
    ...['confirm', 'guarded'].flatMap((id) => [approves(id), rejects(id), executed(id)]),
    ran('post'),
    progresses('post'),
    ...[needs('post'), needs('guarded', 'action'), connects('post'), executed('post')],
    ...[requiresInput('post'), requiresInput('guarded', 'action'), answersInput('post')],
    cancel,
    remove,
    inactivity,
    inactivityAfterRejection,
  ],
  paths: [[turn(), ...Array.from({ length: maxModelCalls }, () => [answer('post'), ran('post')]).flat()]],
  kindOf: ({ value, context }) => {
    const { calls, steps, turn: turns } = contextOf(sessionDefinition, { context })
    return `${pathOf(value)} ${turns > 0} ${steps > 1} ${calls.map((call) => `${call.action_id}:${call.status}`)}`
  },
}
