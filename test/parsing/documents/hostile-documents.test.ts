import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { constants, deflateRawSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { openDocumentParser } from '#src/parsing/documents/document-parser.ts'
import { drawnOf } from '#test/setup/at-night.ts'
import { zipFile } from '#test/support/files/zip-file.ts'

// a document that does not end keeps a processor busy until then
const parser = openDocumentParser({ deadlineMs: 1000 })
afterAll(() => parser.close())

const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
/** A document that unpacks to more than the limit of 64 MB. */
const bomb = () => zipFile({ 'word/document.xml': Buffer.alloc(80 * 1024 * 1024, 0x61) })
const lying = () => {
  const archive = bomb()
  // the directory of the archive claims that the entry is small
  archive.writeUInt32LE(10, archive.length - 22 - 46 - 'word/document.xml'.length + 24)
  return archive
}

/** 1 GB of blanks in compressed form: one block, compressed once and repeated 1,024 times. */
const packedBlanks = (): Buffer => {
  const block = deflateRawSync(Buffer.alloc(1024 * 1024, 0x20), { finishFlush: constants.Z_FULL_FLUSH })
  return Buffer.concat([Buffer.from([0x78, 0x01]), ...Array.from({ length: 1024 }, () => block), deflateRawSync('')])
}

const pdfBomb = () => {
  const page = packedBlanks()
  const head = `%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >> endobj
4 0 obj << /Filter /FlateDecode /Length ${page.length} >> stream
`
  return Buffer.concat([Buffer.from(head), page, Buffer.from('\nendstream endobj\ntrailer << /Root 1 0 R >>')])
}

const office = 'application/vnd.openxmlformats-officedocument'
const [pptx, xlsx] = [`${office}.presentationml.presentation`, `${office}.spreadsheetml.sheet`]

/** An archive of so many empty entries. */
const manyEntries = () => zipFile(Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`${n}`, ''])))

const hostile: readonly (readonly [name: string, type: string, bytes: () => Uint8Array])[] = [
  ['an archive that unpacks to 80 MB', docx, bomb],
  ['an archive that lies about its size', docx, lying],
  ['an archive of 60,000 entries', xlsx, manyEntries],
  [
    'a presentation that is garbage after its first bytes',
    pptx,
    () => Buffer.concat([Buffer.from('PK\u0003\u0004'), randomBytes(500_000)]),
  ],
  ['a workbook of 64 MB of blanks', xlsx, () => zipFile({ 'xl/workbook.xml': Buffer.alloc(64 * 1024 * 1024, 0x20) })],
  [
    'a book of a million documents',
    'application/epub+zip',
    () =>
      zipFile({
        'META-INF/container.xml': '<rootfile full-path="b.opf"/>',
        'b.opf': '<item id="a" href="a" media-type="html"/><itemref idref="a"/>'.repeat(800_000),
      }),
  ],
  [
    '100,000 rules of style',
    'text/html',
    () =>
      Buffer.from(`<style>${'.a{display:none}'.repeat(100_000)}</style>${'<p class="a b c d">x</p>'.repeat(10_000)}`),
  ],
  [
    '2 MB of braces in a style sheet',
    'text/html',
    () => Buffer.from(`<style>${'{'.repeat(1_000_000)}${'}'.repeat(1_000_000)}</style>x`),
  ],
  ['a million style sheets', 'text/html', () => Buffer.from('<style>a{</style>'.repeat(1_000_000))],
  ['an archive of nothing', docx, () => Buffer.from('PK\u0005\u0006')],
  ['100,000 nested elements', 'text/html', () => Buffer.from(`${'<div>'.repeat(100_000)}deep`)],
  ['100,000 elements that do not end', 'text/html', () => Buffer.from('<p><a href="'.repeat(100_000))],
  ['2 MB of one entity', 'text/html', () => Buffer.from('&'.repeat(2_000_000))],
  [
    'garbage that says it is PDF',
    'application/pdf',
    () => Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(500_000)]),
  ],
  ['a PDF file whose page unpacks to 1 GB', 'application/pdf', pdfBomb],
  ['3 MB of blanks', 'text/plain', () => Buffer.alloc(3_000_000, 32)],
  ['3 MB of quotes', 'text/csv', () => Buffer.alloc(3_000_000, 34)],
  ['9 million numbers', 'application/json', () => Buffer.from(`[${'1,'.repeat(9_000_000)}1]`)],
  ['100,000 nested lists', 'application/json', () => Buffer.from('['.repeat(100_000) + ']'.repeat(100_000))],
]

/** Number of threads of this process, without those of libuv's pool, which start on demand. */
const threads = (): number =>
  readdirSync('/proc/self/task').filter(
    (id) => !readFileSync(`/proc/self/task/${id}/comm`, 'latin1').startsWith('libuv'),
  ).length

describe('a hostile document', () => {
  it.each([
    ['HTML', 'text/html', () => Buffer.from('<div>'.repeat(4_000_000))],
    ['Word', docx, () => zipFile({ 'word/document.xml': '<w:p>'.repeat(4_000_000) })],
  ])(
    'of millions of nested elements (%s) is refused long before the deadline',
    { timeout: 240_000 },
    async (_, mimeType, bytes) => {
      const own = openDocumentParser()
      await expect(own.parse('document', { bytes: bytes(), mimeType })).rejects.toMatchObject({ reason: 'unreadable' })
      await own.close()
    },
  )

  it('leaves no thread behind that still reads it', { timeout: 240_000 }, async () => {
    const before = threads()
    const own = openDocumentParser({ deadlineMs: 300 })
    const wide = { bytes: Buffer.from(JSON.stringify({ a: Array.from({ length: 2_000_000 }, () => [1]) })) }
    for (let copy = 0; copy < 2; copy++)
      await own.parse('document', { ...wide, mimeType: 'application/json' }).catch(() => undefined)
    await own.parse('document', { bytes: Buffer.from('after'), mimeType: 'text/plain' }).catch(() => undefined)
    expect(threads()).toBeLessThanOrEqual(before + 1)
    await own.close()
    expect(threads()).toBeLessThanOrEqual(before)
  })

  it.each(drawnOf(hostile, 3))(
    '(%s) ends, and does not block the event loop',
    { timeout: 240_000 },
    async (_, mimeType, bytes) => {
      const document = bytes()
      await parser.parse('document', { bytes: Buffer.from('warm'), mimeType: 'text/plain' })
      const delay = monitorEventLoopDelay({ resolution: 10 })
      delay.enable()
      const outcome = await parser.parse('document', { bytes: document, mimeType }).then(
        () => 'read',
        (error: unknown) => (error instanceof Error ? error.name : 'unknown'),
      )
      delay.disable()
      expect(['read', 'ParserFailed']).toContain(outcome)
      expect(delay.percentile(50)).toBeLessThan(100_000_000)
      expect(await parser.parse('document', { bytes: Buffer.from('after'), mimeType: 'text/plain' })).toMatchObject({
        text: 'after',
      })
    },
  )
})
