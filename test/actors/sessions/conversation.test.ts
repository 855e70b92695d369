import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesState, transition } from 'xstate'
import { Conversation } from '#actors/sessions/conversation.ts'
import { conversationState } from '#actors/sessions/schema.ts'
import { type ListedAction, paramsOf } from '#runtime/schema.ts'
import type { LogEvent, StoredEvent } from '#storage/ports.ts'
import { outcomeOf } from '#test/machines/outcome.ts'
import { fresh, machine, remove, walk } from '#test/machines/session/session-samples.ts'
import { runsByDay } from '#test/setup/at-night.ts'

/** The log that the session's machine produces for these events, and the sequences at which it calls the model. */
const logOf = (life: readonly StoredEvent[]): { log: readonly LogEvent[]; modelCalls: readonly number[] } => {
  const log: LogEvent[] = []
  const modelCalls: number[] = []
  let snapshot = fresh()
  life.forEach((event, index) => {
    const unlike = withOwnIds(event, index, snapshot.context.calls)
    if (/^(ignored|refused)/.test(outcomeOf(machine, snapshot, unlike))) return
    const [next, listed] = transition(machine, snapshot, unlike)
    const actions: readonly ListedAction[] = listed
    for (const action of actions) {
      if (action.type !== 'journal') continue
      for (const emission of paramsOf.journal(action).events) log.push({ sequence: log.length + 1, ...emission })
    }
    if (matchesState('active.working.thinking', next.value) && next.context.steps !== snapshot.context.steps) {
      modelCalls.push(log.length)
    }
    snapshot = next
  })
  return { log, modelCalls }
}

/** Makes action ids unique: sample events name actions by their tool, and a real log never repeats an id. */
const withOwnIds = (event: StoredEvent, index: number, open: readonly { action_id: string }[]): StoredEvent => {
  if (Array.isArray(event.calls)) {
    const calls = event.calls.map((call: object, nth: number) => ({
      ...call,
      action_id: `${Reflect.get(call, 'action_id')}-${index}-${nth}`,
    }))
    return { ...event, calls }
  }
  const meant = (id: unknown): string =>
    open.find(({ action_id }) => action_id.startsWith(`${String(id)}-`))?.action_id ?? String(id)
  if (Array.isArray(event.tool_results)) {
    const results = event.tool_results.map((each: object) => ({
      ...each,
      action_id: meant(Reflect.get(each, 'action_id')),
    }))
    return { ...event, tool_results: results }
  }
  return event.action_id === undefined ? event : { ...event, action_id: meant(event.action_id) }
}

const anyLife = fc.array(fc.constantFrom(...walk.events.filter((event) => event !== remove)), { maxLength: 60 })

const folded = (log: readonly LogEvent[], from = new Conversation()): Conversation => {
  from.apply(log)
  return from
}

const said = (conversation: Conversation): string => JSON.stringify(conversation.forModel())

describe('the conversation of a session with any history', () => {
  it('is the same from its log as from any checkpoint in it', () => {
    fc.assert(
      fc.property(anyLife, fc.nat(), (life, place) => {
        const { log } = logOf(life)
        const cut = log.length === 0 ? 0 : place % (log.length + 1)
        const checkpoint = JSON.stringify(folded(log.slice(0, cut)).state)
        const resumed = folded(log, new Conversation(conversationState(checkpoint)))
        expect(said(resumed)).toBe(said(folded(log)))
        expect(resumed.through).toBe(log.length)
      }),
      { numRuns: runsByDay(500) },
    )
  })

  it('is the same if it was read for every model call on the way', () => {
    fc.assert(
      fc.property(anyLife, (life) => {
        const { log, modelCalls } = logOf(life)
        const live = new Conversation()
        for (const through of modelCalls) {
          live.apply(log.slice(0, through))
          live.forModel()
        }
        expect(said(folded(log, live))).toBe(said(folded(log)))
      }),
      { numRuns: runsByDay(500) },
    )
  })

  it('is the same however its events arrive in parts, and some of them twice', () => {
    fc.assert(
      fc.property(anyLife, fc.array(fc.nat(20), { maxLength: 40 }), (life, sizes) => {
        const { log } = logOf(life)
        const parts = new Conversation()
        let start = 0
        for (const size of sizes) {
          parts.apply(log.slice(Math.max(0, start - 2), start + size))
          start += size
        }
        expect(said(folded(log, parts))).toBe(said(folded(log)))
      }),
      { numRuns: runsByDay(300) },
    )
  })

  it('is the same whether guardrails found something in it', () => {
    const found = [{ guardrail: 'house', check: 'words', stage: 'input', outcome: 'flagged', found: 1 }]
    fc.assert(
      fc.property(anyLife, (life) => {
        const guarded = life.map((each) => (/^model_(answered|failed)$/.test(each.type) ? { ...each, found } : each))
        expect(said(folded(logOf(guarded).log))).toBe(said(folded(logOf(life).log)))
      }),
      { numRuns: runsByDay(300) },
    )
  })

  it('contains an output for each call, right after the answer that made it', () => {
    fc.assert(
      fc.property(anyLife, (life) => {
        const messages = folded(logOf(life).log).forModel()
        messages.forEach((message, index) => {
          if (message.role !== 'assistant') return
          const outputs = messages.slice(index + 1, index + 1 + message.toolCalls.length)
          expect(outputs.map((each) => (each.role === 'tool' ? each.callId : each.role))).toEqual(
            message.toolCalls.map((call) => call.callId),
          )
        })
      }),
      { numRuns: runsByDay(300) },
    )
  })
})

const event = (sequence: number, event_type: string, payload: LogEvent['payload']): LogEvent => ({
  sequence,
  event_type,
  turn_number: 1,
  payload,
})
const started = (sequence: number, action_id: string): LogEvent =>
  event(sequence, 'tool_call.started', { tool: 't', arguments: {}, action_id })
const completed = (sequence: number, action_id: string): LogEvent =>
  event(sequence, 'tool_call.completed', { tool: 't', action_id, output: `of ${action_id}` })

it('separates the calls of two answers without text between them', () => {
  const log = [
    event(1, 'turn.started', { input_text: 'go' }),
    started(2, 'a'),
    completed(3, 'a'),
    started(4, 'b'),
    started(5, 'c'),
    completed(6, 'c'),
    completed(7, 'b'),
  ]
  expect(
    folded(log)
      .forModel()
      .map((message) =>
        message.role === 'assistant' ? message.toolCalls.map((call) => call.callId) : message.content,
      ),
  ).toEqual(['go', ['a'], 'of a', ['b', 'c'], 'of b', 'of c'])
})

it('leaves the text of a call that a crash cut out of the call that begins again, whatever was read between', () => {
  const before = [event(1, 'turn.started', { input_text: 'go' }), started(2, 'a'), completed(3, 'a')]
  const live = folded([...before, event(4, 'output_text.delta', { delta: 'A part' })])
  expect(said(live)).toBe(said(folded(before)))
  live.apply([event(1030, 'turn.restarted', { from_sequence: 2, attempt: 2 })])
  expect(said(live)).toBe(said(folded(before)))
})
