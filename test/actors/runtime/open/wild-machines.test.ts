import { describe, expect, it } from 'vitest'
import {
  type AnyStateMachine,
  and,
  assign,
  createMachine,
  emit,
  enqueueActions,
  log,
  type MachineContext,
  sendTo,
  setup,
  spawnChild,
} from 'xstate'
import { idempotent, newId, type OpenOptions, open, openMemoryStorage, vocabulary } from '#runtime/open/index.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const quiet = (): void => {}
const silent = { debug: quiet, info: quiet, warn: quiet, error: quiet }

/** Opens machines as a stranger does, on a clock that the test advances. */
const opened = async (machine: AnyStateMachine, more: Partial<OpenOptions> = {}) => {
  const clock = new VirtualClock()
  const system = await open({ storage: openMemoryStorage(), machines: [machine], clock, log: silent, ...more })
  /** Lets an idle actor leave the memory. */
  const forget = (): Promise<void> => clock.advance(200_000)
  return { system, clock, forget }
}

const wild = setup({ types: { context: {} as MachineContext, events: {} as StoredEvent }, actions: vocabulary })

/** A machine whose context gets the value of an event or of a function. */
const holder = (value: () => unknown): AnyStateMachine =>
  wild.createMachine({
    id: 'holder',
    context: {},
    on: {
      keep: { actions: assign(({ event }) => ({ kept: event.value })) },
      make: { actions: assign({ made: value }) },
    },
  })

describe('what does not run here is refused before any actor starts', () => {
  const go = (actions: unknown): object => ({ id: 'wild', initial: 'a', states: { a: { on: { go: { actions } } } } })
  const inside = (state: object): object => ({ id: 'wild', initial: 'a', states: { a: {}, b: state } })
  it.each([
    ['invoke in wild.b', inside({ invoke: { src: 'poll' } })],
    ['a function as an action', go(() => {})],
    ['emit in wild.a', go(emit({ type: 'e' }))],
    ['log in wild.a', go(log('e'))],
    ['sendTo in wild.a', go(sendTo('other', { type: 'e' }))],
    ['spawnChild in wild.a', go(spawnChild('child'))],
    ['the action charge, which has no effect', go('charge')],
    ['the unknown guard isReady in wild.b', inside({ on: { go: { guard: 'isReady', target: 'a' } } })],
    ['the unknown delay soon in wild.b', inside({ after: { soon: 'a' } })],
  ])('%s', async (message, config) => {
    await expect(opened(createMachine(config))).rejects.toThrow(message)
  })

  it('two machines with one id', async () => {
    const machine = holder(() => 1)
    await expect(opened(machine, { machines: [machine, holder(() => 2)] })).rejects.toThrow(
      'two machines have the id holder',
    )
  })

  it('what only a step shows fails the step with its name, and the actor goes on', async () => {
    const { system } = await opened(
      wild.createMachine({
        id: 'wild',
        context: {},
        initial: 'a',
        states: {
          a: { on: { shout: { actions: enqueueActions(({ enqueue }) => enqueue.emit({ type: 'e' })) }, go: 'b' } },
          b: {},
        },
      }),
    )
    const id = await system.start('wild')
    await expect(system.send(id, { type: 'shout' })).rejects.toThrow('xstate.emit')
    expect(await system.send(id, { type: 'go' })).toEqual({ isTaken: true })
  })
})

describe('a chart runs as XState runs it, also after its actor has left the memory', () => {
  it.each(['shallow', 'deep'] as const)('with a %s history state', async (history) => {
    const { system, forget } = await opened(
      wild.createMachine({
        id: 'lamp',
        context: {},
        initial: 'on',
        states: {
          on: {
            initial: 'dim',
            on: { flip: 'off' },
            states: {
              dim: { on: { more: 'bright' } },
              bright: { initial: 'white', states: { white: { on: { tint: 'red' } }, red: {} } },
              before: { type: 'history', history },
            },
          },
          off: { on: { flip: 'on.before' } },
        },
      }),
    )
    const id = await system.start('lamp')
    for (const type of ['more', 'tint', 'flip']) await system.send(id, { type })
    await forget()
    await system.send(id, { type: 'flip' })
    expect((await system.read(id)).value).toEqual({ on: { bright: history === 'deep' ? 'red' : 'white' } })
  })

  it('with an output', async () => {
    const { system, forget } = await opened(
      wild.createMachine({
        id: 'sum',
        context: {},
        output: ({ context }) => ({ sum: context.sum }),
        initial: 'open',
        states: {
          open: { on: { add: { target: 'closed', actions: assign(({ event }) => ({ sum: event.n })) } } },
          closed: { type: 'final' },
        },
      }),
    )
    const id = await system.start('sum')
    await system.send(id, { type: 'add', n: 3 })
    const read = { isDone: true, output: { sum: 3 } }
    expect(await system.read(id)).toMatchObject(read)
    await forget()
    expect(await system.read(id)).toMatchObject(read)
  })

  it('with wildcards, composed guards, parallel states and a delay that is computed', async () => {
    const machine = setup({
      types: { context: {} as { ms: number }, events: {} as StoredEvent },
      actions: vocabulary,
      guards: { yes: () => true, too: () => true },
      delays: { wait: ({ context }) => context.ms },
    }).createMachine({
      id: 'both',
      context: ({ input }) => ({ ms: Number(Object(input).ms) }),
      type: 'parallel',
      states: {
        mouse: {
          initial: 'a',
          states: { a: { on: { 'mouse.*': { guard: and(['yes', 'too']), target: 'b' } } }, b: {} },
        },
        time: { initial: 'a', states: { a: { after: { wait: 'b' } }, b: {} } },
      },
    })
    const { system, clock, forget } = await opened(machine)
    const id = await system.start('both', { input: { ms: 300_000 } })
    await forget()
    await system.send(id, { type: 'mouse.left.down' })
    await clock.advance(101_000)
    expect((await system.read(id)).value).toEqual({ mouse: 'b', time: 'b' })
  })

  const round = { initial: 'a', states: { a: { on: { go: 'b' } }, b: { always: 'c' }, c: { always: 'b' } } }
  it.each([
    ['compound', createMachine({ id: 'round', ...round })],
    ['parallel', createMachine({ id: 'round', type: 'parallel', states: { one: round, two: {} } })],
  ])('a %s chart that never comes to rest fails its step alone', async (_type, machine) => {
    const { system } = await opened(machine)
    const id = await system.start('round')
    await expect(system.send(id, { type: 'go' })).rejects.toThrow('Infinite loop')
    expect(JSON.stringify((await system.read(id)).value)).toMatch(/"a"/)
  })

  it('a chart that takes more microsteps than its own options allow fails its step', async () => {
    const machine = createMachine({
      ...{ id: 'few', initial: 'a', options: { maxIterations: 2 } },
      states: { a: { on: { go: 'b' } }, b: { always: 'c' }, c: { always: 'd' }, d: { always: 'a' } },
    })
    const { system } = await opened(machine)
    const id = await system.start('few')
    await expect(system.send(id, { type: 'go' })).rejects.toThrow('Infinite loop')
  })
})

describe('what JSON cannot express is refused, and named', () => {
  class Money {
    readonly cents = 1
  }
  const strange: readonly (readonly [string, unknown])[] = [
    ['of the class Date', new Date(0)],
    ['of the class Map', new Map([[1, 2]])],
    ['of the class Money', new Money()],
    ['a bigint', 5n],
    ['a function', quiet],
    ['NaN', Number.NaN],
    ['[0] is undefined', [undefined]],
  ]
  it.each(strange)('%s in a context, an event and an input', async (what, value) => {
    const { system } = await opened(holder(() => ({ deep: [value] })))
    const id = await system.start('holder')
    await expect(system.send(id, { type: 'make' })).rejects.toThrow(`context.made.deep[0]`)
    await expect(system.send(id, { type: 'make' })).rejects.toThrow(what)
    // a caller whose values the compiler has not seen
    const unseen: { value: string } = JSON.parse('{}')
    Object.assign(unseen, { value })
    await expect(system.send(id, { type: 'keep', ...unseen })).rejects.toThrow(what)
    await expect(system.start('holder', { input: unseen })).rejects.toThrow(what)
    expect((await system.read(id)).context).toEqual({})
  })

  it('a field that is undefined is left out', async () => {
    const { system } = await opened(holder(() => undefined))
    const id = await system.start('holder')
    expect(await system.send(id, { type: 'make' })).toEqual({ isTaken: true })
  })

  it.each(['$parked', '$retry', 'xstate.stop', 'xstate.after.1000.holder'])(
    'an event %s of the runtime itself',
    async (type) => {
      const { system } = await opened(holder(() => 1))
      const id = await system.start('holder')
      await expect(system.send(id, { type })).rejects.toThrow(TypeError)
    },
  )
})

describe('the data of an actor are its own', () => {
  it('whoever changes an event or a read state afterwards', async () => {
    const { system } = await opened(holder(() => 1))
    const id = await system.start('holder')
    const value = { n: 1 }
    await system.send(id, { type: 'keep', value })
    value.n = 2
    Object.assign(Object((await system.read(id)).context.kept), { n: 3 })
    expect((await system.read(id)).context).toEqual({ kept: { n: 1 } })
  })

  it('whatever an effect does to its params and context', async () => {
    const machine = setup({
      types: { context: {} as MachineContext, events: {} as StoredEvent },
      actions: { ...vocabulary, spoil: (_, _params: MachineContext) => {} },
    }).createMachine({
      id: 'spoilt',
      context: { list: ['a'] },
      initial: 'a',
      states: { a: { entry: { type: 'spoil', params: ({ context }) => context }, on: { done: 'b' } }, b: {} },
    })
    const spoil = idempotent(async (params, { context }) => {
      for (const each of [params.list, context.list]) Array.prototype.push.call(each, 'b')
      return { type: 'done' }
    })
    const { system, clock } = await opened(machine, { effects: { spoilt: { spoil } } })
    const id = await system.start('spoilt')
    await clock.advance(1000)
    expect(await system.read(id)).toMatchObject({ value: 'b', context: { list: ['a'] } })
  })
})

it('an actor whose effect threw three times is parked, and goes on once it is retried', async () => {
  const machine = setup({ actions: { ...vocabulary, charge: (_, _params: object) => {} } }).createMachine({
    id: 'order',
    initial: 'paying',
    states: { paying: { entry: { type: 'charge', params: {} }, on: { paid: 'paid' } }, paid: {} },
  })
  const keys: string[] = []
  const charge = idempotent(async (_params, { idempotencyKey }) => {
    keys.push(idempotencyKey)
    if (keys.length <= 3) throw new Error('the bank is closed')
    return { type: 'paid' }
  })
  const { system, clock } = await opened(machine, { effects: { order: { charge } } })
  const id = await system.start('order')
  await system.retry(id)
  await clock.advance(60_000)
  expect(await system.read(id)).toMatchObject({ value: 'paying', parked: 'Error: the bank is closed' })
  await expect(system.send(id, { type: 'paid' })).rejects.toMatchObject({
    code: 'actor_parked',
    message: expect.stringContaining('retry'),
  })
  await system.retry(id)
  await clock.advance(1000)
  expect(await system.read(id)).toMatchObject({ value: 'paid', parked: null })
  expect(new Set(keys).size).toBe(1)
  expect(keys).toHaveLength(4)
})

describe('an actor that another one has requested', () => {
  const machine = wild.createMachine({
    id: 'family',
    context: {},
    on: {
      bear: {
        actions: {
          type: 'send',
          params: ({ event }) => ({ messages: [{ to: String(event.child), event: { type: 'create', input: {} } }] }),
        },
      },
      cry: { actions: { type: 'journal', params: { events: [{ event_type: 'cried', payload: {} }] } } },
    },
  })

  it('is there as soon as the request is stored, for readers, followers and senders', async () => {
    const { system } = await opened(machine)
    const children = [newId('family'), newId('family'), newId('family')] as const
    const parent = await system.start('family')
    const bear = (child: string) => system.send(parent, { type: 'bear', child })
    await bear(children[0])
    expect(await system.read(children[0])).toMatchObject({ id: children[0] })
    await bear(children[1])
    expect(await system.send(children[1], { type: 'cry' })).toEqual({ isTaken: true })
    await bear(children[2])
    const first = system.follow(children[2]).next()
    await system.send(children[2], { type: 'cry' })
    expect(await first).toMatchObject({ value: { event_type: 'cried' } })
  })

  it('is not found for a reader of an id that nothing has, which would wait for good', async () => {
    const { system } = await opened(machine)
    await expect(system.follow('family_none').next()).rejects.toMatchObject({ code: 'not_found' })
  })
})
