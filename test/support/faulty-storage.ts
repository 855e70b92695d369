import { type AppendOutcome, type Commit, type Storage, StoreUnavailable } from '#storage/ports.ts'

/**
 * What may go wrong with one commit.
 * - `refused`: nothing is written, and nothing says so.
 * - `answer_lost`: written, and nothing says so.
 * - `late`: nothing says so, and it is written only when `release` is called.
 * - `crash_before`, `crash_after`: the process dies just before or after it is written.
 */
export type Fault = 'refused' | 'answer_lost' | 'late' | 'crash_before' | 'crash_after'

/** What a commit waits for; undefined for nothing. */
type Gate = (commit: Commit) => Promise<void> | undefined

/** A store as one process sees it, with trouble where a test wants it. Other processes see `inner`. */
export class FaultyStorage {
  readonly inner: Storage
  /** What the process is given. */
  readonly storage: Storage
  /** Commits that the process wanted to write, in order; one that is tried again counts again. */
  readonly appended: Commit[] = []
  /** The store cannot be reached. */
  away = false
  /** Commits can be written, but nothing can be read. */
  unreadable = false
  /** Ids that no read gets past. */
  readonly damaged = new Set<unknown>()
  /** How often a call met one of them. */
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

  /** The commits from the next one on meet these faults; `undefined` for none. */
  next(...faults: readonly (Fault | undefined)[]): void {
    faults.forEach((fault, index) => {
      if (fault !== undefined) this.#faults.set(this.appended.length + index, fault)
    })
  }

  /** Commits wait before they are written for as long as `gate` says. */
  hold(gate: Gate): void {
    this.#waiting = gate
  }

  /** Commits are written, and their answers wait for as long as `gate` says. */
  holdAnswers(gate: Gate): void {
    this.#answering = gate
  }

  /** Writes what is late. */
  async release(): Promise<readonly AppendOutcome[]> {
    return this.inner.commits.append(this.#late.splice(0))
  }

  /** The process dies: nothing it requests is answered any more. */
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
