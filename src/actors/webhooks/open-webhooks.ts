import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { Storage } from '#storage/index.ts'
import type { Services } from '../capability/services.ts'
import type { EffectCatalog } from '../runtime/index.ts'
import { type EraseParts, eraseActor } from '../runtime/internal.ts'
import { attemptDelivery, attemptTimeoutMs } from './attempt-delivery.ts'
import { type AttemptCounts, AttemptGate } from './attempt-gate.ts'
import { WebhookEndpoints } from './webhook-endpoints.ts'

/** Most concurrent attempts on a node (specs/decisions/0073-webhooks.md, 0233). */
const attemptsAtOnce = { ofWebhook: 16, ofProject: 256 }

/**
 * Most attempts that wait in memory, at 9 KB each; the others wait in the store
 * (specs/decisions/0073-webhooks.md).
 */
const waitingAttempts: AttemptCounts = { ofWebhook: 500, ofProject: 1_000, ofNode: 4_000 }

export type OpenWebhooksParts = Pick<Services, 'box' | 'clock' | 'records'>

/** Opens the endpoints of all projects, as cached by this node. */
export const openEndpoints = ({ records, box, clock }: OpenWebhooksParts): WebhookEndpoints =>
  new WebhookEndpoints({ records, box, now: clock.now })

/** Dependencies of the effects of deliveries. */
export interface DeliveryEffectParts extends EraseParts {
  readonly storage: Storage
  readonly endpoints: WebhookEndpoints
  readonly guard: Pick<SsrfGuard, 'request'>
  /** Returns a number in [0, 1), which spreads retries. */
  readonly random?: () => number
  readonly timeoutMs?: number
  /** Replaceable in tests. */
  readonly waiting?: AttemptCounts
}

/** The effects of the delivery machine, by `<machine>.<name>`. */
export const deliveryEffects = (parts: DeliveryEffectParts): EffectCatalog => {
  const { clock, endpoints, guard, random = Math.random, timeoutMs = attemptTimeoutMs } = parts
  const limits = { running: attemptsAtOnce, waiting: parts.waiting ?? waitingAttempts }
  const gate = new AttemptGate(limits, { steady: clock.steady, random })
  return {
    'delivery.attemptDelivery': attemptDelivery({ endpoints, gate, guard, now: clock.now, random, timeoutMs }),
    'delivery.eraseDelivery': eraseActor(parts),
  }
}
