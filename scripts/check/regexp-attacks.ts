import { createContext, Script } from 'node:vm'

/** Length of the texts that a pattern is attacked with, in UTF-16 units. */
const attackLength = 16_384

/**
 * Maximum CPU time of a pattern on such a text: a linear pattern takes well under a millisecond, a quadratic one a
 * second.
 */
const allowedMs = 60

/**
 * Timeouts in ms, since an exponential pattern would never end. They are wall-clock time: an attempt that had no
 * processor gets the next one.
 */
const deadlinesMs = [700, 3_000, 12_000]
/** CPU time in ms after which so many texts had a processor; most take far less than 2 ms. */
const enoughMs = (texts: number): number => Math.max(4 * allowedMs, 2 * texts)

/** Maximum number of consecutive pieces of a pattern that are repeated together. */
const longestRun = 4

/** An unbounded repetition. Any other pattern takes at most its own length times that of the text. */
const endless = /[*+]|\{\d+,\}/

/**
 * Short texts are tried first, all of a pattern at once. On a text of an eighth of the length, a quadratic pattern
 * takes a 64th of the time, 0.9 ms instead of 60; a cubic one still takes seconds. A text that takes half of that is
 * tried at twice the length, where a pattern with many alternatives that is linear no longer takes half of what a
 * quadratic one does.
 */
const shortLengths = [attackLength / 8, attackLength / 4, attackLength / 2]
const suspectMs = (length: number): number => (allowedMs * (length / attackLength) ** 2) / 2

/** CPU time of this process in ms. A busy machine does not slow it down. */
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const context = createContext({ pattern: /x/, texts: [''], times: new Float64Array(0), cpuMs })
const runAll = new Script(`
  for (let at = 0; at < texts.length; at++) {
    const from = cpuMs()
    pattern.lastIndex = 0
    texts[at].replace(pattern, "")
    times[at] = cpuMs() - from
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
    const first = msOf(pattern, text)
    if (first <= allowedMs) continue
    // a garbage collection slows down one attempt a little, a bad pattern all of them
    const ms = first > enoughMs(1) ? first : Math.min(msOf(pattern, text), msOf(pattern, text))
    if (ms > allowedMs) return { piece: attack.piece, ms }
  }
  return null
}

const textOf = ({ prefix, piece }: Attack, length: number): string =>
  `${prefix}${piece.repeat(Math.ceil(length / piece.length))}\u0001`

/** Returns the attacks whose short texts took noticeable time; all attacks when one did not end. */
const suspected = (pattern: RegExp, attacks: readonly Attack[]): readonly Attack[] => {
  let left = attacks
  for (const length of shortLengths) {
    const texts = left.map((attack) => textOf(attack, length))
    const times = timesOf(pattern, texts)
    if (times === null) return left
    left = left.filter((_, at) => (times[at] ?? 0) >= suspectMs(length))
  }
  return left
}

/** CPU time of a pattern on a text, which an attempt that never ends takes as well. */
const msOf = (pattern: RegExp, text: string): number => {
  const before = cpuMs()
  return timesOf(pattern, [text])?.[0] ?? cpuMs() - before
}

/** CPU time of a pattern on each of the texts; null when it did not end although it had a processor. */
const timesOf = (pattern: RegExp, texts: readonly string[]): Float64Array | null => {
  if (texts.length === 0) return new Float64Array(0)
  for (const timeout of deadlinesMs) {
    const times = new Float64Array(texts.length)
    const before = cpuMs()
    Object.assign(context, { pattern, texts, times })
    try {
      runAll.runInContext(context, { timeout })
      return times
    } catch {
      if (cpuMs() - before > enoughMs(texts.length)) return null
    }
  }
  return null
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
