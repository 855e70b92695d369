import { type AppendOutcome, type Commit, type Storage, StoreUnavailable } from '#storage/ports.ts'

/**
 * Faults of one commit.
 * - `refused`: it is not written, and the outcome is unknown.
 * - `answer_lost`: it is written, and the outcome is unknown.
 * - `late`: the outcome is unknown, and it is written only when `release` is called.
 * - `crash_before`, `crash_after`: the process dies just before or after it is written.
 */
export type Fault = 'refused' | 'answer_lost' | 'late' | 'crash_before' | 'crash_after'

/** Returns a promise that a commit waits for; undefined for none. */
type Gate = (commit: Commit) => Promise<void> | undefined

/** A store for one process with the faults that a test sets. Other processes use `inner`. */
export class FaultyStorage {
  readonly inner: Storage
  /** The faulty store for the process. */
  readonly storage: Storage
  /** Commits that the process tried to write, in order; a retry counts again. */
  readonly appended: Commit[] = []
  /** The store cannot be reached. */
  away = false
  /** Commits can be written, but nothing can be read. */
  unreadable = false
  /** Ids for which every call fails. */
  readonly damaged = new Set<unknown>()
  /** Number of calls with one of them. */
  met = 0
  readonly #faults = new Map<number, Fault>()
  readonly #late: Commit[] = []
  #waiting: Gate | undefined
  #answering: Gate | undefined
  #dead = false
  #died = (): void => {}
  /** Resolves when the process dies. */
  readonly death = new Promise<void>((resolve) => {
    this.#died = resolve
  })

  constructor(inner: Storage) {
    this.inner = inner
    const appends = { append: (commits: readonly Commit[]) => this.#append(commits) }
    this.storage = {
      ...inner,
      commits: this.#guarded(inner.commits, appends),
      records: this.#guarded(inner.records),
      blobs: this.#guarded(inner.blobs),
    }
  }

  /** Sets the faults of the next commits in order; `undefined` for none. */
  next(...faults: readonly (Fault | undefined)[]): void {
    faults.forEach((fault, index) => {
      if (fault !== undefined) this.#faults.set(this.appended.length + index, fault)
    })
  }

  /** Delays the writing of commits until the promise of `gate` resolves. */
  hold(gate: Gate): void {
    this.#waiting = gate
  }

  /** Delays the answers of written commits until the promise of `gate` resolves. */
  holdAnswers(gate: Gate): void {
    this.#answering = gate
  }

  /** Writes the late commits. */
  async release(): Promise<readonly AppendOutcome[]> {
    return this.inner.commits.append(this.#late.splice(0))
  }

  /** Simulates the death of the process: no further request is answered. */
  crash(): void {
    this.#dead = true
    this.#died()
  }

  get crashed(): boolean {
    return this.#dead
  }

  async #append(commits: readonly Commit[]): Promise<readonly AppendOutcome[]> {
    const outcomes: AppendOutcome[] = []
    for (const commit of commits) outcomes.push(await this.#appendOne(commit))
    return this.#dead ? never() : outcomes
  }

  async #appendOne(commit: Commit): Promise<AppendOutcome> {
    await this.#waiting?.(commit)
    if (this.#dead) return never()
    const fault = this.#faults.get(this.appended.length)
    this.appended.push(commit)
    if (this.away || fault === 'refused') return 'unknown'
    if (fault === 'crash_before') this.crash()
    if (this.#dead) return never()
    if (fault === 'late') {
      this.#late.push(commit)
      return 'unknown'
    }
    const [outcome] = await this.inner.commits.append([commit])
    await this.#answering?.(commit)
    if (fault === 'crash_after') this.crash()
    if (this.#dead) return never()
    return fault === 'answer_lost' || outcome === undefined ? 'unknown' : outcome
  }

  #guarded<T extends object>(target: T, instead: Partial<T> = {}): T {
    return new Proxy(target, {
      get: (_, name) => {
        if (name in instead) return Reflect.get(instead, name)
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return async (...args: readonly unknown[]) => {
          if (this.#dead) return never()
          if (args.some((each) => this.damaged.has(each))) {
            this.met++
            throw new Error('damaged')
          }
          if (this.away || this.unreadable) throw new StoreUnavailable('away')
          const answer: unknown = await Reflect.apply(method, target, args)
          return this.#dead ? never() : answer
        }
      },
    })
  }
}

const never = (): Promise<never> => new Promise(() => {})
