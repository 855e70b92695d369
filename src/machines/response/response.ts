import { setup } from 'xstate'
import type { JsonObject } from '#specs/dsl/json.ts'
import { type Status, statuses } from '#specs/statuses.ts'
import { vocabulary } from '../declared.ts'
import { type At, assignsOf, type Emission, type Shown } from '../index.ts'
import { type StreamedText, textEvents } from '../streamed-text.ts'

/** How long a response can be read, in ms; the same as for responses that are not made in the background. */
export const responseRetentionMs = 30 * 24 * 60 * 60 * 1000

/** A response's durable context. */
export type ResponseContext = {
  readonly response_id: string
  /** The request as its caller sent it, with referenced items resolved. */
  readonly request: JsonObject
  /** The caller (src/gateway/apis/responses/background/stored-caller.ts). */
  readonly caller: JsonObject
  /** The items of the request. */
  readonly input: readonly JsonObject[]
  /** The response as the API returns it. */
  readonly document: JsonObject
  /** How often it was begun again after a crash; absent for never. */
  readonly restarts?: number
}

/** Input of a new response. */
export type ResponseInput = ResponseContext

/** All events of a response. */
export type ResponseEvent =
  | { readonly type: 'begun' }
  | ({ readonly type: 'response_shown' } & StreamedText)
  | { readonly type: 'response_restarted' }
  | ({ readonly type: 'response_made'; readonly document: JsonObject } & Partial<StreamedText>)
  | ({ readonly type: 'response_failed'; readonly code: string; readonly message: string } & Partial<StreamedText>)
  | { readonly type: 'cancel' }
  | { readonly type: 'delete' }

type Made = At<ResponseContext, Extract<ResponseEvent, { type: 'response_made' }>>
type Failed = At<ResponseContext, Extract<ResponseEvent, { type: 'response_failed' }>>

const assigns = assignsOf<ResponseContext, ResponseEvent>()

const standing = (status: string) =>
  assigns(({ context }: { context: ResponseContext }) => ({ document: { ...context.document, status } }))

const ofDocument = {
  oneOf: ['completed', 'incomplete', 'failed', 'cancelled'],
  of: ({ document }: ResponseContext) => statuses.response.find((status) => status === document.status),
  because: 'the model decides whether a response is complete',
} as const

/** The event for events of the response's stream, as text (src/gateway/apis/responses/background/shown-events.ts). */
export const outputEvent = ({ restarts }: Pick<ResponseContext, 'restarts'>, delta: string): Emission => ({
  event_type: 'response.output',
  payload: restarts === undefined ? { delta } : { delta, attempt: restarts },
})

type Showing = At<ResponseContext, Extract<ResponseEvent, Partial<StreamedText>>>

/** Journals events of its stream that readers have seen, or see with it. */
const journalsShown = {
  type: 'journal',
  params: ({ context, event: { delta = '', cuts = [] } }: Showing) => ({
    events: textEvents({ delta, cuts }, (text) => outputEvent(context, text)),
  }),
} as const

/** Begins the stream again after a crash: readers of what was shown before get no more than its end. */
const begunAgain = [
  assigns(({ context }: { context: ResponseContext }) => ({ restarts: (context.restarts ?? 0) + 1 })),
  { type: 'journal', params: { events: [{ event_type: 'response.restarted', payload: {} }] } },
] as const

/** Journals the end of the response, for which its readers wait. */
const journalsEnd = { type: 'journal', params: { events: [{ event_type: 'response.ended', payload: {} }] } } as const

/**
 * A response made in the background, for which no caller waits. Its readers get its events while it is made. After a
 * crash it is made again from the start (specs/decisions/0345-text-before-its-commit.md).
 */
export const responseMachine = setup({
  types: {
    context: {} as ResponseContext,
    input: {} as ResponseInput,
    events: {} as ResponseEvent,
    meta: {} as Shown<ResponseContext, Status<'response'>>,
  },
  actions: {
    ...vocabulary,
    beginResponse: (_: unknown, _params: Record<never, never>) => {},
    makeResponse: (_: unknown, _params: Record<never, never>) => {},
    eraseResponse: (_: unknown, _params: Record<never, never>) => {},
  },
  delays: { retention: responseRetentionMs },
}).createMachine({
  id: 'response',
  context: ({ input }) => input,
  initial: 'queued',
  on: { delete: '.erasing' },
  states: {
    queued: {
      meta: { status: 'queued' },
      tags: 'busy',
      entry: { type: 'beginResponse', params: {} },
      exit: { type: 'abort', params: { effects: ['beginResponse'] } },
      on: {
        begun: { target: 'in_progress', actions: standing('in_progress') },
        cancel: { target: 'settled', actions: standing('cancelled') },
      },
    },
    in_progress: {
      meta: { status: 'in_progress' },
      tags: 'busy',
      entry: { type: 'makeResponse', params: {} },
      exit: { type: 'abort', params: { effects: ['makeResponse'] } },
      on: {
        response_shown: { actions: journalsShown },
        response_restarted: { actions: begunAgain },
        response_made: {
          target: 'settled',
          actions: [journalsShown, assigns(({ event: { document } }: Made) => ({ document }))],
        },
        response_failed: {
          target: 'settled',
          actions: [
            journalsShown,
            assigns(({ context, event: { code, message } }: Failed) => ({
              document: { ...context.document, status: 'failed', error: { code, message } },
            })),
          ],
        },
        cancel: { target: 'settled', actions: standing('cancelled') },
      },
    },
    settled: { meta: { status: ofDocument }, entry: journalsEnd, after: { retention: 'erasing' } },
    erasing: { type: 'final', entry: { type: 'eraseResponse', params: {} } },
  },
})
