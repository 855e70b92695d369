/** Number of characters at the beginning of a page that usually say what is on it. */
const leadLength = 100
/** Number of characters of a page in which its lead is searched. */
const searchedLength = 400
/** Maximum length of a running header in words. */
const maxWords = 12
/** Words with which at least this many pages, and this share of all pages, begin are a running header. */
const minPages = 4
const minShare = 0.1

/**
 * Returns the lead of each page of a document: what it begins with after page numbers and running headers, on one line
 * ("Consolidated balance sheets (in millions)"). @param pages their texts, or enough of the beginnings.
 */
export function leadsOf(pages: readonly string[]): readonly string[] {
  const all = pages.map((text) => text.slice(0, searchedLength).split(/\s+/u).filter(Boolean))
  const counts = new Map<string, number>()
  for (const words of all) for (const { key } of beginningsOf(words)) counts.set(key, (counts.get(key) ?? 0) + 1)
  const min = Math.max(minPages, pages.length * minShare)
  return all.map((words) => leadIn(words, (key) => (counts.get(key) ?? 0) >= min))
}

function leadIn(words: readonly string[], isRunning: (key: string) => boolean): string {
  let after = 0
  for (const { key, length } of beginningsOf(words)) {
    if (!isRunning(key)) break
    after = length
  }
  const first = words.findIndex((word, at) => at >= after && lettersOf(word) !== '')
  return words
    .slice(first === -1 ? 0 : first)
    .join(' ')
    .slice(0, leadLength)
    .trim()
    .toWellFormed()
}

/** Yields the first word, the first two and so on, compared by letters only: page numbers differ. */
function* beginningsOf(words: readonly string[]): Generator<{ readonly key: string; readonly length: number }> {
  let key = ''
  let count = 0
  for (const [at, word] of words.entries()) {
    const letters = lettersOf(word)
    if (letters === '') continue
    key += `${letters} `
    yield { key, length: at + 1 }
    if (++count === maxWords) return
  }
}

const lettersOf = (word: string): string => word.replace(/\P{L}+/gu, '').toLowerCase()
