import { setup } from 'xstate'
import { assignsOf } from '../event-actions.ts'
import type { At, Refusing } from '../refusal.ts'
import { type AuditLine, type Notice, vocabulary } from '../vocabulary.ts'

/** How long a job can be read once it has ended, in ms. */
export const jobRetentionMs = 7 * 24 * 60 * 60 * 1000

/** What is done on a page. */
export type BrowserAction = {
  readonly type: 'click' | 'type' | 'press' | 'select' | 'waitFor' | 'handOver'
  readonly selector?: string
  readonly text?: string
  readonly clear?: boolean
  readonly key?: string
  readonly values?: readonly string[]
  readonly milliseconds?: number
  /** What a person is to do. */
  readonly message?: string
  /** How long a person is waited for. */
  readonly timeoutMs?: number
}

/** What a job does: opens a URL, acts on the page, and reads what it shows then. */
export type BrowserRequest = {
  readonly url: string
  readonly actions: readonly BrowserAction[]
  readonly screenshot: boolean
  /** Most tokens of an accessibility snapshot; null: none is taken. */
  readonly snapshot_tokens: number | null
  readonly wait_until: 'load' | 'domcontentloaded' | 'networkidle'
  /** Of the navigation. */
  readonly timeout_ms: number
  readonly width: number
  readonly height: number
  /** Cookies and storage that the page starts with, and whether they are kept afterwards. */
  readonly profile: { readonly name: string; readonly save: boolean } | null
}

/** One step of a job: the navigation, or an action. */
export type BrowserStep = {
  readonly type: 'navigate' | BrowserAction['type']
  readonly selector: string | null
  readonly status: 'completed' | 'failed'
  /** URL of the page after it. */
  readonly url: string
  readonly started_at_ms: number
  readonly duration_ms: number
  /** Name of the blob with its WebP picture; null: none could be taken. */
  readonly picture: string | null
  /** What the person said who continued the job. */
  readonly note?: string
}

/** A job that waits for a person, and until when. Times in ms since the epoch. */
export type BrowserWait = { readonly message: string | null; readonly since_ms: number; readonly expires_at_ms: number }

/** Where a job's result is: blobs of the job. */
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
  /** Times that a browser was started for it. */
  readonly attempts: number
  /** A request other than GET or HEAD has left the page, or was about to: the job is never run again. */
  readonly submitted: boolean
  /** Null while it waits for no person. */
  readonly waiting: BrowserWait | null
  readonly steps: readonly BrowserStep[]
  readonly result: BrowserResult | null
  readonly error: BrowserFailure | null
  /** ms since the epoch. */
  readonly started_at_ms: number | null
  readonly ended_at_ms: number | null
  /** Most memory that its browser took; null: not measured. */
  readonly peak_memory_bytes: number | null
}

/** What starts a job. */
export type BrowserJobInput = Pick<BrowserJobContext, 'job_id' | 'request'>

/**
 * Everything that can happen to a job. Times in ms since the epoch. What a browser reports names its attempt, from 1: a process
 * that was replaced and goes on for a moment is not heard, and so sends nothing.
 */
export type BrowserJobEvent =
  /** A browser starts on it, for the first time or again. */
  | { readonly type: 'started'; readonly attempt: number; readonly at: number }
  | { readonly type: 'stepped'; readonly attempt: number; readonly step: BrowserStep }
  /** The page is a person's from now on, who continues the job. */
  | {
      readonly type: 'waits'
      readonly attempt: number
      readonly message: string | null
      readonly at: number
      readonly expires_at: number
    }
  /** A person is done with the page. */
  | { readonly type: 'continue'; readonly by: AuditLine['by']; readonly note?: string; readonly at: number }
  /** Its browser has heard of that. */
  | { readonly type: 'resumed' }
  /** The page is about to send a request that may change something elsewhere. */
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

/** What was typed is dropped when the job ends: only the pages needed it. */
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

/** What the machine does about it names the attempt whose page the person had. */
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

/** Reminders fire when they are due or later: the job has ended when it says that it would have. */
const keepExpiry = assigns(({ context }) => ({
  error: expired,
  ended_at_ms: context.waiting?.expires_at_ms ?? null,
  waiting: null,
  request: withoutTexts(context.request),
}))

/**
 * One visit of a page by a browser. It waits for a place among the browsers of its process (`queued`), works (`running`), may
 * wait for a person who uses its page meanwhile (`waiting`, specs/decisions/0226-hand-over-of-a-browser-job.md) and ends. After a crash it is run again from its first step, unless a request that may change something has left the
 * page: that is durable before it leaves, and such a job fails with `outcome_unknown` (specs/decisions/0175-browser-jobs.md).
 */
export const browserJobMachine = setup({
  types: {
    context: {} as BrowserJobContext,
    input: {} as BrowserJobInput,
    events: {} as BrowserJobEvent,
    meta: {} as Refusing<BrowserJobContext, BrowserJobEvent>,
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
      initial: 'queued',
      entry: { type: 'browse', params: {} },
      exit: { type: 'abort', params: { effects: ['browse'] } },
      on: {
        finished: { target: 'completed', actions: keepResult },
        job_failed: { target: 'failed', actions: keepFailure },
        cancel: { target: 'cancelled', actions: keepEnd },
      },
      states: {
        queued: { on: { started: { guard: 'isNext', target: 'running', actions: begin } } },
        running: {
          on: {
            started: { guard: 'isNext', actions: begin },
            stepped: { guard: 'isCurrent', actions: keepStep },
            submitting: { guard: 'isCurrent', actions: keepSubmission },
            waits: { guard: 'isCurrent', target: 'waiting', actions: beginWait },
          },
        },
        waiting: {
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
    completed: { after: { retention: 'erasing' } },
    failed: { after: { retention: 'erasing' } },
    cancelled: { after: { retention: 'erasing' } },
    erasing: { type: 'final', entry: { type: 'eraseBrowserJob', params: {} } },
  },
})
