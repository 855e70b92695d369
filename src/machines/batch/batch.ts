import { setup } from 'xstate'
import type { JsonObject } from '#specs/dsl/json.ts'
import type { Status } from '#specs/statuses.ts'
import { vocabulary } from '../declared.ts'
import { type At, assignsOf, type Shown } from '../index.ts'

/** Number of lines of one batch that are run at the same time. */
const linesAtOnce = 8

/** Time in ms for which a cancelled batch waits for its lines in progress. */
const graceMs = 10 * 60_000

/** Why a file cannot be run. */
export type BatchError = {
  readonly code: string
  /** Starting at 1; null for the whole file. */
  readonly line: number | null
  readonly message: string
  readonly param: string | null
}

/** Tokens that the lines of a batch used. */
export type BatchTokens = {
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly reasoning: number
}

/** A batch's durable context. Times are in ms since the epoch; null: not yet. */
export type BatchContext = {
  readonly batch_id: string
  readonly input_file_id: string
  readonly endpoint: string
  readonly completion_window: string
  readonly window_ms: number
  readonly metadata: JsonObject
  /** The caller (src/gateway/apis/responses/background/stored-caller.ts). */
  readonly caller: JsonObject
  readonly created_at_ms: number
  /** First lines of the blobs with the requests, in order. */
  readonly chunks: readonly number[]
  readonly total: number
  /** Number of lines whose effect was declared; the next line to run. */
  readonly started: number
  readonly completed: number
  readonly failed: number
  readonly tokens: BatchTokens
  readonly errors: readonly BatchError[]
  readonly output_file_id: string | null
  readonly error_file_id: string | null
  /** Why the batch ends or ended; null while lines are run. */
  readonly outcome: 'completed' | 'expired' | 'cancelled' | null
  readonly in_progress_at_ms: number | null
  readonly finalizing_at_ms: number | null
  readonly cancelling_at_ms: number | null
  readonly ended_at_ms: number | null
}

/** Input of a new batch. */
export type BatchInput = Pick<
  BatchContext,
  | 'batch_id'
  | 'input_file_id'
  | 'endpoint'
  | 'completion_window'
  | 'window_ms'
  | 'metadata'
  | 'caller'
  | 'created_at_ms'
>

/** All events of a batch. */
export type BatchEvent =
  | { readonly type: 'validated'; readonly total: number; readonly chunks: readonly number[]; readonly at: number }
  | { readonly type: 'rejected'; readonly errors: readonly BatchError[]; readonly at: number }
  /** `metered`: usage of the model calls of the line, from which usage rows are derived. */
  | {
      readonly type: 'line_done'
      readonly ok: boolean
      readonly tokens: BatchTokens
      readonly metered: readonly JsonObject[]
      readonly at: number
    }
  | {
      readonly type: 'finished'
      readonly output_file_id: string | null
      readonly error_file_id: string | null
      readonly at: number
    }
  | { readonly type: 'cancel'; readonly at: number }
  | { readonly type: 'delete' }

type On<Type extends BatchEvent['type']> = At<BatchContext, Extract<BatchEvent, { readonly type: Type }>>

const assigns = assignsOf<BatchContext, BatchEvent>()

const noTokens: BatchTokens = { input: 0, output: 0, cached: 0, reasoning: 0 }

const keepLines = assigns(({ event: { total, chunks, at } }: On<'validated'>) => ({
  ...{ total, chunks, in_progress_at_ms: at },
}))

const keepErrors = assigns(({ event: { errors, at } }: On<'rejected'>) => ({ errors, ended_at_ms: at }))

const startLine = [
  { type: 'runLine', params: ({ context }: { context: BatchContext }) => ({ line: context.started }) },
  assigns(({ context }: { context: BatchContext }) => ({ started: context.started + 1 })),
] as const

const countLine = assigns(({ context, event: { ok, tokens, at } }: On<'line_done'>) => ({
  completed: context.completed + (ok ? 1 : 0),
  failed: context.failed + (ok ? 0 : 1),
  finalizing_at_ms: at,
  tokens: {
    input: context.tokens.input + tokens.input,
    output: context.tokens.output + tokens.output,
    cached: context.tokens.cached + tokens.cached,
    reasoning: context.tokens.reasoning + tokens.reasoning,
  },
}))

const endWith = (outcome: NonNullable<BatchContext['outcome']>) =>
  assigns((_: { context: BatchContext }) => ({ outcome }))

const keepFiles = assigns(({ event: { output_file_id, error_file_id, at } }: On<'finished'>) => ({
  ...{ output_file_id, error_file_id, ended_at_ms: at },
}))

const noteCancel = assigns(({ event: { at } }: On<'cancel'>) => ({
  outcome: 'cancelled' as const,
  cancelling_at_ms: at,
}))

const ended = ({ completed, failed }: BatchContext): number => completed + failed

/** Journals the end of the batch, for which its readers wait. */
const journalsEnd = { type: 'journal', params: { events: [{ event_type: 'batch.ended', payload: {} }] } } as const

const writeFiles = { type: 'finishBatch', params: {} } as const

const stopWriting = { type: 'abort', params: { effects: ['finishBatch'] } } as const

const stopWork = { type: 'abort', params: { effects: ['validateBatch', 'runLine'] } } as const

/**
 * Many requests that are made in the background. Each line is an effect, whose result and usage are stored by one
 * commit: so after a crash only the lines in progress are run again, and none is lost or counted twice
 * (specs/decisions/0082-chat-forms.md).
 */
export const batchMachine = setup({
  types: {
    context: {} as BatchContext,
    input: {} as BatchInput,
    events: {} as BatchEvent,
    meta: {} as Shown<BatchContext, Status<'batch'>>,
  },
  actions: {
    ...vocabulary,
    validateBatch: (_: unknown, _params: Record<never, never>) => {},
    runLine: (_: unknown, _params: { line: number }) => {},
    finishBatch: (_: unknown, _params: Record<never, never>) => {},
    eraseBatch: (_: unknown, _params: Record<never, never>) => {},
  },
  guards: {
    mayStart: ({ context }) => context.started < context.total && context.started - ended(context) < linesAtOnce,
    isLast: ({ context }) => ended(context) + 1 === context.total,
    isExpired: ({ context }) => context.outcome === 'expired',
    isCancelled: ({ context }) => context.outcome === 'cancelled',
    isDrained: ({ context }) => ended(context) + 1 === context.started,
  },
  delays: { window: ({ context }) => context.window_ms, grace: graceMs },
}).createMachine({
  id: 'batch',
  context: ({ input }) => ({
    ...input,
    ...{ chunks: [], total: 0, started: 0, completed: 0, failed: 0, tokens: noTokens, errors: [] },
    ...{ output_file_id: null, error_file_id: null, outcome: null },
    ...{ in_progress_at_ms: null, finalizing_at_ms: null, cancelling_at_ms: null, ended_at_ms: null },
  }),
  initial: 'working',
  on: { delete: '.erasing' },
  states: {
    working: {
      tags: 'busy',
      initial: 'validating',
      exit: stopWork,
      after: {
        window: [
          { guard: 'isCancelled', target: 'closing' },
          { target: 'finishing', actions: endWith('expired') },
        ],
      },
      states: {
        validating: {
          meta: { status: 'validating' },
          entry: { type: 'validateBatch', params: {} },
          on: {
            validated: { target: 'in_progress', actions: keepLines },
            rejected: { target: '#batch.failed', actions: keepErrors },
            cancel: { target: '#batch.closing', actions: noteCancel },
          },
        },
        in_progress: {
          meta: { status: 'in_progress' },
          always: { guard: 'mayStart', actions: startLine },
          on: {
            line_done: [
              { guard: 'isLast', target: '#batch.finishing', actions: [countLine, endWith('completed')] },
              { actions: countLine },
            ],
            cancel: { target: 'cancelling', actions: noteCancel },
          },
        },
        cancelling: {
          meta: { status: 'cancelling' },
          after: { grace: '#batch.closing' },
          on: {
            line_done: [{ guard: 'isDrained', target: '#batch.closing', actions: countLine }, { actions: countLine }],
          },
        },
      },
    },
    finishing: {
      meta: { status: 'finalizing' },
      tags: 'busy',
      entry: writeFiles,
      exit: stopWriting,
      on: {
        finished: [
          { guard: 'isExpired', target: 'expired', actions: keepFiles },
          { target: 'completed', actions: keepFiles },
        ],
      },
    },
    closing: {
      meta: { status: 'cancelling' },
      tags: 'busy',
      entry: writeFiles,
      exit: stopWriting,
      on: { finished: { target: 'cancelled', actions: keepFiles } },
    },
    failed: { meta: { status: 'failed' }, entry: journalsEnd },
    completed: { meta: { status: 'completed' }, entry: journalsEnd },
    expired: { meta: { status: 'expired' }, entry: journalsEnd },
    cancelled: { meta: { status: 'cancelled' }, entry: journalsEnd },
    erasing: { type: 'final', entry: { type: 'eraseBatch', params: {} } },
  },
})
