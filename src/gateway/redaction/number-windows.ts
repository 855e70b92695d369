import type { Run } from './runs.ts'

/**
 * Six digits close together, or the dots of an IP address: anything less is not a personal number. Decimal fractions,
 * such as those of vectors, are skipped: they match the first alternative, which has no group.
 */
const digits = /\d{1,2}\.\d{6,}|(\d(?:[^\d\n]{0,3}\d){5}|\d\.\d{1,3}\.\d)/g

/** Characters around the digits that may belong to the number, or that say what it is. */
const margin = 48

/**
 * Returns the parts of a text that contain numbers, or the colons of an IPv6 address, with their surroundings; in order
 * and without overlap.
 */
export const numberWindows = (text: string): readonly Run[] => {
  let windows: Run[] | undefined
  digits.lastIndex = 0
  for (let match = digits.exec(text); match !== null; match = digits.exec(text)) {
    if (match[1] === undefined) continue
    windows ??= []
    add(windows, text, { start: match.index, end: match.index + match[0].length })
    // everything within the margin is part of the window already
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

/** Adds windows around `::`, since short IPv6 addresses have few digits. */
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

/** Extends to a word boundary: the second half of a word might look like a number. */
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
