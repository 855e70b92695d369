import { readingsOf } from './readings.ts'

/** Parts of a text that are judged at most; those of a longer text are longer. */
const maxParts = 24
/** Characters of a part, at which it ends with its sentence. */
const partLength = 200
/** Characters of a text that is judged as a whole, and by what is hidden in it. */
const wholeLength = 400

/** What a reader of the rendered text does not see. */
const concealed = [
  /<!--([\s\S]{8,2000}?)-->/g,
  /<[a-z]{1,20} [^>]{0,200}(?:hidden|display: ?none|font-size: ?0)[^>]{0,200}>([^<]{8,2000})</gi,
  /^\[[^\]]{1,40}\]: ?#\s?[("']([^\n]{8,2000})/gm,
  /\]\([^\s)]{1,400} "([^"]{8,1000})"\)/g,
  /[（(]([^()（）]{16,1000})[)）]/g,
] as const
const sentenceEnd = /(?<=[.!?]["'”»)]?)\s+|(?<=[。！？؟।])|\n+/

/**
 * Returns the parts of a text that are judged each on its own for instructions to an assistant, in every reading of it: a
 * sentence among many others, or one that is hidden, would not show in the whole.
 */
export const judgedParts = (text: string): readonly string[] => {
  const parts = readingsOf(text).flatMap((reading) => [
    ...(reading.length <= wholeLength ? [reading] : windowsOf(reading)),
    ...concealed.flatMap((pattern) => [...reading.matchAll(pattern)].map(([, hidden = '']) => hidden.trim())),
  ])
  return [...new Set(parts)].slice(0, maxParts)
}

/** Returns a long text in parts of whole sentences. */
const windowsOf = (text: string): readonly string[] => {
  const max = Math.max(partLength, Math.ceil((1.3 * text.length) / maxParts))
  const windows: string[] = []
  let open = ''
  for (const sentence of text.split(sentenceEnd)) {
    open = open === '' ? sentence : `${open} ${sentence}`
    if (open.length < max) continue
    windows.push(open)
    open = ''
  }
  return open.trim() === '' ? windows : [...windows, open]
}
