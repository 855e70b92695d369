/** More than any call uses: a provider that reports more is broken, or hostile. */
const maxCount = 1_000_000_000

/** Reads one count of a report; an absent one is 0. */
export type ReadCount = (value: unknown) => number

/**
 * Reads the counts that a provider reports.
 *
 * @returns null when one of them is no whole number that a call can have. The report is then as good as none, and what was
 * used is estimated: no bill follows from a number that nothing can be.
 */
export const counted = <T>(read: (count: ReadCount) => T): T | null => {
  let isPossible = true
  const counts = read((value) => {
    if (value === undefined || value === null) return 0
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxCount) return value
    isPossible = false
    return 0
  })
  return isPossible ? counts : null
}

/** One count of a report; null where it is absent or impossible. */
export const countOrNull = (value: unknown): number | null =>
  typeof value === 'number' ? counted((count) => count(value)) : null
