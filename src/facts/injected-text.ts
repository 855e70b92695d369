import { normalisedName } from './names.ts'

/** Stand around what a request got from memory, so that it is never extracted again. */
const opening = '<recalled_memory>'
const closing = '</recalled_memory>'

/** Text of ours, marked. Marks inside of it are taken out, so that a memory cannot end the block. */
export const marked = (text: string): string => `${opening}\n${withoutMarks(text)}\n${closing}`

const withoutMarks = (text: string): string => {
  const plain = text.replaceAll(opening, '').replaceAll(closing, '')
  return plain.length === text.length ? plain : withoutMarks(plain)
}

/** A text without the blocks that we put there; one that is not closed reaches to the end. */
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

/** A text without the lines that only repeat what was recalled, as models like to do. */
export const withoutEchoes = (text: string, recalled: readonly string[]): string => {
  const known = new Set(recalled.map(normalisedName).filter((name) => name !== ''))
  if (known.size === 0) return text
  return text
    .split('\n')
    .filter((line) => !known.has(normalisedName(line.replace(/^[\s>*•-]{0,8}(?:\[[^\]]{1,80}\])?/, ''))))
    .join('\n')
}
