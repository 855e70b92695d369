import type { Call } from '#actors/call/call.ts'
import { serviceRefusal } from '#actors/call/service-refusal.ts'
import type { AttemptCounts } from '#actors/webhooks/attempt-gate.ts'
import { deliveryUseCases } from '#actors/webhooks/delivery-use-cases.ts'
import { deliveryRows } from '#actors/webhooks/kinds.ts'
import type { Notify } from '#actors/webhooks/notify.ts'
import { webhookNotices } from '#actors/webhooks/notify.ts'
import { deliveryEffects, openEndpoints } from '#actors/webhooks/open-webhooks.ts'
import { notifyWebhooks } from '#actors/webhooks/webhook-deliveries.ts'
import { webhookUseCases } from '#actors/webhooks/webhook-use-cases.ts'
import { deliveryDefinition } from '#machines/webhook-delivery/webhook-delivery-definition.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { newId } from '#runtime/ids.ts'
import { startRuntime } from '#runtime/runtime.ts'
import { webhookSink } from '#runtime/sinks.ts'
import type { Storage } from '#storage/ports.ts'
import { callOf as callBy, secretOf } from '#test/support/call-of.ts'
import { noted } from '#test/support/called-operations.ts'
import { openServices, readableBox } from '#test/support/open-services.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { Receiver } from './receiver.ts'

/** Options of a test installation with webhooks. */
export interface WorldOptions {
  readonly storage?: Storage
  readonly clock?: VirtualClock
  readonly receiver?: Receiver
  readonly timeoutMs?: number
  readonly waiting?: AttemptCounts
}

/** The real runtime with webhooks on a store in memory, with a virtual clock and an endpoint on loopback. */
export const openWorld = async (options: WorldOptions = {}) => {
  const clock = options.clock ?? new VirtualClock()
  const { storage, records, log } = await openServices({ ...options, clock })
  const receiver = options.receiver ?? (await Receiver.open())
  const guard = openSsrfGuard({ allowedPrivateHosts: [receiver.host] })
  const endpoints = openEndpoints({ records, box: readableBox, clock })
  const { timeoutMs = 15_000, waiting = { ofWebhook: 500, ofProject: 1_000, ofNode: 4_000 } } = options
  const effects = { storage, clock, endpoints, guard, random: () => 0, timeoutMs, waiting }
  const runtime = await startRuntime({
    storage,
    refuse: serviceRefusal,
    definitions: [deliveryDefinition],
    rows: { delivery: deliveryRows },
    clock,
    log,
    sinks: (host) => ({ [webhookSink]: webhookNotices(notifyWebhooks({ host, endpoints })) }),
    effects: () => deliveryEffects(effects),
  })
  const { host } = runtime
  const notify: Notify = notifyWebhooks({ host, endpoints })
  const useCases = noted({
    ...webhookUseCases({ records, box: readableBox, guard, endpoints, now: clock.now }),
    ...deliveryUseCases({ host, records, endpoints, now: clock.now }),
  })
  const close = async () => {
    await runtime.drain(0)
    await guard.close()
    await receiver.close()
  }
  return { clock, storage, receiver, runtime, host, endpoints, notify, useCases, close }
}

export type World = Awaited<ReturnType<typeof openWorld>>

/** A call with a secret key of project `prj_a`, or of another. */
export const callOf = <P, Q, B>(params: P, query: Q, body: B, project?: string): Call<P, Q, B> =>
  callBy(params, query, body, secretOf(project))

type NewWebhook = Parameters<World['useCases']['webhooks.create']>[0]['body']

/** A webhook for the endpoint of the installation. */
export const newWebhook = (world: World, more: Partial<NewWebhook> = {}) =>
  world.useCases['webhooks.create'](
    callOf({}, {}, { name: 'mine', url: world.receiver.url, events: ['run.completed'], is_active: true, ...more }),
  )

/** Notifies the webhooks of `prj_a` of a completed run. */
export const runCompleted = (world: World, id = newId('run')): Promise<void> =>
  world.notify({
    id,
    project: 'prj_a',
    tenant: 'ten_1',
    at: world.clock.now(),
    event_type: 'run.completed',
    data: {
      run_id: id,
      agent_id: 'agt_1',
      installation_id: null,
      parent_run_id: null,
      status: 'completed',
      output: null,
      usage: {},
    },
  })

/** The delivery log, newest first. */
export const deliveriesOf = async ({ useCases }: World, where = {}) =>
  (await useCases['webhook_deliveries.list'](callOf({}, { limit: 100, ...where }, undefined))).data

/**
 * Every delivery of the log once all of them satisfy `test`: sockets need no virtual time, but some turns of the event
 * loop.
 */
export const deliveriesWhen = async (
  world: World,
  test: (delivery: Delivery) => boolean,
): Promise<readonly Delivery[]> => {
  for (;;) {
    await calm()
    const deliveries = await deliveriesOf(world)
    if (deliveries.length > 0 && deliveries.every(test)) return deliveries
  }
}

export type Delivery = Awaited<ReturnType<typeof deliveriesOf>>[number]
