import { describe, expect, it } from 'vitest'
import { initialTransition } from 'xstate'
import type { RunInput } from '#machines/run/run-data.ts'
import { type ListedAction, paramsOf } from '#runtime/schema.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { outcomeOf, pathOf, restingStates } from '../outcome.ts'
import {
  answer,
  answersInput,
  approves,
  cancel,
  cancelBy,
  compacted,
  connects,
  delegate,
  duration,
  ended,
  executed,
  expire,
  expiry,
  fails,
  inputOf,
  machine,
  needs,
  prepared,
  progresses,
  ran,
  rejects,
  remove,
  requiresInput,
  run,
  slot,
  unprepared,
} from './run-samples.ts'

const places = {
  queued: run(),
  thinking: run(slot),
  'thinking while a child works': run(slot, delegate),
  'acting, a tool running': run(slot, answer('post')),
  'acting while another waits': run(slot, answer('post', 'confirm')),
  'acting, a child being prepared': run(slot, answer('helper')),
  'waiting for a child': run(slot, answer('helper'), prepared('helper')),
  'waiting for a caller’s child': run(slot, delegate, answer()),
  'waiting for a connection': run(slot, answer('post'), needs('post')),
  'waiting for input': run(slot, answer('post'), requiresInput('post')),
  'waiting for people': run(slot, answer('confirm', 'guarded')),
  'acting without a slot': run(slot, answer('guarded'), approves('guarded')),
  returning: run(slot, answer('confirm'), approves('confirm')),
  completed: run(slot, answer()),
  failed: run(slot, fails),
  cancelled: run(cancel),
  expired: run(expiry),
  deleted: run(remove),
}

const events = {
  slot_granted: slot,
  context_compacted: compacted,
  'model_answered finally': answer(),
  'model_answered with calls': answer('confirm', 'guarded', 'post', 'helper', 'barred', 'made_up'),
  model_failed: fails,
  'tool_answered post': ran('post'),
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
  'child_prepared helper': prepared('helper'),
  'child_refused helper': unprepared('helper'),
  'child_ended helper': ended('run_of_helper', 'helper'),
  'child_ended of the caller': ended('run_9', 'run_9'),
  delegate,
  cancel,
  'cancel by a caller': cancelBy,
  expire,
  delete: remove,
  expiry,
  duration,
} satisfies Record<string, StoredEvent>

type Row = Partial<Record<keyof typeof events, string>>

const thinking = 'open.started.running.thinking'
const acting = 'open.started.running.acting'
const waiting = 'open.started.running.waiting'
const returning = 'open.started.running.returning'
const people = 'open.started.requires_action'
const callsModel = 'run.model_call.started callModel!'
const back = 'slot_returned>rqu_1'
const parent = 'child_ended>run_0'

/** How a run ends from here: what it has to notify apart from its log and its parent. */
const ends = (forgets: string, sends: string): Row => {
  const sent = sends === '' ? '' : `${sends} `
  const ended = `run.cancelled ${sent}${parent} notify!`
  const expires = sent.replaceAll(/cancel>run/g, 'expire>run')
  return {
    cancel: `cancelled: ${forgets} ${ended}`,
    'cancel by a caller': `cancelled: ${forgets} audit! ${ended}`,
    expire: `expired: ${forgets} run.expired ${expires}${parent} notify!`,
    expiry: `expired: ${forgets} run.expired ${expires}${parent} notify!`,
    delete: `deleted: ${forgets} ${sent}${parent} eraseRun!`,
  }
}

const endsStarted = (sends: string): Row => ({
  ...ends('forget abort forget', sends),
  duration: `failed: forget abort forget run.failed ${sends === '' ? '' : `${sends} `}${parent} notify!`,
})

const over: Row = {
  slot_granted: `same: ${back}`,
  delegate: 'refused invalid_transition',
  cancel: 'refused invalid_transition',
  'cancel by a caller': 'refused invalid_transition',
  delete: 'deleted: eraseRun!',
}

const overWithout = (...names: readonly string[]): Row =>
  Object.fromEntries(Object.entries(over).filter(([each]) => !names.includes(each)))

/** Events that are not listed are ignored. `same` stands for the current state of the run. */
const table: Record<keyof typeof places, Row> = {
  queued: {
    ...ends('abort forget', ''),
    slot_granted: `${thinking}: run.started notify! remind ${callsModel}`,
    delegate: 'refused invalid_transition',
  },
  thinking: {
    ...endsStarted(back),
    context_compacted: `${thinking}: run.context.compacted callModel!`,
    'model_answered finally': `completed: forget abort forget run.model_call.completed run.completed ${back} ${parent} notify!`,
    'model_answered with calls':
      `${acting}: run.model_call.completed ` +
      'run.tool_call.started run.tool_call.started run.tool_call.started run.tool_call.started run.tool_call.started ' +
      'run.tool_call.started run.tool_call.completed run.tool_call.completed run.requires_action run.requires_action ' +
      'create>confirm create>guarded runTool! prepareChild!',
    model_failed: `failed: forget abort forget run.failed ${back} ${parent} notify!`,
    delegate: `${thinking}: run.delegated create>run_9`,
  },
  'thinking while a child works': {
    ...endsStarted(`${back} cancel>run_9`),
    context_compacted: `${thinking}: run.context.compacted callModel!`,
    'model_answered finally': `${waiting}: run.model_call.completed ${back}`,
    'model_answered with calls':
      `${acting}: run.model_call.completed ` +
      'run.tool_call.started run.tool_call.started run.tool_call.started run.tool_call.started run.tool_call.started ' +
      'run.tool_call.started run.tool_call.completed run.tool_call.completed run.requires_action run.requires_action ' +
      'create>confirm create>guarded runTool! prepareChild!',
    model_failed: `failed: forget abort forget run.failed ${back} cancel>run_9 ${parent} notify!`,
    'child_ended of the caller': `${thinking}: run.child.completed`,
  },
  'acting, a tool running': {
    ...endsStarted(back),
    'tool_progressed post': `${acting}: run.tool_call.progress`,
    'tool_answered post': `${thinking}: run.tool_call.completed ${callsModel}`,
    'connection_required post': `${people}: run.requires_action create>post ${back} notify!`,
    'input_required post': `${people}: run.requires_action create>post ${back} notify!`,
    delegate: `${acting}: run.delegated create>run_9`,
  },
  'acting while another waits': {
    ...endsStarted(`${back} cancel>confirm`),
    'tool_progressed post': `${acting}: run.tool_call.progress`,
    'tool_answered post': `${people}: run.tool_call.completed ${back} notify!`,
    'connection_required post': `${people}: run.requires_action create>post ${back} notify!`,
    'input_required post': `${people}: run.requires_action create>post ${back} notify!`,
    'action_approved confirm': `${acting}: run.action.approved run.tool_call.completed`,
    'action_rejected confirm': `${acting}: run.action.rejected`,
    delegate: `${acting}: run.delegated create>run_9`,
  },
  'acting, a child being prepared': {
    ...endsStarted(back),
    'child_prepared helper': `${waiting}: run.delegated create>run_of_helper ${back}`,
    'child_refused helper': `${thinking}: run.tool_call.completed ${callsModel}`,
    delegate: `${acting}: run.delegated create>run_9`,
  },
  'waiting for a child': {
    ...endsStarted('cancel>run_of_helper'),
    slot_granted: `same: ${back}`,
    'child_ended helper': `${returning}: run.child.completed run.tool_call.completed join>run_queue`,
    delegate: `${waiting}: run.delegated create>run_9`,
  },
  'waiting for a caller’s child': {
    ...endsStarted('cancel>run_9'),
    slot_granted: `same: ${back}`,
    'child_ended of the caller': `${returning}: run.child.completed join>run_queue`,
  },
  'waiting for a connection': {
    ...endsStarted('cancel>post'),
    slot_granted: `same: ${back}`,
    'action_approved post, connected': `${acting}: run.action.connected`,
    'action_approved post, answered': `${acting}: run.action.answered`,
    delegate: `${people}: run.delegated create>run_9`,
  },
  'waiting for input': {
    ...endsStarted('cancel>post'),
    slot_granted: `same: ${back}`,
    'action_approved post, connected': `${acting}: run.action.connected`,
    'action_approved post, answered': `${acting}: run.action.answered`,
    delegate: `${people}: run.delegated create>run_9`,
  },
  'waiting for people': {
    ...endsStarted('cancel>confirm cancel>guarded'),
    slot_granted: `same: ${back}`,
    'action_approved confirm': `${people}: run.action.approved run.tool_call.completed notify!`,
    'action_approved guarded': `${acting}: run.action.approved`,
    'action_rejected confirm': `${people}: run.action.rejected notify!`,
    delegate: `${people}: run.delegated create>run_9`,
  },
  'acting without a slot': {
    ...endsStarted('cancel>guarded'),
    slot_granted: `same: ${back}`,
    'action_executed guarded': `${returning}: run.tool_call.completed join>run_queue`,
    'connection_required guarded': `${people}: run.requires_action notify!`,
    'input_required guarded': `${people}: run.requires_action notify!`,
    delegate: `${acting}: run.delegated create>run_9`,
  },
  returning: {
    ...endsStarted(''),
    slot_granted: `${thinking}: ${callsModel}`,
    delegate: `${returning}: run.delegated create>run_9`,
  },
  completed: over,
  failed: over,
  cancelled: overWithout('cancel', 'cancel by a caller'),
  expired: over,
  deleted: {
    slot_granted: `same: ${back}`,
    delegate: 'refused not_found',
    cancel: 'refused not_found',
    'cancel by a caller': 'refused not_found',
    delete: 'refused not_found',
  },
}

it('covers every state in which a run can rest', () => {
  const resting = new Set(Object.values(places).map((place) => pathOf(place.value)))
  expect([...resting].sort()).toEqual([...restingStates(machine)].sort())
})

it('covers every event of the machine', () => {
  const sampled = new Set(Object.values(events).map((event) => event.type))
  expect([...sampled].sort()).toEqual([...machine.events].sort())
})

describe.each(Object.entries(places))('a run that is %s', (place, snapshot) => {
  const row: Readonly<Record<string, string>> = Object.entries(table).find(([name]) => name === place)?.[1] ?? {}
  it.each(Object.entries(events))('handles %s according to the table', (name, event) => {
    const expected = (row[name] ?? 'ignored').replace(/^same/, pathOf(snapshot.value))
    expect(outcomeOf(machine, snapshot, event)).toBe(expected)
  })
})

it('writes an audit line for a run that a caller created, and for no other', () => {
  const created_by = { kind: 'secret_key', id: 'key_1' }
  const lines = (by: RunInput['created_by']) => {
    const actions: readonly ListedAction[] = initialTransition(machine, inputOf({ created_by: by }))[1]
    return actions.filter(({ type }) => type === 'audit').flatMap((action) => paramsOf.audit(action).lines)
  }
  expect(lines(created_by)).toEqual([{ action: 'run.created', by: created_by, resource: 'run' }])
  expect(lines(null)).toEqual([])
})
