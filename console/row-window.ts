/** Rows of a long list, of which only the visible ones are on the page. a row's measured height in px */
type Sized = { height?: number }

/** Assumed height in px of a row that has not been measured. */
const guessedPx = 100

/** Offset of a row from the first one, in px. */
export const topOf = (rows: readonly Sized[], index: number) => {
  let top = 0
  for (let at = 0; at < index; at++) top += rows[at]?.height ?? guessedPx
  return top
}

/**
 * The rows that overlap a part of the list.
 *
 * @param from in px
 * @param to in px
 * @returns indexes; `end` is exclusive, and above `first` unless there are no rows
 */
export const rowsWithin = (rows: readonly Sized[], from: number, to: number): { first: number; end: number } => {
  let top = 0
  let first = 0
  while (first < rows.length - 1 && top + (rows[first]?.height ?? guessedPx) <= from)
    top += rows[first++]?.height ?? guessedPx
  let end = first
  while (end < rows.length && (end === first || top < to)) top += rows[end++]?.height ?? guessedPx
  return { first, end }
}
