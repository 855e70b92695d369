import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { docxFile } from '#test/support/files/docx-file.ts'
import { pdfFile } from '#test/support/files/pdf-file.ts'
import { either, World } from '../world.ts'
import { KnowledgeBase } from './knowledge-world.ts'

const limit = { timeout: 60_000 }
const handbook = [
  '# Refunds',
  '',
  'Customers may return goods within thirty days of the purchase.',
  '',
  '# Shipping',
  '',
  'Parcels to Norway travel with carrier pigeons.',
].join('\n')

describe.each(either('sqlite'))('a knowledge base on $store', ({ store }) => {
  let world: World
  let base: KnowledgeBase

  beforeAll(async () => {
    world = await World.start({ store })
    base = await KnowledgeBase.create(world.api, { metadata: { team: 'support' } })
  })
  afterAll(() => world.stop())

  it('is created, listed, changed and deleted with all its data', limit, async () => {
    const doomed = await KnowledgeBase.create(world.api, { name: 'Doomed' })
    const word = 'zanzibarian'
    const source = await doomed.add({ text: `The ${word} archive closes at noon.` })
    expect(source).toMatchObject({ status: 'ready', chunk_count: 1, type: 'text' })
    expect(await world.mentions(word)).not.toEqual({})
    const changed = await world.api.post(doomed.path, { name: 'Renamed', description: 'Old' }, { method: 'PATCH' })
    expect(changed.body).toMatchObject({ name: 'Renamed', description: 'Old' })
    expect((await world.api.get('/v1/knowledge-bases?limit=50')).body.data).toContainEqual(changed.body)
    expect((await world.api.get(doomed.path)).body).toEqual(changed.body)
    expect((await world.api.get(doomed.path, { method: 'DELETE' })).body).toEqual({ id: doomed.id, deleted: true })
    expect((await doomed.search(word)).status).toBe(404)
    await expect.poll(() => world.mentions(word), { timeout: 30_000, interval: 250 }).toEqual({})
  })

  it('finds the answer to a question, and cites the exact range', limit, async () => {
    const source = await base.add({ text: handbook, title: 'Handbook', metadata: { lang: 'en' } })
    const { body } = await base.search('Can I return something after two weeks?')
    const [hit] = body.data
    const text = (await world.api.get(`${base.path}/sources/${source.id}/text`)).body
    expect(text).toBe(handbook)
    expect(hit.content).toBe(text.slice(hit.citation.start, hit.citation.end))
    expect(hit).toMatchObject({ source_id: source.id, heading: 'Refunds', citation: { title: 'Handbook' } })
    expect(body.abstained).toBe(false)
    expect((await base.search('quantum chromodynamics')).body).toMatchObject({ data: [], abstained: true })
  })

  it('accepts a query of 20,000 characters, and finds what its last words say', limit, async () => {
    const letters = await KnowledgeBase.create(world.api)
    await letters.add({ text: handbook })
    for (const filler of ['paper and string, ', '紙と紐、', 'กระดาษและเชือก ']) {
      const query = `${filler.repeat(20_000).slice(0, 19_960)} pigeons to Norway?`
      const { status, body } = await letters.search(query)
      expect(status).toBe(200)
      expect(body.data[0].content).toContain('carrier pigeons')
    }
    expect((await letters.search('a'.repeat(20_001))).status).toBe(422)
  })

  it('reads presentations, workbooks and books, and cites the slide and the sheet', limit, async () => {
    const office = await KnowledgeBase.create(world.api)
    const file = (name: string) => readFileSync(new URL(`../../parsing/documents/files/${name}`, import.meta.url))
    for (const name of ['slides.pptx', 'fleet.xlsx', 'novel.epub'])
      expect(await office.upload(name, file(name))).toMatchObject({ status: 'ready', filename: name })
    const first = async (query: string) => (await office.search(query)).body.data[0]
    expect(await first('How many cranes lift containers?')).toMatchObject({ heading: 'Cranes', citation: { page: 2 } })
    expect(await first('When was Aurora built?')).toMatchObject({
      heading: 'Ships',
      content: expect.stringContaining('2019-03-01'),
    })
    expect(await first('keeper arrived')).toMatchObject({ heading: 'Arrival', citation: { title: 'The Lighthouse' } })
    expect(await office.upload('a.xlsx', file('novel.epub'))).toMatchObject({
      status: 'failed',
      error: { code: 'unreadable' },
    })
  })

  it('ranks the document named in the question first, by its title or file name', limit, async () => {
    const reports = await KnowledgeBase.create(world.api)
    const text = 'Net revenues rose to a record, and the company hired in every region.'
    const sources = new Map<string, string>()
    for (const year of ['2017', '2018', '2019'])
      sources.set(year, (await reports.upload(`BESTBUY_${year}_10K.txt`, text)).id)
    const firstFor = async (query: string) => (await reports.search(query)).body.data[0].source_id
    for (const [year, id] of sources) expect(await firstFor(`Net revenues of Best Buy in FY${year}?`)).toBe(id)
    const renamed = sources.get('2017') ?? ''
    await world.api.post(`${reports.path}/sources/${renamed}`, { title: 'Draft of 2031' }, { method: 'PATCH' })
    await expect.poll(() => firstFor('net revenues in the draft of 2031')).toBe(renamed)
  })

  it('applies filters before ranking', limit, async () => {
    const filtered = await KnowledgeBase.create(world.api)
    for (let copy = 0; copy < 6; copy++)
      await filtered.add({ text: `Otters otters otters ${copy}`, metadata: { lang: 'en' } })
    const rare = await filtered.add({
      text: 'A long text that names otters once.',
      metadata: { lang: 'de', tags: ['a', 'b'] },
    })
    for (const filter of [{ lang: 'de' }, { lang: ['fr', 'de'] }, { tags: 'b' }, { source_id: rare.id }]) {
      const { data } = (await filtered.search('otters', { filter, top_k: 1 })).body
      expect(data.map(({ source_id }: { source_id: string }) => source_id)).toEqual([rare.id])
    }
    expect((await filtered.search('otters', { filter: { lang: 'xx' } })).body).toMatchObject({
      data: [],
      abstained: true,
    })
  })

  it('reads files of every supported type, with page numbers for PDF files', limit, async () => {
    const files = await KnowledgeBase.create(world.api)
    const sources = [
      await files.upload('a.txt', 'The alpaca sleeps.'),
      await files.upload('b.md', '# Barn\n\nThe badger digs.'),
      await files.upload(
        'c.html',
        '<title>Cats</title><h1>Cows</h1><p>The camel <b>drinks</b>.</p><script>evil()</script>',
      ),
      await files.upload('d.pdf', pdfFile([['First page about nothing.'], ['The dolphin swims.']])),
      await files.upload('e.docx', docxFile(['# Elephants', 'The elephant remembers.'])),
      await files.upload('f.csv', 'animal,does\nfox,"jumps, often"\n'),
      await files.upload('g.json', '{"animals":[{"name":"giraffe","does":"stretches"}]}', {
        metadata: '{"kind":"json"}',
      }),
    ]
    expect(sources.map(({ status, error }) => [status, error])).toEqual(sources.map(() => ['ready', null]))
    const found = []
    for (const query of ['alpaca', 'badger', 'camel', 'dolphin', 'elephant', 'fox', 'giraffe']) {
      const [hit] = (await files.search(query)).body.data
      const text = (await world.api.get(`${files.path}/sources/${hit.source_id}/text`)).body
      expect(hit.content).toBe(text.slice(hit.citation.start, hit.citation.end))
      found.push([hit.source_id, hit.citation.page])
    }
    expect(found).toEqual(sources.map(({ id }, index) => [id, index === 3 ? 2 : undefined]))
    expect(sources[2]).toMatchObject({ title: 'Cats', mime_type: 'text/html' })
    expect(sources[3]).toMatchObject({ page_count: 2, filename: 'd.pdf' })
    expect(sources[6]).toMatchObject({ metadata: { kind: 'json' } })
  })

  it('keeps the ids of unchanged chunks after a sync, and changes nothing for the same content', limit, async () => {
    const sections = Array.from({ length: 12 }, (_, n) => `# Part ${n}\n\n${`Sentence ${n} of this part. `.repeat(30)}`)
    const source = await base.add({ text: sections.join('\n\n') })
    const before = (await base.chunks(source.id)).map(({ id }) => id)
    const path = `${base.path}/sources/${source.id}/sync`
    const same = (await world.api.post(path, { text: sections.join('\n\n') })).body
    expect(same).toMatchObject({
      checksum: source.checksum,
      changes: { added: 0, removed: 0, unchanged: before.length },
    })
    const edited = sections.with(3, '# Part 3\n\nSomething else entirely.').join('\n\n')
    await world.api.post(path, { text: edited })
    const { changes } = await base.settled(source.id)
    const after = (await base.chunks(source.id)).map(({ id }) => id)
    const kept = after.filter((id) => before.includes(id))
    expect(changes).toEqual({ added: 1, removed: before.length - kept.length, unchanged: kept.length })
    expect(kept).toHaveLength(after.length - 1)
    expect(changes.removed).toBeLessThan(before.length / 4)
  })

  it('changes, lists and removes a source', limit, async () => {
    const own = await KnowledgeBase.create(world.api)
    const source = await own.add({ text: 'The walrus waits.' })
    const path = `${own.path}/sources/${source.id}`
    const { body } = await world.api.post(path, { title: 'Walruses', metadata: { a: 1 } }, { method: 'PATCH' })
    expect(body).toMatchObject({ title: 'Walruses', metadata: { a: 1 }, status: 'ready' })
    expect((await own.search('walrus')).body.data[0].citation.title).toBe('Walruses')
    expect((await world.api.get(`${own.path}/sources?status=ready`)).body.data).toHaveLength(1)
    expect((await world.api.get(`${own.path}/sources?status=failed`)).body.data).toEqual([])
    expect((await world.api.get(path, { method: 'DELETE' })).body).toEqual({ id: source.id, deleted: true })
    expect((await world.api.get(path)).status).toBe(404)
    expect((await own.search('walrus')).body.data).toEqual([])
  })

  it('refuses invalid sources with the field, and fails for files that it cannot read', limit, async () => {
    const refused = async (body: object) => {
      const answer = await world.api.post(`${base.path}/sources`, body)
      return [answer.status, answer.body.error.param]
    }
    expect(await refused({})).toEqual([422, 'text'])
    expect(await refused({ text: 'a', url: 'https://example.com' })).toEqual([422, 'text'])
    expect(await refused({ url: 'http://127.0.0.1/' })).toEqual([422, 'url'])
    expect(await refused({ text: 'a', mime_type: 'image/png' })).toEqual([422, 'mime_type'])
    const url = 'https://example.com'
    expect(await refused({ url, mime_type: 'text/html' })).toEqual([422, 'mime_type'])
    expect(await refused({ text: 'a', refresh_interval_s: 600 })).toEqual([422, 'refresh_interval_s'])
    const { id } = await base.add({ text: 'Stays as it is.', refresh_interval_s: null })
    const change = { refresh_interval_s: 600 }
    const changed = await world.api.post(`${base.path}/sources/${id}`, change, { method: 'PATCH' })
    expect([changed.status, changed.body.error?.param]).toEqual([422, 'refresh_interval_s'])
    const archive = await base.form(`${base.path}/sources`, 'a.zip', 'x')
    expect([archive.status, archive.body.error.param]).toEqual([415, 'file'])
    const garbage = await base.upload('a.pdf', Buffer.alloc(2000, 7))
    expect(garbage).toMatchObject({ status: 'failed', error: { code: 'unreadable' } })
    const blank = await base.upload('a.txt', ' '.repeat(3_000_000))
    expect(blank).toMatchObject({ status: 'failed', error: { code: 'no_text' } })
  })
})
