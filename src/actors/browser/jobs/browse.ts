import type { Services } from '#actors/capability/services.ts'
import type { BrowserFailure, BrowserJobContext, BrowserResult } from '#machines/browser-job/browser-job.ts'
import { browserJobDefinition } from '#machines/browser-job/browser-job-definition.ts'
import { contextOf, type EffectContext, type EffectOutcome, type IdempotentEffect } from '#runtime/index.ts'
import type { Host } from '#runtime/internal.ts'
import { persistently } from '#runtime/internal.ts'
import type { PersonWait, VisitEnd, Visited, VisitRequest } from '../engine/visit.ts'
import { VisitFailed } from '../engine/visit-failed.ts'
import type { HandOvers } from '../handover/hand-overs.ts'
import { answering } from '../handover/live-questions.ts'
import type { BrowserProfiles } from '../profiles/browser-profiles.ts'
import type { BrowserPool } from './browser-pool.ts'
import type { JobBlobs, JobOwner } from './job-blobs.ts'
import { JobJournal } from './job-journal.ts'
import type { StoredResult } from './schema.ts'

export interface BrowseParts extends Pick<Services, 'clock' | 'log' | 'now'> {
  /** Visits a page in a browser. Never rejects. */
  readonly visit: (request: VisitRequest) => Promise<VisitEnd>
  readonly host: Pick<Host, 'deliver' | 'load' | 'atWork'>
  readonly pool: BrowserPool
  readonly handOvers: HandOvers
  readonly blobs: JobBlobs
  readonly profiles: Pick<BrowserProfiles, 'open' | 'save'>
}

/** Maximum number of attempts of a job, whatever ended the earlier ones. */
const maxAttempts = 3

const cancelled: BrowserFailure = { code: 'cancelled', message: 'The job was cancelled.' }
const crashed: BrowserFailure = {
  code: 'browser_crashed',
  message: 'The server stopped several times during this job.',
}
const unknown: BrowserFailure = {
  code: 'outcome_unknown',
  message: 'The server stopped after the page had submitted data. The outcome is unknown.',
}

/**
 * Performs a job in a separate browser. It runs again after a crash unless something was submitted: that is committed
 * to the job's log before the request is sent, so the next process knows.
 */
export const browse = (parts: BrowseParts): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, context): Promise<EffectOutcome> => {
    const refused = refusalOf(parts, await newest(parts, context))
    if (refused !== null) return refused
    const { owner, signal } = context
    try {
      return await parts.pool.run(ownerName(owner), () => run(parts, context), signal)
    } catch (error) {
      // the machine has already ended the effect, so this result is discarded
      if (signal.aborted) return failed(parts, cancelled)
      throw error
    }
  },
})

/** Returns the current context of the job. The context of the effect is older than earlier attempts in this process. */
const newest = async ({ host }: BrowseParts, { actor, context }: EffectContext): Promise<BrowserJobContext> => {
  const job = await host.load(actor)
  return contextOf(browserJobDefinition, job === null ? { context } : job.state.snapshot)
}

/** Returns why a job is not run, or not run again; null when it may run. */
const refusalOf = (parts: BrowseParts, { submitted, attempts }: BrowserJobContext): EffectOutcome | null => {
  if (submitted) return failed(parts, unknown)
  return attempts >= maxAttempts ? failed(parts, crashed) : null
}

const run = async (parts: BrowseParts, context: EffectContext): Promise<EffectOutcome> => {
  const { actor, signal } = context
  const job = await newest(parts, context)
  const refused = refusalOf(parts, job)
  if (refused !== null) return refused
  const { request } = job
  const owner: JobOwner = { project: context.owner.project, tenant: context.owner.tenant, job: actor }
  const journal = new JobJournal(parts, context, job.attempts + 1)
  if (!(await journal.started())) return failed(parts, unknown)
  const end = await parts.visit({
    ...{ id: actor, request, signal },
    state: request.profile === null ? null : await parts.profiles.open(owner, request.profile.name),
    submitting: () => journal.submitting(),
    handOver: (wait) => handedOver(parts, { journal, job, owner }, wait),
    stepped: async (step, picture) => {
      const names = picture === null ? [] : await stored(parts, owner, picture)
      await journal.stepped({ ...step, picture: names[0] ?? null })
    },
  })
  if ('failed' in end) {
    const { code, message, cause } = end.failed
    if (!signal.aborted) parts.log.info({ actorId: actor, code, err: cause }, 'browser job failed')
    return failed(parts, { code, message }, end.peakBytes)
  }
  const { visited, peakBytes } = end
  const { profile } = request
  const { state } = visited
  const again = { clock: parts.clock, signal }
  if (profile !== null && state !== null)
    await persistently(again, () => parts.profiles.save(owner, profile.name, state))
  const result = await persistently(again, () => keep(parts, owner, { url: request.url, visited }))
  return { event: { type: 'finished', result, peak_memory_bytes: peakBytes, at: parts.now() } }
}

interface Attempt {
  readonly journal: JobJournal
  readonly job: BrowserJobContext
  readonly owner: JobOwner
}

/** Waits for a person, if the limit of waiting jobs allows it. The machine ends overlong waits with their job. */
const handedOver = async (
  { handOvers, host, now }: BrowseParts,
  { journal, job, owner }: Attempt,
  { message, timeoutMs, page, signal }: PersonWait,
): Promise<string | null> => {
  const handOver = handOvers.open({ job: owner.job, attempt: job.attempts + 1, owner: ownerName(owner) })
  if (handOver === null)
    throw new VisitFailed('hand_over_unavailable', 'Too many jobs on this server are waiting for a person.')
  const leave = host.atWork.open(owner.job, answering(page))
  try {
    const at = now()
    const isHeard = await journal.waits(message, { at, expires_at: at + timeoutMs })
    if (!isHeard) throw new VisitFailed('cancelled', cancelled.message)
    return await Promise.race([handOver.continued, aborted(signal)])
  } finally {
    leave()
    handOver.close()
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const gone = () => reject(new VisitFailed('cancelled', cancelled.message))
    if (signal.aborted) gone()
    else signal.addEventListener('abort', gone, { once: true })
  })

const ownerName = ({ project, tenant }: Pick<JobOwner, 'project' | 'tenant'>): string => `${project}/${tenant ?? ''}`

/** Stores a picture. A failure is logged and does not fail the job. */
const stored = ({ blobs, log }: BrowseParts, owner: JobOwner, picture: Buffer): Promise<readonly string[]> =>
  blobs.put(owner, picture.toString('base64')).catch((error: unknown) => {
    log.warn({ actorId: owner.job, err: error }, 'picture of a step not stored')
    return []
  })

const keep = async (
  { blobs, now }: BrowseParts,
  owner: JobOwner,
  { url, visited }: { readonly url: string; readonly visited: Visited },
): Promise<BrowserResult> => {
  const { read, snapshot, screenshot } = visited
  const document: StoredResult = { url, ...read, snapshot, retrieved_at_ms: now() }
  return {
    document: await blobs.put(owner, JSON.stringify(document)),
    screenshot: screenshot === null ? [] : await blobs.put(owner, screenshot.toString('base64')),
  }
}

const failed = (
  { now }: Pick<BrowseParts, 'now'>,
  error: BrowserFailure,
  peak_memory_bytes: number | null = null,
): EffectOutcome => ({ event: { type: 'job_failed', error, peak_memory_bytes, at: now() } })
