import type { ReportProgress } from '#actors/capability/agent-resources.ts'
import { hiddenText } from '#src/skill-scan/index.ts'

/** Progress of a call, as the server reports it. */
export type Progress = {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** Limits of the progress that is journaled for one call. */
export const progressLimits = { everyMs: 1000, max: 100, messageLength: 512 } as const

/**
 * Journals the progress of a call: the first report at once, then the latest once per second, one write at a time and
 * up to a maximum per call. Servers may report progress as often as they like.
 */
export class ProgressReports {
  readonly #report: ReportProgress
  readonly #limits: { readonly everyMs: number; readonly max: number }
  #newest: Progress | null = null
  #count = 0
  #nextAt = 0
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> | null = null
  #ended = false

  constructor(report: ReportProgress, limits: { readonly everyMs: number; readonly max: number } = progressLimits) {
    this.#report = report
    this.#limits = limits
  }

  /** Accepts a report, which is journaled soon unless a newer one replaces it. */
  add(progress: Progress): void {
    if (this.#ended || this.#count >= this.#limits.max || !Number.isFinite(progress.progress)) return
    this.#newest = progress
    this.#plan()
  }

  /** Stops journaling; resolves when no write is in progress. */
  async end(): Promise<void> {
    this.#ended = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#writing
  }

  #plan(): void {
    if (this.#timer !== null || this.#writing !== null) return
    const waitMs = Math.max(0, this.#nextAt - performance.now())
    this.#timer = setTimeout(() => this.#flush(), waitMs).unref()
  }

  #flush(): void {
    this.#timer = null
    const newest = this.#newest
    if (this.#ended || newest === null) return
    this.#newest = null
    this.#count++
    this.#nextAt = performance.now() + this.#limits.everyMs
    this.#writing = this.#report(shown(newest))
      // a failure to journal progress must not fail the call
      .catch(() => {})
      .then(() => {
        this.#writing = null
        if (this.#newest !== null && this.#count < this.#limits.max) this.#plan()
      })
  }
}

const shown = ({ progress, total, message }: Progress) => ({
  progress,
  total: total !== undefined && Number.isFinite(total) ? total : null,
  message: message === undefined ? null : visible(message.slice(0, progressLimits.messageLength)),
})

/** Returns untrusted text for display; null when it contains characters that a person cannot see. */
const visible = (text: string): string | null =>
  hiddenText(text).some(({ severity }) => severity === 'blocker') ? null : text.replaceAll(/\p{Cc}/gu, ' ')
