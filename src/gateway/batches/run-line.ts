import { shownError } from '#gateway/apis/streamed-chat.ts'
import type { GatewayCall } from '#gateway/call/accounting/call-ledger.ts'
import { LineCalls } from '#gateway/call/accounting/line-calls.ts'
import type { UsageOperation } from '#gateway/ledger/usage-rows.ts'
import { type Metered, metered } from '#gateway/turns/metered.ts'
import type { BatchTokens } from '#machines/batch/batch.ts'
import { type Clock, derivedId, pause } from '#runtime/index.ts'
import type { ErrorCode, ServiceError } from '#specs/errors/errors.ts'
import { FairSemaphore } from '#src/concurrency/fair-semaphore.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import { StoreUnavailable } from '#storage/index.ts'
import { requestIn } from './batch-lines.ts'
import type { CancelledBatches } from './cancelled-batches.ts'
import type { CallLine, LineRequest } from './line-call.ts'
import { type NamedLine, resultLines } from './result-lines.ts'

/** The outcome of a line: its line of a result file, and what it used. */
export type LineOutcome = {
  readonly ok: boolean
  readonly text: string
  readonly tokens: BatchTokens
  readonly metered: readonly Metered[]
}

export interface LineParts {
  readonly call: CallLine
  readonly clock: Clock
  readonly cancelled: CancelledBatches
}

/** A line, with the caller of its batch. */
interface RunLine extends Omit<LineRequest, 'body' | 'requestId'>, Omit<NamedLine, 'request'> {
  /** Its request, as in the file: attempts change what they parse, and one that waits keeps only the text. */
  readonly text: string
  /** Whether the batch was cancelled before a crash. */
  readonly isCancelled?: boolean
}

/** Lines of all batches that a process runs at the same time, and those of one project. */
const runningLines = [64, 32] as const
const firstWaitMs = 1_000
const longestWaitMs = 60_000

/** Refusals after which a line is made again, for as long as its batch waits. */
const passing: readonly ErrorCode[] = ['rate_limit_exceeded', 'provider_rate_limited', 'overloaded']

/** Runs lines of batches. */
export class LineRunner {
  readonly #parts: LineParts
  readonly #places = new FairSemaphore<string>({ path: (project) => [project], running: runningLines })

  constructor(parts: LineParts) {
    this.#parts = parts
  }

  /**
   * Makes the request of a line, and again when a rate limit refuses it, until its batch is cancelled. A refusal is an
   * outcome.
   *
   * @throws the reason of `signal`; {StoreUnavailable}
   */
  run(line: RunLine, signal: AbortSignal): Promise<LineOutcome> {
    return this.#parts.cancelled.run(line.batch, (cancelled) => this.#run(line, signal, cancelled))
  }

  async #run(line: RunLine, signal: AbortSignal, cancelled: AbortSignal): Promise<LineOutcome> {
    const lines = resultLines(line.endpoint)
    const { custom_id } = requestIn(line.text)
    const named = { ...line, request: { custom_id } }
    const requestId = derivedId('req', 0, `${line.batch}:${line.number}`)
    const calls = new LineCalls()
    for (let tried = 0; ; tried++) {
      signal.throwIfAborted()
      try {
        const made = async () => {
          // a long one is read in a turn of the loop of its own
          await nextSlice()
          return this.#parts.call({ ...line, requestId, body: requestIn(line.text).body }, signal, calls)
        }
        const json = await this.#places.run(line.project, made, signal)
        return { ok: true, text: lines.succeeded(named, { requestId, json }), ...usedBy(calls) }
      } catch (error) {
        if (signal.aborted || error instanceof StoreUnavailable) throw error
        const shown = shownError(error instanceof Error ? error : new Error('not an error', { cause: error }))
        const isOver = line.isCancelled === true || cancelled.aborted
        if (isOver || !passing.includes(shown.code))
          return { ok: false, text: lines.refused(named, requestId, shown), ...usedBy(calls) }
        await pause(this.#parts.clock, waitOf(shown, tried), AbortSignal.any([signal, cancelled]))
        if (cancelled.aborted && !signal.aborted)
          return { ok: false, text: lines.refused(named, requestId, shown), ...usedBy(calls) }
      }
    }
  }
}

const waitOf = ({ details }: ServiceError, tried: number): number =>
  details.retryAfterS === undefined
    ? Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(tried, 6))
    : Math.min(longestWaitMs, details.retryAfterS * 1000)

const usedBy = ({ all }: LineCalls): Pick<LineOutcome, 'tokens' | 'metered'> => {
  const used = all.flatMap(meteredOf)
  const sum = (of: (each: Metered) => number): number => used.reduce((total, each) => total + of(each), 0)
  return {
    metered: used,
    tokens: {
      input: sum((each) => each.input_tokens),
      output: sum((each) => each.output_tokens),
      cached: sum((each) => each.cached_tokens),
      reasoning: sum((each) => each.reasoning_tokens),
    },
  }
}

/** The usage row of a model call; none for a call that used nothing. */
const meteredOf = ({ caller, need, route, units, costUsd }: GatewayCall): readonly Metered[] => {
  const operation: UsageOperation | undefined = operations.find((each) => each === need)
  const usage = units?.tokens
  if (operation === undefined || route === null || usage === undefined) return []
  const call = metered({ operation, agentId: caller.agentId, route, usage, costUsd })
  return [{ ...call, request_id: caller.requestId, key_id: caller.keyId }]
}

const operations = ['chat', 'vision', 'embedding'] as const
