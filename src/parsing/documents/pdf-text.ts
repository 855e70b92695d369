import { maxPdfPages } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { Page } from './chunk.ts'
import { DocumentRefused } from './document-refused.ts'
import { openedPdf } from './open-pdf.ts'
import { type ReadText, TextWriter } from './text-writer.ts'

/** Text of a PDF file, with the beginnings of its pages. */
export interface PdfText extends ReadText {
  /** Pages that contain text, up to `maxPdfPages`. */
  readonly pages: readonly Page[]
  /** Number of all pages of the file. */
  readonly pageCount: number
}

interface Item {
  readonly str: string
  readonly transform: readonly number[]
  readonly height: number
}

/**
 * Extracts the text of a PDF file page by page. A gap of more than a line ends a paragraph.
 *
 * @param isWhole whether a file with more than `maxPdfPages` is refused instead of cut.
 * @throws {DocumentRefused}, and {Error} for other bytes.
 */
export const pdfText = async (bytes: Uint8Array, isWhole = false): Promise<PdfText> => {
  const document = await openedPdf(bytes)
  const { numPages: pageCount } = document
  if (isWhole && pageCount > maxPdfPages) throw new DocumentRefused('too_many_pages')
  const writer = new TextWriter()
  const pages: Page[] = []
  for (let page = 1; page <= Math.min(pageCount, maxPdfPages); page++) {
    writer.paragraph()
    // the page's first word begins after the blank line that separates pages
    const start = writer.length === 0 ? 0 : writer.length + 2
    const content = await (await document.getPage(page)).getTextContent()
    writeItems(
      writer,
      content.items.flatMap((item) => ('str' in item ? [item] : [])),
    )
    if (writer.length > start) pages.push({ page, start })
  }
  const { info } = await document.getMetadata().catch(() => ({ info: {} }))
  const title = 'Title' in info && typeof info.Title === 'string' ? info.Title.trim() : ''
  return { text: writer.end(), pages, pageCount, title: title || null }
}

const writeItems = (writer: TextWriter, items: readonly Item[]): void => {
  let baseline: number | null = null
  let height = 0
  for (const { str, transform, height: own } of items) {
    if (str.trim() === '') {
      if (str !== '') writer.text(' ')
      continue
    }
    const y = transform[5] ?? 0
    const gap = baseline === null ? 0 : Math.abs(baseline - y)
    if (gap > Math.max(height, own, 1) * 1.9) writer.paragraph()
    else if (gap > Math.max(height, own, 1) * 0.5) writer.text(' ')
    writer.text(str)
    baseline = y
    if (own > 0) height = own
  }
}
