import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { Storage } from '#storage/index.ts'
import type { Services } from '../capability/services.ts'
import type { EffectCatalog } from '../runtime/index.ts'
import { type EraseParts, eraseActor } from '../runtime/internal.ts'
import { attemptDelivery, attemptTimeoutMs } from './attempt-delivery.ts'
import { type AttemptCounts, AttemptGate } from './attempt-gate.ts'
import type { ReceiverSource } from './receivers.ts'
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
  readonly sources?: () => readonly ReceiverSource[]
  readonly guard: Pick<SsrfGuard, 'request'>
  /** Returns a number in [0, 1), which spreads retries. */
  readonly random?: () => number
  readonly timeoutMs?: number
  /** Replaceable in tests. */
  readonly waiting?: AttemptCounts
}

/** Where receivers are found. */
interface ReceiverParts {
  readonly endpoints: Pick<WebhookEndpoints, 'receiver'>
  readonly sources?: (() => readonly ReceiverSource[]) | undefined
}

/** Finds the receiver of a delivery: a webhook, or one of another source. */
export const receiverOf =
  ({ endpoints, sources = () => [] }: ReceiverParts): ReceiverSource['get'] =>
  async (project, id) => {
    const webhook = await endpoints.receiver(project, id)
    if (webhook !== null) return webhook
    for (const source of sources()) {
      const found = await source.get(project, id)
      if (found !== null) return found
    }
    return null
  }

/** The effects of the delivery machine, by `<machine>.<name>`. */
export const deliveryEffects = (parts: DeliveryEffectParts): EffectCatalog => {
  const { clock, guard, random = Math.random, timeoutMs = attemptTimeoutMs } = parts
  const receiver = receiverOf(parts)
  const limits = { running: attemptsAtOnce, waiting: parts.waiting ?? waitingAttempts }
  const gate = new AttemptGate(limits, { steady: clock.steady, random })
  return {
    'delivery.attemptDelivery': attemptDelivery({ receiver, gate, guard, now: clock.now, random, timeoutMs }),
    'delivery.eraseDelivery': eraseActor(parts),
  }
}
