import { createContext, Script } from 'node:vm'

/** Length of the texts that a pattern is attacked with, in UTF-16 units. */
const attackLength = 16_384

/** A linear pattern takes well under a millisecond for this; a quadratic one a second. */
const allowedMs = 60

/** An exponential one would never end. Of the wall's clock: a busy machine takes several times as long. */
const deadlineMs = 700

/** The longest run of pieces of a pattern that is repeated. */
const longestRun = 4

/** A repetition without an end: no other pattern takes longer than its length times the text's. */
const endless = /[*+]|\{\d+,\}/

/**
 * Short texts come first, all of a pattern at once. What takes quadratic time takes a 64th of it for an eighth of the text,
 * 0.9 ms for 60, and what takes cubic time takes seconds already. Whatever takes half of 0.9 ms is tried at its full length.
 */
const shortLength = attackLength / 8
const suspectMs = allowedMs / 128

const context = createContext({ pattern: /x/, text: '', texts: [''], times: new Float64Array(0), performance })
const run = new Script('pattern.lastIndex = 0; text.replace(pattern, "")')
const runAll = new Script(`
  for (let at = 0; at < texts.length; at++) {
    const from = performance.now()
    pattern.lastIndex = 0
    texts[at].replace(pattern, "")
    times[at] = performance.now() - from
  }`)

/**
 * Attacks a pattern with texts made of its own pieces: each run of them repeated, behind each beginning, with an end that
 * does not fit. @returns the repeated piece that took too long, and how long; null when the pattern held.
 */
export const attacked = (source: string, flags: string): { readonly piece: string; readonly ms: number } | null => {
  if (!endless.test(source)) return null
  const pattern = new RegExp(source, [...new Set(`${flags.replace('y', '')}g`)].join(''))
  for (const attack of suspected(pattern, attacksOn(source))) {
    const text = textOf(attack, attackLength)
    if (msOf(pattern, text) <= allowedMs) continue
    // a collection of garbage takes long once, a pattern each time
    const ms = Math.min(msOf(pattern, text), msOf(pattern, text))
    if (ms > allowedMs) return { piece: attack.piece, ms }
  }
  return null
}

const textOf = ({ prefix, piece }: Attack, length: number): string =>
  `${prefix}${piece.repeat(Math.ceil(length / piece.length))}\u0001`

/** Attacks whose short text did not pass in no time; all of them when one never ended. */
const suspected = (pattern: RegExp, attacks: readonly Attack[]): readonly Attack[] => {
  const times = new Float64Array(attacks.length)
  const texts = attacks.map((attack) => textOf(attack, shortLength))
  Object.assign(context, { pattern, texts, times })
  try {
    runAll.runInContext(context, { timeout: deadlineMs })
  } catch {
    return attacks
  }
  return attacks.filter((_, at) => (times[at] ?? 0) >= suspectMs)
}

const msOf = (pattern: RegExp, text: string): number => {
  context.pattern = pattern
  context.text = text
  const before = process.cpuUsage()
  try {
    run.runInContext(context, { timeout: deadlineMs })
  } catch {
    return deadlineMs
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

interface Attack {
  readonly prefix: string
  readonly piece: string
}

const attacksOn = (source: string): readonly Attack[] => {
  const attacks = new Map<string, Attack>()
  for (const order of [
    [...words, ...breaks],
    [...breaks, ...words],
  ]) {
    const pieces = piecesOf(source, order)
    for (const attack of pieces.flatMap((_, from) => runsFrom(pieces, from)))
      attacks.set(`${attack.prefix}\u0000${attack.piece}`, attack)
  }
  return [...attacks.values()]
}

/** Each run of pieces from one of them on, alone and behind all before it. */
const runsFrom = (pieces: readonly string[], from: number): readonly Attack[] =>
  Array.from({ length: Math.min(longestRun, pieces.length - from) }, (_, at) =>
    pieces.slice(from, from + at + 1).join(''),
  ).flatMap((piece) => ['', pieces.slice(0, from).join('')].map((prefix) => ({ prefix, piece })))

const atoms =
  /\\[pP]\{[^}]*\}|\\u\{?[0-9a-fA-F]{1,6}\}?|\\x[0-9a-fA-F]{2}|\\.|\[(?:[^\\\]]|\\.)*\]|\(\?<?[=!:]|\(\?<\w+>|\{\d+(?:,\d*)?\}|./gs

/** A sample character of each atom of a pattern, in order. */
const piecesOf = (source: string, order: readonly string[]): readonly string[] =>
  Array.from(source.matchAll(atoms), ([atom]) => sampleOf(atom, order)).filter((sample) => sample !== '')

/** What a class may be met by: a word's character first, or one that ends a word, since both let patterns begin anew. */
const words = ['a', '1', 'A', '_', 'é']
const breaks = ['-', '.', ' ', '"', '/', ':', ',', '\\', '\n', '@', '+', '=', '{', '<', '[']

const sampleOf = (atom: string, candidates: readonly string[]): string => {
  if (/^(?:[()|^$*+?]|\(\?.*|\{\d.*|\\[bBkK1-9])$/s.test(atom)) return ''
  if (atom.length === 1 && atom !== '.') return atom
  try {
    const one = new RegExp(`^${atom}$`, 'u')
    return candidates.find((candidate) => one.test(candidate)) ?? ''
  } catch {
    return atom.at(-1) ?? ''
  }
}
