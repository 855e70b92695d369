/** Limits on the length of the generated text, and on the nesting of groups. */
const maxChars = 200
const maxDepth = 20

/**
 * Generates a text that matches a JSON Schema's `pattern`, for the common constructs: literals, classes, groups,
 * alternatives and quantifiers. It is assembled from the parts of the pattern; a caller's pattern is never executed.
 */
export const patternText = (pattern: string): string => new PatternReader(pattern).alternatives(0).slice(0, maxChars)

class PatternReader {
  readonly #pattern: string
  #at = 0

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  /** Returns the text of the first alternative; the others are parsed and discarded. */
  alternatives(depth: number): string {
    let first: string | null = null
    for (;;) {
      const text = this.#sequence(depth)
      first ??= text
      if (this.#pattern[this.#at] !== '|') return first
      this.#at++
    }
  }

  #sequence(depth: number): string {
    let text = ''
    while (this.#at < this.#pattern.length) {
      const next = this.#pattern[this.#at]
      if (next === '|' || next === ')') break
      const piece = this.#piece(depth)
      const times = this.#times()
      if (text.length < maxChars) text += piece.repeat(Math.min(times, maxChars))
    }
    return text
  }

  #piece(depth: number): string {
    const character = this.#pattern[this.#at++] ?? ''
    if (character === '^' || character === '$') return ''
    if (character === '.') return 'a'
    if (character === '\\') return this.#escaped()
    if (character === '[') return this.#ofClass()
    return character === '(' ? this.#group(depth) : character
  }

  #escaped(): string {
    const character = this.#pattern[this.#at++] ?? ''
    return samples[character] ?? character
  }

  #ofClass(): string {
    const end = this.#endOfClass()
    const inside = this.#pattern.slice(this.#at, end)
    this.#at = end + 1
    if (inside.startsWith('^')) return [...'aA0_ -'].find((each) => !inside.includes(each)) ?? 'a'
    return inside.startsWith('\\') ? (samples[inside[1] ?? ''] ?? inside[1] ?? '') : (inside[0] ?? '')
  }

  #endOfClass(): number {
    let at = this.#at
    while (at < this.#pattern.length && this.#pattern[at] !== ']') at += this.#pattern[at] === '\\' ? 2 : 1
    return at
  }

  #group(depth: number): string {
    const opening = /^\?(?:<?[=!]|:|<\w{1,32}>)/.exec(this.#pattern.slice(this.#at, this.#at + 40))?.[0] ?? ''
    this.#at += opening.length
    const text = depth < maxDepth ? this.alternatives(depth + 1) : ''
    if (this.#pattern[this.#at] === ')') this.#at++
    return /[=!]$/.test(opening) ? '' : text
  }

  /**
   * Reads a quantifier and returns the number of repetitions: the minimum, but 1 instead of 0 where that is allowed.
   */
  #times(): number {
    const counted = /^(?:[*+?]|\{(\d{1,4})(?:,\d{0,4})?\})\??/.exec(this.#pattern.slice(this.#at, this.#at + 16))
    if (counted === null) return 1
    this.#at += counted[0].length
    return counted[1] === undefined ? 1 : Number(counted[1])
  }
}

const samples: Readonly<Record<string, string>> = { d: '1', w: 'a', s: ' ', D: 'a', W: '-', S: 'a', b: '', B: '' }
