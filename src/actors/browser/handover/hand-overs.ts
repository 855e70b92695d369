/** How many jobs wait for a person at a time in this process: each keeps a browser, in which others could work. */
export interface HandOverLimits {
  readonly atOnce: number
  /** Of one tenant, or of a project's own jobs. */
  readonly perOwner: number
}

/** Half of the places for browsers, rounded up. An owner never has the last one. */
export const handOverLimits = (browsers: number): HandOverLimits => {
  const atOnce = Math.max(1, Math.ceil(browsers / 2))
  return { atOnce, perOwner: Math.max(1, atOnce - 1) }
}

/** A job's page that is to be a person's. */
export interface NewHandOver {
  readonly job: string
  /** From 1: a person who continues another attempt does not continue this one. */
  readonly attempt: number
  /** Whose places it takes. */
  readonly owner: string
}

/** A page that is a person's for now. */
export interface HandOver {
  /** Resolves with what the person said who continued the job. */
  readonly continued: Promise<string | null>
  /** It is the job's again, or gone. */
  close(): void
}

interface Open extends NewHandOver {
  readonly resolve: (note: string | null) => void
}

/** The pages of this process that are a person's for now, by their jobs. */
export class HandOvers {
  readonly #limits: HandOverLimits
  readonly #open = new Map<string, Open>()

  constructor(limits: HandOverLimits) {
    this.#limits = limits
  }

  /** Jobs that wait. */
  get size(): number {
    return this.#open.size
  }

  /** Null: so many wait already. */
  open(wanted: NewHandOver): HandOver | null {
    const ofOwner = [...this.#open.values()].filter(({ owner }) => owner === wanted.owner).length
    if (this.#open.size >= this.#limits.atOnce || ofOwner >= this.#limits.perOwner) return null
    const { promise, resolve } = Promise.withResolvers<string | null>()
    const open: Open = { ...wanted, resolve }
    this.#open.set(wanted.job, open)
    return {
      continued: promise,
      close: () => {
        if (this.#open.get(wanted.job) === open) this.#open.delete(wanted.job)
      },
    }
  }

  /** The job goes on, when this attempt of it waits here. */
  resume(job: string, attempt: number, note: string | null): void {
    const open = this.#open.get(job)
    if (open?.attempt === attempt) open.resolve(note)
  }
}
