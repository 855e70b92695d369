import type { EventReader } from '#actors/call/speaker.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { shownPayload } from '#records/shown-event.ts'
import { contextOf, type EventStream } from '#runtime/index.ts'
import type { Host, Resident } from '#runtime/internal.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { LogEvent } from '#storage/index.ts'
import { firstOfTurn, type PageReader } from '../event-pages.ts'
import { MessageFold, type MessagePage } from './message-fold.ts'

/** Which turns a page has, and who reads it. */
export interface PageRequest {
  /** The page ends before this turn; undefined: with the newest event. */
  readonly before?: number | undefined
  /** Most turns. */
  readonly limit: number
  readonly reader: EventReader
}

type LogReader = PageReader & Pick<Host, 'readLog'>

/** Most text of a page, in UTF-16 units; one turn may exceed it. */
const maxText = 1024 * 1024

/** Time in ms that a page occupies the loop before other work gets it. */
const shareMs = 8

/**
 * Returns the messages of some turns of a session. The page is a fold of the log up to `last_event_id` and of nothing
 * else, so that a stream which starts there has exactly the rest. What a model streams counts as soon as it is shown.
 *
 * @throws {StoreUnavailable}
 */
export const messagePage = async (
  host: LogReader,
  session: Resident,
  { before, limit, reader }: PageRequest,
): Promise<MessagePage> => {
  const { turn } = contextOf(sessionDefinition, session.state.snapshot)
  const end = Math.min(before ?? Number.POSITIVE_INFINITY, turn + 1)
  const first = Math.max(1, end - limit)
  const fold = new MessageFold(reader, maxText)
  const from = first === 1 ? 1 : await firstOfTurn(host, session, first)
  await readInto(fold, eventsFrom(host, session.id, from - 1), { before, reader })
  const earliest = fold.firstTurn
  const hasMore = earliest !== undefined && earliest > 1 && earliest > (await firstLoggedTurn(host, session))
  return fold.page(hasMore)
}

/** Returns a stream that begins with the messages of the newest turns, and continues with the events after them. */
export const snapshotStream = async (host: Host, session: Resident, reader: EventReader): Promise<EventStream> => {
  const page = await messagePage(host, session, { limit: 50, reader })
  const snapshot: LogEvent = {
    sequence: page.last_event_id,
    event_type: 'session.snapshot',
    payload: JSON.parse(JSON.stringify(page)),
  }
  const rest = host.feed.follow(session.id, page.last_event_id, { at: 'never' })
  return {
    after: page.last_event_id,
    start: (sink) => {
      sink.push([snapshot])
      return rest.start(sink)
    },
  }
}

async function* eventsFrom(host: LogReader, session: string, after: number): AsyncGenerator<readonly LogEvent[]> {
  for (let last = after; ; ) {
    const events = await host.readLog(session, last)
    const newest = events.at(-1)
    if (newest === undefined) return
    yield events
    last = newest.sequence
  }
}

/** Folds events, in shares of the loop. Ends with the first event of the turn that follows the page. */
const readInto = async (
  fold: MessageFold,
  batches: AsyncIterable<readonly LogEvent[]>,
  { before, reader }: Pick<PageRequest, 'before' | 'reader'>,
): Promise<void> => {
  let until = performance.now() + shareMs
  for await (const events of batches)
    for (const event of events) {
      if (before !== undefined && (event.turn_number ?? 0) >= before) {
        // it has the outputs of calls that the page ends with
        if (event.event_type === 'turn.started') fold.takeResults(shownPayload(event, reader))
        return
      }
      fold.take(event)
      if (performance.now() < until) continue
      await nextSlice()
      until = performance.now() + shareMs
    }
}

/** The first turn that the log has: of a fork, earlier ones may have been copied without their events. */
const firstLoggedTurn = async (host: PageReader, session: Resident): Promise<number> => {
  const events = await host.readPage(session, 0, 2)
  return events.find(({ turn_number }) => turn_number !== undefined)?.turn_number ?? 1
}
