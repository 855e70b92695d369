import { deliveryDefinition } from '#machines/webhook-delivery/webhook-delivery-definition.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { type JsonObject, type StoredEvent, StoreUnavailable } from '#storage/index.ts'
import { timestampOf } from '../records/row-times.ts'
import { mask } from '../records/sanitize.ts'
import { contextOf, type EffectContext, type EffectOutcome, type IdempotentEffect } from '../runtime/index.ts'
import type { AttemptGate } from './attempt-gate.ts'
import type { Receiver, ReceiverSource } from './receivers.ts'
import { type AttemptOutcome, type AttemptRequest, sendAttempt } from './send-attempt.ts'

/** Dependencies of `attemptDelivery`. */
export interface AttemptDeliveryParts {
  /** Returns a receiver; null when it was deleted. */
  readonly receiver: ReceiverSource['get']
  readonly gate: AttemptGate
  readonly guard: Pick<SsrfGuard, 'request'>
  /** ms since the epoch. */
  readonly now: () => number
  /** Returns a number in [0, 1). */
  readonly random: () => number
  readonly timeoutMs: number
}

/** Time within which an endpoint must respond, in ms (specs/decisions/0073-webhooks.md). */
export const attemptTimeoutMs = 15_000

/** Test deliveries get a single attempt, because the caller is waiting for the result. */
const testEvent = 'webhook.test'

/**
 * Effect that makes one attempt of a delivery. After a crash it is repeated with the same `webhook-id`, by which
 * receivers recognise duplicates. Every response or failure of the endpoint is an outcome; only failures of our own
 * store throw.
 */
export const attemptDelivery = (parts: AttemptDeliveryParts): IdempotentEffect => ({
  policy: 'idempotent',
  run: async ({ attempt }, context) => {
    const { owner, signal } = context
    const delivery = contextOf(deliveryDefinition, context)
    const { webhook_id } = delivery
    const of = { webhook: webhook_id, project: owner.project }
    const outcome = await parts.gate.run(of, signal, async (): Promise<EffectOutcome> => {
      const receiver = await parts.receiver(owner.project, webhook_id)
      if (receiver === null) return undeliverable('webhook_deleted')
      if (!receiver.isActive && delivery.event_type !== testEvent) return undeliverable('webhook_disabled')
      return attempted(parts, receiver, { effect: context, attempt: Number(attempt) })
    })
    if (outcome === undefined) return 'gone'
    if (outcome !== 'gone' && 'delayMs' in outcome) return postponed(outcome.delayMs)
    return outcome
  },
})

const undeliverable = (reason: string): EffectOutcome => ({ event: { type: 'undeliverable', reason } })

const postponed = (delay_ms: number): EffectOutcome => ({ event: { type: 'postponed', delay_ms } })

const attempted = async (
  { now, guard, timeoutMs, random }: AttemptDeliveryParts,
  receiver: Receiver,
  { effect: { context, signal }, attempt }: { readonly effect: EffectContext; readonly attempt: number },
): Promise<EffectOutcome> => {
  const { event_id, event_type, body } = contextOf(deliveryDefinition, { context })
  const at = now()
  const own = receiver.headers({ id: event_id, timestampS: Math.floor(at / 1000), body })
  const headers = { 'content-type': 'application/json', 'user-agent': 'Troupe-Webhooks/1', ...own }
  const { url, secretHeaders = [] } = receiver
  const outcome = await sendAttempt({ url, headers, body }, { guard, timeoutMs, signal })
  const isLive = signal.aborted || (await noted(receiver, outcome))
  const facts = { attempt, at: timestampOf(at), duration_ms: Math.max(0, now() - at) }
  const final = !isLive || event_type === testEvent
  const shown = { url, headers: { ...headers, ...masked(own, secretHeaders) } }
  return {
    event: eventOf(shown, outcome, { facts, next: { jitter: random(), final } }),
    stored: stored(outcome),
  }
}

/** The attempt is not repeated for a store that is away: the next one is noted. */
const noted = (receiver: Receiver, outcome: AttemptOutcome): Promise<boolean> =>
  receiver.noted(outcome).catch((error: unknown) => {
    if (error instanceof StoreUnavailable) return true
    throw error
  })

/** The log of attempts is for all who may read deliveries. */
const masked = (headers: Readonly<Record<string, string>>, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, mask]])))

const eventOf = (
  { url, headers }: Pick<AttemptRequest, 'url' | 'headers'>,
  { status, error, response }: AttemptOutcome,
  { facts, next }: { readonly facts: JsonObject; readonly next: { readonly jitter: number; readonly final: boolean } },
): StoredEvent => {
  const attempt = { ...facts, url, status, error, request: { headers }, response }
  if (error === null) return { type: 'attempt_succeeded', attempt, status, error }
  return { type: 'attempt_failed', attempt, status, error, ...next }
}

/** The commit stores only the type; the log's `delivery.attempted` event has the other fields. */
const stored = ({ error }: AttemptOutcome): StoredEvent => ({
  type: error === null ? 'attempt_succeeded' : 'attempt_failed',
})
