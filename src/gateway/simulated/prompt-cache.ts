import { createHash, type Hash } from 'node:crypto'
import { tokensOfChars } from '../call/accounting/usage.ts'

/** As at OpenAI: shorter prompts are not cached, and longer ones in steps. */
const minTokens = 1024
const stepTokens = 128
const minChars = 4 * minTokens
/** Longer conversations are not remembered: their prefixes would have to be hashed. */
const maxChars = 512 * 1024
/** Number of prefixes remembered; the oldest are evicted first. */
const keptBeginnings = 4096

/**
 * Remembers prefixes of conversations, to report how much of a prompt a real provider would have read from its cache.
 */
export class PromptCache {
  readonly #seen = new Set<string>()

  /**
   * @param chars length of the whole request.
   * @returns tokens of the longest prefix that was sent before; 0 for short prompts.
   */
  cachedTokens(messages: readonly unknown[], chars: number): number {
    if (chars < minChars || chars > maxChars) return 0
    const hash = createHash('sha1')
    let read = 0
    let cached = 0
    for (const message of messages) {
      const text = JSON.stringify(message)
      read += text.length
      if (this.#knew(hash.update(text))) cached = read
    }
    const tokens = Math.floor(tokensOfChars(cached) / stepTokens) * stepTokens
    return tokens < minTokens ? 0 : tokens
  }

  #knew(beginning: Hash): boolean {
    const digest = beginning.copy().digest('base64')
    const knew = this.#seen.delete(digest)
    this.#seen.add(digest)
    const [oldest] = this.#seen
    if (oldest !== undefined && this.#seen.size > keptBeginnings) this.#seen.delete(oldest)
    return knew
  }
}
