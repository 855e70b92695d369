import type { Logger } from 'pino'
import type { VisitEnd, VisitRequest } from '#actors/browser/engine/visit.ts'
import { VisitFailed } from '#actors/browser/engine/visit-failed.ts'
import { HandOvers } from '#actors/browser/handover/hand-overs.ts'
import { browserEffects } from '#actors/browser/jobs/browser-effects.ts'
import { openBrowserPool } from '#actors/browser/jobs/browser-pool.ts'
import { JobBlobs } from '#actors/browser/jobs/job-blobs.ts'
import type { Clock } from '#runtime/clock.ts'
import type { Host } from '#runtime/host.ts'
import type { Storage } from '#storage/ports.ts'

/** Behaviour of a browser for a request. */
export type ScriptedVisit = (request: VisitRequest) => Promise<VisitEnd>

/** A page with one line of text. */
export const plainVisit: ScriptedVisit = async ({ request, stepped }) => {
  await stepped(
    { type: 'navigate', selector: null, status: 'completed', url: request.url, started_at_ms: 0, duration_ms: 1 },
    Buffer.from('picture'),
  )
  const read = { finalUrl: request.url, title: 'Page', language: 'en', content: 'Words.' }
  return {
    visited: {
      read: { ...read, contentHash: 'hash', links: [], evidenceSpans: [] },
      ...{ screenshot: null, snapshot: null, state: null },
    },
    peakBytes: 1,
  }
}

/** A page that cannot be reached. */
export const failedVisit: ScriptedVisit = async () => ({
  failed: new VisitFailed('dns_unavailable', 'The host name of the page cannot be resolved.'),
  peakBytes: null,
})

/** A page that submits something, and continues until the job is ended. */
export const endlessVisit: ScriptedVisit = async ({ signal, submitting }) => {
  await submitting()
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  return { failed: new VisitFailed('cancelled', 'The job was ended.'), peakBytes: null }
}

const blankPage = { frame: async () => null, leave: () => {}, input: () => {} }

/** A page that is handed over to a person once, for ten minutes, and read afterwards. */
export const handedOverVisit: ScriptedVisit = async (request) => {
  const { stepped, signal } = request
  try {
    const note = await request.handOver({ message: 'Please log in.', timeoutMs: 600_000, page: blankPage, signal })
    const step = { type: 'handOver', selector: null, status: 'completed', url: request.request.url } as const
    await stepped({ ...step, started_at_ms: 0, duration_ms: 1, ...(note !== null && { note }) }, null)
  } catch (error) {
    if (error instanceof VisitFailed) return { failed: error, peakBytes: null }
    throw error
  }
  return plainVisit(request)
}

interface World {
  readonly storage: Storage
  readonly host: Host
  readonly clock: Clock
  readonly log: Logger
  readonly visit?: ScriptedVisit | undefined
}

/** Effects of jobs without a browser, for simulations in virtual time. */
export const scriptedBrowser = ({ storage, host, clock, log, visit = plainVisit }: World) =>
  browserEffects({
    ...{ storage, host, clock, log, visit },
    now: clock.now,
    pool: openBrowserPool({ atOnce: 2, perOwner: 2 }),
    handOvers: new HandOvers({ atOnce: 2, perOwner: 1 }),
    blobs: new JobBlobs(storage.blobs),
    profiles: { open: async () => null, save: async () => {} },
  })
