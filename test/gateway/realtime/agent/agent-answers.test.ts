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
const voice = { speech: { speak: refused }, transcription: { transcribe: refused } }

/** A session that takes no turn while one is in progress or waits, as every session of an agent. */
class Operations implements AgentOperations {
  readonly made: (readonly [string, JsonObject])[] = []
  readonly create = refused
  readonly find = refused
  readonly cost = refused
  #sink: EventSink | null = null
  #sequence = 0
  #state: 'idle' | 'waits' | 'runs' = 'idle'
  /** The refusal of the next approval. */
  refusal: ServiceError | null = null

  async turn(_: string, body: JsonObject): Promise<void> {
    this.made.push(['turn', body])
    if (this.#state === 'waits') throw new ServiceError('approval_pending')
    if (this.#state === 'runs') throw new ServiceError('turn_in_progress')
    this.#state = 'runs'
  }

  async approve(_: string, body: JsonObject): Promise<void> {
    this.made.push(['approve', body])
    const { refusal } = this
    this.refusal = null
    if (refusal !== null) throw refusal
    this.emit('turn.resumed', {}, 'runs')
  }

  async reject(): Promise<void> {}
  async cancel(): Promise<void> {}

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

const open = () => {
  const events: WireObject[] = []
  const operations = new Operations()
  const session = new LocalSession({
    client: { send: (event) => events.push(JSON.parse(event)) > 0, close: () => {} },
    ...{ model: 'agt_1', voices: new Voices(voice, callerOf(), null), expiresAtMs: 0 },
    answers: { agent: { operations, budget: null, sessionId: 'ses_1', after: 0, costUsd: 0 } },
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
})
