import { createHash } from 'node:crypto'

/** A citable passage of a text: `content.slice(start, end)`. */
export type EvidenceSpan = {
  readonly id: string
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Maximum number of spans per page. */
const maxSpans = 500
/** Paragraph length in characters above which it is split at sentences. */
const longest = 600

/** Made at the first use: that takes 5 ms. */
let sentences: Intl.Segmenter | undefined

/** Returns the paragraphs of a text; long ones are split at sentences. Equal texts get equal ids. */
export const evidenceOf = (content: string): readonly EvidenceSpan[] => {
  const spans: EvidenceSpan[] = []
  for (const { start, text } of paragraphsOf(content)) {
    for (const part of partsOf(text)) {
      if (spans.length >= maxSpans) return spans
      const from = start + part.start
      const shown = text.slice(part.start, part.end)
      spans.push({ id: idOf(from, shown), text: shown, start: from, end: from + shown.length })
    }
  }
  return spans
}

function* paragraphsOf(content: string): Generator<{ readonly start: number; readonly text: string }> {
  let start = 0
  for (const line of content.split('\n')) {
    const text = line.trim()
    if (text.length > 0) yield { start: start + line.indexOf(text), text }
    start += line.length + 1
  }
}

const partsOf = (text: string): readonly { readonly start: number; readonly end: number }[] => {
  if (text.length <= longest) return [{ start: 0, end: text.length }]
  const parts: { start: number; end: number }[] = []
  sentences ??= new Intl.Segmenter('en', { granularity: 'sentence' })
  for (const { index, segment } of sentences.segment(text)) {
    const end = index + segment.trimEnd().length
    const last = parts.at(-1)
    if (last !== undefined && end - last.start <= longest) last.end = end
    else for (let at = index; at < end; at += longest) parts.push({ start: at, end: Math.min(end, at + longest) })
  }
  return parts
}

/** Returns an id of 26 hexadecimal digits, which are all in the alphabet of ids. */
const idOf = (start: number, text: string): string =>
  `ev_${createHash('sha256').update(`${start}\n${text}`).digest('hex').slice(0, 26)}`
