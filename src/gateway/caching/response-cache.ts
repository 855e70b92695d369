import type { WireObject } from '#outgoing/wire.ts'
import type { Embedder } from '#retrieval/index.ts'
import { type AnswerPlace, type AnswerStore, answerLane, type FoundAnswers } from '#storage/index.ts'
import type { Caller } from '../call/caller.ts'
import type { CacheHeaders, CachePolicy, CallPolicies } from '../call/reuse.ts'
import { type Directives, directivesOf } from './cache-directives.ts'
import { exactKey, type LastQuestion, questionOf } from './cache-key.ts'
import { isCacheable } from './cacheable.ts'
import { CallCache, type Shelf, storedAnswer } from './call-cache.ts'
import type { SameAnswer } from './question-judge.ts'
import { type SimilarQuestion, SimilarQuestions } from './similar-questions.ts'

/** A call whose answer may be stored. */
export interface CacheableCall {
  /** What is called: the same for all APIs that are converted to one format. */
  readonly kind: 'chat' | 'embeddings' | 'completions' | 'rerank'
  readonly caller: Caller
  /** The request as sent to providers, after redaction. */
  readonly body: WireObject
  /** The user whose memories the request has; null for none. */
  readonly user?: string | null
}

interface CacheParts {
  readonly policies: { of(project: string): CallPolicies | Promise<CallPolicies> }
  readonly store: AnswerStore
  /** Compares questions; null: only equal requests get stored answers. */
  readonly embedder: Embedder | null
  /** Decides whether questions in other words have the same answer. */
  readonly isSame: SameAnswer
  readonly now: () => number
}

/** Answers that are reused, by the policy of each project (specs/decisions/0465-answers-that-are-reused.md). */
export class ResponseCache {
  readonly #parts: CacheParts
  readonly #similar: SimilarQuestions | null

  constructor(parts: CacheParts) {
    this.#parts = parts
    const { store, embedder } = parts
    this.#similar = embedder === null ? null : new SimilarQuestions(store, embedder)
  }

  /** Returns what applies to the calls of a project; synchronously for a project in steady use. */
  policiesOf(project: string): CallPolicies | Promise<CallPolicies> {
    return this.#parts.policies.of(project)
  }

  /** Finds the stored answer of a call by the policy of its project; null when that stores none. @throws {StoreUnavailable} */
  async find(call: CacheableCall): Promise<CallCache | null> {
    const { cache } = await this.policiesOf(call.caller.project)
    return cache === null ? null : await this.open(cache, call)
  }

  /** Finds the stored answer of a call. Never throws, and is synchronous where the answers are in memory. */
  open(policy: CachePolicy, call: CacheableCall): CallCache | Promise<CallCache> {
    const { kind, caller, body } = call
    const directives = directivesOf(policy, caller.headers ?? noHeaders)
    // a line of a batch is metered by its own commit
    if (directives.mode === 'off' || caller.line !== undefined || !isCacheable(body, policy)) return bypass
    const key = exactKey(kind, body)
    if (key === null) return bypass
    const question = directives.mode === 'semantic' && kind === 'chat' ? questionOf(kind, body) : null
    const lookup = { key, question, directives, policy, caller, place: placeOf(call) }
    const found = this.#parts.store.read(lookup.place, directives.reads ? [key] : [])
    return found instanceof Promise ? found.then((late) => this.#opened(lookup, late)) : this.#opened(lookup, found)
  }

  #opened(lookup: Lookup, found: FoundAnswers | null): CallCache | Promise<CallCache> {
    if (found === null) return bypass
    const { question } = lookup
    const hit = this.#hit(lookup, found.values[0] ?? null)
    if (hit !== null) return hit
    if (question === null || this.#similar === null || this.#parts.embedder?.isOff === true)
      return this.#miss(lookup, found.mark)
    const alike = { question, mark: found.mark, similar: this.#similar }
    return this.#alike(lookup, alike).catch(() => this.#miss(lookup, found.mark))
  }

  #hit({ directives }: Lookup, text: string | null): CallCache | null {
    const now = this.#parts.now()
    const stored = storedAnswer(text, now, directives.maxAgeMs)
    return stored === null ? null : CallCache.hit(stored, now)
  }

  #miss({ key, place, policy, directives }: Lookup, mark: number, stored?: Shelf['stored']): CallCache {
    const { store, now } = this.#parts
    const shelf = { store, place, key, ttlMs: policy.ttlMs, mark, now, stored }
    return CallCache.made(directives.reads ? 'miss' : 'bypass', shelf)
  }

  /** Looks for a question with the same meaning. */
  async #alike(lookup: Lookup, { question, mark, similar }: Alike): Promise<CallCache> {
    const { place, key, policy, directives } = lookup
    const { ttlMs } = policy
    const like = directives.reads ? await similar.closest(place, question, policy) : null
    const hit = like === null ? null : await this.#similarHit(lookup, like, question)
    if (hit !== null) return hit
    return this.#miss(lookup, mark, () => similar.add(place, question, { by: policy, key, ttlMs, mark }))
  }

  async #similarHit(lookup: Lookup, { key, text, isSame }: SimilarQuestion, question: LastQuestion) {
    const hit = await this.#stored(lookup, key)
    const { judge } = lookup.policy
    if (hit === null || isSame || judge === null) return hit
    const compared = { questions: [text, question.text], caller: lookup.caller } as const
    // the answer may be forgotten while it is judged
    return (await this.#parts.isSame(judge, compared)) ? this.#stored(lookup, key) : null
  }

  async #stored(lookup: Lookup, key: string): Promise<CallCache | null> {
    const found = await this.#parts.store.read(lookup.place, [key])
    return this.#hit(lookup, found?.values[0] ?? null)
  }
}

interface Lookup extends Pick<CacheableCall, 'caller'> {
  readonly key: string
  readonly question: LastQuestion | null
  readonly directives: Directives
  readonly policy: CachePolicy
  readonly place: AnswerPlace
}

interface Alike {
  readonly question: LastQuestion
  readonly mark: number
  readonly similar: SimilarQuestions
}

const noHeaders: CacheHeaders = {}
const bypass = CallCache.made('bypass')

/** A tenant's answers are its own; those with memories of a user are the user's. */
const placeOf = ({ caller: { project, tenant }, user = null }: CacheableCall): AnswerPlace => ({
  project,
  lane: answerLane(tenant, user),
})
