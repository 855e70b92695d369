import { Readable } from 'node:stream'
import { webhooks } from '#actors/webhooks/kinds.ts'
import { deliveryEffects, openEndpoints } from '#actors/webhooks/open-webhooks.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { Table } from '#records/table.ts'
import type { Clock } from '#runtime/clock.ts'
import type { RecordStore, Storage } from '#storage/ports.ts'

/** Returns the next status of an endpoint; a promise that never resolves is an endpoint that does not answer. */
export type Answering = () => Promise<number>

const box = { seal: (text: string) => text, open: (sealed: string) => sealed }

/** The effects of deliveries to an endpoint that is a function, for tests without sockets. */
export const scriptedDeliveries = (parts: { storage: Storage; clock: Clock; answers: Answering }) => {
  const { storage, clock, answers } = parts
  const endpoints = scriptedEndpoints(storage.records, clock)
  return deliveryEffects({ storage, clock, endpoints, guard: guardOf(answers), random: () => 0 })
}

/** The webhooks of a store whose secrets are readable. */
export const scriptedEndpoints = (records: RecordStore, clock: Clock) => openEndpoints({ records, box, clock })

const guardOf = (answers: Answering): Pick<SsrfGuard, 'request'> => ({
  request: async () => {
    const statusCode = await answers()
    const body = Object(Readable.from([Buffer.from('thanks')]))
    return {
      statusCode,
      statusText: '',
      headers: { 'content-type': 'text/plain' },
      trailers: {},
      opaque: null,
      context: {},
      body,
    }
  },
})

/** Adds a webhook whose endpoint is such a function. */
export const scriptedWebhook = async (records: RecordStore, clock: Clock, id: string): Promise<void> => {
  await new Table(records, webhooks, clock.now).insert({
    id,
    project: 'prj_a',
    data: {
      name: 'mine',
      url: 'https://example.com/hook',
      events: ['*'],
      is_active: true,
      disabled_reason: null,
      failing_since_ms: null,
      secret: 'whsec_AAAA',
      previous_secret: null,
      previous_until_ms: null,
    },
  })
}
