import { describe, expect, it } from 'vitest'
import { csvRows, csvText } from '#src/parsing/documents/csv-text.ts'
import { htmlText } from '#src/parsing/documents/html-text.ts'
import { jsonText } from '#src/parsing/documents/json-text.ts'
import { readDocument } from '#src/parsing/documents/read-document.ts'
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
})

it('readDocument reads UTF-16 with a byte order mark', async () => {
  const bytes = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Grüße', 'utf16le')])
  expect((await read(bytes, 'text/plain')).text).toBe('Grüße')
})
