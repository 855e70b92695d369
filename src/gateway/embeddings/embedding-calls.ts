import { type AnswerReservation, answerMemory } from '#outgoing/answer-memory.ts'
import { parsedAnswer } from '#outgoing/shares/parsed-answer.ts'
import { countOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { concurrently } from '#src/concurrency/concurrently.ts'
import type { CallCache } from '../caching/call-cache.ts'
import type { ResponseCache } from '../caching/response-cache.ts'
import { loggedJson } from '../call/accounting/logged-text.ts'
import { bytesWithCost, costHeader } from '../call/accounting/shown-cost.ts'
import type { AnswerHeaders } from '../call/attempt.ts'
import type { CallRun, CallRunParts } from '../call/call-run.ts'
import type { Caller } from '../call/caller.ts'
import { type Candidate, DerivedCandidates } from '../call/candidates.ts'
import type { ErrorAnswer } from '../call/failure.ts'
import { firstAnswer } from '../call/first-answer.ts'
import { onwardAfter } from '../call/onward.ts'
import type { Found, Redaction } from '../call/redaction.ts'
import { refusalOf, statusOf } from '../call/refusal.ts'
import type { RouteCandidatesParts } from '../call/route-candidates.ts'
import { type RuledRoutes, ruledRoutes } from '../call/rules/ruled-routes.ts'
import { answeredWhole, type RequestParts, type WholeRequest } from '../call/whole-request.ts'
import type { GuardCall } from '../guardrails/guard-call.ts'
import type { Guardrails } from '../guardrails/stored-guardrails.ts'
import type { TokenUsage } from '../prices/usage.ts'
import type { EmbeddingRequest, ProviderEmbeddings } from '../providers/embedding-format.ts'
import { encodedAs, type VectorEncoding, type WireVector } from '../providers/vector-encoding.ts'
import { redacted } from '../redaction/redacted.ts'
import { unredactedHeader } from '../redaction/redaction-header.ts'
import {
  costBy,
  type EmbeddingCandidate,
  embeddingCandidate,
  estimatedTokens,
  maxUsage,
  usageOf,
} from './embedding-candidate.ts'
import { embeddingRequest } from './embedding-request.ts'

/** Dependencies of embeddings calls. */
export interface EmbeddingParts extends RouteCandidatesParts, RequestParts, CallRunParts {
  readonly health: RouteCandidatesParts['health']
  readonly redaction: Pick<Redaction, 'policyOf'>
  /** Checks of inputs; absent: none. */
  readonly guardrails?: Guardrails | undefined
  /** Answers that are reused; absent: none. */
  readonly cache?: ResponseCache | undefined
}

/** One embeddings request in OpenAI's format. */
export interface EmbeddingCall {
  readonly caller: Caller
  readonly operation: string
  /** The validated body, and its raw bytes; `bytes` is null when they were not kept. */
  readonly body: WireObject
  readonly bytes: Uint8Array | null
  readonly signal: AbortSignal
}

/** Result of an embeddings call. */
export interface EmbeddingOutcome {
  readonly model: string
  /** One vector per input, in order, in the requested encoding. */
  readonly vectors: readonly WireVector[]
  readonly usage: TokenUsage
  /** The provider's response as received, when it is exactly the result; otherwise null. */
  readonly bytes: Buffer | null
  /** USD as exact decimal text; null when the price is unknown. */
  readonly costUsd: string | null
  readonly headers: readonly (readonly [name: string, value: string])[]
}

type Embedded = Omit<EmbeddingOutcome, 'headers' | 'costUsd'>

/** Concurrent requests per call, where a provider's batch limit is smaller than ours. */
const requestsAtOnce = 4

/** Creates embeddings with any provider, through the steps shared by all calls. */
export class EmbeddingCalls {
  readonly #parts: EmbeddingParts

  constructor(parts: EmbeddingParts) {
    this.#parts = parts
  }

  /** @throws {ServiceError} when the call fails; failed calls are recorded too. */
  async create(call: EmbeddingCall): Promise<EmbeddingOutcome> {
    const reservation = answerMemory.reserve(call.caller.project)
    try {
      return await this.#create(call, reservation)
    } finally {
      reservation.leave()
    }
  }

  async #create(call: EmbeddingCall, reservation: AnswerReservation): Promise<EmbeddingOutcome> {
    const { caller, operation, body, signal } = call
    const ruled = await ruledRoutes(this.#parts, 'embedding', call)
    const prepared = new PreparedWays(this.#parts, call, ruled)
    let done: { readonly answer: Embedded; readonly costUsd: string | null } | null = null
    const { run, candidate, answer } = await firstAnswer<EmbeddingCandidate, Embedded>(
      this.#parts,
      {
        ...{ caller, operation, signal, need: 'embedding', model: textOf(body.model), streamed: false },
        maxUsd: ({ route, request }) => costBy(route, maxUsage(request)),
        tokens: ({ request }) => ({ max: estimatedTokens(request) }),
        requests: ({ requests }) => requests.length,
        sharesTicket: () => false,
        reuse: () => prepared.cached,
        answer: async (next, current) =>
          storedVectors(prepared.cached) ?? (await this.#embedded(next, current, { signal, reservation })),
        discard: () => {},
        onward: onwardAfter,
        refusalOf,
        end: (error) => ({
          usage: done === null ? null : { tokens: done.answer.usage },
          costUsd: done === null ? '0' : done.costUsd,
          status: error === null ? 200 : statusOf(error),
          redactions: prepared.found,
          guardrails: prepared.guard?.report.findings,
          bodies: () => ({
            request: loggedJson(prepared.request?.body ?? body),
            response: done === null ? '' : logged(done.answer),
          }),
        }),
      },
      prepared,
    )
    const { cached } = prepared
    const costUsd = cached?.status === 'hit' ? '0' : costBy(candidate.route, answer.usage)
    done = { answer, costUsd }
    const headers = [
      ...run.headers(),
      ...costHeader(costUsd),
      ...unredactedHeader(prepared.isRedacted),
      ...(prepared.guard?.report.headers() ?? []),
    ]
    run.succeed()
    const { bytes: _received, ...plain } = answer
    if (candidate.model === ruled.served) cached?.keep(plain, costUsd)
    const bytes = answer.bytes === null ? null : bytesWithCost(answer.bytes, costUsd)
    return { ...answer, bytes, costUsd, headers }
  }

  async #embedded(
    candidate: EmbeddingCandidate,
    run: CallRun<EmbeddingCandidate>,
    { signal, reservation }: Pick<WholeRequest, 'signal' | 'reservation'>,
  ): Promise<Embedded> {
    const { route, request, requests } = candidate
    const answers = await concurrently(requests, { atOnce: requestsAtOnce, signal }, (each, either) =>
      this.#one(each, { candidate, run }, { signal: either, reservation }),
    )
    const vectors = answers.flatMap((answer) => answer.vectors)
    const [first] = answers
    const kept = answers.length === 1 && vectors.every((vector) => isEncoded(vector, request.encoding))
    const counts = answers.map(({ inputTokens }) => inputTokens)
    return {
      model: first?.model || route.model,
      vectors: vectors.map((vector) => encodedAs(request.encoding, vector)),
      usage: usageOf(counts, request),
      bytes: kept && route.format === 'openai' ? (first?.bytes ?? null) : null,
    }
  }

  #one(
    each: ProviderEmbeddings,
    { candidate, run }: { candidate: EmbeddingCandidate; run: CallRun<EmbeddingCandidate> },
    { signal, reservation }: Pick<WholeRequest, 'signal' | 'reservation'>,
  ) {
    const { caller, route, format } = candidate
    const failureOf = (refusal: ErrorAnswer) => format.failure(refusal, this.#parts.now())
    const { path, headers, body } = each
    const request = { caller, route, path, headers, body, failureOf, signal, reservation }
    const read = async (bytes: Buffer, received: AnswerHeaders) => {
      return { ...each.answer(await parsedAnswer(bytes), received), bytes }
    }
    return answeredWhole(this.#parts, run, { ...request, read })
  }
}

/** The ways of a call, each with its provider requests, in which the project's personal data is redacted. */
class PreparedWays extends DerivedCandidates<Candidate, EmbeddingCandidate> {
  readonly #parts: EmbeddingParts
  readonly #call: EmbeddingCall
  readonly #served: string
  /** The request as sent to providers; null until it has been prepared. */
  request: EmbeddingRequest | null = null
  found: Found | undefined
  guard: GuardCall | null = null
  /** The stored answer, or the place for the new one; null for a project that stores none. */
  cached: CallCache | null = null
  /** Whether the policy covers the input. */
  isRedacted = false

  constructor(parts: EmbeddingParts, call: EmbeddingCall, { served, candidates }: RuledRoutes) {
    super(candidates)
    this.#served = served
    this.#parts = parts
    this.#call = call
  }

  override async next(): Promise<EmbeddingCandidate | null> {
    const { caller, body, bytes } = this.#call
    if (this.request === null) {
      this.request = await this.#redacted(await this.#checked(embeddingRequest(body, bytes)))
      const reused = { ...this.request.body, model: this.#served }
      this.cached = (await this.#parts.cache?.find({ kind: 'embeddings', caller, body: reused })) ?? null
    }
    return super.next()
  }

  protected derived(candidate: Candidate | null): EmbeddingCandidate | null {
    if (candidate === null || this.request === null) return null
    return embeddingCandidate(candidate, this.request, this.#call.caller)
  }

  /** Redacts the input. Nothing is restored, since a response consists of vectors. */
  async #redacted(request: EmbeddingRequest): Promise<EmbeddingRequest> {
    const policy = await this.#parts.redaction.policyOf(this.#call.caller.project)
    if (policy === null || !policy.embeddings) return request
    this.isRedacted = true
    return this.#mapped(request, async (inputs) => {
      const { texts, found } = await redacted(policy, inputs)
      this.found = found
      return texts
    })
  }

  /** @throws {ServiceError} `content_policy_violation` */
  async #checked(request: EmbeddingRequest): Promise<EmbeddingRequest> {
    const guard = (await this.#parts.guardrails?.open(this.#call.caller)) ?? null
    this.guard = guard
    return guard === null ? request : this.#mapped(request, (texts) => guard.texts(texts))
  }

  async #mapped(
    request: EmbeddingRequest,
    change: (texts: readonly string[]) => Promise<readonly string[]>,
  ): Promise<EmbeddingRequest> {
    const texts = await change(request.inputs.filter((input) => typeof input === 'string'))
    let next = 0
    const inputs = request.inputs.map((input) => (typeof input === 'string' ? (texts[next++] ?? input) : input))
    if (inputs.every((input, place) => input === request.inputs[place])) return request
    const input = typeof request.body.input === 'string' ? inputs[0] : inputs
    return { ...request, inputs, body: { ...request.body, input }, bytes: null }
  }
}

/** The vectors of a stored answer; null for none. */
const storedVectors = (cached: CallCache | null): Embedded | null => {
  const { model, vectors, usage } = cached?.answer ?? {}
  if (!Array.isArray(vectors)) return null
  const inputTokens = countOf(objectOf(usage).inputTokens)
  const tokens = { inputTokens, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 }
  return { model: textOf(model), vectors: vectors.filter(isVector), usage: tokens, bytes: null }
}

const isVector = (value: unknown): value is WireVector => typeof value === 'string' || Array.isArray(value)

const logged = ({ model, vectors, usage }: Embedded): string =>
  JSON.stringify({ object: 'list', model, embeddings: vectors.length, usage })

const isEncoded = (vector: WireVector, encoding: VectorEncoding): boolean =>
  (typeof vector === 'string') === (encoding === 'base64')
