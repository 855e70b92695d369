import { ServiceError } from '#specs/errors/errors.ts'
import type { Charge } from '../call/accounting/charge.ts'
import type { ActorCaller } from '../call/caller.ts'
import type { ChatSummary } from '../call/chat-calls.ts'
import type { ModelAnswer, ModelRequest } from '../call/provider-port.ts'
import type { ChatRunRequest, RunListener } from '../chat/chat-run.ts'
import type { ChatHandle } from '../chat/chats.ts'
import { TurnReader } from './turn-answer.ts'
import { turnBody, turnHistory } from './turn-body.ts'
import { turnBytes } from './turn-bytes.ts'

/** An answer, and what it is charged by. */
export interface TurnAnswer extends ModelAnswer {
  readonly charge: Charge
}

/** The model broke off in the middle of its answer: what was said is charged all the same. */
export class BrokenAnswer extends ServiceError {
  readonly charge: Charge
  constructor({ code, details, cause }: ServiceError, charge: Charge) {
    super(code, { ...details, cause })
    this.charge = charge
  }
}

/** How the text of one answer is given, and what ends the call early. */
export interface TurnOptions {
  readonly onDelta: (text: string) => void
  readonly signal: AbortSignal
}

/** Models as turns, runs and trials of agents call them. */
export interface TurnModels {
  /**
   * Streams one answer, by the gateway's own way: routes and breaker, limits, budgets and credits, redaction, retries.
   * `onDelta` is called synchronously as text arrives, several times in one loop turn when the network delivered
   * several parts together; after `signal` aborts it is not called again, and the request is cancelled within 100 ms.
   *
   * @param request its `model` as the project names it.
   * @throws {ServiceError} `cancelled`, `rate_limit_exceeded`, `budget_exceeded`, `price_unknown`,
   *   `credit_balance_exhausted`, `model_not_found`, `answer_too_large`, `provider_…`, …
   * @throws {BrokenAnswer} when something had been said before it failed.
   * @throws {StoreUnavailable} when it is unknown whether the call may be made.
   */
  call(request: ModelRequest, caller: ActorCaller, options: TurnOptions): Promise<TurnAnswer>
}

export interface GatewayTurnsParts {
  readonly chats: { run(request: ChatRunRequest, listener: RunListener): ChatHandle }
}

/** Turns and runs as chat requests of the gateway. */
export class GatewayTurns implements TurnModels {
  readonly #chats: GatewayTurnsParts['chats']

  constructor({ chats }: GatewayTurnsParts) {
    this.#chats = chats
  }

  async call(request: ModelRequest, caller: ActorCaller, { onDelta, signal }: TurnOptions): Promise<TurnAnswer> {
    if (signal.aborted) throw new ServiceError('cancelled')
    const reader = new TurnReader(onDelta)
    const answered = Promise.withResolvers<TurnAnswer>()
    const endless = (): void => giveUp(new ServiceError('answer_too_large'))
    const run = this.#chats.run(chatRunRequest(request, caller), listenerOf(reader, answered, endless))
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
      reader.close()
      signal.removeEventListener('abort', gone)
      // no usage row of which a budget knows nothing; where the store is away, the row has to wait for it too
      await run.counted()?.catch(() => undefined)
    }
  }
}

const listenerOf = (
  reader: TurnReader,
  answered: PromiseWithResolvers<TurnAnswer>,
  endless: () => void,
): RunListener => ({
  takesFrames: false,
  begin: () => {},
  frames: () => true,
  chunk: (chunk) => {
    const takesMore = reader.chunk(chunk)
    // the run is not there yet while it answers at once
    if (reader.endless) queueMicrotask(endless)
    return takesMore
  },
  whole: () => {},
  end: (summary) => {
    try {
      answered.resolve(answerOf(reader, summary))
    } catch (error) {
      answered.reject(brokenBy(error, summary))
    }
  },
  fail: (error, spent) => {
    reader.flush()
    answered.reject(brokenBy(error, spent))
  },
})

const brokenBy = (error: unknown, spent: Charge | null): unknown =>
  error instanceof ServiceError && spent !== null ? new BrokenAnswer(error, chargeOf(spent)) : error

const chatRunRequest = (request: ModelRequest, caller: ActorCaller): ChatRunRequest => ({
  caller,
  operation: 'actor.callModel',
  need: 'chat',
  body: turnBody(request),
  bytes: null,
  stream: true,
  translated: true,
  textOnly: true,
  history: turnHistory(request),
  idempotencyKey: request.idempotencyKey,
  // the usual one is encoded here, each message once; what says more goes the way of all chat requests
  ...(request.more === undefined && { encoded: (route) => turnBytes(request, route) }),
})

const answerOf = (reader: TurnReader, summary: ChatSummary): TurnAnswer => {
  const { model, usage, finishReason } = summary
  return { ...reader.answer(finishReason ?? ''), model, usage, charge: chargeOf(summary) }
}

/** Without the route's key, which does not leave the gateway. */
const chargeOf = ({ route, usage, costUsd }: Charge): Charge => {
  const { provider, model, source, ownPrices } = route
  return { route: { provider, model, source, ...(ownPrices !== undefined && { ownPrices }) }, usage, costUsd }
}
