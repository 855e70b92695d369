import { type AnswerReservation, answerMemory } from '#outgoing/answer-memory.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { parsedAnswer } from '#outgoing/shares/parsed-answer.ts'
import { isObject, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { CacheableCall, ResponseCache } from '../caching/response-cache.ts'
import { loggedJson } from '../call/accounting/logged-text.ts'
import { possibleUnits } from '../call/accounting/possible-units.ts'
import { costHeader } from '../call/accounting/shown-cost.ts'
import type { CallRun, CallRunParts } from '../call/call-run.ts'
import type { Caller } from '../call/caller.ts'
import { type Candidate, mappedCandidates } from '../call/candidates.ts'
import { type ErrorAnswer, refused, statusFailure } from '../call/failure.ts'
import { firstAnswer } from '../call/first-answer.ts'
import { onwardAfter } from '../call/onward.ts'
import { ModelError } from '../call/provider-port.ts'
import type { Redaction } from '../call/redaction.ts'
import { refusalOf, statusOf } from '../call/refusal.ts'
import type { RouteCandidatesParts } from '../call/route-candidates.ts'
import { type Need, type Route, wireModelOf } from '../call/routes.ts'
import { ruledRoutes } from '../call/rules/ruled-routes.ts'
import { answeredWhole, type RequestParts } from '../call/whole-request.ts'
import type { GuardCall } from '../guardrails/guard-call.ts'
import type { Guardrails } from '../guardrails/stored-guardrails.ts'
import { tokensOfUsage, type Usage } from '../prices/usage.ts'
import type { DocumentTarget, EncodedDocument } from '../providers/document-target.ts'
import { redactedDocument, restoredDocument, textsOf } from './document-texts.ts'

/** Dependencies of document calls. */
export interface DocumentParts extends RouteCandidatesParts, RequestParts, CallRunParts {
  readonly health: RouteCandidatesParts['health']
  readonly redaction: Pick<Redaction, 'policyOf'>
  /** Checks of inputs and answers; absent: none. */
  readonly guardrails?: Guardrails | undefined
  /** Answers that are reused; absent: none. */
  readonly cache?: ResponseCache | undefined
}

/** A provider-specific operation whose JSON response is passed through. */
export interface JsonCallKind {
  /** Operation id, for the request log. */
  readonly operation: string
  readonly need: Need
  /** Under which its answers are stored; absent for answers that are not. */
  readonly reuse?: CacheableCall['kind']
  /** Returns the endpoint; null when the route's provider does not have the operation. */
  target(route: Route): DocumentTarget | null
  /** Returns an upper bound of the call's usage. */
  max(document: WireObject): Usage
  /** Returns the usage of a response. */
  usage(answer: WireObject, document: WireObject): Usage
  /** Texts that a model wrote outside of choices, and the function that puts others in their places. */
  written?(answer: WireObject): WrittenTexts
  /** Returns the cost in USD as exact decimal text, '0' for free operations; null when the price is unknown. */
  costUsd(route: Route, usage: Usage): string | null
}

/** Texts in a response, in order. */
interface WrittenTexts {
  readonly texts: readonly string[]
  readonly put: (texts: readonly string[]) => WireObject
}

/** A JSON document to send to a model: the validated body, with `model` and optionally `models`. */
export interface DocumentCall {
  readonly caller: Caller
  readonly body: WireObject
  readonly signal: AbortSignal
}

/** A call with the memory reserved for its response. */
interface ReservedCall extends DocumentCall {
  readonly reservation: AnswerReservation
}

/** A provider's response, passed through. */
export interface DocumentOutcome {
  readonly answer: WireObject
  readonly route: Route
  readonly headers: readonly (readonly [name: string, value: string])[]
}

interface DocumentWay extends Candidate {
  readonly target: DocumentTarget
}

/**
 * Calls of provider-specific operations, which send one JSON document and receive another, through the steps shared by
 * all calls.
 */
export class JsonCalls {
  readonly #parts: DocumentParts

  constructor(parts: DocumentParts) {
    this.#parts = parts
  }

  /**
   * @throws {ServiceError} `model_not_found` when no provider of the model has the operation, and errors of providers.
   */
  async create(kind: JsonCallKind, call: DocumentCall): Promise<DocumentOutcome> {
    const reservation = answerMemory.reserve(call.caller.project)
    try {
      return await this.#create(kind, call, reservation)
    } finally {
      reservation.leave()
    }
  }

  async #create(
    kind: JsonCallKind,
    { caller, body, signal }: DocumentCall,
    reservation: AnswerReservation,
  ): Promise<DocumentOutcome> {
    const { operation, need } = kind
    const { cache } = this.#parts
    const policy = await this.#parts.redaction.policyOf(caller.project)
    const guard = (await this.#parts.guardrails?.open(caller)) ?? null
    const { blocked, checked } = guard === null ? { blocked: null, checked: body } : await checkedDocument(body, guard)
    const { document: sent, restorer, found } = await redactedDocument(checked, policy)
    const { served, candidates } = await ruledRoutes(this.#parts, need, { caller, operation, body })
    const reused = { caller, body: { ...sent, model: served } }
    const cached = kind.reuse === undefined ? null : ((await cache?.find({ kind: kind.reuse, ...reused })) ?? null)
    const stored = cached?.answer ?? null
    let done: { readonly answer: WireObject; readonly usage: Usage; readonly route: Route } | null = null
    const { run, candidate, answer } = await firstAnswer<DocumentWay, WireObject>(
      this.#parts,
      {
        ...{ caller, operation, signal, need, model: textOf(body.model), streamed: false },
        maxUsd: ({ route }) => kind.costUsd(route, kind.max(sent)),
        tokens: () => ({ max: tokensOfUsage(kind.max(sent)) }),
        sharesTicket: () => false,
        reuse: () => cached,
        answer: async (next, current) =>
          stored ?? (await this.#answer(next, current, { caller, body: sent, signal, reservation })),
        discard: () => {},
        onward: onwardAfter,
        refusalOf,
        end: (error) => ({
          usage: done?.usage ?? null,
          costUsd: done === null ? '0' : kind.costUsd(done.route, done.usage),
          status: error === null ? 200 : statusOf(error),
          redactions: found,
          guardrails: guard?.report.findings,
          bodies: () => ({
            request: loggedJson(sent),
            response: done === null ? '' : loggedJson(done.answer),
          }),
        }),
      },
      mappedCandidates(candidates, (next) => {
        // here, so that the refusal is in the request log
        if (blocked !== null) throw blocked
        return { ...next, target: targetOf(kind, next.route) }
      }),
    )
    try {
      done = { answer, usage: possibleUnits(kind.usage(answer, sent), kind.max(sent)), route: candidate.route }
      const costUsd = stored === null ? kind.costUsd(candidate.route, done.usage) : '0'
      const restored = restoredDocument(answer, restorer)
      const given = guard?.checksOutput === true ? await checkedAnswer(kind, restored, guard) : restored
      const headers = [...run.headers(), ...costHeader(costUsd), ...(guard?.report.headers() ?? [])]
      run.succeed()
      if (candidate.model === served) cached?.keep(answer, costUsd)
      if (given === null) throw new ServiceError('content_policy_violation', { message: blockedMessage })
      return { answer: given, route: candidate.route, headers }
    } catch (error) {
      // such as an answer that is nested too deep: what is held for the call would stay held
      run.fail(error)
      throw error
    }
  }

  async #answer({ route, target }: DocumentWay, run: CallRun<DocumentWay>, call: ReservedCall): Promise<WireObject> {
    const { caller, body, signal, reservation } = call
    const { models: _models, ...rest } = body
    const document = { ...rest, model: wireModelOf(route) }
    const { contentType, body: encoded } = await (target.encode ?? asJson)(document)
    const headers = { 'content-type': contentType, accept: 'application/json', ...target.headers }
    const request = {
      ...{ caller, route, path: target.path, headers, body: encoded, signal, reservation },
      failureOf: (refusal: ErrorAnswer) => (target.failure ?? statusFailure)(refusal, this.#parts.now()),
    }
    const read = async (bytes: Buffer) => {
      const answer = await parsedAnswer(bytes)
      if (!isObject(answer)) throw unreadable()
      return target.decode?.(answer, document) ?? answer
    }
    return answeredWhole(this.#parts, run, { ...request, read })
  }
}

const asJson = (document: WireObject): EncodedDocument => ({
  contentType: 'application/json',
  body: encodeJson(document),
})

const blockedMessage = 'A guardrail blocked the answer.'

/** Checks what a model wrote; null for what is blocked and has no place for that. */
const checkedAnswer = async (kind: JsonCallKind, answer: WireObject, guard: GuardCall): Promise<WireObject | null> => {
  if (kind.written === undefined) return guard.answer(answer)
  const { texts, put } = kind.written(answer)
  const made = await guard.written(texts)
  return made === null ? null : put(made)
}

/** Checks the texts of a document; `blocked` is the refusal of one that may not be sent. */
const checkedDocument = async (body: WireObject, guard: GuardCall) => {
  const { texts, put } = textsOf(body)
  try {
    return { blocked: null, checked: put(await guard.texts(texts)) }
  } catch (error) {
    if (error instanceof ServiceError) return { blocked: error, checked: body }
    throw error
  }
}

const targetOf = (kind: JsonCallKind, route: Route): DocumentTarget => {
  const target = kind.target(route)
  if (target !== null) return target
  const message = `The provider ${route.provider} does not offer this operation.`
  throw new ServiceError('model_not_found', { param: 'model', message })
}

const unreadable = () =>
  refused(new ModelError('provider_error', 'The provider returned something other than a JSON document.'))
