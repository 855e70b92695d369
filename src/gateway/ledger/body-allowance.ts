/** Texts longer than this are cut, in characters. */
export const maxBodyChars = 16 * 1024
/** Personal data is looked for so far beyond the end, lest half of it be overlooked. */
export const marginChars = 512

/** Milliseconds of work that texts of the log get of each second, and how much of it can be saved up. */
const msASecond = 10
const mostSavedMs = 200

/**
 * How much time may go into the texts of the request log: taking personal data out of them costs more than all the rest
 * of a request. What one call took is known when it is done, so one may overdraw; then those that follow go without
 * until time has paid for it.
 */
export class BodyAllowance {
  #leftMs = mostSavedMs
  #paidAt: number | null = null

  /** @param now ms, from any clock that only rises. */
  isOpen(now: number): boolean {
    const since = this.#paidAt === null ? 0 : Math.max(0, now - this.#paidAt)
    this.#leftMs = Math.min(mostSavedMs, this.#leftMs + (since * msASecond) / 1000)
    this.#paidAt = now
    return this.#leftMs > 0
  }

  spend(ms: number): void {
    this.#leftMs -= ms
  }
}

/** A text that is not too long for the log. @param length of the whole text, of which `text` may be the beginning; null: longer. */
export const cut = (text: string, length: number | null): string => {
  if (text.length <= maxBodyChars) return text
  const rest = length === null ? `more than ${text.length} characters` : `${length} characters in all`
  return `${text.slice(0, maxBodyChars).toWellFormed()}… (${rest})`
}
