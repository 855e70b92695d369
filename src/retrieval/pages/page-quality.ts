import { analysisOf, english } from '../analysis/analysis.ts'
import { hash32 } from '../segments/hash.ts'

/** Quality and spam scores of a page, each from 0 to 1. */
export interface PageQuality {
  readonly quality: number
  readonly spam: number
}

/** The parts of a page that are judged. */
export interface QualityInput {
  readonly title: string
  readonly text: string
  readonly description: string
  /** Number of links on the page. */
  readonly links: number
}

const sampleLength = 32_768
/** Words typical of spam. */
const offers = new Set(
  'viagra cialis casino poker slots jackpot payday loan loans replica cheapest discount discounts coupon bonus forex crypto bitcoin lottery betting escort pills weightloss clickbank guaranteed'.split(
    ' ',
  ),
)

/**
 * Judges a page by its words. Keyword stuffing, repetition and spam words count as spam; text in sentences and of some
 * length counts as quality.
 */
export const qualityOf = ({ title, text, description, links }: QualityInput): PageQuality => {
  const start = text.slice(0, sampleLength)
  const { counts, length } = analysisOf(start, english)
  const words = start.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const all = Math.max(1, words.length)
  const max = [...counts.values()].toSorted((a, b) => b - a).slice(0, 3)
  const stuffed = length < 40 ? 0 : ramp(max.reduce((sum, count) => sum + count, 0) / Math.max(1, length), 0.3, 0.5)
  const repeated = all < 60 ? 0 : ramp(repeatedShare(words), 0.25, 0.6)
  const offered = ramp(words.filter((word) => offers.has(word)).length / all, 0.01, 0.05)
  // a mere list of words has no sentences and few stop words
  const listed = ramp(length / all, 0.7, 0.9)
  const unsaid = all < 80 ? 0 : listed * ramp(1 - ((start.match(/[.!?。！？।]/g)?.length ?? 0) / all) * 40, 0.3, 0.9)
  const linked = all < 40 ? 0 : ramp(links / all, 0.25, 0.8)
  const titled = ramp(repeatedShare(title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [], 1), 0.3, 0.6)
  const clean = [stuffed, repeated, offered, unsaid * 0.5, linked * 0.5, titled * 0.6]
  const spam = 1 - clean.reduce((product, part) => product * (1 - part), 1)
  const sized = Math.min(1, all / 300)
  const quality =
    (0.5 * sized + (title === '' ? 0 : 0.25) + (description === '' ? 0 : 0.1) + 0.15 * (1 - unsaid)) * (1 - spam)
  return { quality, spam }
}

const ramp = (value: number, low: number, high: number): number =>
  Math.min(1, Math.max(0, (value - low) / (high - low)))

/** Returns the share of word n-grams that occurred before. */
const repeatedShare = (words: readonly string[], run = 4): number => {
  const runs = Math.max(0, words.length - run + 1)
  if (runs < 4) return 0
  const distinct = new Set<string>()
  for (let at = 0; at < runs; at += 1) distinct.add(words.slice(at, at + run).join(' '))
  return 1 - distinct.size / runs
}

const hashes = 32
const maxShingles = 2_000

/**
 * Returns a MinHash signature of a text: the share of positions at which two signatures agree estimates the share of
 * word n-grams that the texts have in common.
 */
export const signatureOf = (text: string): Uint32Array => {
  const words =
    text
      .slice(0, sampleLength)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  const signature = new Uint32Array(hashes).fill(0xffffffff)
  const step = Math.max(1, Math.floor(words.length / maxShingles))
  for (let at = 0; at + 4 < words.length; at += step) {
    const hash = hash32(words.slice(at, at + 5).join(' '))
    for (let n = 0; n < hashes; n += 1) {
      const mixed = (Math.imul(hash ^ (n * 0x9e3779b1), 0x85ebca6b) ^ (hash >>> (n % 15))) >>> 0
      if (mixed < (signature[n] ?? 0)) signature[n] = mixed
    }
  }
  return signature
}

/** Returns the share of positions at which two signatures agree; 0 for texts of a few words. */
export const likenessOf = (a: Uint32Array, b: Uint32Array): number => {
  if (a[0] === 0xffffffff) return 0
  let same = 0
  for (let n = 0; n < hashes; n += 1) if (a[n] === b[n]) same += 1
  return same / hashes
}
