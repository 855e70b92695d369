import type { Idempotency, UploadedFile } from '#actors/call/call.ts'
import type { UseCases } from '#actors/call/use-cases.ts'
import { requireReachable } from '#actors/capability/reachable-url.ts'
import type { Services } from '#actors/capability/services.ts'
import { type AuditLine, statusOf } from '#machines/index.ts'
import type { SourceInput } from '#machines/knowledge-source/knowledge-source.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { actorOf } from '#records/audit-note.ts'
import { type CountedLimit, CountedLimits } from '#records/counted-limits.ts'
import type { Row } from '#records/schema.ts'
import { contextOf, newId, pause } from '#runtime/index.ts'
import { newIdFor, type Resident, requestErasure } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { maxSources } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { Scope } from '#storage/index.ts'
import type { BaseAccess } from '../access/base-access.ts'
import { type KnowledgeBaseData, sourceRows } from '../kinds.ts'
import type { BlobOwner, SourceBlobs } from './source-blobs.ts'
import { type Content, checkFields, contentOf } from './source-content.ts'
import { residentView, type SourceView, sourceKind } from './source-view.ts'

export interface SourceParts extends Pick<Services, 'clock' | 'host' | 'storage'> {
  readonly access: BaseAccess
  readonly blobs: SourceBlobs
  readonly guard: Pick<SsrfGuard, 'content'>
  /** Called when the contents of a base have changed. */
  readonly changed: (base: string) => void
}

/** Time in ms for which a request waits for its source to be read. After it, the source is returned as pending. */
const settleMs = 3_000

/** The ids of a source and of its base. */
export type Place = { readonly knowledge_base_id: string; readonly source_id: string }
type CreateCall = Parameters<UseCases['knowledge_sources.create']>[0]

/** A source to be added: the fields of a request, and the file that it is a copy of. */
export interface NewSource {
  readonly id: string
  readonly base: string
  readonly body: BodyOf<'knowledge_sources.create'>
  readonly files: readonly UploadedFile[]
  /** The content of the file that it is a copy of, in place of `files`. */
  readonly copy?: Content
  readonly file_id?: string
  readonly by: AuditLine['by']
  readonly cause: string
  /** Whether the source may have been added before and removed since: it is not added again then. */
  readonly again?: boolean
}

/** The sources of bases: finds, adds and removes them. */
export class Sources {
  readonly #parts: SourceParts

  constructor(parts: SourceParts) {
    this.#parts = parts
  }

  /** @throws {ServiceError} as `BaseAccess.base` */
  baseOf(scope: Scope, id: string): Promise<Row<KnowledgeBaseData>> {
    return this.#parts.access.base(scope, id)
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
    const { scope, params, body, files, idempotency } = call
    const id = newIdFor(call, sourceKind.idPrefix, this.#parts.host.newActorId)
    const made = { id, base: params.knowledge_base_id, body, files, by: actorOf(call), cause: causeOf(idempotency) }
    return this.settled(scope, await this.add(scope, made))
  }

  /** Adds a source, which is read in the background. @throws {ServiceError} `not_found`, `knowledge_limit_reached` … */
  async add(scope: Scope, { id, base: named, body, files, copy, file_id, by, ...attempt }: NewSource): Promise<Place> {
    const { host, storage, blobs, guard, clock } = this.#parts
    const base = await this.baseOf(scope, named)
    const content = copy ?? contentOf(body, files)
    if (content === null && body.url === undefined)
      throw new ServiceError('missing_field', { param: 'text', message: 'A source requires text, url or file.' })
    checkFields(body)
    if (body.url !== undefined) requireReachable(guard.content, body.url)
    const limit: CountedLimit = {
      max: maxSources,
      rows: host.rows,
      count: () => storage.records.count(sourceRows, scope, { knowledge_base_id: base.id }),
      full: () => new ServiceError('knowledge_limit_reached'),
    }
    const owner = { project: base.project, tenant: base.tenant, user: null, createdAt: clock.now() }
    await CountedLimits.at(storage.records).within(`sources ${base.id}`, limit, async () => {
      const upload = content === null ? null : await blobs.putUpload({ ...owner, source: id }, content.bytes, content)
      const input = inputOf(body, {
        source_id: id,
        knowledge_base_id: base.id,
        created_by: by,
        ...(file_id !== undefined && { file_id }),
        type: content?.type ?? 'url',
        upload,
      })
      await host.create({ kind: sourceKind, id, owner, input, ...attempt })
    })
    if ((await this.#parts.access.bases.get(scope, base.id)) === null) {
      await requestErasure(this.#parts, { actor: id, project: owner.project, tenant: owner.tenant })
      throw new ServiceError('not_found')
    }
    return { knowledge_base_id: base.id, source_id: id }
  }

  /** @throws {ServiceError} `not_found` */
  async remove(scope: Scope, place: Place, by: AuditLine['by']): Promise<void> {
    const { id, owner } = await this.find(scope, place)
    const { project, tenant } = owner
    await requestErasure(this.#parts, { actor: id, project, tenant, event: { by } })
    this.#parts.changed(place.knowledge_base_id)
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
  made: Pick<SourceInput, 'source_id' | 'knowledge_base_id' | 'created_by' | 'file_id' | 'type' | 'upload'>,
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
export const causeOf = (idempotency: Idempotency | null): string => idempotency?.cause ?? newId('req')
