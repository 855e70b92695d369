import type { LogEvent, Storage, StoredLogEvent } from '#storage/ports.ts'
import { hasReference, restoreBlobs } from '../blobs/blob-fields.ts'
import { isObject } from '../schema.ts'
import { Unrestorable } from '../step/actor-state.ts'

/** Where to read an actor's log. */
export interface ActorLog {
  readonly storage: Pick<Storage, 'commits' | 'blobs'>
  readonly actor: string
  /** The project of its blobs, or how to find it when an event refers to one. */
  readonly project: string | (() => Promise<string>)
}

/** Number of events per read of a stream: few at first, since they may be large, then many more. */
const streamSteps = [16, 184] as const
/** Size of a stream's page, in UTF-16 units: the page ends with the event that exceeds it. */
const streamMaxChars = 512 * 1024

/** Maximum size of a page, in bytes of JSON: the page ends before the event that would exceed it. */
const pageMaxBytes = 4 * 1024 * 1024
/** Number of events per read of a page: each may be as large as a commit. */
const pageStep = 16
/** Estimated size of an event in a response without its payload, in bytes. */
const eventHeadBytes = 400

/**
 * Reads events after a sequence number with the times of their commits, at most `limit` and at most 4 MB, with blob
 * references replaced by their content. Empty only at the end of the log; a page shorter than `limit` may be followed
 * by more.
 */
export const logPage = async (log: ActorLog, after: number, limit: number): Promise<readonly StoredLogEvent[]> => {
  const page: StoredLogEvent[] = []
  let bytes = 0
  while (page.length < limit) {
    const step = Math.min(pageStep, limit - page.length)
    const events = await log.storage.commits.events(log.actor, page.at(-1)?.sequence ?? after, step)
    for (const event of events) {
      const read = hasBlobs(event) ? await restored(log, event) : event
      bytes += Buffer.byteLength(JSON.stringify(read.payload)) + eventHeadBytes
      if (bytes > pageMaxBytes && page.length > 0) return page
      page.push(read)
    }
    if (events.length < step) break
  }
  return page
}

/**
 * Reads events after a sequence number for one consumer of a stream, bounded in number and in size, so that many
 * concurrent readers of large logs cost little. Empty only at the end of the log.
 */
export const streamPage = async (log: ActorLog, after: number): Promise<readonly StoredLogEvent[]> => {
  const page: StoredLogEvent[] = []
  let chars = 0
  for (const step of streamSteps) {
    const events = await log.storage.commits.events(log.actor, page.at(-1)?.sequence ?? after, step)
    for (const event of events) {
      const read = hasBlobs(event) ? await restored(log, event) : event
      page.push(read)
      chars += charsOf(read)
      if (chars > streamMaxChars) return page
    }
    if (events.length < step) return page
  }
  return page
}

/** Approximate memory use of an event, in UTF-16 units. */
export const charsOf = ({ payload }: LogEvent): number => {
  let chars = 200
  for (const name in payload) {
    const value = payload[name]
    if (typeof value === 'string') chars += value.length
  }
  return chars
}

const hasBlobs = ({ payload, hidden }: StoredLogEvent): boolean => hasReference(payload) || hasReference(hidden)

const restored = async ({ storage, project: given }: ActorLog, event: StoredLogEvent): Promise<StoredLogEvent> => {
  const project = typeof given === 'string' ? given : await given()
  const payload = await restoreBlobs(event.payload, storage.blobs, project)
  if (!isObject(payload)) throw new Unrestorable('an event has no payload')
  const hidden = await restoreBlobs(event.hidden ?? null, storage.blobs, project)
  return { ...event, payload, ...(isObject(hidden) && { hidden }) }
}
