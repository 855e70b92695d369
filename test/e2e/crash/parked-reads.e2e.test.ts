import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { html, Site } from '#test/support/site.ts'
import type { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { either, World } from '../world.ts'

const reason = 'The process ended 4 times while it ran alone.'

describe.each(either('sqlite'))('work that is parked on $store', ({ store }) => {
  let site: Site
  let world: World
  let api: Api

  beforeAll(async () => {
    site = await Site.open()
    site.pages.set('/', html('<p>A page <a href="/never">with a link</a></p>'))
    site.pages.set('/never', { answer: () => {} })
    world = await World.start({ store, env: { ALLOWED_PRIVATE_CONTENT_HOSTS: site.host, WEB_HOST_DELAY_MS: '20' } })
    api = world.api
  })
  afterAll(async () => {
    await world.stop()
    await site.close()
  })

  const made = async (path: string, body: object) => {
    const answer = await api.post(path, body)
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    return String(answer.body.id)
  }

  /** Begins work of each kind that cannot end, by the path that reads it. */
  const begun = async (): Promise<ReadonlyMap<string, string>> => {
    const agent = await made('/v1/agents', { name: 'Slow', config: { model: 'simulated-1' } })
    const session = await api.createSession()
    const turn = await api.turn(session, { input: 'slow please' })
    await turn.until(({ event }) => event === 'response.output_text.delta')
    const response = { model: 'simulated-1', input: 'slow please', background: true }
    const crawl = { seeds: [site.url('/never')] }
    const job = { url: site.url('/never'), timeoutMs: 60_000 }
    const ids = new Map([
      [session, `/v1/sessions/${session}`],
      ...(await Promise.all(
        [
          { at: `/v1/agents/${agent}/runs`, body: { input: { prompt: 'slow please' } }, read: '/v1/runs' },
          { at: '/v1/responses', body: response, read: '/v1/responses' },
          { at: '/v1/web/crawls', body: crawl, read: '/v1/web/crawls' },
          { at: '/v1/web/browse', body: job, read: '/v1/web/browse' },
        ].map(async ({ at, body, read }): Promise<[string, string]> => {
          const id = await made(at, body)
          return [id, `${read}/${id}`]
        }),
      )),
    ])
    return ids
  }

  it('is read with its reason, ends a poller of a response, and accepts no change', { timeout: 120_000 }, async () => {
    const paths = await begun()
    const under = async (): Promise<readonly string[]> =>
      Promise.all([...paths.values()].map(async (path) => String((await api.get(path)).body.status)))
    await expect.poll(under, patience).not.toContain('queued')
    await world.crash()
    const database = new DatabaseSync(join(world.toolEnv.DATA_DIR, 'troupe.db'))
    const parked = JSON.stringify({ kind: 'parked_actor', effect: 'lost', reason })
    for (const id of paths.keys()) {
      const { changes } = database
        .prepare(
          `update commits set snapshot = json_set(snapshot, '$.parked', json(?)) where actor = ?
             and seq = (select max(seq) from commits where actor = ?)`,
        )
        .run(parked, id, id)
      expect(Number(changes), id).toBe(1)
    }
    database.close()
    await world.restart()
    for (const path of paths.values()) {
      const { status, body } = await api.get(path)
      expect.soft([path, status]).toEqual([path, 200])
      if (path.startsWith('/v1/responses'))
        expect.soft(body).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'stuck' } })
      else expect.soft([path, body.status, body.stuck]).toEqual([path, expect.any(String), reason])
      const cancelled = await api.post(`${path}/cancel`, {})
      if (cancelled.status !== 404 && cancelled.status !== 405)
        expect.soft([path, cancelled.status]).toEqual([path, 503])
    }
  })
})
