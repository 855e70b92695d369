import { describe, expect, it } from 'vitest'
import { maxExtractedLength, maxPdfPages } from '#specs/resources/knowledge/knowledge-limits.ts'
import { csvRows, csvText } from '#src/parsing/documents/csv-text.ts'
import { htmlText } from '#src/parsing/documents/html/html-text.ts'
import { jsonText } from '#src/parsing/documents/json-text.ts'
import { readDocument, readOrRefused } from '#src/parsing/documents/read-document.ts'
import { docxFile } from '#test/support/files/docx-file.ts'
import { pdfFile } from '#test/support/files/pdf-file.ts'

const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const read = (bytes: Uint8Array | string, mimeType: string) => readDocument({ bytes: Buffer.from(bytes), mimeType })

describe('an HTML page', () => {
  it('becomes Markdown with its headings, lists and tables, without scripts and navigation', () => {
    const html =
      '<title> The  Title </title><nav>Menu</nav><h2>Head</h2><p>One &amp; <b>two</b><br>three</p><ul><li>a<li>b</ul><table><tr><th>x</th><td>y</td></tr></table><script>no()</script><style>no</style><pre>a\n  b</pre>'
    expect(htmlText(html)).toEqual({
      title: 'The Title',
      text: '## Head\n\nOne & two\nthree\n\n- a\n- b\n\nx | y\n\na\n  b',
    })
  })
})

describe('a title', () => {
  it('has at most 500 characters, whatever its document says', async () => {
    const { title } = await read(`<title>${'😀'.repeat(600)}x</title><p>Words.</p>`, 'text/html')
    expect(title).toBe('😀'.repeat(250))
    expect((await read(`<title>x${'😀'.repeat(600)}</title><p>Words.</p>`, 'text/html')).title?.isWellFormed()).toBe(
      true,
    )
  })
})

describe('a CSV file', () => {
  it('is read according to RFC 4180, also with semicolons as separators', () => {
    expect([...csvRows('a,"b ""q""\nc",d\r\n1,,3')]).toEqual([
      ['a', 'b "q"\nc', 'd'],
      ['1', '', '3'],
    ])
    expect([...csvRows('a;b\n1;2\n')]).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ])
    expect([...csvRows('"open')]).toEqual([['open']])
  })

  it('becomes one paragraph per row, with the column names', () => {
    expect(csvText('name,city\nAda,London\nBo,\n')).toBe('name: Ada\ncity: London\n\nname: Bo')
  })
})

describe('a JSON document', () => {
  it('becomes one line per value, with its path', () => {
    expect(jsonText('{"a":{"b":1},"c":["x","y"]}')).toContain('a.b: 1')
    expect(jsonText('{"c":["x","y"]}')).toBe('c: x\nc: y')
    expect(jsonText('"only"')).toBe('only')
  })
})

describe('a Word document', () => {
  it('keeps headings by the name of their style, whatever the style id', async () => {
    const { text, chunks, title } = await read(docxFile(['# Über', 'Eins & zwei.', 'Drei.']), docx)
    expect(text).toBe('# Über\n\nEins & zwei.\n\nDrei.')
    expect(chunks.map(({ heading }) => heading)).toEqual(['Über'])
    expect(title).toBe('Über')
  })
})

describe('a PDF file', () => {
  it('gives each chunk its page, and starts a paragraph at each gap', async () => {
    const { text, chunks, page_count } = await read(
      pdfFile([['One line', 'goes on.', '', '', 'Next.'], ['Last.']]),
      'application/pdf',
    )
    expect(text).toBe('One line goes on.\n\nNext.\n\nLast.')
    expect(chunks.map(({ page, start, end }) => [page, text.slice(start, end)])).toEqual([
      [1, 'One line goes on.\n\nNext.'],
      [2, 'Last.'],
    ])
    expect(page_count).toBe(2)
  })

  it('counts pages without text', async () => {
    const { page_count, chunks } = await read(pdfFile([['First.'], [''], ['Third.'], ['']]), 'application/pdf')
    expect(page_count).toBe(4)
    expect(chunks.map(({ page }) => page)).toEqual([1, 3])
  })
})

describe('a text', () => {
  const text = 'Größe: 1,80 €'
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le')
  const legacy = Buffer.from('Gr\u00f6\u00dfe: 1,80 \u0080', 'latin1')
  const page = (charset: string, body: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from(`<meta charset="${charset}"><p>`), body, Buffer.from('</p>')])

  it.each([
    ['UTF-8', 'text/plain', Buffer.from(text)],
    ['UTF-8 with a byte order mark', 'text/plain', Buffer.from(`\ufeff${text}`)],
    ['UTF-16LE with a byte order mark', 'text/plain', utf16],
    ['UTF-16BE with a byte order mark', 'text/plain', Buffer.from(utf16).swap16()],
    ['windows-1252, if it is not valid UTF-8', 'text/markdown', legacy],
    ['the encoding that a page declares', 'text/html', page('windows-1252', legacy)],
  ])('is read in %s', async (_, mimeType, bytes) => {
    expect((await read(bytes, mimeType)).text).toBe(text)
  })

  it('is read in the encoding that its sender declares, whatever the page declares', async () => {
    const bytes = page('windows-1252', Buffer.from(text))
    expect((await readDocument({ bytes, mimeType: 'text/html', charset: 'utf-8' })).text).toBe(text)
  })

  it('is unreadable if its bytes are those of a binary format', async () => {
    const png = Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1')
    await expect(read(png, 'text/plain')).rejects.toThrow('the bytes are no text')
  })

  it('has its line ends replaced by line feeds', async () => {
    expect((await read('# A\rone\r\ntwo', 'text/markdown')).text).toBe('# A\none\ntwo')
  })
})

describe('a document that is refused', () => {
  const old = Buffer.from('d0cf11e0a1b11ae1', 'hex')
  const hash = `<${'41'.repeat(32)}>`
  const locked = pdfFile([['Secret.']])
    .toString('latin1')
    .replace(
      '/Root 1 0 R',
      `/Root 1 0 R /ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /O ${hash} /U ${hash} /P -4 >>`,
    )

  it.each([
    ['too_much_text', 'text/plain', 'a'.repeat(maxExtractedLength + 1)],
    ['too_much_text', 'application/json', JSON.stringify({ ['k'.repeat(200)]: Array(110_000).fill(0) })],
    ['too_many_pages', 'application/pdf', pdfFile(Array.from({ length: maxPdfPages + 1 }, () => ['x']))],
    ['password_protected', 'application/pdf', Buffer.from(locked, 'latin1')],
    ['old_office_format', docx, old],
  ])('gives the reason %s (%s)', { timeout: 30_000 }, async (refused, mimeType, bytes) => {
    expect(await readOrRefused({ bytes: Buffer.from(bytes), mimeType })).toEqual({ refused })
  })
})
