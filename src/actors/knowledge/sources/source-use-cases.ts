import type { Idempotency } from '#actors/call/call.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import { statusOf } from '#machines/index.ts'
import type { SourceInput } from '#machines/knowledge-source/knowledge-source.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { actorOf } from '#records/audit-note.ts'
import { type CountedLimit, CountedLimits } from '#records/counted-limits.ts'
import { pageOf } from '#records/pages.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { type Clock, contextOf, newId, pause } from '#runtime/index.ts'
import { type Host, newIdFor, type Resident, requestErasure } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { maxSources } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { Scope, Storage } from '#storage/index.ts'
import type { BaseAccess } from '../access/base-access.ts'
import { type KnowledgeBaseData, sourceRows } from '../kinds.ts'
import { chunksOf } from './document-store.ts'
import type { BlobOwner, SourceBlobs } from './source-blobs.ts'
import { contentOf, requireReachable } from './source-content.ts'
import { residentView, type SourceView, sourceKind, sourceView } from './source-view.ts'

export interface SourceParts {
  readonly host: Host
  readonly storage: Storage
  readonly access: BaseAccess
  readonly blobs: SourceBlobs
  readonly guard: Pick<SsrfGuard, 'content'>
  /** Called when the contents of a base have changed. */
  readonly changed: (base: string) => void
  readonly clock: Clock
}

type SourceUseCases = Pick<UseCases, Extract<keyof UseCases, `knowledge_sources.${string}`>>

/** Time in ms for which a request waits for its source to be read. After it, the source is returned as pending. */
const settleMs = 3_000
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
      if (body.url !== undefined) {
        if (type !== 'url') throw new ServiceError('invalid_field', { param: 'url', message: 'The source has no URL.' })
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
        throw new ServiceError('invalid_field', {
          param: content.type,
          message: 'The content of this source comes from its URL.',
        })
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
    'knowledge_sources.delete': (call) => sources.remove(call),
    ...readingUseCases(sources, parts),
  }
}

const readingUseCases = (
  sources: Sources,
  parts: SourceParts,
): Pick<SourceUseCases, 'knowledge_sources.text' | 'knowledge_sources.chunks'> => ({
  'knowledge_sources.text': async ({ scope, params }) => {
    const { document, owner } = await sources.read(scope, params)
    const bytes = document === null ? '' : await parts.blobs.text(owner, document.text)
    return { contentType: 'text/plain; charset=utf-8', bytes }
  },
  'knowledge_sources.chunks': async ({ scope, params, query: { limit = chunksAPage, cursor = '0' } }) => {
    const { document, owner } = await sources.read(scope, params)
    const first = placeOf(cursor)
    if (document === null) return { data: [], next_cursor: null }
    const text = await parts.blobs.text(owner, document.text)
    const all = []
    for await (const some of chunksOf(parts.blobs, owner, document)) all.push(...some)
    const data = all
      .slice(first, first + limit)
      .map((chunk) => ({ ...chunk, content: text.slice(chunk.start, chunk.end) }))
    return { data, next_cursor: first + limit < all.length ? String(first + limit) : null }
  },
})

/** Returns the position that a cursor encodes. @throws {ServiceError} `invalid_query` */
const placeOf = (cursor: string): number => {
  if (/^\d{1,7}$/.test(cursor)) return Number(cursor)
  throw new ServiceError('invalid_query', { param: 'cursor', message: 'The cursor does not belong to this list.' })
}

type Place = { readonly knowledge_base_id: string; readonly source_id: string }
type CreateCall = Parameters<UseCases['knowledge_sources.create']>[0]
type DeleteCall = Parameters<UseCases['knowledge_sources.delete']>[0]

class Sources {
  readonly #parts: SourceParts

  constructor(parts: SourceParts) {
    this.#parts = parts
  }

  /** @throws {ServiceError} `not_found` */
  async baseOf(scope: Scope, id: string): Promise<Row<KnowledgeBaseData>> {
    const base = await this.#parts.access.bases.get(scope, id)
    if (base === null) throw new ServiceError('not_found')
    return base
  }

  /** @throws {ServiceError} `not_found`, also for a source of another base. */
  async find(scope: Scope, { knowledge_base_id, source_id }: Place): Promise<Resident> {
    await this.baseOf(scope, knowledge_base_id)
    const source = await this.#parts.host.find(scope, sourceKind, source_id)
    if (contextOf(sourceKind, source.state.snapshot).knowledge_base_id !== knowledge_base_id)
      throw new ServiceError('not_found')
    return source
  }

  async read(scope: Scope, place: Place) {
    const { id, owner, state } = await this.find(scope, place)
    const { document } = contextOf(sourceKind, state.snapshot)
    const blobOwner: BlobOwner = { project: owner.project, tenant: owner.tenant, source: id }
    return { document, owner: blobOwner }
  }

  async create(call: CreateCall): Promise<SourceView> {
    const { scope, params, body, files } = call
    const { host, storage, blobs, guard, clock } = this.#parts
    const base = await this.baseOf(scope, params.knowledge_base_id)
    const content = contentOf(body, files)
    if (content === null && body.url === undefined)
      throw new ServiceError('missing_field', { param: 'text', message: 'A source requires text, url or file.' })
    if (body.url !== undefined) requireReachable(guard.content, body.url)
    const limit: CountedLimit = {
      max: maxSources,
      rows: host.rows,
      count: () => storage.records.count(sourceRows, scope, { knowledge_base_id: base.id }),
      full: () => new ServiceError('knowledge_limit_reached'),
    }
    const id = newIdFor(call, sourceKind.idPrefix, host.newActorId)
    const owner = { project: base.project, tenant: base.tenant, user: null, createdAt: clock.now() }
    await CountedLimits.at(storage.records).within(`sources ${base.id}`, limit, async () => {
      const upload = content === null ? null : await blobs.putUpload({ ...owner, source: id }, content.bytes, content)
      const input = inputOf(body, {
        source_id: id,
        knowledge_base_id: base.id,
        created_by: actorOf(call),
        type: content?.type ?? 'url',
        upload,
      })
      await host.create({ kind: sourceKind, id, owner, input, cause: causeOf(call.idempotency) })
    })
    const place = { knowledge_base_id: base.id, source_id: id }
    if ((await this.#parts.access.bases.get(scope, base.id)) === null) {
      await requestErasure(this.#parts, { actor: id, project: owner.project, tenant: owner.tenant })
      throw new ServiceError('not_found')
    }
    return this.settled(scope, place)
  }

  async remove(call: DeleteCall): Promise<{ id: string; deleted: true }> {
    const { scope, params } = call
    const { id, owner } = await this.find(scope, params)
    const { project, tenant } = owner
    await requestErasure(this.#parts, { actor: id, project, tenant, event: { by: actorOf(call) } })
    this.#parts.changed(params.knowledge_base_id)
    return { id, deleted: true }
  }

  /** Returns the source once it has been read, or its current state after `settleMs`. */
  async settled(scope: Scope, place: Place): Promise<SourceView> {
    const { host, clock, changed } = this.#parts
    const source = await this.find(scope, place)
    if (statusOf(sourceKind, source.state.snapshot) === 'pending') {
      const over = Promise.withResolvers<void>()
      const stream = host.feed.follow(source.id, source.state.lastSequence, { at: 'idle', after: () => true })
      const control = stream.start({ push: () => true, end: () => over.resolve() })
      await Promise.race([over.promise, pause(clock, settleMs)])
      control.stop()
    }
    changed(place.knowledge_base_id)
    return residentView(await host.find(scope, sourceKind, source.id))
  }
}

const inputOf = (
  { title, url, refresh_interval_s, metadata }: BodyOf<'knowledge_sources.create'>,
  made: Pick<SourceInput, 'source_id' | 'knowledge_base_id' | 'created_by' | 'type' | 'upload'>,
): SourceInput => ({
  ...made,
  title: title ?? null,
  url: url ?? null,
  refresh_interval_s: refresh_interval_s ?? null,
  metadata,
  filename: made.upload?.filename ?? null,
  mime_type: made.upload?.mime_type ?? null,
})

/** Returns the cause of a request. A repeated request has the same cause, so its first commit answers it. */
const causeOf = (idempotency: Idempotency | null): string => idempotency?.cause ?? newId('req')
