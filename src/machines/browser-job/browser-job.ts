import { setup } from 'xstate'
import type { Status } from '#specs/statuses.ts'
import { type Notice, type Refusing, vocabulary } from '../declared.ts'
import { type At, type AuditLine, assignsOf, type Shown } from '../index.ts'

/** How long a job can be read after it has ended, in ms. */
export const jobRetentionMs = 7 * 24 * 60 * 60 * 1000

/** An action on a page. */
export type BrowserAction = {
  readonly type: 'click' | 'type' | 'press' | 'select' | 'waitFor' | 'handOver'
  readonly selector?: string
  readonly text?: string
  readonly clear?: boolean
  readonly key?: string
  readonly values?: readonly string[]
  readonly milliseconds?: number
  /** Instructions for the person to whom the page is handed over. */
  readonly message?: string
  /** How long to wait for the person. */
  readonly timeoutMs?: number
}

/** Request of a job: open a URL, act on the page, and read the result. */
export type BrowserRequest = {
  readonly url: string
  readonly actions: readonly BrowserAction[]
  readonly screenshot: boolean
  /** Most tokens of an accessibility snapshot; null for no snapshot. */
  readonly snapshot_tokens: number | null
  readonly wait_until: 'load' | 'domcontentloaded' | 'networkidle'
  /** Timeout of the navigation. */
  readonly timeout_ms: number
  readonly width: number
  readonly height: number
  /** Profile of cookies and storage with which the page starts, and whether to save it afterwards; null for none. */
  readonly profile: { readonly name: string; readonly save: boolean } | null
}

/** One step of a job: the navigation, or an action. */
export type BrowserStep = {
  readonly type: 'navigate' | BrowserAction['type']
  readonly selector: string | null
  readonly status: 'completed' | 'failed'
  /** URL of the page after the step. */
  readonly url: string
  readonly started_at_ms: number
  readonly duration_ms: number
  /** Name of the blob with its WebP picture; null when none could be taken. */
  readonly picture: string | null
  /** Note of the person who continued the job. */
  readonly note?: string
}

/** A wait for a person, and when it expires. Times in ms since the epoch. */
export type BrowserWait = { readonly message: string | null; readonly since_ms: number; readonly expires_at_ms: number }

/** A job's result, as names of the job's blobs. */
export type BrowserResult = {
  readonly document: readonly string[]
  readonly screenshot: readonly string[]
}

/** Why a job failed. */
export type BrowserFailure = { readonly code: string; readonly message: string }

/** A job's durable context. */
export type BrowserJobContext = {
  readonly job_id: string
  readonly request: BrowserRequest
  /** Number of times that a browser was started for the job. */
  readonly attempts: number
  /** Whether a request other than GET or HEAD has left the page, or was about to: then the job is never run again. */
  readonly submitted: boolean
  /** Null unless it waits for a person. */
  readonly waiting: BrowserWait | null
  readonly steps: readonly BrowserStep[]
  readonly result: BrowserResult | null
  readonly error: BrowserFailure | null
  /** ms since the epoch. */
  readonly started_at_ms: number | null
  readonly ended_at_ms: number | null
  /** Peak memory of its browser; null when not measured. */
  readonly peak_memory_bytes: number | null
}

/** Fields of a job that its list row and the API show as they are in the context. */
export const shownJobFields = { submitted: 'submitted', error: 'error' } as const

/** Fields of a job in its list row, and the fields of the context that they show. */
export const browserJobFields = {
  ...shownJobFields,
  waiting: 'waiting',
  started_at_ms: 'started_at_ms',
  ended_at_ms: 'ended_at_ms',
} as const satisfies Readonly<Record<string, keyof BrowserJobContext>>

/** Input of a new job. */
export type BrowserJobInput = Pick<BrowserJobContext, 'job_id' | 'request'>

/**
 * All events of a job. Times in ms since the epoch. A browser's reports carry the number of their attempt, from 1.
 * Reports of a replaced process that is still running are ignored, so it cannot send a request.
 */
export type BrowserJobEvent =
  /** A browser was started for the job, for the first time or again. */
  | { readonly type: 'started'; readonly attempt: number; readonly at: number }
  | { readonly type: 'stepped'; readonly attempt: number; readonly step: BrowserStep }
  /** The page is handed over to a person, who continues the job. */
  | {
      readonly type: 'waits'
      readonly attempt: number
      readonly message: string | null
      readonly at: number
      readonly expires_at: number
    }
  /** A person has finished with the page. */
  | { readonly type: 'continue'; readonly by: AuditLine['by']; readonly note?: string; readonly at: number }
  /** The browser was notified of that. */
  | { readonly type: 'resumed' }
  /** The page is about to send a request that may change something on another server. */
  | { readonly type: 'submitting'; readonly attempt: number }
  | {
      readonly type: 'finished'
      readonly result: BrowserResult
      readonly peak_memory_bytes: number | null
      readonly at: number
    }
  | {
      readonly type: 'job_failed'
      readonly error: BrowserFailure
      readonly peak_memory_bytes: number | null
      readonly at: number
    }
  | { readonly type: 'cancel'; readonly at: number }
  | { readonly type: 'delete' }

type On<Type extends BrowserJobEvent['type']> = At<BrowserJobContext, Extract<BrowserJobEvent, { readonly type: Type }>>

const notWaiting = { code: 'invalid_transition', message: 'The job is not waiting for a person.' } as const

const assigns = assignsOf<BrowserJobContext, BrowserJobEvent>()

/** Removes typed texts from the request when the job ends, because only the pages needed them. */
const withoutTexts = (request: BrowserRequest): BrowserRequest => ({
  ...request,
  actions: request.actions.map(({ text: _typed, ...action }) => action),
})

const begin = assigns(({ context, event: { at, attempt } }: On<'started'>) => ({
  attempts: attempt,
  started_at_ms: context.started_at_ms ?? at,
  steps: [],
  waiting: null,
}))

const beginWait = assigns(({ event: { message, at, expires_at } }: On<'waits'>) => ({
  waiting: { message, since_ms: at, expires_at_ms: expires_at },
}))

const keepStep = assigns(({ context, event: { step } }: On<'stepped'>) => ({ steps: [...context.steps, step] }))

const keepResult = assigns(({ context, event: { result, peak_memory_bytes, at } }: On<'finished'>) => ({
  result,
  peak_memory_bytes,
  waiting: null,
  ended_at_ms: at,
  request: withoutTexts(context.request),
}))

const keepFailure = assigns(({ context, event: { error, peak_memory_bytes, at } }: On<'job_failed'>) => ({
  error,
  peak_memory_bytes,
  waiting: null,
  ended_at_ms: at,
  request: withoutTexts(context.request),
}))

const keepEnd = assigns(({ context, event: { at } }: On<'cancel'>) => ({
  ended_at_ms: at,
  waiting: null,
  request: withoutTexts(context.request),
}))

const endWait = assigns((_: On<'continue'>) => ({ waiting: null }))

const keepSubmission = assigns((_: On<'submitting'>) => ({ submitted: true }))

/** Effect parameters with the number of the attempt whose page the person used. */
const resume = {
  type: 'resumeJob',
  params: ({ context, event: { note } }: On<'continue'>) => ({ attempt: context.attempts, note: note ?? null }),
} as const

const auditContinuing = {
  type: 'audit',
  params: ({ event: { by, note } }: On<'continue'>) => ({
    lines: [
      { action: 'browser_job.continued', by, resource: 'browser_job', ...(note !== undefined && { reason: note }) },
    ],
  }),
} as const

const waitMs = ({ since_ms, expires_at_ms }: BrowserWait): number => Math.max(0, expires_at_ms - since_ms)

const notifyWaiting = {
  type: 'notify',
  params: ({ context: { job_id, request, waiting } }: { context: BrowserJobContext }): Notice => ({
    event_type: 'web.browse.waiting',
    data: {
      job_id,
      url: request.url,
      message: waiting?.message ?? null,
      timeout_ms: waiting === null ? 0 : waitMs(waiting),
    },
  }),
} as const

const expired: BrowserFailure = { code: 'hand_over_expired', message: 'No person continued the job in time.' }

/** Fails a job whose hand-over expired. A reminder can fire late, so the end is the time of the expiry. */
const keepExpiry = assigns(({ context }) => ({
  error: expired,
  ended_at_ms: context.waiting?.expires_at_ms ?? null,
  waiting: null,
  request: withoutTexts(context.request),
}))

/**
 * One visit of a page by a browser. The job waits for a place among the browsers of its process (`queued`), runs
 * (`running`), may wait for a person who uses its page (`waiting`, specs/decisions/0175-browser-jobs.md),
 * and ends. After a crash it is run again from its first step, unless a request that may change something has left the
 * page. That is stored before the request leaves, and such a job fails with `outcome_unknown`
 * (specs/decisions/0175-browser-jobs.md).
 */
export const browserJobMachine = setup({
  types: {
    context: {} as BrowserJobContext,
    input: {} as BrowserJobInput,
    events: {} as BrowserJobEvent,
    meta: {} as Refusing<BrowserJobContext, BrowserJobEvent> & Shown<BrowserJobContext, Status<'browser_job'>>,
  },
  actions: {
    ...vocabulary,
    browse: (_: unknown, _params: Record<never, never>) => {},
    resumeJob: (_: unknown, _params: { attempt: number; note: string | null }) => {},
    eraseBrowserJob: (_: unknown, _params: Record<never, never>) => {},
  },
  guards: {
    isNext: ({ context, event }) =>
      event.type === 'started' && !context.submitted && event.attempt === context.attempts + 1,
    isCurrent: ({ context, event }) => 'attempt' in event && event.attempt === context.attempts,
  },
  delays: {
    retention: jobRetentionMs,
    handOver: ({ context: { waiting } }) => (waiting === null ? 0 : waitMs(waiting)),
  },
}).createMachine({
  id: 'browser_job',
  context: ({ input }) => ({
    ...input,
    attempts: 0,
    submitted: false,
    waiting: null,
    steps: [],
    result: null,
    error: null,
    started_at_ms: null,
    ended_at_ms: null,
    peak_memory_bytes: null,
  }),
  initial: 'open',
  on: { delete: '.erasing' },
  meta: { refuses: { continue: notWaiting } },
  states: {
    open: {
      tags: 'busy',
      initial: 'queued',
      entry: { type: 'browse', params: {} },
      exit: { type: 'abort', params: { effects: ['browse'] } },
      on: {
        finished: { target: 'completed', actions: keepResult },
        job_failed: { target: 'failed', actions: keepFailure },
        cancel: { target: 'cancelled', actions: keepEnd },
      },
      states: {
        queued: { meta: { status: 'queued' }, on: { started: { guard: 'isNext', target: 'running', actions: begin } } },
        running: {
          meta: { status: 'running' },
          on: {
            started: { guard: 'isNext', actions: begin },
            stepped: { guard: 'isCurrent', actions: keepStep },
            submitting: { guard: 'isCurrent', actions: keepSubmission },
            waits: { guard: 'isCurrent', target: 'waiting', actions: beginWait },
          },
        },
        waiting: {
          // the person for whom it waits is shown in a field of its own
          meta: { status: 'running' },
          entry: notifyWaiting,
          on: {
            started: { guard: 'isNext', target: 'running', actions: begin },
            submitting: { guard: 'isCurrent', actions: keepSubmission },
            continue: { target: 'running', actions: [endWait, auditContinuing, resume] },
          },
          after: { handOver: { target: '#browser_job.failed', actions: keepExpiry } },
        },
      },
    },
    completed: { meta: { status: 'completed' }, after: { retention: 'erasing' } },
    failed: { meta: { status: 'failed' }, after: { retention: 'erasing' } },
    cancelled: { meta: { status: 'cancelled' }, after: { retention: 'erasing' } },
    erasing: { type: 'final', entry: { type: 'eraseBrowserJob', params: {} } },
  },
})
