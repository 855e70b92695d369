import { setup } from 'xstate'
import type { MachineDefinition } from '#machines/definition.ts'
import { turnText, vocabulary } from '#machines/vocabulary.ts'
import { paramsOf } from '#runtime/schema.ts'
import type { JsonObject, StoredEvent } from '#storage/ports.ts'

interface ProbeContext {
  readonly count: number
  readonly waitMs: number
  readonly blob: string
}

const event = (type: string, payload: JsonObject = {}) => ({ event_type: type, payload })

const emits = (type: string, pick: (event: StoredEvent) => JsonObject = () => ({})) =>
  ({
    type: 'journal',
    params: ({ event: by }: { event: StoredEvent }) => ({ events: [event(type, pick(by))] }),
  }) as const

/** Text of a stream, with the lengths of the pieces in which it was shown. */
const streamed = ({ delta, cuts }: StoredEvent) => {
  if (typeof delta !== 'string' || delta === '') return []
  const lengths = Array.isArray(cuts) && cuts.length > 1 ? { cuts: cuts.map(Number) } : {}
  return [{ ...event('speech.delta', { delta }), ...lengths }]
}

const deltaOf = ({ delta }: JsonObject): JsonObject => ({ delta: delta ?? '' })

const probeSetup = setup({
  types: { context: {} as ProbeContext, events: {} as StoredEvent },
  actions: {
    ...vocabulary,
    work: (_: unknown, _params: JsonObject) => {},
    speak: (_: unknown, _params: JsonObject) => {},
    tidy: (_: unknown, _params: JsonObject) => {},
    undeclared: () => {},
  },
  guards: {
    throws: (): boolean => {
      throw new Error('a guard throws')
    },
  },
  delays: { wait: ({ context }) => context.waitMs },
})

const counted = probeSetup.assign(({ context }) => ({ count: context.count + 1 }))

const breaks = probeSetup.assign(() => {
  throw new Error('an assign throws')
})

const sends = {
  type: 'send' as const,
  params: ({ event: by }: { event: StoredEvent }) => paramsOf.send({ type: 'send', params: by }),
}

/** A machine that performs, on command, each thing that a machine can require of the runtime. */
const probeMachine = probeSetup.createMachine({
  id: 'probe',
  context: { count: 0, waitMs: 0, blob: '' },
  initial: 'idle',
  meta: { refuses: { refuse: { code: 'invalid_transition', param: 'x', message: 'No.' } } },
  on: {
    count: { actions: [counted, emits('counted', ({ n }) => ({ n: n ?? null }))] },
    keep: { actions: probeSetup.assign(({ event: { text } }) => ({ blob: typeof text === 'string' ? text : '' })) },
    say: { actions: emits('said', ({ type: _, ...payload }) => payload) },
    send: { actions: sends },
    delete: { actions: sends },
    work: { actions: { type: 'work', params: ({ event: { type: _, ...params } }) => params } },
    worked: { actions: emits('worked', ({ output }) => ({ output: output ?? null })) },
    tidy: { actions: { type: 'tidy', params: {} } },
    speak: { actions: [emits('speech.started'), { type: 'speak', params: {} }] },
    speech_added: {
      actions: { type: 'journal', params: ({ event: by }: { event: StoredEvent }) => ({ events: streamed(by) }) },
    },
    speech_restarted: { actions: emits('speech.restarted', ({ from }) => ({ from: from ?? null })) },
    heard: { actions: emits('speech.delta', deltaOf) },
    spoken: {
      actions: [
        {
          type: 'journal',
          params: ({ event: by }: { event: StoredEvent }) => ({
            events: [...streamed(by), event('speech.ended', { text: turnText, inside: { text: turnText } })],
          }),
        },
      ],
    },
    stop: { actions: [{ type: 'abort', params: { effects: ['work', 'speak'] } }, emits('stopped')] },
    guard: { guard: 'throws', actions: counted },
    assign: { actions: [counted, breaks] },
    undeclared: { actions: [counted, 'undeclared'] },
  },
  states: {
    idle: {
      on: {
        wait: {
          target: 'waiting',
          actions: probeSetup.assign(({ event: { ms } }) => ({ waitMs: typeof ms === 'number' ? ms : 0 })),
        },
      },
    },
    waiting: {
      tags: 'busy',
      after: { wait: { target: 'idle', actions: emits('woke') } },
      on: { back: 'idle', wait: { target: 'waiting', reenter: true } },
    },
    gone: {},
  },
})

/** The probe's definition; tests provide its effects. */
export const probeDefinition: MachineDefinition = {
  name: 'probe',
  version: 1,
  idPrefix: 'prb',
  machine: probeMachine,
  effects: { work: 'from_params', speak: 'stream', tidy: 'idempotent' },
  row: ({ value, context }) => ({ state: JSON.stringify(value), count: context.count ?? null }),
  text: {
    startsAt: 'speech.started',
    restartsAt: 'speech.restarted',
    part: 'speech_added',
    piece: (_context, delta) => ({ event_type: 'speech.delta', payload: { delta } }),
    adds: ({ event_type, payload }) =>
      event_type === 'speech.delta' && typeof payload.delta === 'string' ? payload.delta : undefined,
  },
  migrations: {},
}
