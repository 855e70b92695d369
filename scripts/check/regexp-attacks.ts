import { createContext, Script } from 'node:vm'

/** Length of the texts that a pattern is attacked with, in UTF-16 units. */
const attackLength = 16_384

/**
 * Maximum CPU time of a pattern on such a text: a linear pattern takes well under a millisecond, a quadratic one a
 * second.
 */
const allowedMs = 60

/**
 * Timeout in ms, since an exponential pattern would never end. It is wall-clock time, and a busy machine takes several
 * times as long.
 */
const deadlineMs = 700

/** Maximum number of consecutive pieces of a pattern that are repeated together. */
const longestRun = 4

/** An unbounded repetition. Any other pattern takes at most its own length times that of the text. */
const endless = /[*+]|\{\d+,\}/

/**
 * Short texts are tried first, all of a pattern at once. On a text of an eighth of the length, a quadratic pattern
 * takes a 64th of the time, 0.9 ms instead of 60; a cubic one still takes seconds. A text that takes half of 0.9 ms is
 * tried at full length.
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
 * Attacks a pattern with texts made of its own pieces: each sequence of pieces is repeated, alone and after all pieces
 * before it, followed by a character that does not match. @returns the repeated piece that took too long, and its time;
 * null when none did.
 */
export const attacked = (source: string, flags: string): { readonly piece: string; readonly ms: number } | null => {
  if (!endless.test(source)) return null
  const pattern = new RegExp(source, [...new Set(`${flags.replace('y', '')}g`)].join(''))
  for (const attack of suspected(pattern, attacksOn(source))) {
    const text = textOf(attack, attackLength)
    if (msOf(pattern, text) <= allowedMs) continue
    // a garbage collection slows down one attempt, a bad pattern all of them
    const ms = Math.min(msOf(pattern, text), msOf(pattern, text))
    if (ms > allowedMs) return { piece: attack.piece, ms }
  }
  return null
}

const textOf = ({ prefix, piece }: Attack, length: number): string =>
  `${prefix}${piece.repeat(Math.ceil(length / piece.length))}\u0001`

/** Returns the attacks whose short text took noticeable time; all attacks when one timed out. */
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

/** Returns each sequence of pieces that begins at `from`, alone and after all pieces before it. */
const runsFrom = (pieces: readonly string[], from: number): readonly Attack[] =>
  Array.from({ length: Math.min(longestRun, pieces.length - from) }, (_, at) =>
    pieces.slice(from, from + at + 1).join(''),
  ).flatMap((piece) => ['', pieces.slice(0, from).join('')].map((prefix) => ({ prefix, piece })))

const atoms =
  /\\[pP]\{[^}]*\}|\\u\{?[0-9a-fA-F]{1,6}\}?|\\x[0-9a-fA-F]{2}|\\.|\[(?:[^\\\]]|\\.)*\]|\(\?<?[=!:]|\(\?<\w+>|\{\d+(?:,\d*)?\}|./gs

/** Returns a sample character of each atom of a pattern, in order. */
const piecesOf = (source: string, order: readonly string[]): readonly string[] =>
  Array.from(source.matchAll(atoms), ([atom]) => sampleOf(atom, order)).filter((sample) => sample !== '')

/**
 * Candidates for a character that a class matches: word characters and characters that end a word. Each kind
 * is tried before the other once, since both can start a new match.
 */
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
