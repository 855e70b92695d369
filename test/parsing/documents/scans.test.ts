import { inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readDocument } from '#src/parsing/documents/read-document.ts'
import { scannedPage } from '#src/parsing/documents/scans/page-images.ts'
import { pngOf, shrunk } from '#src/parsing/documents/scans/png.ts'
import { writtenPages } from '#src/parsing/documents/scans/written-pages.ts'
import { pdfFile } from '#test/support/files/pdf-file.ts'
import { scannedPdf } from '#test/support/files/scanned-pdf.ts'

/** Size, colour type and rows of an image in PNG, each row without the byte of its filter. */
const read = (png: Buffer) => {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const length = png.readUInt32BE(33)
  const rows = inflateSync(png.subarray(41, 41 + length))
  const row = rows.length / height
  return { width, height, type: png[25], at: (x: number, y: number) => rows[y * row + 1 + x] }
}

const grey = (width: number, height: number, value: number) => ({
  ...{ width, height, bits: 8 as const, data: new Uint8Array(width * height).fill(value) },
})

describe('a page of a scan', () => {
  it('is given as the image on it', async () => {
    const bytes = scannedPdf([grey(100, 120, 7), grey(80, 90, 200), null])
    const [first, second, third, beyond] = await Promise.all([1, 2, 3, 4].map((page) => scannedPage({ bytes, page })))
    expect([first, second, third, beyond].map((page) => [page?.page_count, page?.images.length])).toEqual([
      [3, 1],
      [3, 1],
      [3, 0],
      [3, 0],
    ])
    const image = read(Buffer.from(second?.images[0] ?? '', 'base64'))
    expect([image.width, image.height, image.at(0, 0), image.at(79, 89)]).toEqual([80, 90, 200, 200])
  })

  it('may have one bit for each pixel, as those of fax machines', async () => {
    // rows of 13 bytes: the left 52 pixels are white, the others black
    const data = new Uint8Array(13 * 70)
    for (let y = 0; y < 70; y++) data.set([255, 255, 255, 255, 255, 255, 0xf0], y * 13)
    const { images } = await scannedPage({ bytes: scannedPdf([{ width: 100, height: 70, bits: 1, data }]), page: 1 })
    const image = read(Buffer.from(images[0] ?? '', 'base64'))
    expect([image.at(0, 0), image.at(51, 69), image.at(52, 69), image.at(99, 0)]).toEqual([255, 255, 0, 0])
  })

  it('is no rule, bullet or logo', async () => {
    expect((await scannedPage({ bytes: scannedPdf([grey(600, 20, 0)]), page: 1 })).images).toEqual([])
  })

  it('is shrunk to the detail that models read', () => {
    const data = Uint8Array.from({ length: 6 * 4 }, (_, at) => (at % 2 === 0 ? 100 : 200))
    const small = shrunk({ width: 6, height: 4, channels: 1, data }, 3)
    expect(small).toEqual({ width: 3, height: 2, channels: 1, data: new Uint8Array(6).fill(150) })
    expect(read(pngOf(small))).toMatchObject({ width: 3, height: 2, type: 0 })
  })

  it('has no text by itself, nor has an image', async () => {
    expect(await readDocument({ bytes: scannedPdf([grey(100, 100, 0)]), mimeType: 'application/pdf' })).toMatchObject({
      ...{ text: '', page_count: 1, chunks: [] },
    })
    const png = pngOf({ width: 1, height: 1, channels: 3, data: new Uint8Array(3) })
    expect(await readDocument({ bytes: png, mimeType: 'image/png' })).toMatchObject({ text: '', chunks: [] })
    await expect(readDocument({ bytes: png, mimeType: 'image/jpeg' })).rejects.toThrow()
    await expect(readDocument({ bytes: pdfFile([['a']]), mimeType: 'image/png' })).rejects.toThrow()
  })
})

describe('the texts of pages that a model has read', () => {
  it('become a document with pages', async () => {
    const { text, chunks, page_count } = await writtenPages({
      texts: [' One.\r\n', '', '# Two\n\nthree'],
      pageCount: 3,
    })
    expect(text).toBe('One.\n\n# Two\n\nthree')
    expect(chunks.map(({ page, start, end }) => [page, text.slice(start, end)])).toEqual([
      [1, 'One.'],
      [3, '# Two\n\nthree'],
    ])
    expect(page_count).toBe(3)
  })
})
