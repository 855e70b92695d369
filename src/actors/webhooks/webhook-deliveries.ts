import type { DeliveryInput } from '#machines/webhook-delivery/webhook-delivery.ts'
import { deliveryDefinition } from '#machines/webhook-delivery/webhook-delivery-definition.ts'
import { timestampOf } from '../records/row-times.ts'
import { derivedId } from '../runtime/index.ts'
import type { Host } from '../runtime/internal.ts'
import type { Notify, WebhookNotice } from './notify.ts'
import type { ReceiverSource } from './receivers.ts'
import type { WebhookEndpoints } from './webhook-endpoints.ts'

/** The owner of a delivery, and when it was requested. */
export interface DeliveryOwner {
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
  /** ms since the epoch. */
  readonly createdAt: number
  /** Whether the delivery may have been created before, and removed since (`Creation`). */
  readonly again?: boolean
}

/** Creates a delivery, unless one with this id exists. @throws {StoreUnavailable} */
export const startDelivery = async (
  host: Pick<Host, 'create'>,
  { again = false, ...owner }: DeliveryOwner,
  input: DeliveryInput,
) => {
  await host.create({
    kind: deliveryDefinition,
    id: input.delivery_id,
    owner,
    input,
    cause: `notice:${input.event_id}`,
    again,
  })
}

/** The event id and the body, which are the same in all deliveries of an event. */
export const eventOf = ({ id, at, event_type, tenant, data }: WebhookNotice) => ({
  event_id: derivedId('evt', at, id),
  event_type,
  body: JSON.stringify({ type: event_type, timestamp: timestampOf(at), data: { tenant_id: tenant, ...data } }),
})

/** Dependencies of `notifyWebhooks`. */
export interface NotifyParts {
  readonly host: Pick<Host, 'create'>
  readonly endpoints: WebhookEndpoints
  readonly sources?: () => readonly ReceiverSource[]
}

/** Creates deliveries from events; no other code does (src/actors/webhooks/notify.ts). */
export const notifyWebhooks =
  ({ host, endpoints, sources = () => [] }: NotifyParts): Notify =>
  async (notice) => {
    const { project, tenant, user = null, at, again = false } = notice
    const webhooks = await endpoints.wanting(project, notice.event_type)
    const others = await Promise.all(sources().map((source) => source.wanting(notice)))
    const wanting = [...webhooks.map(({ id }) => ({ id })), ...others.flat()]
    if (wanting.length === 0) return
    const event = eventOf(notice)
    for (const { id, ...own } of wanting) {
      const delivery_id = derivedId('dlv', at, `${notice.id} ${id}`)
      const input = { ...event, ...own, delivery_id, webhook_id: id, replay_of: null }
      await startDelivery(host, { project, tenant, user, createdAt: at, again }, input)
    }
  }
