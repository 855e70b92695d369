import { costField } from '#gateway/call/accounting/shown-cost.ts'
import { refusalOf } from '#gateway/call/refusal.ts'
import { WebSocketClient } from '#outgoing/websocket/websocket-client.ts'
import { isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { RealtimeClient, RealtimeSession } from '../realtime-client.ts'
import { endsSession, errorEvent, eventIdOf } from '../server-event.ts'
import { connectProvider, type ProviderSocketParts } from './provider-socket.ts'
import { heardTokens, itemTokens } from './realtime-usage.ts'
import { type ChargedSession, type ChargeParts, ResponseCharges } from './response-charges.ts'
import { requireTranscriber, withoutModel } from './session-update.ts'

export interface RelayParts extends ProviderSocketParts, ChargeParts {}

/** A session of a client, for which a provider is connected to. */
export interface RelayRequest extends Omit<ChargedSession, 'route'> {
  readonly client: RealtimeClient
  /** Configuration of the secret that opened the session, sent to the provider first. */
  readonly session: WireObject
}

/** Maximum size of an event of a provider. */
const maxEventBytes = 4 * 1024 * 1024
/** Larger events are passed on unread, since parsing them would hold the loop. */
const maxReadChars = 1024 * 1024
/** Bytes up to which a provider may leave events unread before those of the client wait. */
const unsentMaxBytes = 256 * 1024
/** Seconds between signs of life of a provider. */
const pingTicks = 30

/** Words of which every event that the relay reads has one; most events, such as audio, are passed on unread. */
const readEvents =
  /"(?:response\.(?:created|done)|session\.(?:created|updated)|error|[a-z_.]+transcription\.completed)"/

/** A session that a provider serves: events are passed on in both directions, responses admitted and metered. */
export class RelaySession implements RealtimeSession {
  readonly #parts: RelayParts
  readonly #request: RelayRequest
  readonly #aborter = new AbortController()
  readonly #connected: Promise<void>
  #upstream: WebSocketClient | null = null
  #charges: ResponseCharges | null = null
  #waiting: (() => void) | null = null
  #isOver = false
  #ticks = 0
  #isAlive = true

  constructor(parts: RelayParts, request: RelayRequest) {
    this.#parts = parts
    this.#request = request
    this.#connected = this.#connect()
  }

  async take(event: WireObject, text: string): Promise<void> {
    if (this.#upstream === null) await this.#connected
    const charges = this.#charges
    if (this.#isOver || charges === null) return
    switch (event.type) {
      case 'response.create':
        await this.#permit(charges, event)
        break
      case 'input_audio_buffer.append':
        charges.heard(heardTokens(textOf(event.audio).length), textOf(event.audio).length)
        break
      case 'conversation.item.create':
        charges.heard(itemTokens(objectOf(event.item), text.length), text.length)
        break
      case 'session.update':
        requireTranscriber(objectOf(event.session), this.#request.caller)
    }
    if (this.#isOver) return
    const sent = event.type === 'session.update' ? withoutModel(event, this.#request.model) : text
    if (this.#upstream?.send(sent) === false && this.#upstream.bufferedBytes > unsentMaxBytes) await this.#drain()
  }

  drained(): void {
    this.#upstream?.resume()
  }

  tick(): void {
    if (++this.#ticks % pingTicks !== 0) return
    if (this.#isAlive) this.#upstream?.ping()
    else this.#upstream?.close(1011, 'no sign of life')
    this.#isAlive = false
  }

  leave(): void {
    if (this.#isOver) return
    this.#end(new ServiceError('cancelled'))
  }

  async #connect(): Promise<void> {
    const { caller, model, budget, session } = this.#request
    try {
      budget?.check()
      requireTranscriber(session, caller)
      const { signal } = this.#aborter
      const { socket, route } = await connectProvider(this.#parts, { caller, model, signal })
      if (signal.aborted) return void socket.destroy()
      const upstream = new WebSocketClient(
        socket,
        {
          message: (text) => this.#message(text),
          drained: () => this.#sent(),
          // a provider says nothing while the user is silent
          pong: () => {
            this.#isAlive = true
          },
          closed: (code, reason) => this.#lost(code, reason),
        },
        maxEventBytes,
      )
      this.#charges = new ResponseCharges(this.#parts, { caller, model, budget, route })
      this.#upstream = upstream
      upstream.start()
      if (Object.keys(session).length > 0)
        upstream.send(JSON.stringify({ type: 'session.update', session: { type: 'realtime', ...session } }))
    } catch (error) {
      const shown = refusalOf(error)
      const failure = shown instanceof ServiceError ? shown : new ServiceError('internal_error', { cause: error })
      this.#fail(failure, failure.code.startsWith('provider_') ? 1011 : 1008)
    }
  }

  #message(text: string): void {
    this.#isAlive = true
    if (this.#isOver) return
    if (!this.#request.client.send(this.#read(text))) this.#upstream?.pause()
  }

  /** The provider has read what was sent: the next event of the client is taken. */
  #sent(): void {
    const go = this.#waiting
    this.#waiting = null
    go?.()
  }

  #lost(code: number, reason: string): void {
    const message = 'The provider ended the session.'
    const cause = new Error(`close code ${code} ${reason.slice(0, 100)}`)
    this.#fail(new ServiceError('provider_stream_broken', { message, cause }), code === 1000 ? 1000 : 1011)
  }

  async #permit(charges: ResponseCharges, event: WireObject): Promise<void> {
    try {
      await charges.permit(event, eventIdOf(event))
    } catch (error) {
      if (endsRelay(error)) this.#fail(error, 1008, eventIdOf(event))
      else throw error
    }
  }

  #drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  /** Reads an event of the provider as far as the relay needs it. @returns what the client gets. */
  #read(text: string): string {
    const charges = this.#charges
    if (charges === null) return text
    if (!readEvents.test(text.slice(0, maxReadChars))) {
      countPart(charges, text)
      return text
    }
    const event = parseJson(text)
    if (!isObject(event) || text.length > maxReadChars) return text
    return this.#changed(event, charges) ?? text
  }

  /** Handles an event that concerns the relay. @returns its text where it is changed; null where it is not. */
  #changed(event: WireObject, charges: ResponseCharges): string | null {
    switch (event.type) {
      case 'session.created':
      case 'session.updated': {
        const session = objectOf(event.session)
        charges.configured(session)
        // what is spoken and heard cannot be redacted (specs/decisions/0087-redaction.md)
        return JSON.stringify({ ...event, session: { ...session, model: this.#request.model, redaction: 'off' } })
      }
      case 'response.created':
        this.#begin(textOf(objectOf(event.response).id), charges)
        return null
      case 'response.done': {
        const response = objectOf(event.response)
        const cost = charges.done(response)
        const usage = { ...objectOf(response.usage), ...costField(cost) }
        return isObject(response.usage) ? JSON.stringify({ ...event, response: { ...response, usage } }) : null
      }
      case 'conversation.item.input_audio_transcription.completed':
        this.#transcribed(event, charges)
        return null
      case 'error':
        charges.refused(eventIdOf(objectOf(event.error)))
        return null
      default:
        return null
    }
  }

  #begin(id: string, charges: ResponseCharges): void {
    charges.begun(id).catch((error: unknown) => {
      if (this.#isOver) return
      this.#upstream?.send(JSON.stringify({ type: 'response.cancel', response_id: id }))
      if (endsRelay(error)) this.#fail(error, 1008)
      else this.#request.client.send(errorEvent(error))
    })
  }

  #transcribed({ usage, transcript }: WireObject, charges: ResponseCharges): void {
    charges.transcribed(usage, textOf(transcript)).catch((error: unknown) => {
      if (endsRelay(error)) this.#fail(error, 1008)
    })
  }

  /** Ends the session with an error, which the client gets first. */
  #fail(error: ServiceError, code: number, about: string | null = null): void {
    if (this.#isOver) return
    const { client } = this.#request
    client.send(errorEvent(error, about))
    this.#end(error)
    client.close(code, error.code)
  }

  #end(error: ServiceError): void {
    this.#isOver = true
    this.#charges?.end(error)
    this.#aborter.abort()
    this.#upstream?.close(1000, '')
    this.#sent()
  }
}

/** Whether a relayed session ends with an error. What a guardrail would block cannot be held back here. */
const endsRelay = (error: unknown): error is ServiceError =>
  endsSession(error) || (error instanceof ServiceError && error.code === 'content_policy_violation')

const audioDelta = /"type":"response\.output_audio\.delta"/
const otherDelta = /"type":"response\.[a-z_.]+\.delta"/
const responseId = /"response_id":"([^"]{1,128})"/

/** Counts a delta that is passed on unread, for the estimate of a response that breaks off. */
const countPart = (charges: ResponseCharges, text: string): void => {
  const head = text.slice(0, 512)
  const isAudio = audioDelta.test(head)
  if (!isAudio && !otherDelta.test(head)) return
  const id = responseId.exec(head)?.[1]
  if (id !== undefined) charges.passed(id, isAudio ? text.length : 0, isAudio ? 0 : Math.max(0, text.length - 200))
}
