/** Limits of jobs that wait for a person at the same time in this process: each occupies a browser. */
export interface HandOverLimits {
  readonly atOnce: number
  /** Per tenant, or for the jobs of the project itself. */
  readonly perOwner: number
}

/** Returns the limits for a number of browsers: half of them, rounded up. One owner cannot take the last place. */
export const handOverLimits = (browsers: number): HandOverLimits => {
  const atOnce = Math.max(1, Math.ceil(browsers / 2))
  return { atOnce, perOwner: Math.max(1, atOnce - 1) }
}

/** A job whose page is to be handed over. */
export interface NewHandOver {
  readonly job: string
  /** From 1. Continuing another attempt does not continue this one. */
  readonly attempt: number
  /** Owner whose limit applies. */
  readonly owner: string
}

/** A page that is handed over to a person. */
export interface HandOver {
  /** Resolves with the note of the person who continued the job. */
  readonly continued: Promise<string | null>
  /** Ends the hand-over. */
  close(): void
}

interface Open extends NewHandOver {
  readonly resolve: (note: string | null) => void
}

/** Hand-overs in progress in this process, by job. */
export class HandOvers {
  readonly #limits: HandOverLimits
  readonly #open = new Map<string, Open>()

  constructor(limits: HandOverLimits) {
    this.#limits = limits
  }

  /** Number of jobs that wait for a person. */
  get size(): number {
    return this.#open.size
  }

  /** Starts a hand-over; null when the limit is reached. */
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

  /** Continues a job, if this attempt of it waits in this process. */
  resume(job: string, attempt: number, note: string | null): void {
    const open = this.#open.get(job)
    if (open?.attempt === attempt) open.resolve(note)
  }
}
