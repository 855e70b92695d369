import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { Api } from './api.ts'
import { noBrowser } from './browser/no-browser.ts'
import { patience } from './patience.ts'
import { either, World } from './world.ts'

/* Details of the declared interface that clients rely on, each stated once against a running server. */

const declared: readonly Operation[] = Object.values(operations)

describe.each(either('sqlite'))('the interface on $store', ({ store }) => {
  let world: World
  let api: Api

  beforeAll(async () => {
    world = await World.start({ store, env: { ...noBrowser, EMBEDDER: 'none' } })
    api = world.api
  })
  afterAll(() => world.stop())

  const ok = async (answer: ReturnType<Api['get']>) => {
    const { status, body } = await answer
    expect(status, JSON.stringify(body)).toBeLessThan(300)
    return body
  }
  /** Status, code and place of a refusal, in the envelope of the platform and in that of the web. */
  const refused = async (answer: ReturnType<Api['get']>) => {
    const { status, body } = await answer
    return [status, body.error?.code ?? body.error, body.error?.param ?? body.details?.param]
  }

  it('lists connectors in pages, as all lists of the platform', async () => {
    const all = (await ok(api.get('/v1/connectors?limit=100'))).data
    expect(all.length).toBeGreaterThan(2)
    const first = await ok(api.get('/v1/connectors?limit=2'))
    expect(first.data).toEqual(all.slice(0, 2))
    const rest = await ok(api.get(`/v1/connectors?limit=100&cursor=${first.next_cursor}`))
    expect(rest).toEqual({ data: all.slice(2), next_cursor: null })
    expect(await refused(api.get('/v1/connectors?cursor=bm9uZQ'))).toEqual([400, 'invalid_query', 'cursor'])
  })

  it.each(['retry', 'restart', 'fail'])('accepts %s for turns that a crash interrupts', async (on_interrupted) => {
    const config = { model: 'simulated-1', on_interrupted }
    expect(await ok(api.post('/v1/agents', { name: 'Answers', config }))).toMatchObject({ config })
  })

  it.each(['/', '/docs', '/openapi.json', '/healthz', '/readyz', '/metrics', '/nothing', '/v1/tenants', '/mcp'])(
    'names the request in the response of %s',
    async (path) => {
      const { headers } = await fetch(`${world.url}${path}`, { headers: { 'x-request-id': 'audit-12345' } })
      expect(headers.get('x-request-id')).toBe('audit-12345')
    },
  )

  describe('the lists of models', () => {
    it.each(['/v1/models', '/api/v1/models', '/api/models'])(
      '%s names the providers of its models once',
      async (path) => {
        const { data, providers } = await ok(api.get(path))
        const expected = [...new Set(data.map(({ provider }: { provider: string }) => provider))]
        expect(providers.map(({ id }: { id: string }) => id)).toEqual(expected)
        for (const { id, name, logo_url } of providers) {
          expect(name).toMatch(/\w/)
          expect(logo_url).toMatch(new RegExp(`/api/providers/${id}/logo$`))
        }
        const logo = await new URL(providers[0].logo_url, world.url)
        expect((await fetch(logo)).headers.get('content-type')).toBe('image/svg+xml')
      },
    )

    it('names the providers of a filtered list only, and a custom one by its name', async () => {
      const dashboard = await world.dashboard()
      const [project] = (await ok(dashboard.get('/api/projects'))).data
      const given = { name: 'Acme', baseUrl: 'https://models.example/v1', format: 'openai' }
      const models = [{ name: 'One', modelId: 'm1' }]
      const { provider } = await ok(dashboard.post(`/api/projects/${project.id}/providers`, { ...given, models }))
      const custom = `custom:${provider.id}`
      expect((await ok(api.get(`/v1/models?provider=${custom}`))).providers).toEqual([
        { id: custom, name: 'Acme', logo_url: null },
      ])
      const { providers } = await ok(api.get('/api/models?provider=anthropic'))
      expect(providers).toMatchObject([{ id: 'anthropic', name: 'Anthropic' }])
    })
  })

  describe('a rate plan', () => {
    it('takes its markup by either name, and answers both', async () => {
      for (const field of ['markup_percentage', 'markup_percent'])
        expect(await ok(api.post('/v1/rate-plans', { name: field, [field]: '12.5' }))).toMatchObject({
          markup_percent: '12.5',
          markup_percentage: '12.5',
        })
      const both = { name: 'both', markup_percent: '1', markup_percentage: '2' }
      expect(await refused(api.post('/v1/rate-plans', both))).toEqual([422, 'invalid_field', 'markup_percentage'])
      const { data } = await ok(api.get('/v1/rate-plans'))
      expect(data[0]).toMatchObject({ markup_percent: '12.5', markup_percentage: '12.5' })
    })
  })

  describe('ids', () => {
    it('of sources, grants and imports begin with src_, grt_ and imp_', async () => {
      const base = (await ok(api.post('/v1/knowledge-bases', { name: 'Rules' }))).id
      const under = `/v1/knowledge-bases/${base}`
      const text = { title: 'Rules', text: 'Returns within 30 days.' }
      expect((await ok(api.post(`${under}/sources`, text))).id).toMatch(/^src_[0-9a-z]{26}$/)
      const { id: subject_id } = await ok(api.post('/v1/tenants', { external_id: 'ids', name: 'Ids' }))
      const grant = await ok(api.post(`${under}/grants`, { subject_type: 'tenant', subject_id }))
      expect(grant.id).toMatch(/^grt_[0-9a-z]{26}$/)
      const skill = '---\nname: refunds\ndescription: Answers questions about refunds.\n---\nBe kind.'
      const made = await ok(api.post('/v1/skill-imports', { text: skill }))
      expect(made.id).toMatch(/^imp_[0-9a-z]{26}$/)
      expect((await ok(api.post(`/v1/skill-imports/${made.id}/publish`))).id).toMatch(/^imp_/)
    })
  })

  describe('a browser job', () => {
    const url = 'https://example.com'
    const wait = { type: 'waitFor', milliseconds: 1 }
    it.each([
      ['21 actions', { actions: Array.from({ length: 21 }, () => wait) }, 'actions'],
      ['a wait of 5,001 ms', { actions: [{ ...wait, milliseconds: 5001 }] }, 'actions[0].milliseconds'],
      ['an unknown action', { actions: [wait, { type: 'hover', selector: '#a' }] }, 'actions[1].type'],
      ['an action without its selector', { actions: [{ type: 'click' }] }, 'actions[0].selector'],
    ])('with %s is refused as invalid_browser_action', async (_what, body, param) => {
      expect(await refused(api.post('/v1/web/browse', { url, ...body }))).toEqual([
        400,
        'invalid_browser_action',
        param,
      ])
    })
  })

  describe('an address of a page', () => {
    const placed = declared
      .flatMap(({ id, paths, refusals }) =>
        Object.entries(refusals).map(([place, code]) => ({ id, paths, place, code })),
      )
      .filter(({ code }) => code === 'invalid_url')
    const others: Readonly<Record<string, object>> = {
      'web.takedown': {
        basis: 'copyright',
        requesterName: 'Ada',
        requesterEmail: 'ada@example.com',
        statement: 'The page contains a text of mine.',
      },
    }

    it('is declared for every operation that reads pages', () => {
      expect(placed.map(({ id }) => id).sort()).toEqual(
        ['browser_jobs.create', 'web.crawl', 'web.extract', 'web.fetch', 'web.takedown', 'web_crawls.create'].sort(),
      )
    })
    it.each(placed)('that is empty is refused by $id as invalid_url', async ({ id, paths, place }) => {
      for (const text of ['', 'nonsense']) {
        const field = place.replace('[]', '')
        const body = { ...others[id], [field]: field === place ? text : [text] }
        const [status, code, param] = await refused(api.post(paths[0], body))
        expect([status, code]).toEqual([400, 'invalid_url'])
        if (text === '') expect(param).toBe(place.replace('[]', '[0]'))
      }
    })
  })

  describe('a response with memory', () => {
    const wanted = { model: 'simulated-1', input: 'I live in Oslo.', memory: { userId: 'ada' } }

    it('has the block that a chat has, whole and streamed, and does not store it', async () => {
      const whole = await api.post('/v1/responses', wanted)
      const { memory, id } = await ok(Promise.resolve(whole))
      expect(memory).toEqual({
        retrieved: [],
        written: [],
        write_status: 'pending',
        write_request_id: whole.headers.get('x-service-memory-write-request'),
      })
      await vi.waitFor(async () => {
        expect((await ok(api.get(`/v1/memory/writes/${memory.write_request_id}`))).status).toBe('success')
      }, patience)
      expect(await ok(api.get(`/v1/responses/${id}`))).not.toHaveProperty('memory')
      const question = { ...wanted, input: 'Where do I live, in Oslo?', stream: true }
      const streamed = await api.stream('/v1/responses', question)
      const completed = await streamed.until(({ event }) => event === 'response.completed')
      expect(Object(completed.data.response).memory.retrieved).toMatchObject([{ content: 'I live in Oslo.' }])
      const plain = await ok(api.post('/v1/responses', { model: 'simulated-1', input: 'Hi' }))
      expect(plain).not.toHaveProperty('memory')
    })
  })

  describe('the size of the context of a search', () => {
    it.each(['web_search', 'web_search_preview'])('of %s is low, medium or high', async (type) => {
      const wanted = (search_context_size?: string) =>
        api.post('/v1/responses', { model: 'simulated-1', input: 'Hi', tools: [{ type, search_context_size }] })
      expect(await refused(wanted('huge'))).toEqual([400, 'invalid_field', 'tools[0].search_context_size'])
      for (const size of ['low', 'medium', 'high', undefined]) await ok(wanted(size))
    })
  })

  describe('the list of tenants', () => {
    it('is filtered by the id that the caller has given', async () => {
      const make = (external_id: string) => ok(api.post('/v1/tenants', { external_id, name: external_id }))
      const [one, two] = [await make('one'), await make('two')]
      const ids = async (query: string) =>
        (await ok(api.get(`/v1/tenants?${query}`))).data.map(({ id }: { id: string }) => id)
      expect(await ids('external_id=one')).toEqual([one.id])
      expect(await ids('external_id=two&status=active')).toEqual([two.id])
      expect(await ids('external_id=two&status=suspended')).toEqual([])
      expect(await ids('external_id=three')).toEqual([])
    })
  })

  describe('an end user', () => {
    it('is read, changed and deleted by its id', async () => {
      const made = await ok(
        api.post('/v1/end-users', { external_id: 'ada', display_name: 'Ada', metadata: { vip: true } }),
      )
      const path = `/v1/end-users/${made.id}`
      expect(await ok(api.get(path))).toEqual(made)
      const patch = (body: object) => api.post(path, body, { method: 'PATCH' })
      const changed = await ok(patch({ email: 'ada@example.com' }))
      expect(changed).toMatchObject({ ...made, email: 'ada@example.com', updated_at: expect.any(String) })
      expect(await refused(patch({ external_id: 'eve' }))).toEqual([422, 'unknown_field', 'external_id'])
      expect(await ok(api.get(path, { method: 'DELETE' }))).toEqual({ id: made.id, deleted: true })
      for (const method of ['GET', 'DELETE']) expect((await api.get(path, { method })).status).toBe(404)
      expect((await patch({})).status).toBe(404)
      expect((await ok(api.get('/v1/end-users?external_id=ada'))).data).toEqual([])
      const again = await ok(api.post('/v1/end-users', { external_id: 'ada' }))
      expect(again.id).not.toBe(made.id)
    })
  })
})
