import { chunksOf, type Page } from '../chunk.ts'
import type { DocumentRead } from '../read-document.ts'

/** Texts of the pages of a scan, as a model has read them. */
export interface WrittenPages {
  readonly texts: readonly string[]
  /** Number of pages; null for an image. */
  readonly pageCount: number | null
}

/** Converts the texts of pages to a document. */
export const writtenPages = async ({ texts, pageCount }: WrittenPages): Promise<DocumentRead> => {
  const parts: string[] = []
  const pages: Page[] = []
  let length = 0
  for (const [at, written] of texts.entries()) {
    const text = written.replace(/\r\n?/g, '\n').trim().toWellFormed()
    if (text === '') continue
    pages.push({ page: at + 1, start: length === 0 ? 0 : length + 2 })
    length += text.length + (length === 0 ? 0 : 2)
    parts.push(text)
  }
  const text = parts.join('\n\n')
  const chunks = [...chunksOf(text, pageCount === null ? [] : pages)]
  return { title: null, text, page_count: pageCount, chunks }
}
