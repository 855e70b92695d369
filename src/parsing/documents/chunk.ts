import { createHash } from 'node:crypto'
import { maxChunkLength } from '#specs/resources/knowledge/knowledge-limits.ts'

/** A part of a document: `text.slice(start, end)`. */
export type Chunk = {
  /** Derived from its text, its headings and, for duplicates, a counter: stable while these are unchanged. */
  readonly digest: string
  readonly start: number
  readonly end: number
  readonly page: number | null
  /** Headings above it, joined by ` › `; null when there are none. */
  readonly heading: string | null
}

/** A page of a text, beginning at `start`. */
export type Page = { readonly page: number; readonly start: number }

interface Span {
  readonly start: number
  readonly end: number
}

/** Length from which a chunk is closed at the end of a paragraph. */
const enough = 500
/**
 * Length from which a chunk is closed after a paragraph whose hash selects it (one in four). Content-defined boundaries
 * resynchronise after an edit.
 */
const min = 200
const cutOneIn = 4

/**
 * Splits a text into chunks of at most `maxChunkLength` characters: at headings, then paragraphs, then sentences.
 * Boundaries depend on the surrounding text only, so that an edit does not move distant ones. No chunk spans two pages.
 */
export function* chunksOf(text: string, pages: readonly Page[] = []): Generator<Chunk> {
  const seen = new Map<string, number>()
  for (const { page, heading, span } of sectionsOf(text, pages)) {
    for (const { start, end } of packed(text, span)) {
      const key = digestOf(`${heading ?? ''}\n${text.slice(start, end)}`)
      const number = seen.get(key) ?? 0
      seen.set(key, number + 1)
      yield { digest: number === 0 ? key : digestOf(`${key}\n${number}`), start, end, page, heading }
    }
  }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 20)

interface Section {
  readonly page: number | null
  readonly heading: string | null
  readonly span: Span
}

/** Yields the parts between headings and between pages; a part includes the line of its heading. */
function* sectionsOf(text: string, pages: readonly Page[]): Generator<Section> {
  const levels: string[] = []
  let heading: string | null = null
  let page: number | null = null
  let nextPage = 0
  let begin = 0
  let fence: string | null = null
  for (const line of linesOf(text)) {
    const turned = pages[nextPage]
    const title = fence === null ? headingOf(text, line) : null
    const marker = fenceOf(text, line)
    if (marker !== null && (fence === null || fence === marker)) fence = fence === null ? marker : null
    if (title === null && (turned === undefined || line.start < turned.start)) continue
    if (line.start > begin) yield { page, heading, span: { start: begin, end: line.start } }
    begin = line.start
    if (turned !== undefined && line.start >= turned.start) {
      page = turned.page
      nextPage += 1
      while ((pages[nextPage]?.start ?? Number.POSITIVE_INFINITY) <= line.start) page = pages[nextPage++]?.page ?? page
    }
    if (title === null) continue
    levels.length = Math.min(levels.length, title.level - 1)
    levels[title.level - 1] = title.words
    heading = levels
      .filter((each) => each !== undefined && each !== '')
      .join(' › ')
      .slice(0, maxHeadingsLength)
      .toWellFormed()
  }
  if (begin < text.length) yield { page, heading, span: { start: begin, end: text.length } }
}

function* linesOf(text: string): Generator<Span> {
  for (let start = 0; start < text.length; ) {
    const at = text.indexOf('\n', start)
    const end = at === -1 ? text.length : at
    yield { start, end }
    start = end + 1
  }
}

const maxHeadingLength = 256
const maxHeadingsLength = 512

/** Parses an ATX heading of Markdown. */
const headingOf = (text: string, { start, end }: Span): { readonly level: number; readonly words: string } | null => {
  if (text.charCodeAt(start) !== 35) return null
  let level = 1
  while (level < 7 && text.charCodeAt(start + level) === 35) level += 1
  if (level > 6 || text.charCodeAt(start + level) !== 32) return null
  return { level, words: text.slice(start + level + 1, Math.min(end, start + maxHeadingLength)).trim() }
}

/** Markers of the lines around code in Markdown; one ends what the same one began. */
const fences = ['```', '~~~']

const fenceOf = (text: string, { start }: Span): string | null =>
  fences.find((marker) => text.startsWith(marker, start)) ?? null

/** Packs the paragraphs of a section into chunks. */
function* packed(text: string, section: Span): Generator<Span> {
  let open: Span | null = null
  for (const paragraph of paragraphsOf(text, section)) {
    if (open !== null && paragraph.end - open.start > maxChunkLength) {
      yield open
      open = null
    }
    if (paragraph.end - paragraph.start > maxChunkLength) {
      yield* sentencesPacked(text, paragraph)
      continue
    }
    const next: Span = open === null ? paragraph : { start: open.start, end: paragraph.end }
    const isWhole = isClosedBy(text, next, paragraph)
    if (isWhole) yield next
    open = isWhole ? null : next
  }
  if (open !== null) yield open
}

const isClosedBy = (text: string, { start, end }: Span, paragraph: Span): boolean =>
  end - start >= enough || (end - start >= min && wordHash(text, paragraph) % cutOneIn === 0)

/** FNV-1a hash of the paragraph's characters. */
const wordHash = (text: string, { start, end }: Span): number => {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 8) & 0xffff
}

/** Yields the paragraphs of a section, without surrounding white space. */
function* paragraphsOf(text: string, section: Span): Generator<Span> {
  let start = -1
  let end = -1
  for (let at = section.start; at < section.end; ) {
    const found = text.indexOf('\n', at)
    const line = trimmed(text, { start: at, end: found === -1 || found > section.end ? section.end : found })
    at = found === -1 || found > section.end ? section.end : found + 1
    if (line !== null) {
      if (start === -1) start = line.start
      end = line.end
    } else if (start !== -1) {
      yield { start, end }
      start = -1
    }
  }
  if (start !== -1) yield { start, end }
}

const isSpace = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x3000 || code === 0xfeff || code === 0

const trimmed = (text: string, { start, end }: Span): Span | null => {
  let [from, to] = [start, end]
  while (from < to && isSpace(text.charCodeAt(from))) from += 1
  while (to > from && isSpace(text.charCodeAt(to - 1))) to -= 1
  return from === to ? null : { start: from, end: to }
}

/** Splits an overlong paragraph at sentences, and an overlong sentence at words. */
function* sentencesPacked(text: string, paragraph: Span): Generator<Span> {
  let start = paragraph.start
  while (paragraph.end - start > maxChunkLength) {
    const end = cutBefore(text, start, start + maxChunkLength)
    const span = trimmed(text, { start, end })
    if (span !== null) yield span
    start = end
  }
  const rest = trimmed(text, { start, end: paragraph.end })
  if (rest !== null) yield rest
}

/**
 * Returns the last sentence or line end in the second half, else the last word boundary, else a position between two
 * characters.
 */
const cutBefore = (text: string, start: number, max: number): number => {
  const half = start + maxChunkLength / 2
  for (let at = max; at > half; at--) if (endsSentence(text, at)) return at
  for (let at = max; at > half; at--) if (isSpace(text.charCodeAt(at - 1))) return at
  const isPair = (text.charCodeAt(max) & 0xfc00) === 0xdc00
  return isPair ? max - 1 : max
}

const endsSentence = (text: string, at: number): boolean => {
  const before = text.charCodeAt(at - 1)
  if (before === 10) return true
  if (before === 0x3002 || before === 0xff01 || before === 0xff1f || before === 0x964 || before === 0x6d4) return true
  const ends = before === 46 || before === 33 || before === 63
  return ends && isSpace(text.charCodeAt(at))
}
