import { describe, expect, it } from 'vitest'
import type { AgentOperations } from '#gateway/realtime/agent/agent-operations.ts'
import { LocalSession } from '#gateway/realtime/local-session.ts'
import { Voices } from '#gateway/realtime/speech/voices.ts'
import type { WireObject } from '#outgoing/wire.ts'
import type { EventSink } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { JsonObject } from '#storage/index.ts'
import { callerOf } from '#test/gateway/ledger/calls.ts'

const refused = (): never => {
  throw new Error('there is no speech')
}

/** A session that takes no turn while one is in progress or waits, as every session of an agent. */
class Operations implements AgentOperations {
  readonly made: (readonly [string, JsonObject])[] = []
  readonly create = refused
  readonly find = refused
  readonly cost = refused
  #sink: EventSink | null = null
  #sequence = 0
  #state: 'idle' | 'waits' | 'runs' = 'idle'
  /** The refusal of the next turn or approval. */
  refusal: ServiceError | null = null
  /** What a turn waits for before it is taken. */
  before: Promise<void> = Promise.resolve()

  async turn(_: string, body: JsonObject): Promise<void> {
    this.made.push(['turn', body])
    await this.before
    this.#refuse()
    if (this.#state === 'waits') throw new ServiceError('approval_pending')
    if (this.#state === 'runs') throw new ServiceError('turn_in_progress')
    this.#state = 'runs'
  }

  async approve(_: string, body: JsonObject): Promise<void> {
    this.made.push(['approve', body])
    this.#refuse()
    this.emit('turn.resumed', {}, 'runs')
  }

  #refuse(): void {
    const { refusal } = this
    this.refusal = null
    if (refusal !== null) throw refusal
  }

  async reject(): Promise<void> {}

  async cancel(): Promise<void> {
    this.made.push(['cancel', {}])
    if (this.#state === 'idle') throw new ServiceError('no_turn_in_progress')
    this.emit('turn.failed', { error: { code: 'cancelled' } }, 'idle')
  }

  follow(): ReturnType<AgentOperations['follow']> {
    return {
      start: (sink) => {
        this.#sink = sink
        return { resume: () => {}, stop: () => {} }
      },
    }
  }

  emit(event_type: string, payload: JsonObject, state: 'idle' | 'waits' | 'runs'): void {
    this.#state = state
    this.#sink?.push([{ sequence: ++this.#sequence, event_type, payload }])
  }
}

const open = (hears: () => Promise<string> = refused) => {
  const events: WireObject[] = []
  const operations = new Operations()
  const transcribe = async () => ({ json: { text: await hears() }, headers: [] })
  const voice = { speech: { speak: refused }, transcription: { transcribe } }
  const session = new LocalSession({
    client: { send: (event) => events.push(JSON.parse(event)) > 0, close: () => {} },
    ...{ model: 'agt_1', voices: new Voices(voice, callerOf(), null), expiresAtMs: 0 },
    answers: { agent: { operations, budget: null, sessionId: 'ses_1', after: 0, costUsd: 0, estimate: refused } },
    config: { output_modalities: ['text'] },
  })
  session.open()
  const ended = () => events.filter(({ type }) => type === 'response.done')
  const says = (text: string) =>
    session.take({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    })
  const respond = async (responses: number) => {
    await session.take({ type: 'response.create' })
    await expect.poll(() => ended().length).toBe(responses)
  }
  const begun = (calls: number) => expect.poll(() => operations.made.length).toBe(calls)
  return { session, operations, says, respond, begun, ended }
}

describe('the answers of an agent', () => {
  it('take what the user says while a function of the client runs, with the turn after it', async () => {
    const { session, operations, says, respond, begun, ended } = open()
    await says('Where is my order?')
    const first = respond(1)
    await begun(1)
    operations.emit('turn.paused', { action_id: 'act_1', tool: 'find', arguments: {}, run_by: 'caller' }, 'waits')
    await first
    await says('Be quick.')
    await respond(2)
    const item = { type: 'function_call_output', call_id: 'act_1', output: 'in Oslo' }
    await session.take({ type: 'conversation.item.create', item })
    const third = respond(3)
    await begun(3)
    operations.emit('turn.completed', { output: 'In Oslo.' }, 'idle')
    await third
    const fourth = respond(4)
    await begun(4)
    operations.emit('turn.completed', { output: 'I am.' }, 'idle')
    await fourth
    expect(operations.made).toEqual([
      ['turn', { input: 'Where is my order?' }],
      ['turn', { input: 'Be quick.' }],
      ['approve', { action_id: 'act_1', tool_results: [{ action_id: 'act_1', output: 'in Oslo' }] }],
      ['turn', { input: 'Be quick.' }],
    ])
    expect(ended().map(({ response }) => response)).toMatchObject([
      { status: 'completed' },
      { status: 'failed', status_details: { error: { code: 'approval_pending' } } },
      { status: 'completed' },
      { status: 'completed' },
    ])
  })

  it('give an output again that could not be stored, and not one that is refused for good', async () => {
    const { session, operations, says, respond, begun } = open()
    await says('Where is my order?')
    const first = respond(1)
    await begun(1)
    operations.emit('turn.paused', { action_id: 'act_1', tool: 'find', arguments: {}, run_by: 'caller' }, 'waits')
    await first
    const item = { type: 'function_call_output', call_id: 'act_1', output: 'in Oslo' }
    await session.take({ type: 'conversation.item.create', item })
    operations.refusal = new ServiceError('store_unavailable')
    await respond(2)
    operations.refusal = new ServiceError('action_already_resolved')
    await respond(3)
    await respond(4)
    expect(operations.made.map(([name]) => name)).toEqual(['turn', 'approve', 'approve', 'turn'])
  })

  it('are not begun for a response that ended while its audio was transcribed: the words are for the next', async () => {
    const heard = Promise.withResolvers<string>()
    const { session, operations, says, respond, begun, ended } = open(() => heard.promise)
    const audio = Buffer.alloc(9_600).toString('base64')
    const content = [{ type: 'input_audio', audio }]
    await session.take({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } })
    await session.take({ type: 'response.create' })
    await session.take({ type: 'response.cancel' })
    expect(ended()).toHaveLength(1)
    heard.resolve('Where is my')
    await says('order?')
    const second = respond(2)
    await begun(1)
    operations.emit('turn.completed', { output: 'In Oslo.' }, 'idle')
    await second
    expect(operations.made).toEqual([['turn', { input: 'Where is my\norder?' }]])
  })

  it('are cancelled only when their turn has begun, and the next begins after that', async () => {
    const taken = Promise.withResolvers<void>()
    const { session, operations, says, respond, begun, ended } = open()
    operations.before = taken.promise
    await says('Where is my order?')
    await session.take({ type: 'response.create' })
    await begun(1)
    await session.take({ type: 'response.cancel' })
    await says('Be quick.')
    const second = respond(2)
    taken.resolve()
    await begun(3)
    operations.emit('turn.completed', { output: 'In Oslo.' }, 'idle')
    await second
    expect(operations.made.map(([name]) => name)).toEqual(['turn', 'cancel', 'turn'])
    expect(ended().map(({ response }) => response)).toMatchObject([{ status: 'cancelled' }, { status: 'completed' }])
  })

  it('go on after a response was cancelled whose turn was refused', async () => {
    const taken = Promise.withResolvers<void>()
    const { session, operations, says, respond, begun, ended } = open()
    operations.before = taken.promise
    operations.refusal = new ServiceError('rate_limit_exceeded')
    await says('Where is my order?')
    await session.take({ type: 'response.create' })
    await begun(1)
    await session.take({ type: 'response.cancel' })
    taken.resolve()
    const second = respond(2)
    await begun(2)
    operations.emit('turn.completed', { output: 'In Oslo.' }, 'idle')
    await second
    expect(ended().at(-1)).toMatchObject({ response: { status: 'completed' } })
    expect(operations.made.map(([name]) => name)).toEqual(['turn', 'turn'])
  })
})
