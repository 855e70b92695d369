import { backoffMs } from '#runtime/internal.ts'
import { PagePostponed, RobotsUnreachable, SiteBusy } from '../fetch/page-refusal.ts'
import { type HostTurns, maxPostponementMs } from './host-turns.ts'
import type { CrawledPage } from './index-page.ts'

/** Why a page is not requested yet: its host requested a pause, or its robots.txt cannot be read. */
export type PostponeReason = 'site_busy' | 'robots_unreachable'

/** A URL that is still to be read. Times in ms since the epoch. */
export type Waiting = {
  readonly url: string
  readonly depth: number
  /** Set once the page was postponed. */
  readonly postponed?: {
    readonly reason: PostponeReason
    /** Number of requests that were answered with the reason. */
    readonly tries: number
    readonly since_ms: number
    readonly until_ms: number
  }
}

/** A page that is to be requested again. */
export interface PostponedPage {
  readonly waiting: Waiting & { readonly postponed: NonNullable<Waiting['postponed']> }
  /** Host of which all pages are postponed; null: this page only. */
  readonly host: string | null
}

/** Maximum number of requests of a page whose site is busy. */
const maxTries = 5
/** Maximum pause in ms for which a page waits at a time, and in all. Sites that want more are not waited for. */
const patience = { once: 10 * 60_000, whole: 30 * 60_000 } as const
/** Pauses in ms when a site names none. */
const pauses = { first: 2_000, max: 60_000 } as const
const minMs = 1_000

interface PostponeParts {
  readonly now: () => number
  readonly turns?: Pick<HostTurns, 'postpone'>
}

/** Postpones a page whose request failed for a reason that passes; null for other errors. */
export const postponedBy = async (
  { now, turns }: PostponeParts,
  { url, depth, postponed }: Waiting,
  error: unknown,
): Promise<PostponedPage | null> => {
  const cause = causeOf(error, { url, tries: postponed?.tries ?? 0 })
  if (cause === null) return null
  const { ms, reason, tries, host } = cause
  if (error instanceof SiteBusy && host !== null) await turns?.postpone(new URL(error.finalUrl), ms)
  const [since_ms, until_ms] = [postponed?.since_ms ?? now(), now() + Math.min(ms, maxPostponementMs)]
  return { waiting: { url, depth, postponed: { reason, tries, since_ms, until_ms } }, host }
}

interface Cause {
  readonly reason: PostponeReason
  readonly tries: number
  readonly ms: number
  /** Host of which all pages are postponed; null: this page only. */
  readonly host: string | null
}

const causeOf = (error: unknown, { url, tries }: { readonly url: string; readonly tries: number }): Cause | null => {
  if (error instanceof PagePostponed)
    return error.ms === null ? null : { reason: 'site_busy', tries, ms: error.ms, host: hostOf(url) }
  if (error instanceof RobotsUnreachable)
    return { reason: 'robots_unreachable', tries: tries + 1, ms: Math.max(minMs, error.retryMs), host: hostOf(url) }
  if (!(error instanceof SiteBusy)) return null
  const { statusCode, requestedMs, finalUrl } = error
  // 503 without a time may concern this page only
  const host = statusCode === 429 || requestedMs !== null ? hostOf(finalUrl) : null
  const ms = Math.max(minMs, requestedMs ?? backoffMs(tries, pauses.first, pauses.max))
  return { reason: 'site_busy', tries: tries + 1, ms, host }
}

/** Returns the outcome of a page that is not waited for any longer; null while it is. */
export const givenUp = ({ url, depth, postponed }: Waiting, now: number): CrawledPage | null => {
  if (postponed === undefined) return null
  const { reason, tries, since_ms, until_ms } = postponed
  const isTooLong = until_ms - now > patience.once || until_ms - since_ms > patience.whole
  return tries >= maxTries || isTooLong ? { url, depth, status: 'skipped', reason } : null
}

/** Postpones waiting pages whose host was postponed by another page. */
export const postponedWith = (waiting: readonly Waiting[], all: readonly PostponedPage[]): readonly Waiting[] => {
  const hosts = new Map(
    all.flatMap((page) => (page.host === null ? [] : [[page.host, page.waiting.postponed] as const])),
  )
  return waiting.map((each) => {
    const until = hosts.get(hostOf(each.url) ?? '')
    if (until === undefined) return each
    const { tries = 0, since_ms = until.since_ms, until_ms = 0 } = each.postponed ?? {}
    return {
      ...each,
      postponed: { reason: until.reason, tries, since_ms, until_ms: Math.max(until_ms, until.until_ms) },
    }
  })
}

/** Whether a page may be requested now. */
export const isDue = ({ postponed }: Waiting, now: number): boolean =>
  postponed === undefined || postponed.until_ms <= now

const hostOf = (url: string): string | null => URL.parse(url)?.host ?? null

/** Hosts that a crawl is waiting for, with the number of postponed pages and when they are requested again. */
export const postponedHosts = (waiting: readonly Waiting[]) => {
  const hosts = new Map<string, { host: string; reason: PostponeReason; pages: number; until_ms: number }>()
  for (const { url, postponed } of waiting) {
    const host = hostOf(url)
    if (host === null || postponed === undefined) continue
    const { reason, until_ms } = postponed
    const known = hosts.get(host) ?? { host, reason, pages: 0, until_ms }
    hosts.set(host, { ...known, pages: known.pages + 1, until_ms: Math.min(known.until_ms, until_ms) })
  }
  return [...hosts.values()]
}
