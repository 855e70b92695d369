import { maxScannedCharacters } from './file-rules.ts'
import type { SkillFile } from './finding.ts'
import { plainText } from './plain-text.ts'

/** A few lines of a skill that are read together. */
export type Passage = {
  /** Path of the file within the skill. */
  readonly path: string
  /** Number of its first line, from 1. */
  readonly line: number
  /** Its lines, behind the heading under which they stand. */
  readonly text: string
}

/** Passages of a skill that are read: some 100,000 characters, which takes six seconds of a processor. */
const maxPassages = 500

/** Length up to which lines are read together, in Latin letters: some eighty tokens. */
const longest = 280
const longestHeading = 60
const mark = /^#{1,6}\s+(?=\S)/u
/** Lines that say nothing alone: marks of tables, of blocks and of the front matter. */
const isSilent = /^[\s|:*_=~`#<>{}()[\];,.+-]*$/u
const sentenceEnd = /(?<=[.!?;])\s+|(?<=[。！？；])/u

/**
 * Returns the passages of a skill: those of its page, then of other pages, programs and data. `isWhole` is false when it has
 * more of them than are read.
 */
export const skillPassages = (
  files: readonly SkillFile[],
): { readonly passages: readonly Passage[]; readonly isWhole: boolean } => {
  const passages: Passage[] = []
  const read = files.filter(({ text }) => text !== null && text.length <= maxScannedCharacters)
  for (const { path, text } of [...read].sort((one, other) => rankOf(one.path) - rankOf(other.path))) {
    if (passages.length > maxPassages) break
    // one by one: a text of a million characters has a quarter of a million headings, too many arguments for a call
    for (const passage of passagesOf(path, plainText(text ?? ''))) passages.push(passage)
  }
  return { passages: passages.slice(0, maxPassages), isWhole: passages.length <= maxPassages }
}

const rankOf = (path: string): number =>
  path === 'SKILL.md' ? 0 : isPage(path) ? 1 : /\.(?:json|jsonl|csv|tsv|svg|lock|xml|html?|css)$/iu.test(path) ? 3 : 2

const isPage = (path: string): boolean => /\.(?:md|markdown|txt)$/iu.test(path)

/**
 * Splits a text into passages of a few lines, in their order. Each is about as long as what one sentence model reads well,
 * begins where a heading does, and repeats the last line before it when that is short, so that what two lines say together is
 * read together.
 */
const passagesOf = (path: string, text: string): readonly Passage[] => {
  const passages: Passage[] = []
  const hasTitles = isPage(path)
  let [under, kept]: [Unit | null, Unit[]] = [null, []]
  let fresh = 0
  const flush = (): void => {
    const [first] = kept
    // the end of a long path: all of it would be all that the model reads of each passage
    const title = under?.text.replace(mark, '') ?? (hasTitles ? '' : path.slice(-longestHeading).toWellFormed())
    if (first !== undefined && fresh > 0) {
      const lines = kept.map(({ text: each }) => each).join('\n')
      passages.push({ path, line: first.line, text: title === '' ? lines : `${title}: ${lines}` })
      // a heading with nothing below it says what it says alone
    } else if (first === undefined && under !== null) passages.push({ path, line: under.line, text: title })
    fresh = 0
  }
  for (const unit of unitsOf(text)) {
    if (hasTitles && unit.text.length <= longestHeading && mark.test(unit.text)) {
      flush()
      ;[under, kept] = [unit, []]
      continue
    }
    if (kept.length > 0 && lengthOf(kept) + unit.length > longest) {
      flush()
      const last = kept.at(-1)
      kept = last !== undefined && last.length + unit.length <= longest && last.length <= longest / 2 ? [last] : []
    }
    kept.push(unit)
    fresh++
  }
  flush()
  return passages
}

interface Unit {
  readonly line: number
  readonly text: string
  /** In Latin letters. */
  readonly length: number
}

const lengthOf = (units: readonly Unit[]): number => units.reduce((sum, { length }) => sum + length, 0)

/** Returns the lines that say something; long ones by sentence. */
const unitsOf = (text: string): readonly Unit[] =>
  text.split('\n').flatMap((raw, index) => {
    const line = raw.trim()
    if (isSilent.test(line)) return []
    return piecesOf(line).map((piece) => ({ line: index + 1, text: piece, length: weightOf(piece) }))
  })

const piecesOf = (line: string): readonly string[] => {
  if (weightOf(line) <= longest) return [line]
  return line.split(sentenceEnd).flatMap((sentence) => cut(sentence))
}

/** Cuts what has no sentences. */
const cut = (sentence: string): readonly string[] => {
  const pieces: string[] = []
  let piece = ''
  let weight = 0
  for (const letter of sentence) {
    weight += weightOfLetter(letter)
    piece += letter
    if (weight >= longest && (letter === ' ' || weight >= longest * 1.2)) {
      pieces.push(piece.trim())
      ;[piece, weight] = ['', 0]
    }
  }
  return piece.trim() === '' ? pieces : [...pieces, piece.trim()]
}

const weightOf = (text: string): number => {
  let weight = 0
  for (const letter of text) weight += weightOfLetter(letter)
  return weight
}

/** How many Latin letters make as many tokens as this letter. */
const weightOfLetter = (letter: string): number => {
  const code = letter.codePointAt(0) ?? 0
  return code < 0x80 ? 1 : code < 0x2e80 ? 1.4 : 2.6
}
