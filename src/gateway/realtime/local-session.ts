import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import { valueValidator } from '#specs/dsl/validate.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { realtimeFrames } from '#specs/events/realtime-events.ts'
import { AgentAnswers, type AgentAnswersParts, type AgentHost } from './agent/agent-answers.ts'
import { AudioInput } from './audio-input.ts'
import { ActiveResponse, type Answer } from './conversation/active-response.ts'
import { Conversation } from './conversation/conversation.ts'
import { type ModelAnswerParts, modelAnswer } from './conversation/model-answer.ts'
import { type SessionConfig, usualConfig } from './conversation/session-config.ts'
import { Outlet } from './outlet.ts'
import type { RealtimeClient, RealtimeSession } from './realtime-client.ts'
import { endsSession, errorEvent, eventIdOf, refusedEvent, serverEvent } from './server-event.ts'
import type { Voices } from './speech/voices.ts'

export interface LocalSessionParts {
  readonly client: RealtimeClient
  readonly model: string
  readonly voices: Voices
  /** Configuration with which the session begins. */
  readonly config: WireObject
  /** When the session ends, in ms since the epoch. */
  readonly expiresAtMs: number
  readonly answers: { readonly model: ModelAnswerParts } | { readonly agent: AgentAnswersParts }
}

const validators = new Map<string, (value: unknown) => void>(
  Object.entries(realtimeFrames).map(([type, schema]) => [type, valueValidator(schema)]),
)

/** A session that this server runs itself, over a chat model or an agent, with speech in and out by its own models. */
export class LocalSession implements RealtimeSession, AgentHost {
  readonly conversation = new Conversation()
  readonly #parts: LocalSessionParts
  readonly #outlet: Outlet
  readonly #audio: AudioInput
  readonly #aborter = new AbortController()
  readonly #conversationId = newId('conv')
  readonly #id: string
  readonly #agent: AgentAnswers | null
  #config: SessionConfig
  #active: ActiveResponse | null = null

  /** @throws {ServiceError} `invalid_field` for a configuration that no session may have. */
  constructor(parts: LocalSessionParts) {
    const { client, voices, answers, config } = parts
    this.#parts = parts
    this.#outlet = new Outlet(client)
    this.#config = usualConfig.with(config)
    this.#audio = new AudioInput({
      ...{ voices, conversation: this.conversation, send: this.#outlet.send, signal: this.#aborter.signal },
      started: () => {
        if (this.#config.turnDetection?.interrupts === true) this.#cancel('turn_detected')
      },
      stopped: () => {
        if (this.#config.turnDetection?.responds === true && this.#active === null) this.#respond({})
      },
      spent: (error) => this.#spent(error, null),
    })
    this.#agent = 'agent' in answers ? new AgentAnswers(answers.agent, this) : null
    this.#id = 'agent' in answers ? answers.agent.sessionId : newId('sess')
  }

  get isAnswering(): boolean {
    return this.#active !== null
  }

  open(): void {
    this.#outlet.send(serverEvent('session.created', { session: this.#shown() }))
    this.#agent?.start()
  }

  take(event: WireObject): void | Promise<void> {
    const { type } = event
    const validate = typeof type === 'string' ? validators.get(type) : undefined
    if (validate === undefined) throw invalidField('type', 'The server does not know this type of event.')
    validate(event)
    return this.#take(textOf(type), event)
  }

  drained(): void {
    this.#outlet.drained()
  }

  tick(): void {}

  leave(): void {
    this.#end()
  }

  begin(answer: Answer): void {
    this.#run(new ActiveResponse(this.#responding, this.#config, {}), answer)
  }

  lost(error: ServiceError): void {
    if (this.#aborter.signal.aborted) return
    this.#outlet.close(errorEvent(error), 1011, error.code)
    this.#end()
  }

  #take(type: string, event: WireObject): void | Promise<void> {
    switch (type) {
      case 'session.update':
        this.#update(objectOf(event.session))
        break
      case 'conversation.item.create':
        return this.#add(objectOf(event.item), textOf(event.previous_item_id) || null)
      case 'conversation.item.retrieve':
        this.#send('conversation.item.retrieved', { item: this.conversation.get(textOf(event.item_id), 'retrieve') })
        break
      case 'conversation.item.delete':
        this.conversation.remove(textOf(event.item_id))
        this.#send('conversation.item.deleted', { item_id: event.item_id })
        break
      case 'conversation.item.truncate':
        this.#truncate(event)
        break
      case 'input_audio_buffer.append':
        this.#audio.append(textOf(event.audio), this.#config)
        return this.#audio.free()
      case 'input_audio_buffer.commit':
        this.#audio.commit(this.#config)
        return this.#audio.free()
      case 'input_audio_buffer.clear':
        this.#audio.clear()
        break
      case 'response.create':
        this.#respond(objectOf(event.response), eventIdOf(event))
        break
      case 'response.cancel':
        this.#cancelNamed(event)
    }
  }

  #update(session: WireObject): void {
    const { model } = session
    if (model !== undefined && model !== this.#parts.model)
      throw invalidField('session.model', 'The model of a session is fixed.')
    this.#config = this.#config.with(session)
    this.#send('session.updated', { session: this.#shown() })
  }

  async #add(item: WireObject, after: string | null): Promise<void> {
    if (item.type === 'mcp_approval_response') {
      if (this.#agent === null) throw invalidField('item.type', 'Only agents request approvals.')
      await this.#agent.decide(item)
    }
    const { item: added, previous } = this.conversation.add(item, after)
    this.#send('conversation.item.added', { previous_item_id: previous, item: added })
    this.#send('conversation.item.done', { previous_item_id: previous, item: added })
    for (const [index, part] of arrayOf(item.content).entries()) {
      const { audio, transcript } = objectOf(part)
      if (textOf(audio) === '' || transcript) continue
      this.#audio.addPart([added.id, index], textOf(audio), this.#config)
      await this.#audio.free()
    }
  }

  #truncate({ item_id, content_index, audio_end_ms }: WireObject): void {
    this.conversation.truncate(textOf(item_id), Number(audio_end_ms))
    this.#send('conversation.item.truncated', { item_id, content_index, audio_end_ms })
  }

  /** @throws {ServiceError} `turn_in_progress`; `invalid_field` for a configuration. */
  #respond(request: WireObject, eventId: string | null = null): void {
    if (this.#active !== null)
      throw refusedEvent('turn_in_progress', 'conversation_already_has_active_response', {
        message: 'The conversation already has an active response.',
      })
    const { conversation: _, metadata: __, input: ___, ...changes } = request
    const config = Object.keys(changes).length === 0 ? this.#config : this.#config.with(changes)
    const response = new ActiveResponse(this.#responding, config, request)
    this.#run(response, async (running) => {
      await this.#audio.heard()
      // what was said meanwhile is for the next response
      running.signal.throwIfAborted()
      try {
        return await this.#answer(running)
      } catch (error) {
        if (endsSession(error)) this.#spent(error, eventId)
        throw error
      }
    })
  }

  #answer(response: ActiveResponse) {
    const { answers } = this.#parts
    if (this.#agent !== null) return this.#agent.answer(response)
    if (!('model' in answers)) throw new Error('a session without a model')
    return modelAnswer(answers.model, this.conversation, response)
  }

  #run(response: ActiveResponse, answer: Answer): void {
    this.#active = response
    const over = (): void => {
      if (this.#active === response) this.#active = null
    }
    response
      .run(async (running) => {
        const end = await answer(running)
        await running.spoken()
        // the next response may be requested as soon as the client sees the end of this one
        over()
        return end
      })
      .catch((error: unknown) => this.lost(new ServiceError('internal_error', { cause: error })))
      .finally(over)
  }

  get #responding() {
    const { outlet, voices } = { outlet: this.#outlet, voices: this.#parts.voices }
    return { outlet, voices, conversation: this.conversation, conversationId: this.#conversationId }
  }

  /** @throws {ServiceError} `no_turn_in_progress` */
  #cancelNamed({ response_id: id }: WireObject): void {
    if (this.#active === null || (id !== undefined && id !== this.#active.id))
      throw refusedEvent('no_turn_in_progress', 'response_cancel_not_active', {
        message: 'There is no such response in progress.',
      })
    this.#cancel('client_cancelled')
  }

  #cancel(reason: 'client_cancelled' | 'turn_detected'): void {
    const active = this.#active
    if (active === null) return
    this.#active = null
    active.cancel(reason)
    this.#agent?.cancelled().catch((error: unknown) => this.#outlet.send(errorEvent(error)))
  }

  /** What pays for the session has ended: the client gets the error, and the socket closes. */
  #spent(error: ServiceError, eventId: string | null): void {
    setImmediate(() => {
      this.#outlet.close(errorEvent(error, eventId), 1008, error.code)
      this.#end()
    })
  }

  #send(type: string, fields: WireObject): void {
    this.#outlet.send(serverEvent(type, fields))
  }

  #shown(): WireObject {
    const { model, expiresAtMs } = this.#parts
    const head = { id: this.#id, object: 'realtime.session', type: 'realtime', model }
    return { ...head, expires_at: Math.floor(expiresAtMs / 1000), ...this.#config.fields }
  }

  #end(): void {
    this.#aborter.abort()
    this.#active?.cancel('client_cancelled')
    this.#active = null
    this.#agent?.stop()
    this.#outlet.end()
  }
}
