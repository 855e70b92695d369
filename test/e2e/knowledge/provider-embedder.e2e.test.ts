import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, openUpstream, type Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { pdfFile } from '#test/support/files/pdf-file.ts'
import { patience } from '../patience.ts'
import { either, World } from '../world.ts'
import { KnowledgeBase } from './knowledge-world.ts'

const chunks = 1_200
/** Chunks per stored part: stored chunks are not embedded again. */
const chunksPerPart = 500

/** Counts of the letters of a text. */
const vectorOf = (text: string): readonly number[] => {
  const counts = Array.from({ length: 32 }, () => 0)
  for (const letter of text.toLowerCase())
    counts[letter.charCodeAt(0) % 32] = (counts[letter.charCodeAt(0) % 32] ?? 0) + 1
  return counts
}

describe.each(either('sqlite'))('an embedding model of a provider for knowledge on $store', ({ store }) => {
  let upstream: Upstream
  let world: World
  /** Texts that each model received. */
  const given: { readonly model: string; readonly text: string }[] = []
  /** Number of batches that will still be answered. */
  let answers = Number.POSITIVE_INFINITY

  const embeds: Answer = (response, { body }) => {
    const texts: readonly string[] = Array.isArray(body.input) ? body.input : [String(body.input)]
    // further batches get no answer, as from a provider that is down; a query is a single text
    if (texts.length > 1 && answers-- <= 0) return
    for (const text of texts) given.push({ model: String(body.model), text })
    const data = texts.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }))
    const usage = { prompt_tokens: texts.length, total_tokens: texts.length }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ object: 'list', data, model: body.model, usage }))
  }

  beforeAll(async () => {
    upstream = await openUpstream()
    upstream.script(embeds)
    world = await World.start({ store, env: { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url } })
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  const choose = async (embedder: string) => {
    const dashboard = await world.dashboard()
    const [project] = (await dashboard.get('/api/projects')).body.data
    const change = { memory: { embedder } }
    expect((await dashboard.post(`/api/projects/${project.id}`, change, { method: 'PATCH' })).status).toBe(200)
  }
  const embeddedBy = (model: string): ReadonlyMap<string, number> => {
    const times = new Map<string, number>()
    for (const { text } of given.filter((each) => each.model === model && each.text.includes('stands in this part')))
      times.set(text, (times.get(text) ?? 0) + 1)
    return times
  }

  it('is named in each answer, and replaces all vectors when it is chosen, also after kill -9', {
    timeout: 300_000,
  }, async () => {
    const base = await KnowledgeBase.create(world.api)
    const text = Array.from({ length: chunks }, (_, n) => `# Part ${n}\n\nMarker${n} stands in this part.`).join('\n\n')
    const source = await base.add({ text })
    expect(source).toMatchObject({ status: 'ready', chunk_count: chunks })
    expect((await base.search('Marker7')).body.embedder).toBeNull()

    const small = 'text-embedding-3-small'
    await choose(small)
    answers = 12
    const search = async (query = 'Marker7') => (await base.as(world.api).search(query, { explain: true })).body
    await expect.poll(async () => (await search()).embedder, patience).toBe(`model/${small}`)
    const hits = async () => search().then(() => answers)
    await expect.poll(hits, patience).toBeLessThan(0)
    expect(embeddedBy(small).size).toBeGreaterThan(chunksPerPart)
    await world.crash()
    answers = Number.POSITIVE_INFINITY
    await world.restart()
    await expect.poll(() => embeddedBy(small).size, patience).toBe(chunks)
    const vectors = async () => (await search('Marker7 stands in this part')).data[0]?.parts?.vector
    await expect.poll(vectors, patience).toBeGreaterThan(0.9)
    const again = [...embeddedBy(small).values()].filter((times) => times > 1)
    expect(again.length).toBeLessThanOrEqual(chunks - chunksPerPart)

    const large = 'text-embedding-3-large'
    await choose(large)
    // without a search: vectors are updated within a minute
    await expect.poll(() => embeddedBy(large).size, { ...patience, timeout: 150_000 }).toBe(chunks)
    await expect.poll(async () => (await search()).embedder, patience).toBe(`model/${large}`)
    await expect.poll(vectors, patience).toBeGreaterThan(0.9)

    await choose('none')
    await expect.poll(async () => (await search()).embedder, patience).toBeNull()
    expect((await search()).data[0].content).toContain('Marker7')
  })

  it('raises all chunks of a page of a PDF file whose lead is near the question', { timeout: 60_000 }, async () => {
    await choose('text-embedding-3-large')
    const base = await KnowledgeBase.create(world.api)
    const rows = (letters: string) => [...Array.from({ length: 8 }, () => letters.repeat(30)), '', '']
    const pages = [
      ['zzzz '.repeat(20), ...rows('ab '), ...rows('ba ')],
      ['xxxx '.repeat(20), ...rows('ba '), ...rows('ab ')],
    ]
    await base.upload('report.pdf', pdfFile(pages))
    const raised = async () => {
      const { body } = await base.search('zzzz', { explain: true, threshold: 0 })
      const pages: number[] = []
      for (const { parts, citation } of body.data) if (parts.page > parts.vector + 0.1) pages.push(citation.page)
      return pages
    }
    await expect.poll(raised, patience).toEqual([1, 1])
  })
})
