import type { Finding, SourceFile } from './source-files.ts'

/** Minimum length of a copy in tokens; shorter sequences are alike by chance. */
const minTokens = 50
/** Minimum number of lines from the first to the last line of a copy. */
const minLines = 5
/** Maximum share of copied lines. Some duplication costs less than sharing the code. */
const allowedShare = 0.005

/** A sequence of tokens that occurred before, in this or another file. Lines from 1. */
export interface Copy {
  readonly path: string
  readonly line: number
  readonly lines: number
  readonly of: { readonly path: string; readonly line: number }
}

/**
 * Returns every copy in TypeScript code when their share of all lines is too large. Imports and comments are ignored.
 */
export const duplicateFindings = (files: readonly SourceFile[]): readonly Finding[] => {
  const copies = copiesIn(files)
  const copied = copies.reduce((sum, { lines }) => sum + lines, 0)
  const all = files.reduce((sum, { text }) => sum + text.split('\n').length, 0)
  if (copied <= all * allowedShare) return []
  return copies.map(({ path, line, lines, of }) => ({
    path,
    line,
    message: `${lines} lines are those at ${of.path}:${of.line}; copies are ${((100 * copied) / all).toFixed(2)} % of all lines`,
  }))
}

/** Finds the longest sequences that occur twice, without overlap, in the order of the files. */
export const copiesIn = (files: readonly SourceFile[]): readonly Copy[] => {
  const { kinds, lines, starts } = tokensOf(files)
  const hashes = windowHashes(kinds)
  const fileAt = (token: number): number => starts.findLastIndex((start) => start <= token)
  const known = new Map<number, number>()
  const copies: Copy[] = []
  for (const [at, file] of files.entries()) {
    const end = starts[at + 1] ?? kinds.length
    let from = starts[at] ?? 0
    for (let token = from; token + minTokens <= end; token++) {
      const hash = hashes[token] ?? 0
      const earlier = known.get(hash)
      if (earlier === undefined) {
        known.set(hash, token)
        continue
      }
      const file0 = fileAt(earlier)
      const end0 = Math.min(starts[file0 + 1] ?? kinds.length, token)
      let length = 0
      while (token + length < end && earlier + length < end0 && kinds[token + length] === kinds[earlier + length])
        length++
      const [line, last] = [lines[token] ?? 0, lines[token + length - 1] ?? 0]
      if (token < from || length < minTokens || last - line < minLines) continue
      const of = { path: files[file0]?.path ?? '', line: lines[earlier] ?? 0 }
      copies.push({ path: file.path, line, lines: last - line + 1, of })
      from = token + length
      token = from - 1
    }
  }
  return copies
}

/**
 * Tokens: string literals, words and numbers, and any other character that is not white space. Comments and imports are
 * in `passed`.
 */
const pattern =
  /(?<passed>\/\/[^\n]*|\/\*[\s\S]*?\*\/|^import [^'"]*(?:'[^']*'|"[^"]*"))|`(?:[^\\`]|\\[\s\S])*`|'(?:[^\\'\n]|\\.)*'|"(?:[^\\"\n]|\\.)*"|[\w$]+|\S/gm

/** Concatenates the tokens of all files: a number per distinct token, the line of each, and where each file begins. */
const tokensOf = (files: readonly SourceFile[]) => {
  const numbers = new Map<string, number>()
  const kinds: number[] = []
  const lines: number[] = []
  const starts = files.map(({ text }) => {
    const start = kinds.length
    let [line, before] = [1, 0]
    for (const { 0: token, index, groups } of text.matchAll(pattern)) {
      for (; before < index; before++) if (text.charCodeAt(before) === 10) line++
      if (groups?.passed !== undefined) continue
      const kind = numbers.get(token) ?? numbers.size + 1
      numbers.set(token, kind)
      kinds.push(kind)
      lines.push(line)
    }
    return start
  })
  return { kinds, lines, starts }
}

const base = 0x01000193

/**
 * Returns a rolling hash of the `minTokens` tokens that begin at each position; equal sequences have equal hashes.
 */
const windowHashes = (kinds: readonly number[]): Int32Array => {
  const hashes = new Int32Array(kinds.length)
  let highest = 1
  for (let at = 1; at < minTokens; at++) highest = Math.imul(highest, base)
  let hash = 0
  for (let at = 0; at < kinds.length; at++) {
    if (at >= minTokens) hash = (hash - Math.imul(kinds[at - minTokens] ?? 0, highest)) | 0
    hash = (Math.imul(hash, base) + (kinds[at] ?? 0)) | 0
    if (at >= minTokens - 1) hashes[at - minTokens + 1] = hash
  }
  return hashes
}
