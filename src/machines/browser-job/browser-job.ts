import { setup } from 'xstate'
import { assignsOf } from '../event-actions.ts'
import type { At } from '../refusal.ts'
import { vocabulary } from '../vocabulary.ts'

/** How long a job can be read once it has ended, in ms. */
export const jobRetentionMs = 7 * 24 * 60 * 60 * 1000

/** What is done on a page. */
export type BrowserAction = {
  readonly type: 'click' | 'type' | 'press' | 'select' | 'waitFor'
  readonly selector?: string
  readonly text?: string
  readonly clear?: boolean
  readonly key?: string
  readonly values?: readonly string[]
  readonly milliseconds?: number
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
}

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
}))

const keepStep = assigns(({ context, event: { step } }: On<'stepped'>) => ({ steps: [...context.steps, step] }))

const keepResult = assigns(({ context, event: { result, peak_memory_bytes, at } }: On<'finished'>) => ({
  result,
  peak_memory_bytes,
  ended_at_ms: at,
  request: withoutTexts(context.request),
}))

const keepFailure = assigns(({ context, event: { error, peak_memory_bytes, at } }: On<'job_failed'>) => ({
  error,
  peak_memory_bytes,
  ended_at_ms: at,
  request: withoutTexts(context.request),
}))

const keepEnd = assigns(({ context, event: { at } }: On<'cancel'>) => ({
  ended_at_ms: at,
  request: withoutTexts(context.request),
}))

/**
 * One visit of a page by a browser. It waits for a place among the browsers of its process (`queued`), works (`running`) and
 * ends. After a crash it is run again from its first step, unless a request that may change something has left the
 * page: that is durable before it leaves, and such a job fails with `outcome_unknown` (specs/decisions/0175-browser-jobs.md).
 */
export const browserJobMachine = setup({
  types: {
    context: {} as BrowserJobContext,
    input: {} as BrowserJobInput,
    events: {} as BrowserJobEvent,
  },
  actions: {
    ...vocabulary,
    browse: (_: unknown, _params: Record<never, never>) => {},
    eraseBrowserJob: (_: unknown, _params: Record<never, never>) => {},
  },
  guards: {
    isNext: ({ context, event }) =>
      event.type === 'started' && !context.submitted && event.attempt === context.attempts + 1,
    isCurrent: ({ context, event }) => 'attempt' in event && event.attempt === context.attempts,
  },
  delays: { retention: jobRetentionMs },
}).createMachine({
  id: 'browser_job',
  context: ({ input }) => ({
    ...input,
    attempts: 0,
    submitted: false,
    steps: [],
    result: null,
    error: null,
    started_at_ms: null,
    ended_at_ms: null,
    peak_memory_bytes: null,
  }),
  initial: 'open',
  on: { delete: '.erasing' },
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
            submitting: { guard: 'isCurrent', actions: assigns((_: On<'submitting'>) => ({ submitted: true })) },
          },
        },
      },
    },
    completed: { after: { retention: 'erasing' } },
    failed: { after: { retention: 'erasing' } },
    cancelled: { after: { retention: 'erasing' } },
    erasing: { type: 'final', entry: { type: 'eraseBrowserJob', params: {} } },
  },
})
