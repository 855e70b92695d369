/**
 * Whether this is a smoke run (`--whole`): every section runs for seconds only, no results are stored, and no bounds
 * are judged except those of 0. CI uses it to detect a section that no longer starts.
 */
export const isForBeingWhole = process.argv.includes('--whole')

/**
 * Returns `measured`, the count or time for a measurement; in a smoke run `min`, the smallest one with which the
 * section still works.
 */
export const sized = (measured: number, min: number): number => (isForBeingWhole ? min : measured)
