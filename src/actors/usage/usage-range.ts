import { timeOf, wrong } from '../call/query-time.ts'

const dayMs = 24 * 60 * 60 * 1000
const defaultDays = 30
/** Longest range of a request; longer ranges have to be requested in parts. */
const maxDays = 366

/** A time range in ms since the epoch; `toMs` is exclusive. */
export interface UsageRange {
  readonly fromMs: number
  readonly toMs: number
}

/** The range as given in a request. */
export interface RangeQuery {
  readonly days?: number
  readonly from?: string
  readonly to?: string
}

/** Returns the range of a request. @throws {ServiceError} `invalid_query` when it is empty, malformed or too long. */
export const rangeOf = ({ days, from, to }: RangeQuery, now: number): UsageRange => {
  if (days !== undefined && from !== undefined) throw wrong('days', 'days and from cannot be combined.')
  // exclusive, so this includes the current millisecond
  const toMs = to === undefined ? now + 1 : timeOf('to', to)
  const fromMs = from === undefined ? toMs - (days ?? defaultDays) * dayMs : timeOf('from', from)
  if (fromMs >= toMs) throw wrong('from', 'from must be before to.')
  if (toMs - fromMs > maxDays * dayMs) throw wrong('from', `A range can have at most ${maxDays} days.`)
  return { fromMs: Math.max(0, fromMs), toMs }
}
