import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '#test/e2e/world.ts'
import { html, Site } from '#test/support/site.ts'

const model = 'simulated-1'

describe('the simulated model, on a server without any key', () => {
  let world: World
  let site: Site
  let openai: OpenAI

  beforeAll(async () => {
    site = await Site.open()
    site.pages.set('/', html('<title>Otters</title><p>Sea otters sleep on their backs and hold hands.</p>'))
    world = await World.start({ env: { ALLOWED_PRIVATE_CONTENT_HOSTS: site.host } })
    openai = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
    await world.api.post('/api/v1/web/crawl', { seeds: [site.url('/')], maxPages: 1 })
  })
  afterAll(async () => {
    await world.stop()
    await site.close()
  })

  it('completes, moderates and reranks', async () => {
    const completion = await openai.completions.create({ model, prompt: 'Hello' })
    expect(completion.choices[0]?.text).toBe('You said: Hello')
    expect((await openai.moderations.create({ model, input: 'kill it' })).results[0]?.flagged).toBe(true)
    const ranked = await world.api.post('/v1/rerank', { model, query: 'a cat', documents: ['a dog', 'a cat'] })
    expect(ranked).toMatchObject({ status: 200, body: { results: [{ index: 1 }, { index: 0 }] } })
  })

  it('searches the web for a question, and cites the page that was found', async () => {
    const tools = [{ type: 'web_search_preview' as const }]
    const { output } = await openai.responses.create({ model, input: 'How do sea otters sleep?', tools })
    const annotation = { type: 'url_citation', url: site.url('/'), title: 'Otters' }
    expect(output).toMatchObject([
      { type: 'web_search_call', status: 'completed' },
      { type: 'message', content: [{ annotations: [annotation] }] },
    ])
  })
})
