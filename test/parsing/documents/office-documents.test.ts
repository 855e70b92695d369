import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readDocument, readOrRefused } from '#src/parsing/documents/read-document.ts'
import { docxFile } from '#test/support/files/docx-file.ts'
import { zipFile } from '#test/support/files/zip-file.ts'

const office = 'application/vnd.openxmlformats-officedocument'
const [pptx, xlsx, docx, epub] = [
  `${office}.presentationml.presentation`,
  `${office}.spreadsheetml.sheet`,
  `${office}.wordprocessingml.document`,
  'application/epub+zip',
]
const bytesOf = (name: string): Buffer => readFileSync(new URL(`./files/${name}`, import.meta.url))
const xmlns = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'

/** A workbook of one sheet with this XML. */
const bookOf = (sheet: string): Record<string, string> => ({
  'xl/workbook.xml': `<workbook ${xmlns}><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels':
    '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
  'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
})

const slides = (count: number): Buffer => {
  const numbers = Array.from({ length: count }, (_, n) => n + 1)
  return zipFile({
    'ppt/presentation.xml': `<p:presentation ${xmlns}><p:sldIdLst>${numbers.map((n) => `<p:sldId id="${n}" r:id="r${n}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': `<Relationships>${numbers.map((n) => `<Relationship Id="r${n}" Target="slides/slide${n}.xml"/>`).join('')}</Relationships>`,
    ...Object.fromEntries(
      numbers.map((n) => [
        `ppt/slides/slide${n}.xml`,
        `<p:sld><p:sp><a:p><a:r><a:t>Word ${n}</a:t></a:r></a:p></p:sp></p:sld>`,
      ]),
    ),
  })
}

describe('a Word document', () => {
  it('has text that was moved, and text of a box that is stored twice for older programs, once', async () => {
    const run = (text: string): string => `<w:r><w:t>${text}</w:t></w:r>`
    const box = `<w:txbxContent><w:p>${run('Box.')}</w:p></w:txbxContent>`
    const body = [
      `<w:p>${run('One.')}<w:moveFrom>${run('Moved.')}</w:moveFrom></w:p><w:p><w:moveTo>${run('Moved.')}</w:moveTo></w:p>`,
      `<w:p><mc:AlternateContent><mc:Choice>${box}</mc:Choice><mc:Fallback>${box}</mc:Fallback></mc:AlternateContent></w:p>`,
    ]
    const bytes = zipFile({ 'word/document.xml': `<w:document><w:body>${body.join('')}</w:body></w:document>` })
    expect((await readDocument({ bytes, mimeType: docx })).text).toBe('One.\n\nMoved.\n\nBox.')
  })

  it('has its footnotes and endnotes behind the paragraphs and tables that refer to them, and no comments', async () => {
    const run = (text: string): string => `<w:r><w:t>${text}</w:t></w:r>`
    const reference = (kind: string, id: number): string => `<w:r><w:${kind}Reference w:id="${id}"/></w:r>`
    const note = (kind: string, id: number, ...texts: readonly string[]): string =>
      `<w:${kind} w:id="${id}">${texts.map((text) => `<w:p><w:r><w:${kind}Ref/></w:r>${run(text)}</w:p>`).join('')}</w:${kind}>`
    const cell = (content: string): string => `<w:tc><w:p>${content}</w:p></w:tc>`
    const hidden = `<w:r><w:rPr><w:vanish/></w:rPr><w:footnoteReference w:id="6"/></w:r>`
    const body = [
      `<w:p><w:pPr><w:pStyle w:val="h"/></w:pPr>${run('Trade')}${reference('footnote', 2)}</w:p>`,
      `<w:p>${run('Grain')}${reference('footnote', 3)}${run(' and salt.')}${reference('endnote', 2)}${reference('footnote', 3)}</w:p>`,
      `<w:tbl><w:tr>${cell(`${run('North')}${reference('footnote', 4)}`)}${cell(run('14 m'))}</w:tr></w:tbl>`,
      `<w:p>${run('End.')}<w:del>${reference('footnote', 5)}</w:del>${hidden}${reference('footnote', 99)}</w:p>`,
    ]
    const bytes = zipFile({
      'word/document.xml': `<w:document><w:body>${body.join('')}</w:body></w:document>`,
      'word/styles.xml': '<w:styles><w:style w:styleId="h"><w:name w:val="heading 1"/></w:style></w:styles>',
      'word/footnotes.xml': `<w:footnotes>${[
        note('footnote', 2, 'By the harbour.'),
        note('footnote', 3, ' Of 2026.', 'In tons.'),
        note('footnote', 4, 'The old berth.'),
        note('footnote', 5, 'Deleted.'),
        note('footnote', 6, 'Hidden.'),
        note('footnote', 7, 'Without a reference.'),
      ].join('')}</w:footnotes>`,
      'word/endnotes.xml': `<w:endnotes>${note('endnote', 2, 'See the annex.')}</w:endnotes>`,
      'word/comments.xml': `<w:comments><w:comment w:id="2"><w:p>${run('Wrong?')}</w:p></w:comment></w:comments>`,
    })
    const { text, title } = await readDocument({ bytes, mimeType: docx })
    expect(title).toBe('Trade')
    expect(text.split('\n\n')).toEqual([
      '# Trade',
      '[^1]: By the harbour.',
      'Grain[^2] and salt.[^3]',
      '[^2]: Of 2026. In tons.',
      '[^3]: See the annex.',
      'North[^4] | 14 m',
      '[^4]: The old berth.',
      'End.',
    ])
  })
})

describe('a presentation', () => {
  it('has a heading and a page for each slide, with tables and notes, without those that are hidden', async () => {
    const { text, title, page_count, chunks } = await readDocument({ bytes: bytesOf('slides.pptx'), mimeType: pptx })
    expect(text).toBe(
      [
        '# Harbour report\n\nSpring 2026',
        '# Cranes\n\nNine cranes lift containers.\n\nTwo wait for repair.\n\nMention the strike in May.',
        '# Slide 3\n\nBerth | Depth\nNorth | 14 m',
        '# الميناء\n\nتسع رافعات ترفع الحاويات.\n\n港には九つのクレーンがある。',
      ].join('\n\n'),
    )
    expect({ title, page_count }).toEqual({ title: 'Harbour deck', page_count: 5 })
    expect(chunks.map(({ page, heading }) => [page, heading])).toEqual([
      [1, 'Harbour report'],
      [2, 'Cranes'],
      [3, 'Slide 3'],
      [5, 'الميناء'],
    ])
    for (const { start, heading } of chunks) expect(text.slice(start)).toMatch(`# ${heading}`)
  })

  it('may have 1,000 slides, and is refused with more than 5,000', async () => {
    const read = await readDocument({ bytes: slides(1_000), mimeType: pptx })
    expect(read.page_count).toBe(1_000)
    expect(read.chunks.at(-1)).toMatchObject({ page: 1_000, heading: 'Slide 1000' })
    expect(await readOrRefused({ bytes: slides(5_001), mimeType: pptx })).toEqual({ refused: 'too_many_pages' })
  })
})

describe('a workbook', () => {
  it('has a heading for each sheet and a paragraph for each row, with names, dates and numbers as shown', async () => {
    const { text, title, chunks } = await readDocument({ bytes: bytesOf('fleet.xlsx'), mimeType: xlsx })
    expect(text).toBe(
      [
        '# Ships',
        'Name: Aurora\nBuilt: 2019-03-01\nLength: 182.5\nHome: Bergen',
        'Name: 海鷗\nBuilt: 2021-11-30\nLength: 0.3\nHome: בית',
        '# Prices',
        'Prices of 2026',
        'Item: Rope\nCrowns: 12',
        'Item: Paid\nCrowns: TRUE',
      ].join('\n\n'),
    )
    expect(title).toBe('Fleet')
    expect(chunks.map(({ heading }) => heading)).toEqual(['Ships', 'Prices'])
  })

  it('does not make headings of its cells', async () => {
    const row = (text: string) => `<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`
    const { chunks } = await readDocument({ bytes: zipFile(bookOf(row('# No') + row('## No'))), mimeType: xlsx })
    expect(chunks.map(({ heading }) => heading)).toEqual(['One'])
  })

  it('is refused when its cells repeat a long text too often', async () => {
    const strings = `<sst><si><t>${'long '.repeat(20_000)}</t></si></sst>`
    const sheet = bookOf(`<row>${'<c t="s"><v>0</v></c>'.repeat(1_000)}</row>`)
    const bytes = zipFile({ ...sheet, 'xl/sharedStrings.xml': strings })
    expect(await readOrRefused({ bytes, mimeType: xlsx })).toEqual({ refused: 'too_much_text' })
  })

  it('is refused with more than a million cells', { timeout: 60_000 }, async () => {
    const bytes = zipFile(bookOf(`<row>${'<c><v>1</v></c>'.repeat(1_000_001)}</row>`))
    expect(await readOrRefused({ bytes, mimeType: xlsx })).toEqual({ refused: 'too_many_cells' })
  })
})

describe('an electronic book', () => {
  it('is read in the order of its documents, without text that is hidden', async () => {
    const { text, title, chunks } = await readDocument({ bytes: bytesOf('novel.epub'), mimeType: epub })
    expect(text).toBe(
      '# Arrival\n\nThe keeper arrived in October.\n\n# Storm\n\nThe lamp went out twice & was lit again.\n\n# 終わり\n\n灯台は今も光っている。',
    )
    expect(title).toBe('The Lighthouse')
    expect(chunks.map(({ heading }) => heading)).toEqual(['Arrival', 'Storm', '終わり'])
  })

  it('is refused when it is encrypted, but not for its fonts', async () => {
    const bookWith = (algorithm: string) =>
      zipFile({
        'META-INF/container.xml': '<container><rootfile full-path="b.opf"/></container>',
        'META-INF/encryption.xml': `<encryption><EncryptionMethod Algorithm="${algorithm}"/></encryption>`,
        'b.opf':
          '<package><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><itemref idref="a"/></package>',
        'a.xhtml': '<!DOCTYPE html [<!ENTITY a "aaaa">]><p>Plain.</p>',
      })
    const read = (algorithm: string) => readOrRefused({ bytes: bookWith(algorithm), mimeType: epub })
    expect(await read('http://www.w3.org/2001/04/xmlenc#aes128-cbc')).toEqual({ refused: 'password_protected' })
    expect(await read('http://www.idpf.org/2008/embedding')).toMatchObject({ text: 'Plain.' })
  })

  it('reads each document once, and none from outside the archive', async () => {
    const opf = `<package>${'<itemref idref="a"/>'.repeat(1_000)}<itemref idref="b"/><itemref idref="c"/>
      <item id="a" href="a.xhtml#x" media-type="text/html"/><item id="b" href="../../../../etc/passwd" media-type="text/html"/>
      <item id="c" href="file:///etc/passwd" media-type="text/html"/></package>`
    const bytes = zipFile({
      'META-INF/container.xml': '<container><rootfile full-path="x/b.opf"/></container>',
      ...{ 'x/b.opf': opf, 'x/a.xhtml': '<p>Once.</p>' },
    })
    expect(await readDocument({ bytes, mimeType: epub })).toMatchObject({ text: 'Once.' })
    const climbing = zipFile({ '../../etc/passwd.xhtml': '<p>No.</p>' })
    await expect(readDocument({ bytes: climbing, mimeType: epub })).rejects.toThrow('invalid relative path')
  })
})

describe('a zipped document', () => {
  const entity = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'

  it.each([
    ['docx', docx, { 'word/document.xml': `${entity}<w:document><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:document>` }],
    ['xlsx', xlsx, { ...bookOf(''), 'xl/sharedStrings.xml': `${entity}<sst><si><t>&b;</t></si></sst>` }],
    ['pptx', pptx, { 'ppt/presentation.xml': `${entity}<p:presentation/>` }],
  ])('that declares entities is refused (%s)', async (_, mimeType, entries) => {
    expect(await readOrRefused({ bytes: zipFile(entries), mimeType })).toEqual({ refused: 'declares_entities' })
  })

  it.each([
    ['docx', docx, 'word/document.xml'],
    ['xlsx', xlsx, 'xl/workbook.xml'],
    ['pptx', pptx, 'ppt/slides/slide1.xml'],
    ['epub', epub, 'a.xhtml'],
  ])('that unpacks to too much is refused before it is unpacked (%s)', async (_, mimeType, path) => {
    const packed = zipFile({ [path]: 'small' })
    // what the directory of the archive declares is the size of the entry: nearly 4 GB
    packed.writeUInt32LE(0xfffffffe, packed.length - 22 - 46 - Buffer.byteLength(path) + 24)
    expect(await readOrRefused({ bytes: packed, mimeType })).toEqual({ refused: 'too_much_unpacked' })
  })

  it('does not unpack what it does not need: media, or an archive within it', async () => {
    const bomb = zipFile({ 'a.xml': Buffer.alloc(80 * 1024 * 1024) })
    const bytes = zipFile({
      ...bookOf('<row><c t="inlineStr"><is><t>Read.</t></is></c></row>'),
      'xl/media/image1.png': Buffer.alloc(80 * 1024 * 1024),
      'xl/embeddings/book.zip': bomb,
    })
    expect(await readDocument({ bytes, mimeType: xlsx })).toMatchObject({ text: '# One\n\nRead.' })
  })

  it.each([
    ['docx', docx],
    ['xlsx', xlsx],
    ['pptx', pptx],
    ['epub', epub],
  ])('of another format is no %s', async (_, mimeType) => {
    await expect(readDocument({ bytes: zipFile({ 'a.txt': 'a' }), mimeType })).rejects.toThrow('archive is no')
    await expect(readDocument({ bytes: Buffer.from('PK\u0003\u0004 and no archive'), mimeType })).rejects.toThrow()
    const old = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0, 0])
    expect(await readOrRefused({ bytes: old, mimeType })).toEqual({ refused: 'old_office_format' })
  })

  it('of Word leaves out hidden text', async () => {
    const bytes = zipFile({
      'word/document.xml':
        '<w:document><w:p><w:r><w:t>Seen</w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t> gone</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t> too.</w:t></w:r></w:p></w:document>',
    })
    expect(await readDocument({ bytes, mimeType: docx })).toMatchObject({ text: 'Seen too.' })
    expect(await readDocument({ bytes: docxFile(['# One', 'Two']), mimeType: docx })).toMatchObject({
      text: '# One\n\nTwo',
    })
  })
})
