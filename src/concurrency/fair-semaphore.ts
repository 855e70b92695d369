/**
 * Limits of a semaphore. A list has one number for each level: for all owners together, and for each name in the path
 * of an owner. Absent levels are unlimited.
 */
export interface SemaphoreLimits<Owner> {
  /** Returns the path of an owner, such as its project and its tenant. Owners of one level take turns. */
  readonly path: (owner: Owner) => readonly string[]
  /** Maximum number of concurrent works. */
  readonly running: readonly number[]
  /** Maximum number of works that wait. */
  readonly waiting?: readonly number[]
  /** Returns the error for a work that would exceed `waiting`. */
  readonly refusal?: () => Error
  /** Returns whether another work may start, where that depends on more than numbers. */
  readonly mayStart?: () => boolean
}

/** All works of an owner, of a group of owners, or of all owners. */
interface Branch {
  readonly name: string
  readonly parent: Branch | null
  readonly maxRunning: number
  readonly maxWaiting: number
  running: number
  waiting: number
  /** Branches with works. Of two with as many running works, the first one is served before the other. */
  readonly branches: Map<string, Branch>
  /** Starts the waiting works of this owner, in order of arrival. */
  readonly line: Set<() => void>
}

/**
 * A semaphore whose owners take turns (specs/decisions/0332-one-fair-semaphore.md). A free place goes to the owner with
 * the fewest running works; of several, to the one that has waited longest since it was last served. So an owner with
 * many works delays another one by at most one of them. Works of the same owner start in order of arrival.
 */
export class FairSemaphore<Owner> {
  readonly #limits: SemaphoreLimits<Owner>
  readonly #all: Branch

  constructor(limits: SemaphoreLimits<Owner>) {
    this.#limits = limits
    this.#all = this.#branch(null, '', 0)
  }

  /** Number of running works. */
  get running(): number {
    return this.#all.running
  }

  /** Number of waiting works. */
  get waiting(): number {
    return this.#all.waiting
  }

  /** Returns the number of waiting works of an owner alone. */
  waitingOf(owner: Owner): number {
    const way = this.#find(owner)
    return way.length > this.#limits.path(owner).length ? (way.at(-1)?.waiting ?? 0) : 0
  }

  /** Returns whether a work of this owner would have to wait, and too many wait already. */
  isFull(owner: Owner): boolean {
    const way = this.#find(owner)
    return !this.#isFree(way) && way.some(({ waiting, maxWaiting }) => waiting >= maxWaiting)
  }

  /**
   * Runs `work` when it is the owner's turn: immediately if a place is free.
   *
   * @throws the reason of `signal` if it is aborted before; the limits' refusal if too many works wait.
   */
  async run<T>(owner: Owner, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (this.isFull(owner)) throw this.#limits.refusal?.() ?? new Error('too many works wait')
    const branch = this.#open(owner)
    if (this.#isFree(wayTo(branch))) count(branch, 1, 0)
    else await this.#turn(branch, signal)
    try {
      signal?.throwIfAborted()
      return await work()
    } finally {
      this.#leave(branch)
    }
  }

  /** Starts waiting works after a change of what `mayStart` returns. */
  changed(): void {
    while (this.#startNext(this.#all)) {}
  }

  #turn(branch: Branch, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const start = (): void => {
      signal?.removeEventListener('abort', giveUp)
      resolve()
    }
    const giveUp = (): void => {
      branch.line.delete(start)
      count(branch, 0, -1)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', giveUp, { once: true })
    for (const each of wayTo(branch)) if (each.waiting === 0) toEnd(each)
    branch.line.add(start)
    count(branch, 0, 1)
    return promise
  }

  #leave(branch: Branch): void {
    // only works below the highest full level were waiting for this place
    const full = wayTo(branch).findLast(({ running, maxRunning }) => running >= maxRunning)
    for (const each of wayTo(branch)) toEnd(each)
    count(branch, -1, 0)
    if (this.#limits.mayStart !== undefined) this.changed()
    else if (full !== undefined) this.#startNext(full)
  }

  #startNext(below: Branch): boolean {
    const next = this.#limits.mayStart?.() === false ? null : nextBelow(below)
    const [start] = next?.line ?? []
    if (next === null || start === undefined) return false
    next.line.delete(start)
    count(next, 1, -1)
    start()
    return true
  }

  #isFree(way: readonly Branch[]): boolean {
    return way.every(({ running, maxRunning }) => running < maxRunning) && this.#limits.mayStart?.() !== false
  }

  /** Returns the branches of an owner that exist, from the one of all owners. */
  #find(owner: Owner): readonly Branch[] {
    const way = [this.#all]
    for (const name of this.#limits.path(owner)) {
      const next = way.at(-1)?.branches.get(name)
      if (next === undefined) break
      way.push(next)
    }
    return way
  }

  #open(owner: Owner): Branch {
    return this.#limits.path(owner).reduce((parent, name, at) => {
      const branch = parent.branches.get(name) ?? this.#branch(parent, name, at + 1)
      parent.branches.set(name, branch)
      return branch
    }, this.#all)
  }

  #branch(parent: Branch | null, name: string, level: number): Branch {
    const { running, waiting } = this.#limits
    const maxRunning = running[level] ?? Number.POSITIVE_INFINITY
    const maxWaiting = waiting?.[level] ?? Number.POSITIVE_INFINITY
    return { name, parent, maxRunning, maxWaiting, running: 0, waiting: 0, branches: new Map(), line: new Set() }
  }
}

/** Returns an owner's branch and those above it, from the bottom up. */
const wayTo = (branch: Branch): readonly Branch[] =>
  branch.parent === null ? [branch] : [branch, ...wayTo(branch.parent)]

/** Changes the numbers of works of an owner, and removes branches without any. */
const count = (branch: Branch, running: number, waiting: number): void => {
  for (const each of wayTo(branch)) {
    each.running += running
    each.waiting += waiting
    if (each.running + each.waiting === 0) each.parent?.branches.delete(each.name)
  }
}

/** Moves a branch behind the others of its level. */
const toEnd = (branch: Branch): void => {
  branch.parent?.branches.delete(branch.name)
  branch.parent?.branches.set(branch.name, branch)
}

/** Returns the owner that is served next; null when every waiting one has reached a limit. */
const nextBelow = (branch: Branch): Branch | null => {
  if (branch.waiting === 0 || branch.running >= branch.maxRunning) return null
  if (branch.line.size > 0) return branch
  let fewest = Number.POSITIVE_INFINITY
  let next: Branch | null = null
  for (const each of branch.branches.values()) {
    if (each.running >= fewest) continue
    const found = nextBelow(each)
    if (found === null) continue
    next = found
    fewest = each.running
  }
  return next
}
