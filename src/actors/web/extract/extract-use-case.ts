import type { UseCases } from '#actors/call/use-cases.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { pageRefusal } from '../fetch/page-refusal.ts'
import type { PageReader } from './page-reader.ts'

/** Extracts the text of pages. */
export const extractUseCase =
  (reader: PageReader): UseCases['web.extract'] =>
  async ({ scope: { project, tenant }, body, signal }) => {
    const { page, read } = await reader.read({ ...body, signal, owner: { project, tenant } })
    if (read === null) throw pageRefusal('fetch_failed', { url: body.url })
    const { metadata, charset, pageCount, leftOut, data } = read
    if (data !== null && 'fault' in data)
      throw invalidField('schema', `The schema is not a valid JSON Schema: ${data.fault}.`)
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
      ...(data !== null && { data: data.value, dataEvidence: data.evidence, dataErrors: data.errors }),
      untrusted: true,
    }
  }
