import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '#storage/ports.ts'
import { outcomeOf, pathOf, restingStates } from '../outcome.ts'
import {
  answer,
  answersInput,
  approves,
  cancel,
  compacted,
  connects,
  delta,
  executed,
  fails,
  inactivity,
  inactivityAfterRejection,
  machine,
  needs,
  progresses,
  ran,
  reasoned,
  rejects,
  remove,
  requiresInput,
  restarts,
  session,
  turn,
} from './session-samples.ts'

/** A session at rest, one or more for each state, by its open calls. */
const places = {
  idle: session(),
  'idle, the caller owes an output': session(turn(), answer('give')),
  thinking: session(turn()),
  'acting, one of two running': session(turn(), answer('post1', 'post2'), ran('post2')),
  'acting while another waits': session(turn(), answer('post', 'confirm')),
  'acting, an approved tool running': session(turn(), answer('guarded'), approves('guarded')),
  'paused for a connection': session(turn(), answer('post'), needs('post')),
  'acting, a tool running that has its connection': session(turn(), answer('post'), needs('post'), connects('post')),
  'paused for input': session(turn(), answer('post'), requiresInput('post')),
  'acting, a tool running that has its answer': session(
    turn(),
    answer('post'),
    requiresInput('post'),
    answersInput('post'),
  ),
  'paused for one': session(turn(), answer('confirm')),
  'paused for two': session(turn(), answer('confirm', 'guarded')),
  completed: session(turn(), answer('confirm'), rejects('confirm')),
  expired: session(inactivity),
  deleted: session(remove),
}

const events = {
  turn: turn(),
  'turn with an owed output': turn('give'),
  'turn with an unknown output': turn('nobody'),
  model_delta: delta,
  model_reasoned: reasoned,
  model_restarted: restarts,
  context_compacted: compacted,
  'model_answered finally': answer(),
  'model_answered with calls for all': answer('confirm', 'give', 'post', 'made_up'),
  'model_answered with a made-up call': answer('made_up'),
  model_failed: fails,
  'tool_answered post': ran('post'),
  'tool_answered post1': ran('post1'),
  'tool_progressed post': progresses('post'),
  'action_approved confirm': approves('confirm'),
  'action_approved guarded': approves('guarded'),
  'action_executed guarded': executed('guarded'),
  'action_rejected confirm': rejects('confirm'),
  'connection_required post': needs('post'),
  'connection_required guarded': needs('guarded', 'action'),
  'action_approved post, connected': connects('post'),
  'input_required post': requiresInput('post'),
  'input_required guarded': requiresInput('guarded', 'action'),
  'action_approved post, answered': answersInput('post'),
  'action_executed post': executed('post'),
  cancel,
  delete: remove,
  inactivity,
  'inactivity after a rejection': inactivityAfterRejection,
} satisfies Record<string, StoredEvent>

type Row = Partial<Record<keyof typeof events, string>>

const turnsRefused = (code: string): Row => ({
  turn: `refused ${code}`,
  'turn with an owed output': `refused ${code}`,
  'turn with an unknown output': `refused ${code}`,
})

/** Events that are not listed are ignored. */
const table: Record<keyof typeof places, Row> = {
  idle: {
    turn: 'active.working.thinking: forget turn.started callModel!',
    'turn with an owed output': 'refused not_found',
    'turn with an unknown output': 'refused not_found',
    cancel: 'refused no_turn_in_progress',
    delete: 'deleted: forget abort eraseSession!',
    inactivity: 'expired: forget',
  },
  'idle, the caller owes an output': {
    turn: 'active.working.thinking: forget turn.started callModel!',
    'turn with an owed output': 'active.working.thinking: forget turn.started callModel!',
    'turn with an unknown output': 'refused not_found',
    cancel: 'refused no_turn_in_progress',
    delete: 'deleted: forget abort eraseSession!',
    inactivity: 'expired: forget endMemory!',
  },
  thinking: {
    ...turnsRefused('turn_in_progress'),
    model_delta: 'active.working.thinking: output_text.delta',
    model_reasoned: 'active.working.thinking: reasoning.delta',
    model_restarted: 'active.working.thinking: turn.restarted',
    context_compacted: 'active.working.thinking: context.compacted callModel!',
    'model_answered finally': 'active.idle: abort output_text.delta turn.completed remind',
    'model_answered with calls for all':
      'active.working.acting: output_text.delta tool_call.started tool_call.started tool_call.started ' +
      'tool_call.started tool_call.completed turn.paused create>confirm runTool!',
    'model_answered with a made-up call':
      'active.working.thinking: output_text.delta tool_call.started tool_call.completed callModel!',
    model_failed: 'active.idle: abort turn.failed remind',
    cancel: 'active.idle: abort turn.failed remind',
    delete: 'deleted: abort abort eraseSession!',
  },
  'acting, one of two running': {
    ...turnsRefused('turn_in_progress'),
    'tool_answered post1': 'active.working.thinking: tool_call.completed callModel!',
    cancel: 'active.idle: abort turn.failed remind',
    delete: 'deleted: abort abort eraseSession!',
  },
  'acting while another waits': {
    ...turnsRefused('turn_in_progress'),
    'tool_progressed post': 'active.working.acting: tool_call.progress',
    'tool_answered post': 'paused: tool_call.completed abort',
    'action_executed post': 'paused: tool_call.completed abort',
    'connection_required post': 'paused: turn.paused create>post abort',
    'input_required post': 'paused: turn.paused create>post abort',
    'action_approved confirm': 'active.working.acting: turn.resumed',
    'action_rejected confirm': 'completed: abort turn.resumed turn.completed remind',
    cancel: 'active.idle: abort turn.failed cancel>confirm remind',
    delete: 'deleted: abort abort cancel>confirm eraseSession!',
  },
  'acting, an approved tool running': {
    ...turnsRefused('turn_in_progress'),
    'action_executed guarded': 'active.working.thinking: tool_call.completed callModel!',
    'connection_required guarded': 'paused: turn.paused abort',
    'input_required guarded': 'paused: turn.paused abort',
    cancel: 'active.idle: abort turn.failed cancel>guarded remind',
    delete: 'deleted: abort abort cancel>guarded eraseSession!',
  },
  'paused for a connection': {
    ...turnsRefused('approval_pending'),
    'action_approved post, connected': 'active.working.acting: turn.resumed',
    'action_approved post, answered': 'active.working.acting: turn.resumed',
    cancel: 'active.idle: turn.failed cancel>post remind',
    delete: 'deleted: abort cancel>post eraseSession!',
  },
  'acting, a tool running that has its connection': {
    ...turnsRefused('turn_in_progress'),
    'tool_progressed post': 'active.working.acting: tool_call.progress',
    'tool_answered post': 'active.working.thinking: tool_call.completed callModel!',
    'action_executed post': 'active.working.thinking: tool_call.completed callModel!',
    'connection_required post': 'paused: turn.paused create>post abort',
    'input_required post': 'paused: turn.paused create>post abort',
    cancel: 'active.idle: abort turn.failed cancel>post remind',
    delete: 'deleted: abort abort cancel>post eraseSession!',
  },
  'paused for input': {
    ...turnsRefused('approval_pending'),
    'action_approved post, connected': 'active.working.acting: turn.resumed',
    'action_approved post, answered': 'active.working.acting: turn.resumed',
    cancel: 'active.idle: turn.failed cancel>post remind',
    delete: 'deleted: abort cancel>post eraseSession!',
  },
  'acting, a tool running that has its answer': {
    ...turnsRefused('turn_in_progress'),
    'tool_progressed post': 'active.working.acting: tool_call.progress',
    'tool_answered post': 'active.working.thinking: tool_call.completed callModel!',
    'action_executed post': 'active.working.thinking: tool_call.completed callModel!',
    'connection_required post': 'paused: turn.paused create>post abort',
    'input_required post': 'paused: turn.paused create>post abort',
    cancel: 'active.idle: abort turn.failed cancel>post remind',
    delete: 'deleted: abort abort cancel>post eraseSession!',
  },
  'paused for one': {
    ...turnsRefused('approval_pending'),
    'action_approved confirm': 'active.working.thinking: turn.resumed callModel!',
    'action_rejected confirm': 'completed: turn.resumed turn.completed remind',
    cancel: 'active.idle: turn.failed cancel>confirm remind',
    delete: 'deleted: abort cancel>confirm eraseSession!',
  },
  'paused for two': {
    ...turnsRefused('approval_pending'),
    'action_approved confirm': 'paused: turn.resumed turn.paused abort',
    'action_approved guarded': 'active.working.acting: turn.resumed turn.paused',
    'action_rejected confirm': 'completed: cancel>guarded turn.resumed turn.completed remind',
    cancel: 'active.idle: turn.failed cancel>confirm cancel>guarded remind',
    delete: 'deleted: abort cancel>confirm cancel>guarded eraseSession!',
  },
  completed: {
    turn: 'active.working.thinking: forget turn.started callModel!',
    'turn with an owed output': 'refused not_found',
    'turn with an unknown output': 'refused not_found',
    cancel: 'refused no_turn_in_progress',
    delete: 'deleted: forget abort eraseSession!',
    'inactivity after a rejection': 'expired: forget endMemory!',
  },
  expired: {
    ...turnsRefused('session_expired'),
    cancel: 'refused no_turn_in_progress',
    delete: 'deleted: abort eraseSession!',
  },
  deleted: { ...turnsRefused('not_found'), cancel: 'refused not_found', delete: 'refused not_found' },
}

/** The types of the sampled events. */
const sampled = new Set(Object.values(events).map((event) => event.type))

it('covers every state in which a session can rest', () => {
  const resting = new Set(Object.values(places).map((place) => pathOf(place.value)))
  expect([...resting].sort()).toEqual([...restingStates(machine)].sort())
})

it('covers every event of the machine', () => {
  expect([...sampled].sort()).toEqual([...machine.events].sort())
})

describe.each(Object.entries(places))('a session that is %s', (place, snapshot) => {
  const row: Readonly<Record<string, string>> = Object.entries(table).find(([name]) => name === place)?.[1] ?? {}
  it.each(Object.entries(events))('handles %s according to the table', (name, event) => {
    expect(outcomeOf(machine, snapshot, event)).toBe(row[name] ?? 'ignored')
  })
})
