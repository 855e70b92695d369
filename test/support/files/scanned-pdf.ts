import { deflateSync } from 'node:zlib'

/** An image of a page of a scan: one byte or, with `bits` 1, one bit for each pixel. */
export interface ScannedImage {
  readonly width: number
  readonly height: number
  readonly bits: 1 | 8
  readonly data: Uint8Array
}

/** A PDF file without text, whose pages are images; null for an empty page. */
export const scannedPdf = (pages: readonly (ScannedImage | null)[]): Buffer => {
  const kids = pages.map((_, index) => `${3 + index * 3} 0 R`)
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')]
  const offsets: number[] = []
  const add = (head: string, stream?: Buffer): void => {
    offsets.push(parts.reduce((sum, part) => sum + part.length, 0))
    parts.push(Buffer.from(`${offsets.length} 0 obj\n${head}\n`))
    if (stream !== undefined) parts.push(Buffer.from('stream\n'), stream, Buffer.from('\nendstream\n'))
    parts.push(Buffer.from('endobj\n'))
  }
  add('<< /Type /Catalog /Pages 2 0 R >>')
  add(`<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${pages.length} >>`)
  for (const [index, image] of pages.entries()) {
    const [content, object] = [4 + index * 3, 5 + index * 3]
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /XObject << /Im ${object} 0 R >> >> /Contents ${content} 0 R >>`,
    )
    const paint = Buffer.from(image === null ? ' ' : 'q 595 0 0 842 0 0 cm /Im Do Q')
    add(`<< /Length ${paint.length} >>`, paint)
    const { width, height, bits, data } = image ?? { width: 1, height: 1, bits: 8, data: new Uint8Array(1) }
    const packed = deflateSync(data)
    add(
      `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent ${bits} /Filter /FlateDecode /Length ${packed.length} >>`,
      packed,
    )
  }
  const end = parts.reduce((sum, part) => sum + part.length, 0)
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  const size = offsets.length + 1
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${end}\n%%EOF\n`,
    ),
  )
  return Buffer.concat(parts)
}
