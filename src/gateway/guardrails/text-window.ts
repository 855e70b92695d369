import { folded } from './folded-text.ts'
import type { ActiveLocal } from './guard-set.ts'
import type { Found } from './local-checks.ts'
import { isShort, replaced } from './scan.ts'

/** Characters after which a window is checked again. */
const stride = 48
/** Most characters that are held back for the end of a word or of a match. */
const maxHeld = 16_384

const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu
const separator = /[^\p{L}\p{N}\p{M}_\u200B-\u200D\u2060-\u2064\uFEFF\u00AD]/u

/** What a check found in a text of a stream. */
type Note = (active: ActiveLocal, found: number) => void

/**
 * One text of a streamed answer. What may be the beginning of something that a check finds is held back, so that none of
 * it is sent (specs/decisions/0485-guardrails.md).
 */
export class TextWindow {
  readonly #checks: readonly ActiveLocal[]
  readonly #hold: number
  readonly #note: Note
  #held = ''
  #checkedTo = 0
  /** Whether a check blocks the answer. */
  isBlocked = false

  constructor(checks: readonly ActiveLocal[], note: Note) {
    this.#checks = checks
    this.#note = note
    this.#hold = Math.max(0, ...checks.map(({ check }) => check.hold))
  }

  /** The text that is held back, which begins between two words. */
  get held(): string {
    return this.#held
  }

  /** Adds a part. Returns the text that can be sent. */
  push(part: string): string {
    this.#held += part
    if (this.isBlocked || this.#held.length - this.#checkedTo < Math.min(stride, this.#hold)) return ''
    if (this.#held.length <= this.#hold) return ''
    // what is too long to be checked here waits for the end of the answer
    const checks = this.#checks.map(({ check }) => check)
    if (
      !isShort(
        checks,
        checks.map(() => [this.#held]),
      )
    )
      return ''
    return this.#checked()
  }

  #checked(): string {
    const cut = this.#cut()
    this.#checkedTo = this.#held.length
    const all = this.#checks.map((active) => ({ active, found: active.check.find(this.#held) }))
    const blocking = all.find(({ active, found }) => found.length > 0 && (active.spec.action ?? 'block') === 'block')
    if (blocking !== undefined) {
      this.#note(blocking.active, blocking.found.length)
      this.isBlocked = true
      return ''
    }
    const redacting = all.filter(({ active }) => active.spec.action === 'redact').flatMap(({ found }) => found)
    return this.#released(this.#before(cut, redacting), all, redacting)
  }

  #released(
    cut: number,
    all: readonly { readonly active: ActiveLocal; readonly found: readonly Found[] }[],
    redacting: readonly Found[],
  ): string {
    if (cut <= 0) return ''
    const isBefore = ({ end }: Found): boolean => end <= cut
    for (const { active, found } of all) {
      const count = found.filter(isBefore).length
      if (count > 0) this.#note(active, count)
    }
    const shown = replaced(this.#held.slice(0, cut), redacting.filter(isBefore))
    this.#held = this.#held.slice(cut)
    this.#checkedTo = this.#held.length
    return shown
  }

  /** Returns where the text may be cut: between two words, so that as many visible characters remain as are held back. */
  #cut(): number {
    if (this.#held.length > maxHeld) this.#held = this.#held.replaceAll(invisible, '')
    const { text, at } = folded(this.#held, true)
    const rest = text.length - this.#hold
    if (rest <= 0) return 0
    const latest = at === null ? rest : (at[rest] ?? 0)
    for (let cut = latest; cut > 0; cut--) if (separator.test(this.#held[cut - 1] ?? '')) return cut
    return this.#held.length > maxHeld ? latest : 0
  }

  /** What is replaced is sent as a whole, and not before its end is known. */
  #before(cut: number, redacting: readonly Found[]): number {
    const over = redacting.filter(({ start, end }) => start < cut && end > cut)
    if (over.length === 0) return cut
    const first = Math.min(...over.map(({ start }) => start))
    return first === 0 && this.#held.length > maxHeld ? Math.max(...over.map(({ end }) => end)) : first
  }
}
