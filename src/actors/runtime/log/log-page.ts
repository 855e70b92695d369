import type { LogEvent, Storage, StoredLogEvent } from '#storage/ports.ts'
import { putBack } from '../blobs/blob-fields.ts'
import { isObject } from '../schema.ts'
import { Unrestorable } from '../step/actor-state.ts'

/** An actor's log as a host reads it. */
export interface ActorLog {
  readonly storage: Pick<Storage, 'commits' | 'blobs'>
  readonly actor: string
  readonly project: string
}

/** How many events a stream reads at once: a few at first, for they may be large, then as many more. */
const streamSteps = [16, 184] as const
/** A stream's page ends with the event that goes beyond. In UTF-16 units. */
const streamMaxChars = 512 * 1024

/** A page's events end before the one that goes beyond. In bytes of JSON. */
const pageMaxBytes = 4 * 1024 * 1024
/** Events that a page reads from the store at once: each may be as large as a commit. */
const pageStep = 16
/** What stands around the payload of an event in an answer. In bytes. */
const eventHeadBytes = 400

/**
 * Events after a sequence number with the times of their commits, at most `limit` and at most 4 MB, with their blobs put
 * back. Empty only at the end of the log; a page that is shorter than `limit` may have more behind it.
 */
export const logPage = async (log: ActorLog, after: number, limit: number): Promise<readonly StoredLogEvent[]> => {
  const page: StoredLogEvent[] = []
  let bytes = 0
  while (page.length < limit) {
    const step = Math.min(pageStep, limit - page.length)
    const events = await log.storage.commits.events(log.actor, page.at(-1)?.sequence ?? after, step)
    for (const event of events) {
      const read = await whole(log, event)
      bytes += Buffer.byteLength(JSON.stringify(read.payload)) + eventHeadBytes
      if (bytes > pageMaxBytes && page.length > 0) return page
      page.push(read)
    }
    if (events.length < step) break
  }
  return page
}

/**
 * Events after a sequence number for one reader of a stream: bounded in number and in size, so that many readers of
 * large logs at the same time cost little. Empty only at the end of the log.
 */
export const streamPage = async (log: ActorLog, after: number): Promise<readonly StoredLogEvent[]> => {
  const page: StoredLogEvent[] = []
  let chars = 0
  for (const step of streamSteps) {
    const events = await log.storage.commits.events(log.actor, page.at(-1)?.sequence ?? after, step)
    for (const event of events) {
      const read = await whole(log, event)
      page.push(read)
      chars += charsOf(read)
      if (chars > streamMaxChars) return page
    }
    if (events.length < step) return page
  }
  return page
}

/** About how much memory an event takes, in UTF-16 units. */
export const charsOf = ({ payload }: LogEvent): number => {
  let chars = 200
  for (const name in payload) {
    const value = payload[name]
    if (typeof value === 'string') chars += value.length
  }
  return chars
}

const whole = async ({ storage, project }: ActorLog, event: StoredLogEvent): Promise<StoredLogEvent> => {
  const payload = await putBack(event.payload, storage.blobs, project)
  if (!isObject(payload)) throw new Unrestorable('an event has no payload')
  if (event.hidden === undefined) return { ...event, payload }
  const hidden = await putBack(event.hidden, storage.blobs, project)
  return { ...event, payload, ...(isObject(hidden) && { hidden }) }
}
