import type { DeliveryContext } from '#machines/webhook-delivery/webhook-delivery.ts'
import type { JsonObject } from '#storage/ports.ts'

/*
 * What our own commits and rows hold comes back as the type that was written: the delivery machine alone writes them,
 * and its version guards their shape.
 */

/** What the list row of a delivery holds (`deliveryDefinition.row`). */
export type DeliveryRow = Omit<DeliveryContext, 'delivery_id' | 'body' | 'delay_ms'> & {
  readonly status: 'pending' | 'delivered' | 'failed'
  readonly next_attempt_at_ms: number | null
}

/** A delivery's list row, read back. */
export const deliveryRow = (data: JsonObject): DeliveryRow => data as unknown as DeliveryRow
