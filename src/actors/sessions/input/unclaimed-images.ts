import type { CopiedEvent } from '#machines/session/session-data.ts'
import { arrayOf, objectOf, textOf } from '#outgoing/wire.ts'
import { type Row, rowOf, type TypedKind } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { newId, type Owner } from '#runtime/index.ts'
import { actorBlobs, logPage } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope, type Storage, type StoredRecord } from '#storage/index.ts'
import { conversationState } from '../schema.ts'

/** Whose images they are: all of a session are removed with it. */
export interface MediaPlace {
  readonly actor: string
  readonly owner: Pick<Owner, 'project' | 'tenant'>
}

/** What the names of blobs of images have after that of their actor. */
export const imageBlobs = 'image.'

/** Name of the blob of an image. */
export const imageName = (id: string, { actor, owner: { tenant } }: MediaPlace): string =>
  `${actorBlobs({ actor, tenant })}${imageBlobs}${id}`

/** The ids of the images to which events of a log refer. */
export const imageIdsIn = (events: readonly CopiedEvent[]): readonly string[] => {
  const parts = events.flatMap(({ event_type, payload, hidden }): readonly unknown[] => {
    if (event_type === 'turn.started') return arrayOf(payload.input)
    const { conversation } = hidden ?? {}
    if (event_type !== 'session.forked' || typeof conversation !== 'string') return []
    return conversationState(conversation).messages.flatMap((message) => arrayOf(objectOf(message).parts))
  })
  return [...new Set(parts.map((part) => textOf(objectOf(part).image_id)).filter((id) => id !== ''))]
}

/** `after` is the end of the log before them. The record is the project's, so that no erasure removes it before them. */
type Unclaimed = {
  readonly actor: string
  readonly tenant: string | null
  readonly images: readonly string[]
  readonly after: number
}

/** Images that are stored while no commit refers to them yet. */
export const unclaimedImages: TypedKind<Unclaimed> = { name: 'unclaimed_images', exported: null }

/** Requests end long before. */
const maxAgeMs = 60 * 60 * 1000
const pageSize = 100

/**
 * Stores images before the commit that refers to them. A record names them meanwhile, by which another process removes
 * them if this one dies in between (specs/decisions/0001-sessions.md).
 */
export class UnclaimedImages {
  readonly #storage: Pick<Storage, 'blobs' | 'commits' | 'records'>
  readonly #table: Table<Unclaimed>
  readonly #now: () => number

  constructor(storage: Pick<Storage, 'blobs' | 'commits' | 'records'>, now: () => number) {
    this.#storage = storage
    this.#now = now
    this.#table = new Table(storage.records, unclaimedImages, now)
  }

  /**
   * Runs `work`, which stores images and then commits a reference to each. Removes those to which the log does not refer
   * when it fails, or when it was done before.
   */
  async during<T extends { readonly duplicate: boolean }>(
    images: readonly string[],
    { actor, owner, after }: MediaPlace & { readonly after: number },
    work: () => Promise<T>,
  ): Promise<T> {
    if (images.length === 0) return work()
    // not the id of an image: forks have those of their source
    const id = newId('img')
    const { project, tenant } = owner
    const row = await this.#table.insert({ id, project, tenant: null, data: { actor, tenant, images, after } })
    const done = await work().catch(async (error: unknown) => {
      // after any other error the commit may have been written
      if (row !== null && error instanceof ServiceError) await this.#settle(row)
      throw error
    })
    if (done.duplicate && row !== null) await this.#settle(row)
    else await this.#table.remove(projectScope(project), id)
    return done
  }

  /** Removes what processes that died have left. @throws the first error, after all others were removed */
  async sweep(): Promise<void> {
    const before = this.#now() - maxAgeMs
    const errors: unknown[] = []
    for (let after: string | null = null; ; ) {
      const page: readonly StoredRecord[] = await this.#storage.records.ofEveryProject(unclaimedImages, after, pageSize)
      for (const row of page)
        if (row.created_at < before)
          await this.#settle(rowOf(unclaimedImages, row)).catch((error: unknown) => errors.push(error))
      after = page.at(-1)?.id ?? null
      if (page.length < pageSize) break
    }
    if (errors.length > 0) throw errors[0]
  }

  async #settle({ id, project, data: { actor, tenant, images, after } }: Row<Unclaimed>): Promise<void> {
    const used = await this.#used({ actor, project }, after)
    const place = { actor, owner: { project, tenant } }
    for (const image of images) if (!used.has(image)) await this.#storage.blobs.remove(project, imageName(image, place))
    await this.#table.remove(projectScope(project), id)
  }

  async #used(log: Readonly<Record<'actor' | 'project', string>>, first: number): Promise<ReadonlySet<string>> {
    const used = new Set<string>()
    for (let after = first; ; ) {
      const page = await logPage({ storage: this.#storage, ...log }, after, pageSize)
      for (const id of imageIdsIn(page)) used.add(id)
      const last = page.at(-1)
      if (last === undefined) return used
      after = last.sequence
    }
  }
}
