import { describe, expect, it } from 'vitest'
import { pageTypeOf } from '#src/pages/content-type.ts'
import { type PageRead, readPage } from '#src/parsing/pages/read-page.ts'
import { cpuMs } from '#test/support/cpu-ms.ts'

const sentence = 'The harbour of the town was built in the spring, and ships have come there since, with timber. '
const body = Array.from({ length: 5 }, (_, n) => `Paragraph ${n}: ${sentence.repeat(3)}`).join('\n\n')

const read = (html: string, format: 'text' | 'markdown' = 'text'): Promise<PageRead> => {
  const bytes = Buffer.from(html)
  const type = pageTypeOf('text/html', bytes)
  if (type === null) throw new Error('no page')
  return readPage({ bytes, type, url: 'https://site.example/', format })
}
const scriptOf = (value: unknown): string =>
  `<script type="application/ld+json">${typeof value === 'string' ? value : JSON.stringify(value)}</script>`
const page = (value: unknown, body = ''): string => `<html><head>${scriptOf(value)}</head><body>${body}</body></html>`

const article = {
  '@type': 'NewsArticle',
  headline: 'Harbour',
  articleBody: body,
  author: [{ '@id': '#ann' }, { name: 'Bob' }],
  datePublished: '2024-03-05T10:00:00Z',
  dateModified: '2024-03-06T10:00:00Z',
}
const person = { '@type': 'Person', '@id': '#ann', name: 'Ann' }

describe('an article in JSON-LD', () => {
  it.each<readonly [string, unknown, string]>([
    ['an object', article, 'Bob'],
    ['a list', [{ '@type': 'Organization' }, article, person], 'Ann, Bob'],
    [
      'a graph',
      { '@context': 'https://schema.org', '@graph': [{ '@type': 'WebPage', datePublished: 'x' }, person, article] },
      'Ann, Bob',
    ],
    ['a graph in a list', [{ '@graph': [article, person] }], 'Ann, Bob'],
  ])('is the content of a page without text, from %s', async (_from, value, author) => {
    const { content, title, publishedAt, modifiedAt, metadata, evidence } = await read(page(value))
    expect(content).toBe(body.trim())
    expect([title, publishedAt, modifiedAt]).toEqual([
      'Harbour',
      '2024-03-05T10:00:00.000Z',
      '2024-03-06T10:00:00.000Z',
    ])
    expect(metadata).toMatchObject({ contentSource: 'json_ld', author })
    for (const span of evidence) expect(content.slice(span.start, span.end)).toBe(span.text)
  })

  it('is the content of a page that shows only its beginning', async () => {
    const { content } = await read(page(article, `<main><p>${sentence}</p><p>Subscribe to read on.</p></main>`))
    expect(content).toBe(body.trim())
  })

  it('is not the content of a page that shows the article', async () => {
    const shown = body.split('\n\n').map((text) => `<p>${text}</p>`)
    const { content, metadata } = await read(
      page({ ...article, articleBody: `${body} And more.` }, `<main>${shown.join('')}</main>`),
    )
    expect(content).not.toContain('And more.')
    expect(metadata).not.toHaveProperty('contentSource')
  })

  it('is read without the tags and references that it contains', async () => {
    const body = `<p>First &amp; foremost.</p><script>alert(1)</script><p>${sentence}</p>`
    const { content } = await read(page({ ...article, articleBody: body.replaceAll('</script>', '<\\/script>') }))
    expect(content).toContain('First & foremost.')
    expect(content).not.toMatch(/alert|</)
  })

  it.each<readonly [string, string]>([
    ['5 MB of one list', `[${'{"headline":"x"},'.repeat(300_000)}{}]`],
    ['graphs in graphs', `${'{"@graph":['.repeat(50_000)}${']}'.repeat(50_000)}`],
    ['100,000 nested lists', '['.repeat(100_000)],
    ['__proto__', '{"__proto__":{"articleBody":"polluted","headline":"polluted"},"constructor":{"prototype":{"x":1}}}'],
    [
      'a body of the wrong type',
      '{"articleBody":{"a":1},"headline":["x"],"author":{"name":{"a":1}},"datePublished":9e99}',
    ],
    ['half an object', '{"articleBody":"x'],
    ['null', 'null'],
  ])('that is %s leaves the page readable', async (_what, value) => {
    const from = cpuMs()
    const { content, title } = await read(page(value, `<main><p>${sentence.repeat(3)}</p></main>`))
    expect(content).toContain('The harbour')
    expect(title).not.toBe('polluted')
    expect(Object.hasOwn(Object.prototype, 'articleBody')).toBe(false)
    expect(cpuMs() - from).toBeLessThan(5_000)
  })
})
