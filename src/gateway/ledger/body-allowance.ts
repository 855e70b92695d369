/** Maximum length of a logged text in characters; longer ones are cut. */
export const maxBodyChars = 16 * 1024
/** Characters beyond the cut that are searched for personal data, so that data which the cut would split is found. */
export const marginChars = 512

/** Budget of processing time for logged texts, in ms per second, and the maximum that can accumulate. */
const msASecond = 10
const maxSavedMs = 200

/**
 * Limits the time spent on texts of the request log, because redacting them costs more than all the rest of a request.
 * The time of a text is only known afterwards, so the budget may be overdrawn; texts are then skipped until it has
 * recovered.
 */
export class BodyAllowance {
  #leftMs = maxSavedMs
  #paidAt: number | null = null

  /** @param now ms of any monotonic clock. */
  isOpen(now: number): boolean {
    const since = this.#paidAt === null ? 0 : Math.max(0, now - this.#paidAt)
    this.#leftMs = Math.min(maxSavedMs, this.#leftMs + (since * msASecond) / 1000)
    this.#paidAt = now
    return this.#leftMs > 0
  }

  spend(ms: number): void {
    this.#leftMs -= ms
  }
}

/**
 * Cuts a text to the maximum length of the log.
 * @param length of the whole text, of which `text` may be the beginning; null: unknown, but longer than `text`.
 */
export const cut = (text: string, length: number | null): string => {
  if (text.length <= maxBodyChars) return text
  const rest = length === null ? `more than ${text.length} characters` : `${length} characters in all`
  return `${text.slice(0, maxBodyChars).toWellFormed()}… (${rest})`
}
