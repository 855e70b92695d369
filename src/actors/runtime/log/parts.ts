import { joined } from '#storage/pieces.ts'
import type { Commit, LogEvent } from '#storage/ports.ts'
import { isShort } from '../commit/commit-document.ts'

/**
 * Parts of a running effect that are durable in commits of their own, which are the newest ones of the actor. The
 * commit that ends the effect replaces them (specs/decisions/0152-compaction.md).
 */
export interface Parts {
  readonly effect: string
  /** `seq` of the newest commit. */
  readonly seq: number
  readonly commits: number
  /** Their events, each with the time of its commit. */
  readonly events: readonly LogEvent[]
  /** Length of the events as JSON, in UTF-16 units. */
  readonly length: number
}

/** Maximum length of the events that a commit takes over, in UTF-16 units of JSON; longer ones are merged later. */
const maxLength = 64 * 1024

/** Returns the parts after a durable commit of a part of the effect; undefined after any other commit. */
export const partsAfter = (
  before: Parts | undefined,
  commit: Commit,
  effect: string | undefined,
): Parts | undefined => {
  if (effect === undefined || !isPart(commit, effect)) return undefined
  const { seq, at } = commit
  const events = commit.events.map((event) => ({ at, ...event }))
  const length = JSON.stringify(events).length
  const follows = before?.effect === effect && before.seq === seq - 1
  if (!follows) return { effect, seq, commits: 1, events, length }
  return {
    ...{ effect, seq, commits: before.commits + 1, length: before.length + length },
    // too long to be taken over: what is not needed is not kept
    events: before.length + length > maxLength ? [] : [...before.events, ...events],
  }
}

/** Returns the commit with the parts of the effect that it ends, if they directly precede it and are not too long. */
export const withParts = (commit: Commit, parts: Parts | undefined): Commit => {
  if (parts === undefined || parts.seq !== commit.seq - 1 || parts.length > maxLength) return commit
  if (commit.in_flight[parts.effect] !== undefined) return commit
  const own = commit.events.map((event) => ({ at: commit.at, ...event }))
  const whole: Commit = { ...commit, events: joined([...parts.events, ...own]), replaces: parts.commits }
  return isShort(whole) ? whole : commit
}

/** Number of parts that stay open at once: a process that takes the actor over reads them all. */
const maxHeld = 64

/**
 * Whether the commit at the end of the effect is expected to replace these parts, so that closing them before would be
 * a write for nothing.
 */
export const areReplacedSoon = (parts: Parts | undefined): boolean =>
  parts !== undefined && parts.length <= maxLength && parts.commits % maxHeld !== 0

/** Whether nothing of the commit but its events is of use once a later commit has the state. */
const isPart = ({ cause, events, effects, messages }: Commit, effect: string): boolean =>
  /^#\d+$/.test(cause.slice(effect.length)) &&
  cause.startsWith(effect) &&
  events.length > 0 &&
  effects.length === 0 &&
  messages.length === 0
