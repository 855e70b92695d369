import type { UseCases } from '#actors/call/use-cases.ts'
import { decodedPage } from '#src/pages/charset.ts'
import type { PageReader } from '../extract/page-reader.ts'
import { textKinds } from './page-fetcher.ts'
import { pageRefusal } from './page-refusal.ts'

/** Fetches pages without extracting their text. */
export const fetchUseCase =
  (reader: Pick<PageReader, 'fetch'>): UseCases['web.fetch'] =>
  async ({ scope: { project, tenant }, body, signal }) => {
    const owner = { project, tenant }
    const { page, isRendered } = await reader.fetch({ ...body, owner, signal, kinds: textKinds })
    if (page.type === null) throw pageRefusal('fetch_failed', { url: body.url })
    const { text, charset } = decodedPage(page.bytes, page.type)
    return {
      url: page.url,
      finalUrl: page.finalUrl,
      statusCode: page.statusCode,
      mimeType: page.type.mimeType,
      charset,
      body: text,
      rendered: isRendered,
      bytes: page.bytes.length,
      contentHash: page.contentHash,
      retrievedAt: new Date(page.retrievedAt).toISOString(),
      cache: {
        etag: page.header('etag'),
        lastModified: page.header('last-modified'),
        cacheControl: page.header('cache-control'),
        expires: page.header('expires'),
        age: page.header('age'),
      },
      untrusted: true,
    }
  }
