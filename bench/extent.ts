/**
 * With `--whole` a run is for being whole only: every section runs through in seconds, no bound is judged and nothing is
 * kept. CI does that, so that a section which no longer starts is seen the same day.
 */
export const isForBeingWhole = process.argv.includes('--whole')

/** A count or a time of a section: that of a measurement, or the least with which the section is whole. */
export const sized = (measured: number, least: number): number => (isForBeingWhole ? least : measured)
