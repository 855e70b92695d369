import { isProper, type Token } from './tokens.ts'

/**
 * A parsed rule form of words and slots. `a|b` is either word, or any form of either verb; `a?` is optional; `{o}`
 * takes one or more words, `{O}` words that include a name.
 */
export interface Pattern {
  readonly parts: readonly Part[]
}

type Part =
  | { readonly kind: 'words'; readonly words: ReadonlySet<string>; readonly optional: boolean }
  | { readonly kind: 'slot'; readonly name: string; readonly proper: boolean }

/** Tokens taken by each slot of a pattern. */
export type Slots = ReadonlyMap<string, readonly Token[]>

/** Parses a rule form. */
export const patternOf = (written: string): Pattern => ({
  parts: written.split(' ').map((part): Part => {
    const slot = /^\{(\w+)\}$/.exec(part)?.[1]
    if (slot !== undefined) return { kind: 'slot', name: slot.toLowerCase(), proper: /^[A-Z]/.test(slot) }
    const optional = part.endsWith('?')
    return { kind: 'words', words: new Set((optional ? part.slice(0, -1) : part).split('|')), optional }
  }),
})

/** Returns the words with which a clause must begin for the pattern to match; `*` for any. */
export const beginningsOf = ({ parts }: Pattern): readonly string[] => {
  const found: string[] = []
  for (const part of parts) {
    if (part.kind === 'slot') return [...found, '*']
    found.push(...part.words)
    if (!part.optional) break
  }
  return found
}

/** Matches a whole clause and returns its slots; null when the clause does not match. */
export const match = ({ parts }: Pattern, tokens: readonly Token[]): Slots | null => {
  const slots = new Map<string, readonly Token[]>()
  return matchFrom({ parts, tokens, slots }, 0, 0) ? slots : null
}

interface Matching {
  readonly parts: readonly Part[]
  readonly tokens: readonly Token[]
  readonly slots: Map<string, readonly Token[]>
}

const matchFrom = (matching: Matching, part: number, at: number): boolean => {
  const { parts, tokens } = matching
  const next = parts[part]
  if (next === undefined) return at === tokens.length
  if (next.kind === 'slot') return matchSlot(matching, part, at)
  const token = tokens[at]
  const met = token !== undefined && (next.words.has(token.low) || next.words.has(token.lemma))
  if (met && matchFrom(matching, part + 1, at + 1)) return true
  return next.optional && matchFrom(matching, part + 1, at)
}

const matchSlot = (matching: Matching, part: number, at: number): boolean => {
  const { parts, tokens, slots } = matching
  const slot = parts[part]
  if (slot?.kind !== 'slot' || at >= tokens.length) return false
  const next = parts[part + 1]
  let isNamed = !slot.proper
  for (let end = at + 1; end <= tokens.length; end++) {
    isNamed ||= isProperAt(tokens, end - 1)
    if (!isNamed || (next === undefined && end < tokens.length)) continue
    // checking the next word first avoids most copies of the slot's tokens
    if (mayFollow(next, tokens[end])) {
      slots.set(slot.name, tokens.slice(at, end))
      if (matchFrom(matching, part + 1, end)) return true
    }
    if (end - at > maxInnerSlot) return false
  }
  return false
}

const isProperAt = (tokens: readonly Token[], at: number): boolean => {
  const token = tokens[at]
  return token !== undefined && isProper(token)
}

const mayFollow = (part: Part | undefined, token: Token | undefined): boolean => {
  if (part === undefined || part.kind === 'slot' || part.optional) return true
  return token !== undefined && (part.words.has(token.low) || part.words.has(token.lemma))
}

/** Maximum words of a slot that is not last, so that matching takes linear time. */
const maxInnerSlot = 12
