import { RE2JS } from 're2js'
import { screen } from '#facts/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { GuardCheck } from '#specs/resources/gateway/guardrails.ts'
import { atOnce, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { findPersonalData } from '../redaction/find-personal-data.ts'
import { folded, placeIn } from './folded-text.ts'
import { type Place, WordMatcher } from './word-matcher.ts'

/** A check that is made in this process. */
export type LocalSpec = Extract<GuardCheck, { readonly type: 'words' | 'regex' | 'pii' | 'injection' }>

/** A place in which a check found something, and what it is replaced by. */
export type Found = Place & { readonly label: string }

/** A check that is ready to be made. */
export interface LocalCheck {
  /** Characters at the end of a stream that may be the beginning of something. */
  readonly hold: number
  /** Time per character, in units of about 25 ns. */
  readonly cost: number
  /** Returns places in order. They may overlap for several patterns. */
  find(text: string): readonly Found[]
}

/** Places that one check returns of one text: what follows is not counted, and a block needs one only. */
const maxFound = 1_000

/** Characters of a match that a stream holds back. */
const heldChars = 256

/** Size of one compiled pattern, and of all of a check, in instructions. */
const maxProgram = 1_000

/** Prepares a check at once, where no loop is held. @throws {ServiceError} as `preparedCheck` */
export const localCheck = (spec: LocalSpec): LocalCheck => atOnce(preparedCheck(spec))

/** Prepares a check. @throws {ServiceError} `invalid_field` for a pattern that cannot be used. */
export function* preparedCheck(spec: LocalSpec): SlicedWork<LocalCheck> {
  switch (spec.type) {
    case 'words':
      return wordsCheck(new WordMatcher(yield* foldedWords(spec.words)))
    case 'regex':
      return yield* regexCheck(spec.patterns)
    case 'pii':
      return piiCheck(spec)
    case 'injection':
      return { hold: 0, cost: 10, find: injectionIn }
  }
}

function* foldedWords(written: readonly string[]): SlicedWork<ReadonlySet<string>> {
  const words = new Set<string>()
  for (const [at, word] of written.entries()) {
    words.add(folded(word, true).text.trim())
    if (at % 100 === 99) yield
  }
  return words
}

const wordsCheck = (words: WordMatcher): LocalCheck => ({
  ...{ hold: words.longest + 1, cost: words.cost },
  find: (text) => {
    const plain = folded(text, true)
    return words
      .find(plain.text, maxFound)
      .map(({ start, end }) => ({ ...placeIn(plain, start, end), label: redacted }))
  },
})

const redacted = '[REDACTED]'

const compiled = (pattern: string): RE2JS => {
  const made = parsed(pattern)
  if (made.programSize() > maxProgram) throw unusable(pattern, 'is too large: use smaller counts and classes')
  if (made.matches('')) throw unusable(pattern, 'matches the empty text')
  return made
}

const parsed = (pattern: string): RE2JS => {
  try {
    return RE2JS.compile(pattern)
  } catch (cause) {
    throw unusable(pattern, 'is not a regular expression of RE2', cause)
  }
}

const unusable = (pattern: string, why: string, cause?: unknown): ServiceError =>
  new ServiceError('invalid_field', {
    param: 'checks',
    message: `The pattern '${pattern.slice(0, 80)}' ${why}.`,
    cause,
  })

function* regexCheck(written: readonly string[]): SlicedWork<LocalCheck> {
  const patterns: RE2JS[] = []
  let size = 0
  for (const pattern of written) {
    const made = compiled(pattern)
    size += made.programSize()
    if (size > maxProgram) throw unusable(pattern, 'and those before it are too large together')
    patterns.push(made)
    yield
  }
  return {
    ...{ hold: heldChars, cost: Math.max(1, size) },
    find: (text) => {
      const plain = folded(text, false)
      return patterns.flatMap((pattern) => {
        const found: Found[] = []
        const matcher = pattern.matcher(plain.text)
        while (found.length < maxFound && matcher.find())
          if (matcher.end() > matcher.start())
            found.push({ ...placeIn(plain, matcher.start(), matcher.end()), label: redacted })
        return found
      })
    },
  }
}

const piiCheck = ({ types, phone_region: region = 'US' }: Extract<LocalSpec, { type: 'pii' }>): LocalCheck => {
  const sought = { types: new Set(types), region }
  return {
    ...{ hold: heldChars, cost: 20 },
    find: (text) => {
      const plain = folded(text, false)
      return findPersonalData(plain.text, sought).map(({ start, end, type }) => ({
        ...placeIn(plain, start, end),
        label: `[${type.toUpperCase()}]`,
      }))
    },
  }
}

/** Length of the pieces in which instructions are recognised, and by how much they overlap. */
const [piece, overlap] = [4_096, 512]

const injectionIn = (text: string): readonly Found[] => {
  for (let start = 0; start < text.length; start += piece - overlap) {
    const end = Math.min(text.length, start + piece)
    const screened = screen(text.slice(start, end))
    if (screened.ok && screened.instructs) return [{ start, end, label: redacted }]
    if (end === text.length) break
  }
  return []
}
