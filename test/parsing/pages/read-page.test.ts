import { describe, expect, it } from 'vitest'
import { pageTypeOf } from '#src/pages/content-type.ts'
import { type PageRead, readPage } from '#src/parsing/pages/read-page.ts'

const url = 'https://site.example/2024/03/05/article'
const sentence =
  'The harbour of the town was built in the spring, and ships have come there since, with timber and salt. '
const paragraph = (n: number): string => `<p>Paragraph ${n}: ${sentence.repeat(3)}</p>`
const article = [1, 2, 3, 4].map(paragraph).join('\n')

const read = async (text: string, type = 'text/html', format: 'text' | 'markdown' = 'text'): Promise<PageRead> => {
  const bytes = Buffer.from(text)
  const pageType = pageTypeOf(type, bytes)
  if (pageType === null) throw new Error('no page')
  return readPage({ bytes, type: pageType, url, format })
}
const page = (body: string, head = ''): string =>
  `<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>`

describe('the text of a page', () => {
  it('is its article without the surrounding elements', async () => {
    const { content } = await read(
      page(`
        <nav><ul><li><a href="/">Home</a></li></ul></nav>
        <div class="cookie-banner">We use cookies for many reasons, accept them all please.</div>
        <main><h1>Harbour</h1>${article}
          <div class="share-buttons">Share this on all networks</div>
          <ul><li><a href="/a">Another article about ships</a></li><li><a href="/b">One more article</a></li></ul>
          <div style="display:none">Hidden words</div>
          <form><label>Subscribe to our letter</label></form>
        </main>
        <aside>Most read this week</aside><footer>Copyright of the town</footer>
        <script>var secret = 'script words'</script><style>.style-words{}</style>`),
    )
    for (const n of [1, 2, 3, 4]) expect(content).toContain(`Paragraph ${n}:`)
    expect(content).not.toMatch(
      /Home|cookies|Share|Another|Hidden|Subscribe|Most read|Copyright|script words|style-words/,
    )
  })

  it.each([
    ['Related articles: the tide', 'This entry was posted in Ships on Monday'],
    ['Lesen sie auch: die Flut', 'Kommentare geschlossen'],
    ['Lire aussi : la marée', '© 2026 Le Port'],
  ])('excludes boilerplate lines such as %s', async (first, last) => {
    const words = 'The harbour opens at six in the morning, and ships come in with the tide, carrying timber and salt. '
    const more =
      'Readers may read more about it: related articles were written of the harbour when it was built in spring. '
    const html = `<main><p>${words.repeat(5)}</p><p>${first}</p><p>${more.repeat(4)}</p><p>${last}</p></main>`
    const { content } = await read(page(html))
    expect([content.includes(first), content.includes(last)]).toEqual([false, false])
    expect(content).toContain('related articles were written')
  })

  it('begins with the lead under its title, not with the byline, a caption or links', async () => {
    const lead = 'After forty years of planning the town has a harbour, and the first ships came before it was opened.'
    const { content } = await read(
      page(`<header><h1>Harbour</h1>
          <p>By Anna Smith, our correspondent for ports and everything else that is near to the sea</p>
          <div class="intro"><strong>${lead}</strong></div>
          <p><a href="/a">A list of all harbours of the coast that were built in the last hundred years</a></p>
          <p>The harbour on the morning of its opening, seen from above the town. Photo: Anna Smith</p></header>
        <main><article><div class="text">${article}</div></article></main>`),
    )
    expect(content.startsWith(lead)).toBe(true)
    for (const n of [1, 2, 3, 4]) expect(content).toContain(`Paragraph ${n}:`)
    expect(content).not.toMatch(/Anna Smith|list of all/)
  })

  it('includes the description of the page, even if its element is called a teaser', async () => {
    const lead = 'What a harbour costs a town that never had one, and who pays for it in the years to come.'
    const { content } = await read(
      page(
        `<h1>Harbour</h1><div class="teaser-box"><p>${lead}</p></div><main>${article}</main>
         <div class="teaser"><a href="/b">Another harbour</a></div>`,
        `<meta name="description" content="${lead}">`,
      ),
    )
    expect(content.split(lead)).toHaveLength(2)
    expect(content).not.toContain('Another harbour')
  })

  it.each([
    'Weitere Informationen: www.harbour.example',
    '» Lesen Sie auch: Schiffe im Hafen',
    'Te puede interesar: los barcos',
    'Foto: Anna Smith',
    'Ships at the pier on Monday. © Anna Smith/Getty Images',
    'This article is the copyrighted property of the town.',
    '- Anzeige -',
  ])('excludes the line "%s"', async (line) => {
    const { content } = await read(page(`<main>${article}<p>${line}</p>${paragraph(5)}</main>`))
    expect(content).toContain('Paragraph 5:')
    expect(content).not.toContain(line)
  })

  it('keeps sentences that only begin like such lines', async () => {
    const line = 'Photographs of the harbour were taken for years.'
    const { content } = await read(page(`<main>${article}<p>${line}</p>${paragraph(5)}</main>`))
    expect(content).toContain(line)
  })

  it('excludes pictures with captions and author boxes', async () => {
    const { content } = await read(
      page(`<main>${article}<figure><img src="/a.png"><span class="note">The pier at noon</span></figure>
        <div class="post-author-box"><p>Anna lives by the sea and writes of it.</p></div>${paragraph(5)}</main>`),
    )
    expect(content).not.toMatch(/pier at noon|Anna lives/)
  })

  it('includes what follows an SVG with an empty title', async () => {
    const { content } = await read(page(`<main><svg><title/><path d="M0 0"/></svg>${article}</main>`))
    expect(content).toContain('Paragraph 4:')
  })

  it('is the whole page if it has no article', async () => {
    expect((await read(page('<p>Just a line.</p><p>And another.</p>'))).content).toBe('Just a line.\n\nAnd another.')
  })

  it('is Markdown on request, with absolute links, lists, code and tables', async () => {
    const rich = `${article}<h2>Tide</h2><p>See <a href="/tide">the <b>tide</b></a> now, since it is <em>high</em>.</p>
      <ol><li>First come the large ships</li><li>Then come all small boats</li></ol><pre>a  b\n  c</pre>
      <table><tr><th>Day</th><th>Ships</th></tr><tr><td>Mon</td><td>4 | 5</td></tr></table><blockquote>It was said.</blockquote>`
    const { content } = await read(page(`<main>${rich}</main>`), 'text/html', 'markdown')
    expect(content).toContain('## Tide')
    expect(content).toContain('See [the **tide**](https://site.example/tide) now, since it is *high*.')
    expect(content).toContain('1. First come the large ships\n2. Then come all small boats')
    expect(content).toContain('```\na  b\n  c\n```')
    expect(content).toContain('| Day | Ships |\n| --- | --- |\n| Mon | 4 \\| 5 |')
    expect(content).toContain('> It was said.')
  })

  it.each<readonly [string, string, string]>([
    ['application/json', '{"a": 1}', '{"a": 1}'],
    ['text/plain', 'one\r\ntwo', 'one\ntwo'],
    ['text/markdown', '# Title\n\nText', '# Title\n\nText'],
    [
      'application/rss+xml',
      '<rss><item><title>News</title><description><![CDATA[<p>Words</p>]]></description></item></rss>',
      'Words',
    ],
  ])('of %s is its content', async (type, text, content) => {
    expect((await read(text, type)).content).toContain(content)
  })

  it('has evidence spans with exact offsets and unique ids', async () => {
    for (const format of ['text', 'markdown'] as const) {
      const long = `<p>${sentence.repeat(40)}</p><p>日本語の文です。😀 とても短い。</p>`
      const { content, evidence } = await read(
        page(`<main>${article}${long}<ul><li>An item of a list</li></ul></main>`),
        'text/html',
        format,
      )
      expect(evidence.length).toBeGreaterThan(6)
      for (const { id, text, start, end } of evidence) {
        expect(content.slice(start, end)).toBe(text)
        expect(id).toMatch(/^ev_[0-9a-z]{26}$/)
        expect(text.length).toBeLessThanOrEqual(600)
      }
      expect(new Set(evidence.map(({ id }) => id)).size).toBe(evidence.length)
      expect(evidence.map(({ text }) => text).join(' ').length).toBeGreaterThan(content.length * 0.97)
    }
  })

  it('has the same evidence when it is read again', async () => {
    const [one, two] = await Promise.all([read(page(article)), read(page(article))])
    expect(one.evidence).toEqual(two.evidence)
  })
})

describe('the metadata of a page', () => {
  it('is read from Open Graph, meta elements and links', async () => {
    const head = `<title>Plain &amp; title</title><meta property="og:title" content="Harbour &quot;1&quot;"><meta name="description" content="About it">
      <link rel="canonical" href="/harbour"><meta property="article:published_time" content="2024-03-04T10:00:00+02:00">
      <meta property="article:modified_time" content="2024-03-06T10:00:00Z"><meta name="author" content="Ada"><meta name="keywords" content="a, b">
      <meta name="robots" content="NoIndex, nofollow"><link rel="alternate" type="application/rss+xml" href="/feed">`
    expect(await read(page(article, head))).toMatchObject({
      ...{ title: 'Harbour "1"', description: 'About it', language: 'en', canonical: 'https://site.example/harbour' },
      ...{
        publishedAt: '2024-03-04T08:00:00.000Z',
        modifiedAt: '2024-03-06T10:00:00.000Z',
        robots: ['noindex', 'nofollow'],
      },
      metadata: { author: 'Ada', keywords: ['a', 'b'], feeds: ['https://site.example/feed'] },
    })
  })

  it('is read from JSON-LD, also within a graph and next to invalid JSON-LD', async () => {
    const graph = {
      '@graph': [
        { '@type': 'WebSite' },
        { headline: 'H', datePublished: '2023-01-02', dateModified: '2023-02-02', author: [{ name: 'Bob' }] },
      ],
    }
    const head = `<script type="application/ld+json">{broken</script><script type="application/ld+json">${JSON.stringify(graph)}</script>`
    expect(await read(page(article, head))).toMatchObject({
      ...{ title: 'H', publishedAt: '2023-01-02T00:00:00.000Z', modifiedAt: '2023-02-02T00:00:00.000Z' },
      metadata: { author: 'Bob' },
    })
  })

  it.each<readonly [string, string, string | null]>([
    ['a time element', '<time datetime="2022-05-06T00:00:00Z">May</time>', '2022-05-06T00:00:00.000Z'],
    ['the address, when nothing else says it', '', '2024-03-05T00:00:00.000Z'],
    [
      'no time that is none',
      '<meta name="date" content="yesterday"><time datetime="99999-01-01">x</time>',
      '2024-03-05T00:00:00.000Z',
    ],
  ])('takes the publication time from %s', async (_what, body, time) => {
    expect((await read(page(`${body}${article}`))).publishedAt).toBe(time)
  })

  it('includes each link once, as an absolute URL, and whether it is nofollow', async () => {
    const body = `${article}<a href="/x#1">X</a><a href="/x#2">again</a><a href="mailto:a@b.c">m</a><a rel="ugc" href="//other.example/">O</a><a href="javascript:x">j</a>`
    expect((await read(page(body, '<base href="https://base.example/d/">'))).links).toEqual([
      { url: 'https://base.example/x', text: 'X', nofollow: false },
      { url: 'https://other.example/', text: 'O', nofollow: true },
    ])
  })
})

describe('what a page says of itself', () => {
  it('is bounded, and its language is one', async () => {
    const long = 'word '.repeat(100_000)
    const head = `<meta property="og:title" content="${long}"><meta name="description" content="${long}">`
    const { title, description, language, links } = await read(
      page(`${article}<a href="/?${'a'.repeat(4_096)}">far</a><a href="/near">near</a>`, head).replace(
        'lang="en"',
        `lang="en${'-x'.repeat(100_000)}"`,
      ),
    )
    expect([title.length, description.length, language]).toEqual([500, 2_000, null])
    expect(links.map((link) => link.url)).toEqual(['https://site.example/near'])
    expect((await read(page(article).replace('lang="en"', 'lang="zh-Hant-TW"'))).language).toBe('zh-Hant-TW')
  })
})
