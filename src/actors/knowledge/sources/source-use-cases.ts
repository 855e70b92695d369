import type { UseCasesOf } from '#actors/call/use-cases.ts'
import { requireReachable } from '#actors/capability/reachable-url.ts'
import type { ReadDocument } from '#machines/knowledge-source/knowledge-source.ts'
import { actorOf } from '#records/audit-note.ts'
import { pageOf } from '#records/pages.ts'
import { Table } from '#records/table.ts'
import { contextOf } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { sourceRows } from '../kinds.ts'
import { chunksOf, chunksPerPart, type SourceChunk } from './document-store.ts'
import type { BlobOwner, SourceBlobs } from './source-blobs.ts'
import { checkInterval, contentOf } from './source-content.ts'
import { residentView, sourceKind, sourceView } from './source-view.ts'
import { causeOf, type SourceParts, Sources } from './sources.ts'

type SourceUseCases = UseCasesOf<'knowledge_sources'>

const chunksAPage = 20

/** Use-cases of the sources of a base. */
export const sourceUseCases = (parts: SourceParts): SourceUseCases => {
  const sources = new Sources(parts)
  const table = new Table(parts.storage.records, sourceRows, parts.clock.now)
  return {
    'knowledge_sources.list': async ({ scope, params, query: { status, ...page } }) => {
      const { id } = await sources.baseOf(scope, params.knowledge_base_id)
      await parts.host.rows.shown()
      const where = status === undefined ? { knowledge_base_id: id } : { base_status: `${id} ${status}` }
      const { idPrefix, olderIdPrefix } = sourceKind
      const shown = { idPrefix, olderIdPrefix, view: sourceView }
      return pageOf(table, scope, { query: { ...page, where }, shown })
    },
    'knowledge_sources.get': async ({ scope, params }) => residentView(await sources.find(scope, params)),
    'knowledge_sources.create': (call) => sources.create(call),
    'knowledge_sources.update': async (call) => {
      const { scope, params, body, idempotency } = call
      const source = await sources.find(scope, params)
      const { type } = contextOf(sourceKind, source.state.snapshot)
      checkInterval(body.refresh_interval_s, type === 'url')
      if (body.url !== undefined) {
        if (type !== 'url') throw invalidField('url', 'The source has no URL.')
        requireReachable(parts.guard.content, body.url)
      }
      await parts.host.deliverTo(source, {
        event: { type: 'update', by: actorOf(call), ...body },
        cause: causeOf(idempotency),
      })
      return sources.settled(scope, params)
    },
    'knowledge_sources.sync': async (call) => {
      const { scope, params, body, files, idempotency } = call
      const source = await sources.find(scope, params)
      const { type, mime_type, filename } = contextOf(sourceKind, source.state.snapshot)
      const known = type === 'text' && mime_type !== null ? { mime_type } : {}
      const content = contentOf({ ...body, ...known }, files)
      if (content !== null && type === 'url')
        throw invalidField(content.type, 'The content of this source comes from its URL.')
      const owner = { project: source.owner.project, tenant: source.owner.tenant, source: source.id }
      const named = content === null ? null : { mime_type: content.mime_type, filename: content.filename ?? filename }
      const upload =
        content === null || named === null ? null : await parts.blobs.putUpload(owner, content.bytes, named)
      await parts.host.deliverTo(source, {
        event: { type: 'sync', upload, by: actorOf(call) },
        cause: causeOf(idempotency),
      })
      return sources.settled(scope, params)
    },
    'knowledge_sources.delete': async (call) => {
      await sources.remove(call.scope, call.params, actorOf(call))
      return { id: call.params.source_id, deleted: true }
    },
    ...readingUseCases(sources, parts),
  }
}

const readingUseCases = (
  sources: Sources,
  parts: SourceParts,
): Pick<SourceUseCases, 'knowledge_sources.text' | 'knowledge_sources.chunks'> => ({
  'knowledge_sources.text': async ({ scope, params }) => {
    const { document, owner } = await sources.read(scope, params)
    const bytes = document === null ? '' : parts.blobs.texts(owner, document.text)
    return { contentType: 'text/plain; charset=utf-8', bytes }
  },
  'knowledge_sources.chunks': async ({ scope, params, query: { limit = chunksAPage, cursor = '0' } }) => {
    const { document, owner } = await sources.read(scope, params)
    const first = placeOf(cursor)
    if (document === null) return { data: [], next_cursor: null }
    const chunks = await chunksFrom(parts.blobs, { owner, document }, { first, limit })
    const data = await withContent(parts.blobs, { owner, document }, chunks)
    return { data, next_cursor: first + limit < document.chunk_count ? String(first + limit) : null }
  },
})

interface OwnedDocument {
  readonly owner: BlobOwner
  readonly document: ReadDocument
}

/** Reads the blobs of the chunks of a page only. */
const chunksFrom = async (
  blobs: SourceBlobs,
  { owner, document }: OwnedDocument,
  { first, limit }: { readonly first: number; readonly limit: number },
): Promise<readonly SourceChunk[]> => {
  const from = Math.floor(first / chunksPerPart)
  const names = document.chunks.slice(from, Math.ceil((first + limit) / chunksPerPart))
  const found: SourceChunk[] = []
  for await (const some of chunksOf(blobs, owner, { chunks: names })) found.push(...some)
  const start = first - from * chunksPerPart
  return found.slice(start, start + limit)
}

/** Reads the text part by part up to the last of these chunks, which are in its order, and keeps what is theirs. */
const withContent = async (blobs: SourceBlobs, { owner, document }: OwnedDocument, chunks: readonly SourceChunk[]) => {
  const [begin, end] = [chunks[0]?.start ?? 0, chunks.at(-1)?.end ?? 0]
  let [kept, at] = ['', 0]
  for await (const text of blobs.texts(owner, document.text)) {
    if (at >= end) break
    kept += text.slice(Math.max(0, begin - at), Math.max(0, end - at))
    at += text.length
  }
  return chunks.map((chunk) => ({ ...chunk, content: kept.slice(chunk.start - begin, chunk.end - begin) }))
}

/** Returns the position that a cursor encodes. @throws {ServiceError} `invalid_query` */
const placeOf = (cursor: string): number => {
  if (/^\d{1,7}$/.test(cursor)) return Number(cursor)
  throw new ServiceError('invalid_query', { param: 'cursor', message: 'The cursor does not belong to this list.' })
}
