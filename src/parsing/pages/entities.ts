import { Parser } from 'htmlparser2'

/** Decodes the character references in a text. */
export const decodedEntities = (text: string): string => {
  if (!text.includes('&')) return text
  let read = ''
  const parser = new Parser({ ontext: (part) => (read += part) }, { decodeEntities: true })
  parser.end(text.replaceAll('<', '&lt;'))
  return read
}
