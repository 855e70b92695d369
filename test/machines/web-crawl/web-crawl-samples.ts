import type { MachineDefinition } from '#machines/definition.ts'
import { webCrawlDefinition } from '#machines/web-crawl/web-crawl-definition.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The machine as the runtime knows it. */
export const { machine }: MachineDefinition = webCrawlDefinition

const seed = 'https://site.example/'

const request = { seeds: [seed], maxPages: 2, maxDepth: 1, sameOrigin: true, sitemap: false, maxAge: 0 }
const input = { crawl_id: 'crw_1', request }

const page = (n: number) => ({ url: `${seed}${n}`, status: 'indexed', change: 'new', depth: n })

export const advances: StoredEvent = {
  type: 'advanced',
  progress: { waiting: [{ url: `${seed}2`, depth: 1 }], pages: [page(1)], discovered: 2 },
  at: 5,
}
export const fills: StoredEvent = {
  type: 'advanced',
  progress: { waiting: [{ url: `${seed}3`, depth: 1 }], pages: [page(1), page(2)], discovered: 3 },
  at: 6,
}
export const ends: StoredEvent = { type: 'advanced', progress: { waiting: [], pages: [page(1)], discovered: 1 }, at: 7 }
/** The site of the only waiting page requests a pause of three seconds. */
export const pauses: StoredEvent = {
  type: 'advanced',
  progress: {
    waiting: [
      {
        ...{ url: `${seed}2`, depth: 1 },
        postponed: { reason: 'site_busy', tries: 1, since_ms: 6, until_ms: 3_006 },
      },
    ],
    pages: [page(1)],
    discovered: 2,
  },
  at: 6,
}
export const resumes: StoredEvent = { type: 'xstate.after.pause.web_crawl.waiting' }
export const fails: StoredEvent = { type: 'crawl_failed', error: { code: 'invalid_url', message: 'No.' }, at: 8 }
export const cancels: StoredEvent = { type: 'cancel', at: 9 }
export const deletion: StoredEvent = { type: 'delete' }
export const retention = (state: 'completed' | 'failed' | 'cancelled'): StoredEvent => ({
  type: `xstate.after.retention.web_crawl.${state}`,
})

/** Every event in every state of a crawl. */
export const walk: Walk = {
  machine,
  input,
  events: [
    ...[advances, fills, pauses, resumes, ends, fails, cancels, deletion],
    ...[retention('completed'), retention('failed'), retention('cancelled')],
  ],
  kindOf: ({ value, context }) => `${pathOf(value)} ${context.progress?.pages.length ?? 0}`,
}
