import { ServiceError } from '../../../specs/errors.ts'
import { uncoded } from '../../outgoing/uncoded.ts'
import { viaOf } from '../../outgoing/via.ts'
import { arrayOf, parseJson, textOf, type WireObject } from '../../outgoing/wire.ts'
import type { Admission } from '../call/admission.ts'
import { type CallPolicy, withRetries } from '../call/call-policy.ts'
import type { Caller } from '../call/caller.ts'
import { type Candidate, Candidates, type CandidatesParts } from '../call/candidates.ts'
import { ModelError, type ModelErrorCode } from '../call/provider-port.ts'
import type { Redaction } from '../call/redaction.ts'
import { refusalOf } from '../call/refusal.ts'
import type { Route } from '../call/routes.ts'
import { costOfUnits, priceAt } from '../prices/prices.ts'
import type { TokenUsage } from '../prices/usage.ts'
import type { EmbeddingFormat, EmbeddingRequest, EmbeddingWish } from '../providers/embedding-format.ts'
import { embeddingFormat } from '../providers/embedding-formats.ts'
import { encodedAs, type WireVector } from '../providers/vector-encoding.ts'
import { EmbeddingRecord, type EmbeddingRecordParts } from './embedding-record.ts'
import { embeddingWish, inputTokensOf } from './embedding-wish.ts'
import { inLanes } from './in-lanes.ts'
import { type RequestParts, wholeRequest } from './whole-request.ts'

/** What embeddings stand on. */
export interface EmbeddingParts extends CandidatesParts, RequestParts, EmbeddingRecordParts {
  readonly admission: Admission
  readonly redaction: Pick<Redaction, 'policyOf'>
  readonly policy: CallPolicy
}

/** One request for embeddings, in OpenAI's form. */
export interface EmbeddingAsk {
  readonly caller: Caller
  readonly operation: string
  /** The body as validated, and as it came; `bytes` is null when nobody kept it. */
  readonly body: WireObject
  readonly bytes: Uint8Array | null
  readonly signal: AbortSignal
}

/** All vectors. */
export interface EmbeddingOutcome {
  readonly model: string
  /** One an input, in order, as they were asked for. */
  readonly vectors: readonly WireVector[]
  readonly usage: TokenUsage
  /** The answer as its provider wrote it, when it says just this; null when it was put together here. */
  readonly bytes: Buffer | null
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** Requests of one call that run at a time, where a provider's batches are smaller than ours. */
const lanes = 4

/** Where there is another way, no time is spent on one that does not answer. */
const retriesBesideOthers = 1

/** What another provider would not take either. */
const final: ReadonlySet<ModelErrorCode> = new Set(['bad_request', 'cancelled'])

/** Texts made vectors by any provider: routing, limits, redaction, retries, fallbacks, metering and log as for chat. */
export class EmbeddingCalls {
  readonly #parts: EmbeddingParts

  constructor(parts: EmbeddingParts) {
    this.#parts = parts
  }

  /** @throws {ServiceError} It is recorded then, too. */
  async create(ask: EmbeddingAsk): Promise<EmbeddingOutcome> {
    const record = new EmbeddingRecord(this.#parts, ask)
    try {
      const wish = await this.#redacted(embeddingWish(ask.body, ask.bytes), ask.caller.project)
      record.wish = wish
      return await this.#byAnyone(ask, wish, record)
    } catch (caught) {
      const error = refusalOf(caught)
      record.failed(error)
      throw error
    }
  }

  /** Only what is sent: vectors have nothing to be put back into. */
  async #redacted(wish: EmbeddingWish, project: string): Promise<EmbeddingWish> {
    const policy = await this.#parts.redaction.policyOf(project)
    if (policy === null || !policy.input) return wish
    const { texts } = policy.redact(wish.inputs.filter((input) => typeof input === 'string'))
    let next = 0
    const inputs = wish.inputs.map((input) => (typeof input === 'string' ? (texts[next++] ?? input) : input))
    if (inputs.every((input, place) => input === wish.inputs[place])) return wish
    const input = typeof wish.body.input === 'string' ? inputs[0] : inputs
    return { ...wish, inputs, body: { ...wish.body, input }, bytes: null }
  }

  async #byAnyone(ask: EmbeddingAsk, wish: EmbeddingWish, record: EmbeddingRecord): Promise<EmbeddingOutcome> {
    const models = [...new Set([ask.body.model, ...arrayOf(ask.body.models)].map(textOf))]
    const candidates = new Candidates(this.#parts, ask.caller.project, 'embedding', models)
    let last: unknown = new ServiceError('model_not_found', { param: 'model' })
    for (let one = await candidates.next(); one !== null; one = await candidates.next()) {
      try {
        return await this.#by(one, ask, wish, record, candidates.hasMore)
      } catch (caught) {
        if (!(caught instanceof ModelError)) throw caught
        this.#parts.breaker.failed(one.route, caught.code)
        last = caught
        if (final.has(caught.code)) break
        if (caught.code === 'context_length_exceeded') candidates.skipModel()
      }
    }
    throw last
  }

  async #by(
    { route, model }: Candidate,
    { caller, signal }: EmbeddingAsk,
    wish: EmbeddingWish,
    record: EmbeddingRecord,
    hasMore: boolean,
  ): Promise<EmbeddingOutcome> {
    const via = viaOf(caller)
    record.route = route
    const format = embeddingFormat(route.format)
    if (format === null) throw new ServiceError('model_not_found', { param: 'model' })
    const requests = format.requests(wish, route)
    const mostUsd = (): string | null => costBy(route, mostUsage(wish))
    const ticket = await this.#parts.admission.admit({
      caller,
      need: 'embedding',
      model,
      source: route.source,
      mostUsd,
    })
    let usd: string | null = '0'
    try {
      const outcome = await this.#answered(requests, { format, route, wish, record, signal, hasMore, via })
      usd = costBy(route, outcome.usage)
      this.#parts.breaker.worked(route)
      record.succeeded(outcome, usd)
      return { ...outcome, headers: [['x-provider', route.provider], ...ticket.headers] }
    } finally {
      ticket.settle(usd)
    }
  }

  async #answered(requests: readonly EmbeddingRequest[], going: Going): Promise<Omit<EmbeddingOutcome, 'headers'>> {
    const { route, wish } = going
    const answers = await inLanes(requests, lanes, going.signal, (request, signal) => this.#one(request, going, signal))
    const vectors = answers.flatMap((answer) => answer.vectors)
    const [first] = answers
    const kept = answers.length === 1 && vectors.every((vector) => isEncoded(vector, wish.encoding))
    return {
      model: first?.model || route.model,
      vectors: vectors.map((vector) => encodedAs(wish.encoding, vector)),
      usage: usageOf(
        answers.map(({ inputTokens }) => inputTokens),
        wish,
      ),
      bytes: kept && route.format === 'openai' ? (first?.bytes ?? null) : null,
    }
  }

  #one(request: EmbeddingRequest, { format, route, record, hasMore, via }: Going, signal: AbortSignal) {
    const headers = { ...request.headers, ...uncoded, via }
    const { policy } = this.#parts
    const retries = hasMore ? Math.min(policy.retries, retriesBesideOthers) : policy.retries
    const failureOf = (status: number, body: string, retryAfter: string | null) =>
      format.failure(status, body, retryAfter, this.#parts.now())
    return withRetries({ ...policy, retries }, signal, async () => {
      record.attempts++
      const bytes = await wholeRequest(this.#parts, route, { ...request, headers, failureOf }, signal)
      record.begun()
      return { ...request.answer(parseJson(bytes.toString('utf8'))), bytes }
    })
  }
}

interface Going {
  readonly format: EmbeddingFormat
  readonly route: Route
  readonly wish: EmbeddingWish
  readonly record: EmbeddingRecord
  readonly signal: AbortSignal
  /** There is another way. */
  readonly hasMore: boolean
  readonly via: string
}

const isEncoded = (vector: WireVector, encoding: EmbeddingWish['encoding']): boolean =>
  (typeof vector === 'string') === (encoding === 'base64')

const costBy = (route: Route, tokens: TokenUsage): string | null =>
  costOfUnits(priceAt(route.provider, route.model), { tokens })

const inputOnly = (inputTokens: number): TokenUsage => ({
  inputTokens,
  outputTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
})

/** No tokeniser makes more tokens of a text than it has bytes. */
const mostUsage = ({ inputs }: EmbeddingWish): TokenUsage =>
  inputOnly(
    inputs.reduce((sum, input) => sum + (typeof input === 'string' ? Buffer.byteLength(input) : input.length), 0),
  )

function usageOf(counted: readonly (number | null)[], wish: EmbeddingWish): TokenUsage {
  const total = counted.reduce<number | null>((sum, count) => (sum === null || count === null ? null : sum + count), 0)
  return total === null ? { ...inputOnly(inputTokensOf(wish)), estimated: true } : inputOnly(total)
}
