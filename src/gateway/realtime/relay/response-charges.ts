import { CallRecord, type RecordParts } from '#gateway/call/accounting/call-record.ts'
import { possibleUnits } from '#gateway/call/accounting/possible-units.ts'
import { heldPrice, routeCost } from '#gateway/call/accounting/route-price.ts'
import { tokensOfChars } from '#gateway/call/accounting/usage.ts'
import type { Admission, Ticket } from '#gateway/call/admission.ts'
import type { Caller } from '#gateway/call/caller.ts'
import type { Route } from '#gateway/call/routes.ts'
import type { Guardrails } from '#gateway/guardrails/stored-guardrails.ts'
import { costOfUnits } from '#gateway/prices/prices.ts'
import { type TokenUsage, tokensOfUsage, type Usage } from '#gateway/prices/usage.ts'
import { countOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { SecretBudget } from '../secrets/secret-budget.ts'
import { maxTranscribed, responseUsage, spokenTokens, transcriptUsage } from './realtime-usage.ts'
import { withKey } from './session-key.ts'
import { transcriberOf } from './session-update.ts'
import { requireUnguarded } from './unguarded.ts'

export interface ChargeParts extends RecordParts {
  readonly admission: Admission
  readonly guardrails?: Guardrails | undefined
}

/** Who pays for a session, and for what. */
export interface ChargedSession {
  readonly caller: Caller
  /** The model as the caller named it. */
  readonly model: string
  readonly route: Route
  /** Budget of the secret that opened the session; null: none. */
  readonly budget: SecretBudget | null
}

/** Permission for one response, and the record of it. */
interface Charged {
  /** null until the permission of a response that the provider began is there. */
  ticket: Ticket | null
  readonly record: CallRecord
  /** Id of the client's event; null: the provider began the response, or the client gave none. */
  readonly eventId: string | null
  readonly request: object
  /** Base64 of audio, and characters of text, that were passed on. */
  audioBytes: number
  textChars: number
  /** USD and tokens that it used, once it has ended. */
  used: Parameters<Ticket['settle']> | null
}

export const realtimeOperation = 'realtime.connect'
/** Tokens of an answer without a limit of its own. */
const usualMaxTokens = 4096
/** Tokens of a conversation, for models that are not in the price list. */
const usualContext = 128_000

/** Admits, meters and records the responses of one relayed session. */
export class ResponseCharges {
  readonly #parts: ChargeParts
  readonly #session: ChargedSession
  /** Permitted responses that the provider has not begun. */
  readonly #permitted: Charged[] = []
  readonly #open = new Map<string, Charged>()
  /** Tokens of the conversation as of the last response, and of what came since. */
  #contextTokens = 0
  #addedTokens = 0
  /** Base64 of audio that the client has sent. */
  #audioBytes = 0
  #maxTokens = usualMaxTokens
  #transcriber = ''
  #isOver = false

  constructor(parts: ChargeParts, session: ChargedSession) {
    this.#parts = parts
    this.#session = session
  }

  /** Notes the limits and models of the provider's session. */
  configured(session: WireObject): void {
    this.#maxTokens = countOf(session.max_output_tokens) || usualMaxTokens
    this.#transcriber = transcriberOf(session)
  }

  /**
   * Notes input of the client, which the next response reads.
   *
   * @param bytes of the base64 of audio in it, which may be transcribed.
   */
  heard(tokens: number, bytes: number): void {
    this.#addedTokens += tokens
    this.#audioBytes += bytes
  }

  /**
   * Gets permission for a response.
   *
   * @throws {ServiceError} (or rejects with) what `admit` throws
   */
  permit(request: WireObject, eventId: string | null): void | Promise<void> {
    const ticket = this.#admit(objectOf(request.response).max_output_tokens)
    const permitted = (given: Ticket): void => {
      // the client may have left meanwhile
      if (this.#isOver) given.settle('0', 0)
      else this.#permitted.push(this.#charged(given, eventId, request))
    }
    return ticket instanceof Promise ? ticket.then(permitted) : permitted(ticket)
  }

  /**
   * A response has begun. One that the client did not request needs a permission now.
   *
   * @throws {ServiceError} (rejects)
   */
  async begun(id: string): Promise<void> {
    if (this.#open.has(id)) return
    const charged = this.#permitted.shift() ?? this.#charged(null, null, { type: 'turn_detection' })
    charged.record.begun()
    this.#open.set(id, charged)
    if (charged.ticket !== null) return
    try {
      charged.ticket = await this.#admit(undefined)
    } catch (error) {
      const { admission } = this.#parts
      // what it uses until it is cancelled counts all the same
      charged.ticket = { headers: [], settle: (_, tokens) => admission.spendKey?.(this.#session.route, tokens) }
      throw error
    } finally {
      // it may have ended meanwhile
      if (charged.used !== null) charged.ticket?.settle(...charged.used)
    }
  }

  /** Counts a part of a response that was passed on. */
  passed(id: string, audioBytes: number, textChars: number): void {
    const charged = this.#open.get(id)
    if (charged === undefined) return
    charged.audioBytes += audioBytes
    charged.textChars += textChars
  }

  /** A response has ended. @returns its cost in USD; null when it is unknown. */
  done(response: WireObject): string | null {
    const id = textOf(response.id)
    const charged = this.#open.get(id)
    if (charged === undefined) return null
    this.#open.delete(id)
    const tokens = this.#reported(response.usage) ?? this.#estimated(charged)
    this.#contextTokens = tokensOfUsage({ tokens })
    this.#addedTokens = 0
    const error = response.status === 'failed' ? new ServiceError('provider_error') : null
    return this.#record(charged, { usage: { tokens }, error, response })
  }

  /**
   * A transcript of the input has been made, which the provider charges separately and which needs no response.
   *
   * @throws {ServiceError} (rejects) when nothing is left to pay for more; this one is charged all the same
   */
  async transcribed(usage: unknown, text: string): Promise<void> {
    const reported = transcriptUsage(usage)
    if (reported === null || this.#transcriber === '') return
    const units = possibleUnits(reported, maxTranscribed(this.#audioBytes))
    const { caller, route, budget } = this.#session
    const model = this.#transcriber
    const head = { operation: realtimeOperation, need: 'transcription', streamed: false } as const
    const record = new CallRecord(this.#parts, { ...head, caller, model })
    const { ownPrices: _, wireModel: __, ...at } = route
    record.route = { ...at, model }
    record.attempts = 1
    const costUsd = routeCost(record.route, units)
    void budget?.spent(costUsd)
    record.write(null, { usage: units, costUsd, status: 200, bodies: () => ({ request: '', response: text }) })
    const used = tokensOfUsage(units)
    this.#parts.admission.spendKey?.(route, used)
    const ticket = await this.#parts.admission.admit({
      ...{ caller, model, need: 'transcription', source: route.source },
      maxUsd: () => costUsd,
      tokens: () => ({ max: used }),
    })
    ticket.settle(costUsd, used)
    budget?.check()
  }

  /** The provider refused an event: the permission that the client's event got is given back. */
  refused(eventId: string | null): void {
    const at = this.#permitted.findIndex((each) => each.eventId === eventId || each.eventId === null)
    const [charged] = at < 0 ? [] : this.#permitted.splice(at, 1)
    if (charged !== undefined)
      this.#record(charged, { usage: null, error: new ServiceError('bad_request'), response: {} })
  }

  /** Ends the session: what was passed on of open responses is charged by estimate. */
  end(error: ServiceError): void {
    this.#isOver = true
    for (const charged of this.#permitted.splice(0)) this.#record(charged, { usage: null, error, response: {} })
    for (const charged of this.#open.values()) {
      const isUsed = charged.audioBytes + charged.textChars > 0
      const usage = isUsed ? { tokens: this.#estimated(charged) } : null
      this.#record(charged, { usage, error, response: {} })
    }
    this.#open.clear()
  }

  #admit(limit: unknown): Ticket | Promise<Ticket> {
    // a guardrail may have been added since the session began
    const checked = requireUnguarded(this.#parts.guardrails, this.#session.caller)
    return checked instanceof Promise ? checked.then(() => this.#ticket(limit)) : this.#ticket(limit)
  }

  #ticket(limit: unknown): Ticket | Promise<Ticket> {
    const { caller, model, route, budget } = this.#session
    budget?.check()
    const outputTokens = countOf(limit) || this.#maxTokens
    const max = this.#maxUsage(outputTokens)
    const tokens = () => ({ max: tokensOfUsage({ tokens: max }) })
    return withKey(this.#parts.admission, { route, requests: 1, tokens }, () =>
      this.#parts.admission.admit({
        ...{ caller, model, need: 'chat', source: route.source, tokens },
        maxUsd: () => costOfUnits(heldPrice(route), { tokens: max }),
      }),
    )
  }

  /** The usage that the provider reports; null for none, and for more than the context of the model holds. */
  #reported(usage: unknown): TokenUsage | null {
    const tokens = responseUsage(usage)
    const max = 2 * (heldPrice(this.#session.route)?.context || usualContext)
    return tokens !== null && tokensOfUsage({ tokens }) <= max ? tokens : null
  }

  /** The most that a response may use, if all of it is audio. */
  #maxUsage(outputTokens: number): TokenUsage {
    const inputTokens = this.#contextTokens + this.#addedTokens
    const audio = { audioInputTokens: inputTokens, audioOutputTokens: outputTokens }
    return { inputTokens, outputTokens, cachedTokens: 0, reasoningTokens: 0, ...audio }
  }

  #estimated({ audioBytes, textChars }: Charged): TokenUsage {
    const audioOutputTokens = spokenTokens(audioBytes)
    const outputTokens = audioOutputTokens + tokensOfChars(textChars)
    const inputTokens = this.#contextTokens + this.#addedTokens
    return { inputTokens, outputTokens, cachedTokens: 0, reasoningTokens: 0, audioOutputTokens, estimated: true }
  }

  #charged(ticket: Ticket | null, eventId: string | null, request: object): Charged {
    const { caller, model, route } = this.#session
    const head = { operation: realtimeOperation, need: 'chat', streamed: true } as const
    const record = new CallRecord(this.#parts, { ...head, caller, model })
    record.route = route
    record.attempts = 1
    return { ticket, record, eventId, request, audioBytes: 0, textChars: 0, used: null }
  }

  #record(charged: Charged, { usage, error, response }: Ending): string | null {
    const { record, request } = charged
    const costUsd = usage === null ? '0' : routeCost(this.#session.route, usage)
    charged.used = [costUsd, tokensOfUsage(usage)]
    charged.ticket?.settle(...charged.used)
    if (usage !== null) void this.#session.budget?.spent(costUsd)
    record.write(error, {
      ...{ usage, costUsd, status: 200, finishReason: textOf(response.status) || null },
      bodies: () => ({ request: JSON.stringify(request), response: JSON.stringify(response.output ?? []) }),
    })
    return costUsd
  }
}

interface Ending {
  readonly usage: Usage | null
  readonly error: ServiceError | null
  readonly response: WireObject
}
