import { FairLine, type LineOwner } from '../fair-line.ts'

/** Limits of documents that are in memory at the same time. */
export interface TurnLimits {
  readonly running: number
  /** The same of one project, and of one of its tenants: those whose documents are slow leave turns to the others. */
  readonly perProject: number
  readonly perTenant: number
}

interface Waiting {
  readonly start: () => void
}

/**
 * Limits how many documents are loaded, and owners take turns at it. The others wait without their bytes, however many
 * there are, so that no document fails because many wait.
 */
export class DocumentTurns {
  readonly #limits: TurnLimits
  readonly #line = new FairLine<Waiting>()
  /** Number of documents by `namesOf`. */
  readonly #running = new Map<string, number>()

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /** Runs `work` when it is the owner's turn. Rejects with the signal's reason if it is aborted before. */
  async run<T>(owner: LineOwner, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#turn(owner, signal)
    try {
      return await work()
    } finally {
      this.#count(owner, -1)
      this.#next()
    }
  }

  async #turn(owner: LineOwner, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = {
      start: () => {
        signal.removeEventListener('abort', leave)
        this.#count(owner, 1)
        resolve()
      },
    }
    const leave = (): void => {
      this.#line.remove(owner, waiting)
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#line.add(owner, waiting)
    this.#next()
    return promise
  }

  #next(): void {
    const { running, perProject, perTenant } = this.#limits
    if (this.#runs('') >= running) return
    const next = this.#line.take((owner) => {
      const [, project, tenant] = namesOf(owner)
      return this.#runs(project) < perProject && this.#runs(tenant) < perTenant
    })
    next?.start()
  }

  #runs(name: string): number {
    return this.#running.get(name) ?? 0
  }

  #count(owner: LineOwner, by: 1 | -1): void {
    for (const name of namesOf(owner)) {
      const running = this.#runs(name) + by
      if (running === 0) this.#running.delete(name)
      else this.#running.set(name, running)
    }
  }
}

/** Names under which a document of this owner is counted: all, its project, and its tenant. */
const namesOf = ({ project, tenant }: LineOwner) => ['', project, `${project}/${tenant ?? ''}`] as const
