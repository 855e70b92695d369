import type { Route } from './routes.ts'

/** One candidate for serving a call. */
export interface Candidate {
  /** The model name under which limits and budgets count the call. */
  readonly model: string
  readonly route: Route
}

/** The candidates for serving one call, in the order in which to try them. */
export interface CandidateQueue<W extends Candidate> {
  /**
   * Returns the next one; null when none is left.
   * @throws {ServiceError} (or rejects) when the call has no candidate at all.
   */
  next(): W | null | Promise<W | null>
  /** Whether a candidate is left to try after the current one. */
  readonly hasMore: boolean
  /** Whether another key of the same pool is left that does not rest: a failure moves there at once. */
  readonly hasPeer: boolean
  /** How the current candidate was chosen, by rules or from a pool, for the header `x-route`; null without a choice. */
  readonly choice: string | null
  /** Skips the remaining candidates of the current model, since they would get the same request. */
  skipModel(): void
}

/** Candidates made of those of another queue, one by one when they are needed. */
export abstract class DerivedCandidates<V extends Candidate, W extends Candidate> implements CandidateQueue<W> {
  readonly #candidates: CandidateQueue<V>

  constructor(candidates: CandidateQueue<V>) {
    this.#candidates = candidates
  }

  get hasMore(): boolean {
    return this.#candidates.hasMore
  }

  get hasPeer(): boolean {
    return this.#candidates.hasPeer
  }

  get choice(): string | null {
    return this.#candidates.choice
  }

  next(): W | null | Promise<W | null> {
    const candidate = this.#candidates.next()
    return candidate instanceof Promise ? candidate.then((late) => this.derived(late)) : this.derived(candidate)
  }

  skipModel(): void {
    this.#candidates.skipModel()
  }

  /** Returns what stands for the candidate, or the next one; `candidate` is null when none is left. */
  protected abstract derived(candidate: V | null): W | null | Promise<W | null>
}

class MappedCandidates<V extends Candidate, W extends Candidate> extends DerivedCandidates<V, W> {
  readonly #make: (candidate: V) => W

  constructor(candidates: CandidateQueue<V>, make: (candidate: V) => W) {
    super(candidates)
    this.#make = make
  }

  protected derived(candidate: V | null): W | null {
    return candidate === null ? null : this.#make(candidate)
  }
}

/** Maps each way with `make`, lazily. */
export const mappedCandidates = <V extends Candidate, W extends Candidate>(
  candidates: CandidateQueue<V>,
  make: (candidate: V) => W,
): CandidateQueue<W> => new MappedCandidates(candidates, make)

class ListedCandidates<W extends Candidate> implements CandidateQueue<W> {
  readonly hasPeer = false
  readonly choice = null
  readonly #candidates: readonly W[]
  #at = 0

  constructor(candidates: readonly W[]) {
    this.#candidates = candidates
  }

  get hasMore(): boolean {
    return this.#at < this.#candidates.length
  }

  next(): W | null {
    return this.#candidates[this.#at++] ?? null
  }

  skipModel(): void {}
}

/** Ways from a fixed list. */
export const listedCandidates = <W extends Candidate>(candidates: readonly W[]): CandidateQueue<W> =>
  new ListedCandidates(candidates)
