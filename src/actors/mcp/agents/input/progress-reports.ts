import type { ReportProgress } from '#actors/capability/agent-resources.ts'
import { hiddenText } from '#src/skill-scan/hidden-text.ts'

/** What a server says of how far a call is. */
export type Progress = {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** How often and how much of a call's progress is journaled. */
export const progressLimits = { everyMs: 1000, most: 100, messageLength: 512 } as const

/**
 * Journals how far a call is: the first at once, then the newest once a second, one at a time, and so many of a call. A
 * server may say it as often as it likes.
 */
export class ProgressReports {
  readonly #report: ReportProgress
  readonly #limits: { readonly everyMs: number; readonly most: number }
  #newest: Progress | null = null
  #count = 0
  #nextAt = 0
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> | null = null
  #ended = false

  constructor(report: ReportProgress, limits: { readonly everyMs: number; readonly most: number } = progressLimits) {
    this.#report = report
    this.#limits = limits
  }

  /** Takes what the server says; it is journaled soon, unless something newer comes. */
  add(progress: Progress): void {
    if (this.#ended || this.#count >= this.#limits.most || !Number.isFinite(progress.progress)) return
    this.#newest = progress
    this.#plan()
  }

  /** Nothing is journaled after this; resolves when nothing is being journaled. */
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
      // how far a call is is not worth the call
      .catch(() => {})
      .then(() => {
        this.#writing = null
        if (this.#newest !== null && this.#count < this.#limits.most) this.#plan()
      })
  }
}

const shown = ({ progress, total, message }: Progress) => ({
  progress,
  total: total !== undefined && Number.isFinite(total) ? total : null,
  message: message === undefined ? null : visible(message.slice(0, progressLimits.messageLength)),
})

/** Foreign text, for people: what they would not see is not shown to them as something else. */
const visible = (text: string): string | null =>
  hiddenText(text).some(({ severity }) => severity === 'blocker') ? null : text.replaceAll(/\p{Cc}/gu, ' ')
