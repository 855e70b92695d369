import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { RecordStore, Storage } from '#storage/ports.ts'
import type { SecretBox } from '../records/secret-box.ts'
import type { Clock } from '../runtime/clock.ts'
import type { EffectCatalog } from '../runtime/effects/effects.ts'
import { type EraseParts, eraseActor } from '../runtime/erasure/erase-actor.ts'
import { attemptDelivery, attemptTimeoutMs } from './attempt-delivery.ts'
import { AttemptGate } from './attempt-gate.ts'
import { AttemptLines, type LineLimits } from './attempt-lines.ts'
import { WebhookEndpoints } from './webhook-endpoints.ts'

/** So many attempts run at a time on a node (specs/decisions/0073-webhooks.md, 0233). */
const attemptsAtOnce = { ofWebhook: 16, ofProject: 256 }

/** So many wait for their turn in memory, at 9 KB each; the store has the others (specs/decisions/0240-deliveries-that-wait.md). */
const attemptsInLine: LineLimits = { ofWebhook: 500, ofProject: 1_000, ofNode: 4_000 }

export interface OpenWebhooksParts {
  readonly records: RecordStore
  readonly box: SecretBox
  readonly clock: Clock
}

/** The endpoints of all projects, as this node sees them. */
export const openEndpoints = ({ records, box, clock }: OpenWebhooksParts): WebhookEndpoints =>
  new WebhookEndpoints({ records, box, now: clock.now })

/** What the effects of deliveries need. */
export interface DeliveryEffectParts extends EraseParts {
  readonly storage: Storage
  readonly endpoints: WebhookEndpoints
  readonly guard: Pick<SsrfGuard, 'request'>
  /** In [0, 1); what spreads retries. */
  readonly random?: () => number
  readonly timeoutMs?: number
  /** For tests. */
  readonly lines?: LineLimits
}

/** The effects of the delivery machine, by `<machine>.<name>`. */
export const deliveryEffects = (parts: DeliveryEffectParts): EffectCatalog => {
  const { clock, endpoints, guard, random = Math.random, timeoutMs = attemptTimeoutMs } = parts
  const atOnce = attemptsAtOnce.ofWebhook
  const lines = new AttemptLines({ limits: parts.lines ?? attemptsInLine, atOnce, steady: clock.steady, random })
  const gate = new AttemptGate(attemptsAtOnce, lines, clock.steady)
  return {
    'delivery.attemptDelivery': attemptDelivery({ endpoints, gate, guard, now: clock.now, random, timeoutMs }),
    'delivery.eraseDelivery': eraseActor(parts),
  }
}
