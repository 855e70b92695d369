import type { UseCases } from '#actors/call/use-cases.ts'
import { pageRefusal } from '../fetch/page-refusal.ts'
import type { PageReader } from './page-reader.ts'

/** Texts of pages. */
export const extractUseCase =
  (reader: PageReader): UseCases['web.extract'] =>
  async ({ body, signal }) => {
    const { page, read } = await reader.read({ ...body, signal })
    if (read === null) throw pageRefusal('fetch_failed', { url: body.url })
    const { metadata, charset, pageCount, leftOut } = read
    return {
      url: page.url,
      canonicalUrl: read.canonical ?? page.finalUrl,
      title: read.title,
      description: read.description,
      language: read.language ?? 'und',
      content: read.content,
      contentHash: read.contentHash,
      retrievedAt: new Date(page.retrievedAt).toISOString(),
      publishedAt: read.publishedAt,
      modifiedAt: read.modifiedAt,
      links: read.links,
      evidenceSpans: read.evidence,
      metadata: {
        ...metadata,
        mimeType: page.type?.mimeType ?? null,
        charset,
        ...(pageCount !== null && { pageCount }),
        ...(leftOut.length > 0 && { leftOut }),
      },
      untrusted: true,
    }
  }
