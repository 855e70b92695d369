import { assign, setup } from 'xstate'
import type { JsonObject } from '#specs/dsl/json.ts'
import type { Status } from '#specs/statuses.ts'
import { vocabulary } from '../declared.ts'
import { type At, type AuditLine, assignsOf, type Shown } from '../index.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/**
 * Delays before the second attempt, the third and so on, in ms (specs/decisions/0073-webhooks.md). The first is made at
 * once.
 */
export const retryDelaysMs: readonly number[] = [
  5_000,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  10 * hourMs,
]

/** Maximum jitter as a fraction of the delay, so that deliveries which failed together are not retried together. */
const jitterPart = 0.1

/** How long a delivery stays in the log after it has ended, in ms: 30 days. */
export const deliveryRetentionMs = 30 * 24 * hourMs

/** Why a delivery ended without success before its last attempt. */
type UndeliverableReason = 'webhook_deleted' | 'webhook_disabled'

/** A delivery's durable context. Requests and responses of attempts are events of its log. */
export type DeliveryContext = {
  readonly delivery_id: string
  readonly webhook_id: string
  /** Identifies the event in all its deliveries and replays; sent as the header `webhook-id`. */
  readonly event_id: string
  readonly event_type: string
  /** The JSON text that is signed and sent, the same in every attempt. */
  readonly body: string
  /** Id of the delivery that this one replays; null for none. */
  readonly replay_of: string | null
  readonly attempts: number
  readonly last_status: number | null
  readonly last_error: string | null
  /** Wait before the next attempt, or before a postponed attempt is tried again, in ms. */
  readonly delay_ms: number
}

/** Input of a new delivery. */
export type DeliveryInput = Pick<
  DeliveryContext,
  'delivery_id' | 'webhook_id' | 'event_id' | 'event_type' | 'body' | 'replay_of'
> & {
  /** Who requested a replay, and why; absent for deliveries of events. */
  readonly requested?: Pick<AuditLine, 'by' | 'reason'>
}

/** One attempt as it is logged: `{ at, url, request, status, response, error, duration_ms }`. */
type AttemptFacts = {
  readonly attempt: JsonObject
  readonly status: number | null
  readonly error: string | null
}

/** All events of a delivery. `xstate.init` is its start. */
type DeliveryEvent =
  | { readonly type: 'xstate.init'; readonly input: DeliveryInput }
  | ({ readonly type: 'attempt_succeeded' } & AttemptFacts)
  /** `jitter` is in [0, 1). `final`: a further attempt cannot succeed. */
  | ({ readonly type: 'attempt_failed'; readonly jitter: number; readonly final: boolean } & AttemptFacts)
  | { readonly type: 'undeliverable'; readonly reason: UndeliverableReason }
  /** The attempt is postponed because too many wait for their turn. It does not count as an attempt. */
  | { readonly type: 'postponed'; readonly delay_ms: number }
  | { readonly type: 'delete' }

const delayAfter = (attempts: number, jitter: number): number => {
  const delay = retryDelaysMs[attempts - 1] ?? 0
  return delay + Math.round(delay * jitterPart * jitter)
}

type Attempted = At<DeliveryContext, Extract<DeliveryEvent, AttemptFacts>>

/** Journals an attempt, whatever its result. */
const attempted = [
  {
    type: 'journal',
    params: ({ event: { attempt } }: Attempted) => ({
      events: [{ event_type: 'delivery.attempted', payload: attempt }],
    }),
  },
  assignsOf<DeliveryContext, DeliveryEvent>()(({ context, event: { status, error } }: Attempted) => ({
    last_status: status,
    last_error: error,
    attempts: context.attempts + 1,
  })),
] as const

const deliverySetup = setup({
  types: {
    context: {} as DeliveryContext,
    input: {} as DeliveryInput,
    events: {} as DeliveryEvent,
    meta: {} as Shown<DeliveryContext, Status<'delivery'>>,
  },
  actions: {
    ...vocabulary,
    attemptDelivery: (_: unknown, _params: { attempt: number }) => {},
    eraseDelivery: (_: unknown, _params: Record<never, never>) => {},
  },
  guards: {
    isLast: ({ context, event }) =>
      event.type === 'attempt_failed' && (event.final || context.attempts >= retryDelaysMs.length),
  },
  delays: { backoff: ({ context }) => context.delay_ms, retention: deliveryRetentionMs },
})

/** Audits a replay that a caller requested. */
const auditReplay = deliverySetup.enqueueActions(({ enqueue, event }) => {
  if (event.type !== 'xstate.init' || event.input.requested === undefined) return
  const line = { action: 'webhook_delivery.replayed', resource: 'webhook_delivery', ...event.input.requested }
  enqueue({ type: 'audit', params: { lines: [line] } })
})

/**
 * The delivery of one event to one webhook: at once, then on a schedule, until the endpoint accepts it or the last
 * attempt has failed (specs/decisions/0073-webhooks.md). It stays in the log of deliveries for 30 days, then removes
 * itself.
 */
export const deliveryMachine = deliverySetup.createMachine({
  id: 'delivery',
  entry: auditReplay,
  context: ({ input: { requested: _, ...input } }) => ({
    ...input,
    attempts: 0,
    last_status: null,
    last_error: null,
    delay_ms: 0,
  }),
  initial: 'attempting',
  on: { delete: '.erasing' },
  states: {
    attempting: {
      meta: { status: 'pending' },
      tags: 'busy',
      entry: { type: 'attemptDelivery', params: ({ context }) => ({ attempt: context.attempts + 1 }) },
      exit: { type: 'abort', params: { effects: ['attemptDelivery'] } },
      on: {
        attempt_succeeded: { target: 'delivered', actions: attempted },
        attempt_failed: [
          { guard: 'isLast', target: 'failed', actions: attempted },
          {
            target: 'waiting',
            actions: [
              ...attempted,
              assign({ delay_ms: ({ context, event }) => delayAfter(context.attempts, event.jitter) }),
            ],
          },
        ],
        postponed: { target: 'waiting', actions: assign({ delay_ms: ({ event }) => event.delay_ms }) },
        undeliverable: { target: 'failed', actions: assign({ last_error: ({ event }) => event.reason }) },
      },
    },
    waiting: { meta: { status: 'pending' }, after: { backoff: 'attempting' } },
    delivered: { meta: { status: 'delivered' }, after: { retention: 'erasing' } },
    failed: { meta: { status: 'failed' }, after: { retention: 'erasing' } },
    erasing: { type: 'final', entry: { type: 'eraseDelivery', params: {} } },
  },
})
