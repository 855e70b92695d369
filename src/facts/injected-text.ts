import { normalisedName } from './names.ts'

/** Marks around recalled text in a request, so that facts are never extracted from it again. */
const opening = '<recalled_memory>'
const closing = '</recalled_memory>'

/** Wraps recalled text in marks. Marks inside it are removed, so that a memory cannot end the block. */
export const marked = (text: string): string => `${opening}\n${withoutMarks(text)}\n${closing}`

const withoutMarks = (text: string): string => {
  const plain = text.replaceAll(opening, '').replaceAll(closing, '')
  return plain.length === text.length ? plain : withoutMarks(plain)
}

/** Removes marked blocks from a text; an unclosed block extends to the end. */
export const withoutMarked = (text: string): string => {
  let rest = text
  let kept = ''
  for (;;) {
    const start = rest.indexOf(opening)
    if (start < 0) return kept + rest.replaceAll(closing, '')
    kept += rest.slice(0, start)
    const end = rest.indexOf(closing, start)
    if (end < 0) return kept
    rest = rest.slice(end + closing.length)
  }
}

/** Removes lines that only repeat recalled text, as models often do. */
export const withoutEchoes = (text: string, recalled: readonly string[]): string => {
  const known = new Set(recalled.map(normalisedName).filter((name) => name !== ''))
  if (known.size === 0) return text
  return text
    .split('\n')
    .filter((line) => !known.has(normalisedName(line.replace(/^[\s>*•-]{0,8}(?:\[[^\]]{1,80}\])?/, ''))))
    .join('\n')
}
