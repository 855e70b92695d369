import { type AnyMachineSnapshot, initialTransition } from 'xstate'
import type { MachineDefinition } from '#machines/definition.ts'
import type { RunInput, RunLimits, RunTool } from '#machines/run/run-data.ts'
import { runDefinition } from '#machines/run/run-definition.ts'
import { contextOf } from '#runtime/schema.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { after, pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The machine as the runtime knows it. */
export const { machine }: MachineDefinition = runDefinition

const tool = (kind: RunTool['kind'], more: Partial<RunTool> = {}): RunTool => ({
  kind,
  gated: false,
  denied: false,
  risk_level: 'medium',
  policy: 'at_most_once',
  expires_in_ms: 1000,
  subagent: null,
  ...more,
})

const subagent = { agent_id: 'agt_2', version: null }

/**
 * `confirm` is run by the caller, `post` by the server, `guarded` by the server after an approval, `helper` is an
 * agent, `boss` one behind an approval.
 */
const tools = {
  confirm: tool('function'),
  post: tool('http'),
  guarded: tool('http', { gated: true }),
  barred: tool('http', { denied: true }),
  helper: tool('agent', { subagent }),
  boss: tool('agent', { subagent, gated: true }),
}

const limits: RunLimits = { max_steps: 3, max_tokens: null, max_cost_usd: null, max_duration_ms: 60_000 }

/** The input of a run. */
export const inputOf = (more: Partial<RunInput> = {}): RunInput => ({
  run_id: 'run_1',
  agent_id: 'agt_1',
  agent_version_id: null,
  version: null,
  installation_id: null,
  rate_plan_id: null,
  parent: { run_id: 'run_0', action_id: 'act_0' },
  created_by: null,
  depth: 1,
  input: '{"prompt":"go"}',
  model: 'm',
  config: {},
  tools,
  limits,
  policy: null,
  expires_in_ms: 5000,
  queue_id: 'rqu_1',
  lane: 'lan_1',
  ...more,
})

const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15, cost_usd: '0.1' }

export const slot: StoredEvent = { type: 'slot_granted' }

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
    cuts: [[1, 3]],
    summary: null,
    removed_messages: 2,
    tokens_before: 900,
    tokens_after: 600,
  },
  usage,
}
export const fails: StoredEvent = { type: 'model_failed', delta: '', code: 'provider_error', message: 'It broke.' }
export const ran = (action_id: string): StoredEvent => ({ type: 'tool_answered', action_id, output: '1' })
export const executed = (action_id: string): StoredEvent => ({ type: 'action_executed', action_id, output: '1' })
/** An approval: of a function with its output, of a server tool or an agent without. */
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
export const answersInput = (action_id: string, answered = 'accept'): StoredEvent => ({
  type: 'action_approved',
  action_id,
  answered,
})
export const connects = (action_id: string): StoredEvent => ({ type: 'action_approved', action_id, connected: true })
export const rejects = (action_id: string): StoredEvent => ({ type: 'action_rejected', action_id, reason: 'rejected' })
export const prepared = (action_id: string, run_id = `run_of_${action_id}`): StoredEvent => ({
  type: 'child_prepared',
  action_id,
  child: inputOf({ run_id, parent: { run_id: 'run_1', action_id }, depth: 2 }),
})
export const unprepared = (action_id: string): StoredEvent => ({
  type: 'child_refused',
  action_id,
  code: 'agent_not_runnable',
  message: 'It is retired.',
})
export const ended = (run_id: string, action_id: string): StoredEvent => ({
  type: 'child_ended',
  run_id,
  action_id,
  status: 'completed',
  output: 'done',
  error: null,
})
export const delegate: StoredEvent = {
  type: 'delegate',
  child: inputOf({ run_id: 'run_9', parent: { run_id: 'run_1', action_id: 'run_9' }, depth: 2 }),
}
/** The progress of a tool, reported by its server. */
export const progresses = (action_id: string): StoredEvent => ({
  type: 'tool_progressed',
  action_id,
  progress: 1,
  total: null,
  message: 'Reading.',
})
export const cancel: StoredEvent = { type: 'cancel' }
/** The same, requested by a caller. */
export const cancelBy: StoredEvent = { type: 'cancel', by: { kind: 'secret_key', id: 'key_1' } }
export const expire: StoredEvent = { type: 'expire' }
export const remove: StoredEvent = { type: 'delete' }
export const expiry: StoredEvent = { type: 'xstate.after.expiry.run.open' }
export const duration: StoredEvent = { type: 'xstate.after.duration.run.open.started' }

/** A new run. */
export const fresh = (more: Partial<RunInput> = {}): AnyMachineSnapshot => initialTransition(machine, inputOf(more))[0]

/** A run after these events. */
export const run = (...events: readonly StoredEvent[]): AnyMachineSnapshot => after(machine, fresh(), ...events)

/** Every kind of event in every state; two runs are of one kind if they are in one state with the same open calls. */
export const walk: Walk = {
  machine,
  input: inputOf(),
  events: [
    slot,
    compacted,
    answer(),
    ...['confirm', 'guarded', 'post', 'helper', 'boss', 'barred', 'made_up'].map((name) => answer(name)),
    answer('confirm', 'post'),
    answer('boss', 'post'),
    fails,
    ...['confirm', 'guarded', 'boss'].flatMap((id) => [approves(id), rejects(id)]),
    executed('guarded'),
    ran('post'),
    progresses('post'),
    ...[
      needs('post'),
      needs('guarded', 'action'),
      connects('post'),
      requiresInput('post'),
      requiresInput('guarded', 'action'),
      answersInput('post'),
    ],
    ...['helper', 'boss'].flatMap((id) => [prepared(id), unprepared(id), ended(`run_of_${id}`, id)]),
    delegate,
    ended('run_9', 'run_9'),
    cancel,
    cancelBy,
    expire,
    remove,
    expiry,
    duration,
  ],
  paths: [[slot, ...Array.from({ length: limits.max_steps }, () => [answer('post'), ran('post')]).flat()]],
  kindOf: ({ value, context }) => {
    const { calls, slot: has } = contextOf(runDefinition, { context })
    const open = calls.map((call) => `${call.action_id}:${call.status}:${call.child !== null}`)
    return `${pathOf(value)} ${has} ${open}`
  },
}
