import { arrayOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Charge } from '../call/accounting/charge.ts'
import type { ActorCaller } from '../call/caller.ts'
import type { ChatSummary } from '../call/chat-calls.ts'
import type { ModelAnswer, ModelRequest } from '../call/provider-port.ts'
import type { ChatRunRequest, RunListener } from '../chat/chat-run-request.ts'
import type { ChatHandle } from '../chat/chats.ts'
import type { Guardrails } from '../guardrails/stored-guardrails.ts'
import { addCosts } from '../prices/money.ts'
import { addUsage } from '../prices/usage.ts'
import { TurnReader } from './turn-answer.ts'
import { turnBody, turnHistory } from './turn-body.ts'
import { turnBytes } from './turn-bytes.ts'

/** An answer with its charge. */
export interface TurnAnswer extends ModelAnswer {
  readonly charge: Charge
}

/** An answer that failed after it had begun; the part that was generated is charged. */
export class BrokenAnswer extends ServiceError {
  readonly charge: Charge
  constructor({ code, details, cause }: ServiceError, charge: Charge) {
    super(code, { ...details, cause })
    this.charge = charge
  }
}

/** Receiver of the answer's text, and the signal that cancels the call. */
export interface TurnOptions {
  readonly onDelta: (text: string) => void
  /** Receives what the model reasons, where the provider shows it. Called like `onDelta`. */
  readonly onReasoning?: (text: string) => void
  readonly signal: AbortSignal
}

/** Model calls of turns, runs and agent tests. */
export interface TurnModels {
  /**
   * Streams one answer through the gateway: routing, circuit breaker, limits, budgets and credits, redaction, retries.
   * `onDelta` is called synchronously as text arrives, several times in one event loop turn when the network delivered
   * several parts together. After `signal` aborts it is not called again, and the request is cancelled within 100 ms.
   *
   * @param request its `model` is a name of the project's models.
   * @throws {ServiceError} `cancelled`, `rate_limit_exceeded`, `budget_exceeded`, `price_unknown`,
   * `credit_balance_exhausted`, `model_not_found`, `answer_too_large`, `provider_…`, …
   * @throws {BrokenAnswer} when the call failed after a part of the answer had been generated.
   * @throws {StoreUnavailable} when the store cannot confirm that the call is permitted.
   */
  call(request: ModelRequest, caller: ActorCaller, options: TurnOptions): Promise<TurnAnswer>
  /**
   * Returns texts as the guardrails of a caller let them pass.
   * @throws {ServiceError} `content_policy_violation`
   */
  checked(texts: readonly string[], caller: ActorCaller): Promise<readonly string[]>
  /**
   * Returns the estimated charge for an answer that a crash cut, of which `text` is known, and counts it in budgets;
   * null if the model has no route any more.
   * @throws {StoreUnavailable}
   */
  lost(request: ModelRequest, caller: ActorCaller, text: string): Promise<Charge | null>
}

export interface GatewayTurnsParts {
  readonly chats: {
    run(request: ChatRunRequest, listener: RunListener): ChatHandle
    lost(request: ChatRunRequest, text: string): Promise<Charge | null>
  }
  /** Checks of texts; absent: none. */
  readonly guardrails?: Guardrails | undefined
}

/** Makes the model calls of turns and runs as chat requests of the gateway. */
export class GatewayTurns implements TurnModels {
  readonly #chats: GatewayTurnsParts['chats']
  readonly #guardrails: Guardrails | undefined

  constructor({ chats, guardrails }: GatewayTurnsParts) {
    this.#chats = chats
    this.#guardrails = guardrails
  }

  async checked(texts: readonly string[], caller: ActorCaller): Promise<readonly string[]> {
    const guard = (await this.#guardrails?.open(caller)) ?? null
    return guard === null ? texts : guard.texts(texts)
  }

  async call(
    request: ModelRequest,
    caller: ActorCaller,
    { onDelta, onReasoning, signal }: TurnOptions,
  ): Promise<TurnAnswer> {
    const reader = new TurnReader(onDelta, onReasoning)
    let spent: Charge | null = null
    let run = chatRunRequest(request, caller)
    try {
      for (let continued = 0; ; continued++) {
        const summary = await this.#run(run, reader, signal)
        spent = joined(spent, chargeOf(summary))
        const message = continued < maxContinued ? reader.continued() : null
        if (message === null) return answerOf(reader, summary, spent)
        run = continuedBy(message, request, { caller, key: `${request.idempotencyKey}:${continued + 1}` })
      }
    } catch (error) {
      throw brokenBy(error, spent)
    } finally {
      reader.close()
    }
  }

  /** Reads the answer to one request. @returns its summary */
  async #run(request: ChatRunRequest, reader: TurnReader, signal: AbortSignal): Promise<ChatSummary> {
    if (signal.aborted) throw new ServiceError('cancelled')
    const answered = Promise.withResolvers<ChatSummary>()
    const endless = (): void => giveUp(new ServiceError('answer_too_large'))
    const run = this.#chats.run(request, listenerOf(reader, answered, endless))
    const giveUp = (reason: ServiceError): void => {
      reader.close()
      run.cancel()
      answered.reject(reason)
    }
    const gone = (): void => giveUp(new ServiceError('cancelled'))
    if (signal.aborted) gone()
    else signal.addEventListener('abort', gone, { once: true })
    try {
      return await answered.promise
    } finally {
      signal.removeEventListener('abort', gone)
      // a usage row must not exist before its budget has counted the call; when the store is unavailable, the row has
      // to wait for it too
      await run.counted()?.catch(() => undefined)
    }
  }

  async lost(request: ModelRequest, caller: ActorCaller, text: string): Promise<Charge | null> {
    const charge = await this.#chats.lost(chatRunRequest(request, caller), text)
    return charge && chargeOf(charge)
  }
}

const listenerOf = (
  reader: TurnReader,
  answered: PromiseWithResolvers<ChatSummary>,
  endless: () => void,
): RunListener => ({
  takesFrames: false,
  begin: () => {},
  frames: () => true,
  words: (text) => {
    reader.words(text)
    if (reader.endless) queueMicrotask(endless)
    return true
  },
  chunk: (chunk) => {
    const takesMore = reader.chunk(chunk)
    // the run may answer synchronously, before it is assigned
    if (reader.endless) queueMicrotask(endless)
    return takesMore
  },
  whole: () => {},
  end: (summary) => {
    // the receiver of the last text may end the call
    reader.flush()
    answered.resolve(summary)
  },
  fail: (error, spent) => {
    reader.flush()
    answered.reject(brokenBy(error, spent))
  },
})

const brokenBy = (error: unknown, spent: Charge | null): unknown => {
  if (!(error instanceof ServiceError) || spent === null) return error
  return new BrokenAnswer(error, error instanceof BrokenAnswer ? joined(spent, error.charge) : chargeOf(spent))
}

/** How often one answer is continued at most: a provider pauses after about ten uses of its tools. */
const maxContinued = 8

/** The charge of the calls that make one answer. */
const joined = (before: Charge | null, { route, usage, costUsd }: Charge): Charge => ({
  ...{ route, usage: addUsage(before?.usage ?? null, usage) },
  costUsd: before === null ? costUsd : addCosts(before.costUsd, costUsd),
})

/** The request that continues an answer of which a message has what was written so far. */
const continuedBy = (
  message: WireObject,
  request: ModelRequest,
  { caller, key }: { readonly caller: ActorCaller; readonly key: string },
): ChatRunRequest => {
  const { encoded: _bytes, history: _history, ...run } = chatRunRequest(request, caller)
  const messages = [...arrayOf(run.body.messages), message]
  return { ...run, body: { ...run.body, messages }, idempotencyKey: key }
}

const chatRunRequest = (request: ModelRequest, caller: ActorCaller): ChatRunRequest => {
  const { hasMedia = false, more, idempotencyKey } = request
  return {
    caller,
    operation: 'actor.callModel',
    need: hasMedia ? 'vision' : 'chat',
    body: turnBody(request),
    bytes: null,
    stream: true,
    translated: true,
    idempotencyKey,
    ...(!hasMedia && { textOnly: true, history: turnHistory(request) }),
    // the usual request is encoded here, each message once; others are encoded like any chat request
    ...(!hasMedia && more === undefined && { encoded: (route) => turnBytes(request, route) }),
  }
}

const answerOf = (reader: TurnReader, { model, finishReason }: ChatSummary, charge: Charge): TurnAnswer => ({
  ...reader.answer(finishReason ?? ''),
  ...{ model, usage: charge.usage, charge },
})

/** Returns a charge without the route's API key, which must not leave the gateway. */
const chargeOf = ({ route, usage, costUsd }: Charge): Charge => {
  const { provider, model, source, ownPrices } = route
  return { route: { provider, model, source, ...(ownPrices !== undefined && { ownPrices }) }, usage, costUsd }
}
