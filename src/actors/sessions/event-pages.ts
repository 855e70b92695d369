import type { StoredLogEvent } from '#storage/index.ts'
import type { Host, Resident } from '../runtime/internal.ts'

/** A range of sequences in a log, both ends included; empty when `first > last`. */
export interface Range {
  readonly first: number
  readonly last: number
}

/** Reads pages of logs. */
export type PageReader = Pick<Host, 'readPage'>

/** The whole log of an actor. */
export const wholeLog = (resident: Resident): Range => ({ first: 1, last: resident.state.lastSequence })

/** The part of a range after this sequence. */
export const behind = ({ first, last }: Range, after: number): Range => ({ first: Math.max(first, after + 1), last })

/**
 * Returns the range of a turn's events. Turn numbers only rise along a log, so both ends are found by bisection: a few
 * reads of one event each, without an index.
 */
export const rangeOfTurn = async (host: PageReader, resident: Resident, turn: number): Promise<Range> => {
  const first = await firstOfTurn(host, resident, turn)
  const next = await firstOfTurn(host, resident, turn + 1)
  return { first, last: next - 1 }
}

/** Sequence of the first event of a turn, or of the turn after it; behind the log if there is none. */
export const firstOfTurn = async (host: PageReader, resident: Resident, turn: number): Promise<number> => {
  let low = 1
  let high = resident.state.lastSequence + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [event] = await host.readPage(resident, middle - 1, 1)
    if ((event?.turn_number ?? 0) >= turn) high = middle
    else low = middle + 1
  }
  return low
}

/** One page of a log. */
export interface EventPage {
  readonly events: readonly StoredLogEvent[]
  /** Whether the range has events after this page. */
  readonly hasMore: boolean
}

/**
 * Returns one page of a range; `page` counts from 1. A page with long events can be shorter than `limit` (`logPage`).
 *
 * A log has a gap after a crash (fence.ts). Numbered pages are parts of the sequence, so those in a gap are empty; a page
 * that continues after an event that the reader has begins behind the gap.
 */
export const pageOfRange = async (
  host: PageReader,
  resident: Resident,
  {
    range,
    after,
    page,
    limit,
  }: { readonly range: Range; readonly after?: number | undefined; readonly page: number; readonly limit: number },
): Promise<EventPage> => {
  const { first, last } = behind(range, after ?? 0)
  const start = first + (page - 1) * limit
  const isContinued = after !== undefined && page === 1
  const end = isContinued ? last : Math.min(last, start + limit - 1)
  const read = start > last ? [] : await host.readPage(resident, start - 1, Math.min(limit, last - start + 1))
  const events = read.filter(({ sequence }) => sequence <= end)
  return { events, hasMore: (events.at(-1)?.sequence ?? end) < last && start <= last }
}
