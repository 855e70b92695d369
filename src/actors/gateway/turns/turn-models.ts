import { ServiceError } from '../../../../specs/errors.ts'
import type { ActorCaller } from '../calls/caller.ts'
import type { ChatSummary } from '../calls/chat-calls.ts'
import type { KeySource } from '../calls/routes.ts'
import type { RunAsk, RunTaker } from '../chat/chat-run.ts'
import type { ChatHandle } from '../chat/chats.ts'
import type { ModelAnswer, ModelRequest } from '../provider-port.ts'
import { TurnReader } from './turn-answer.ts'
import { turnBody } from './turn-body.ts'
import { turnBytes } from './turn-bytes.ts'

/** What an answered call is charged by. */
export interface Bill {
  /** Who answered: id of `specs/providers.ts`, or `custom:<id>`. */
  readonly provider: string
  /** The model that was asked for there, as this provider knows it. */
  readonly model: string
  /** Whose key served; by the provider when absent. */
  readonly source?: KeySource
  readonly usage: ModelAnswer['usage']
  /** USD as exact decimal text; null when the price is unknown. */
  readonly cost: string | null
}

/** An answer, and what it is charged by. */
export interface TurnAnswer extends ModelAnswer {
  readonly bill: Bill
}

/** Models as turns, runs and trials of agents ask them. */
export interface TurnModels {
  /**
   * Streams one answer, by the gateway's own way: routes and breaker, limits, budgets and credits, redaction, retries.
   * `onDelta` is called synchronously as text arrives, several times in one loop turn when the network delivered
   * several parts together; after `signal` aborts it is not called again, and what was asked is called off within 100 ms.
   *
   * @param request its `model` as the project names it.
   * @throws {ServiceError} `cancelled`, `rate_limit_exceeded`, `budget_exceeded`, `price_unknown`,
   *   `credit_balance_exhausted`, `model_not_found`, `provider_…`, …
   * @throws {StoreUnavailable} when nobody can say whether the call may be made.
   */
  ask(
    request: ModelRequest,
    caller: ActorCaller,
    onDelta: (text: string) => void,
    signal: AbortSignal,
  ): Promise<TurnAnswer>
}

/** What it stands on. */
export interface GatewayTurnsParts {
  readonly chats: { run(asked: RunAsk, taker: RunTaker): ChatHandle }
  /** Resolves when budgets of the project know of all that was settled; absent or undefined: there is nothing to wait for. */
  readonly counted?: (project: string) => Promise<void> | undefined
}

/** Turns and runs as chat requests of the gateway. */
export class GatewayTurns implements TurnModels {
  readonly #parts: GatewayTurnsParts

  constructor(parts: GatewayTurnsParts) {
    this.#parts = parts
  }

  async ask(
    request: ModelRequest,
    caller: ActorCaller,
    onDelta: (text: string) => void,
    signal: AbortSignal,
  ): Promise<TurnAnswer> {
    const answer = await this.#run(request, caller, onDelta, signal)
    // no usage row of which a budget knows nothing: both are there after a crash, or neither is
    await this.#parts.counted?.(caller.project)?.catch(() => undefined)
    return answer
  }

  #run(
    request: ModelRequest,
    caller: ActorCaller,
    onDelta: (text: string) => void,
    signal: AbortSignal,
  ): Promise<TurnAnswer> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(new ServiceError('cancelled'))
        return
      }
      const reader = new TurnReader(onDelta)
      const gone = (): void => {
        reader.close()
        handle?.cancel()
        reject(new ServiceError('cancelled'))
      }
      const over = (): void => {
        signal.removeEventListener('abort', gone)
        reader.close()
      }
      signal.addEventListener('abort', gone, { once: true })
      let handle: ChatHandle | null = null
      handle = this.#parts.chats.run(runAsk(request, caller), {
        takesFrames: false,
        begin: () => {},
        frames: () => true,
        chunk: (chunk) => reader.chunk(chunk),
        whole: () => {},
        end: (summary) => {
          try {
            resolve(answerOf(reader, summary))
          } catch (error) {
            reject(error)
          }
          over()
        },
        fail: (error) => {
          reader.flush()
          over()
          reject(error)
        },
      })
      if (signal.aborted) handle.cancel()
    })
  }
}

const runAsk = (request: ModelRequest, caller: ActorCaller): RunAsk => ({
  caller,
  operation: 'actor.callModel',
  need: 'chat',
  body: turnBody(request),
  bytes: null,
  stream: true,
  translated: true,
  idempotencyKey: request.idempotencyKey,
  encoded: (route) => turnBytes(request, route),
})

const answerOf = (reader: TurnReader, { route, model, usage, costUsd, finishReason }: ChatSummary): TurnAnswer => {
  const { provider, source } = route
  const answer = reader.answer(finishReason ?? '')
  return { ...answer, model, usage, bill: { provider, model: route.model, source, usage, cost: costUsd } }
}
