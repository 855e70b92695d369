import type { Run } from './runs.ts'

/**
 * Six digits near each other, or the dots of an address: less is no personal number. Fractions such as those of
 * vectors are passed over: they match first, without the group.
 */
const digits = /\d{1,2}\.\d{6,}|(\d(?:[^\d\n]{0,3}\d){5}|\d\.\d{1,3}\.\d)/g

/** Characters around them that belong to a number, or say what it is. */
const margin = 48

/** Parts of a text that hold numbers, or the colons of an address, with what stands around them; in order and apart. */
export const numberWindows = (text: string): readonly Run[] => {
  let windows: Run[] | undefined
  digits.lastIndex = 0
  for (let match = digits.exec(text); match !== null; match = digits.exec(text)) {
    if (match[1] === undefined) continue
    windows ??= []
    add(windows, text, { start: match.index, end: match.index + match[0].length })
    // all within the margin is in already
    digits.lastIndex = Math.max(digits.lastIndex, match.index + margin - 8)
  }
  return text.includes('::') ? withColons(windows ?? none, text) : (windows ?? none)
}

const none: readonly Run[] = []

const add = (windows: Run[], text: string, found: Run): void => {
  const start = wordStart(text, Math.max(0, found.start - margin))
  const end = wordEnd(text, Math.min(text.length, found.end + margin))
  const last = windows.at(-1)
  if (last === undefined || last.end < start) windows.push({ start, end })
  else windows[windows.length - 1] = { start: last.start, end: Math.max(last.end, end) }
}

/** Short addresses of IPv6 have few digits. */
const withColons = (windows: readonly Run[], text: string): readonly Run[] => {
  const places: Run[] = [...windows]
  for (let at = text.indexOf('::'); at !== -1; at = text.indexOf('::', at + margin)) {
    places.push({ start: Math.max(0, at - margin), end: Math.min(text.length, at + 2 * margin) })
  }
  const merged: Run[] = []
  for (const { start, end } of places.sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1)
    if (last === undefined || last.end < start) merged.push({ start, end })
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, end) }
  }
  return merged
}

/** No word is cut in two: its second half might look like a number of its own. */
const wordStart = (text: string, at: number): number => {
  let start = at
  while (start > 0 && at - start < margin && !isBlank(text.charCodeAt(start - 1))) start -= 1
  return start
}

const wordEnd = (text: string, at: number): number => {
  let end = at
  while (end < text.length && end - at < margin && !isBlank(text.charCodeAt(end))) end += 1
  return end
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x09
