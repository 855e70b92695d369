import { isBase64, longRun } from './runs.ts'

/** A span of a text that is encoded binary data: an image, audio or a file. */
export interface Span {
  readonly start: number
  readonly end: number
  /** MIME type of a `data:` URL; '' for bare base64. */
  readonly mimeType: string
}

/** Minimum length of bare base64; a shorter run may be a token or a hash. */
const minBase64 = 256

/** Returns base64 `data:` URLs and long bare base64, in order. Each run of characters is read once. */
export const protectedSpans = (text: string): readonly Span[] => {
  if (text.length < minBase64 && !text.includes(';base64,')) return none
  const urls = dataUrls(text)
  const bare = bareRuns(text)
  if (urls.length === 0) return bare
  const within = new Set(urls.map(({ end }) => end))
  return [...urls, ...bare.filter(({ end }) => !within.has(end))].sort((a, b) => a.start - b.start)
}

/** Returns the number of bytes that a base64 text decodes to. */
export const bytesOfBase64 = (text: string): number => Math.floor((text.replace(/(?<!=)=+$/, '').length * 3) / 4)

const none: readonly Span[] = []

const bareRuns = (text: string): readonly Span[] => {
  const spans: Span[] = []
  for (let run = longRun(text, isBase64, { min: minBase64, from: 0 }); run !== null; ) {
    const end = run.end + padding(text, run.end)
    spans.push({ start: run.start, end, mimeType: '' })
    run = longRun(text, isBase64, { min: minBase64, from: end })
  }
  return spans
}

const padding = (text: string, at: number): number => (text[at] !== '=' ? 0 : text[at + 1] === '=' ? 2 : 1)

const head = /data:([a-z]{1,32}\/[\w.+-]{1,64})(?:;[\w.=+-]{1,64}){0,4};base64,$/i
const maxHead = 400

const dataUrls = (text: string): readonly Span[] => {
  const spans: Span[] = []
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + mark.length)) {
    const payload = at + mark.length
    const match = head.exec(text.slice(Math.max(0, payload - maxHead), payload))
    if (match === null) continue
    base64Run.lastIndex = payload
    const run = base64Run.exec(text)?.[0] ?? ''
    spans.push({ start: payload - match[0].length, end: payload + run.length, mimeType: match[1] ?? '' })
  }
  return spans
}

const mark = ';base64,'
const base64Run = /[A-Za-z0-9+/_-]*={0,2}/y
