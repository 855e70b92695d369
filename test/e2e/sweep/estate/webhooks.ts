import type { EstatePart } from './estate-part.ts'

/** The estate of webhooks: one for a rare event, and the deliveries of the one that `populate` creates. */
export const webhooks: EstatePart = {
  make: async ({ api }) => {
    const first = async (path: string): Promise<string> => (await api.get(path)).body.data[0].id
    const webhook_id = await first('/v1/webhooks?limit=1')
    return { webhook_id, delivery_id: await first(`/v1/webhook-deliveries?webhook_id=${webhook_id}`) }
  },
  bodies: {
    'webhooks.create': ({ mark, hook }, n) => ({ name: `Hook ${mark} ${n}`, url: hook, events: ['tenant.deleted'] }),
  },
  shownBy: {
    'webhook_deliveries.replay reason': 'test/e2e/crash/forks.e2e.test.ts',
    // the answer has the end of the secret of before that signs longest, which may be of an earlier rotation
    'webhooks.rotate grace_s': 'test/actors/webhooks/webhooks.test.ts',
  },
  atWork: ({ all }) => all('delivery_id').map((id) => `/v1/webhook-deliveries/${id}`),
  beyondSchema: {
    'webhooks.create': 'a URL may parse and still not be one that the server connects to',
    'webhooks.update': 'likewise',
    'webhooks.test': 'likewise',
  },
}
