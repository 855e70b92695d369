import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'
import { type CountedLimit, CountedLimits } from '../records/counted-limits.ts'
import { StoredCounts } from '../records/stored-counts.ts'
import { Table } from '../records/table.ts'
import { derivedId } from '../runtime/index.ts'
import { type MemoryCountData, memories, memoryCounts } from './kinds.ts'
import type { MemoryOwner } from './memory-owner.ts'
import type { MemorySettings } from './memory-settings.ts'

export interface MemoryLimitsParts {
  readonly records: RecordStore
  readonly now: () => number
  readonly settings: (project: string) => Promise<MemorySettings>
  /** URL of the dashboard, where a larger plan is available. */
  readonly upgradeUrl: string
}

/** Kinds of operations that allowances count. */
export type MemoryOperation = 'searches' | 'writes'

/** Number of counted effects that are remembered, so that a repetition is not counted again. */
const maxLatest = 32

interface Period {
  readonly name: string
  readonly operation: MemoryOperation
  readonly once: string | null
  readonly limit: number | null
  readonly endsAt: number
  readonly user: string | null
}

const dayMs = 86_400_000

/**
 * Limits of what a project stores, and of the operations of the project and of each of its users. Without a limit
 * nothing is read or counted.
 */
export class MemoryLimits {
  readonly #parts: MemoryLimitsParts
  readonly #counts: Table<MemoryCountData>
  readonly #stored: StoredCounts

  constructor(parts: MemoryLimitsParts) {
    this.#parts = parts
    this.#counts = new Table(parts.records, memoryCounts, parts.now)
    this.#stored = new StoredCounts(memories, parts.records, parts.now)
  }

  /**
   * Counts one operation.
   *
   * @param once id under which a repetition, such as an effect after a crash, is not counted again.
   * @throws {ServiceError} `memory_ops_quota_exceeded` when an allowance is used up
   */
  async operation(owner: MemoryOwner, operation: MemoryOperation, once: string | null = null): Promise<void> {
    const { daily, monthly } = await this.#parts.settings(owner.project)
    const [day, month] = [dayOf(this.#parts.now()), monthOf(this.#parts.now())]
    await this.#take(owner, { ...day, operation, once, limit: daily[operation], user: owner.user })
    await this.#take(owner, { ...month, operation, once, limit: monthly[operation], user: null })
  }

  /**
   * Runs `store` if the storage limit allows `more` memories, besides those that are being stored.
   *
   * @throws {ServiceError} `memory_quota_exceeded`
   */
  async storing(project: string, more: number, store: () => Promise<void>): Promise<void> {
    const { stored: max } = await this.#parts.settings(project)
    if (max === null) return store()
    const { records, upgradeUrl } = this.#parts
    const limit: CountedLimit = {
      max,
      more,
      count: () => this.#stored.of(project, { max, more }),
      full: (used) => new ServiceError('memory_quota_exceeded', { extra: { upgradeUrl, used, limit: max } }),
    }
    return CountedLimits.at(records).within(`memories ${project}`, limit, async () => {
      try {
        await store()
      } finally {
        // also after a failure, whose memories may be in the store
        this.#stored.stored(project, more)
      }
    })
  }

  async #take(owner: MemoryOwner, { name, operation, once, limit, endsAt, user }: Period): Promise<void> {
    if (limit === null) return
    const { project } = owner
    const tenant = user === null ? null : owner.tenant
    const id = derivedId('mct', 1, JSON.stringify([project, tenant, user, operation, name]))
    const counted = ({ used, latest = [] }: MemoryCountData): MemoryCountData | null => {
      if (once !== null && latest.includes(once)) return null
      if (used >= limit) throw this.#exhausted({ used, limit, endsAt })
      const next = { used: used + 1, ...(latest.length > 0 && { latest }) }
      return once === null ? next : { ...next, latest: [...latest, once].slice(-maxLatest) }
    }
    for (;;) {
      const edit = ({ data }: { readonly data: MemoryCountData }) => counted(data)
      if ((await this.#counts.change(projectScope(project), id, { edit })) !== null) return
      const row = { id, project, tenant, user, expiresAtMs: endsAt, data: counted({ used: 0 }) ?? { used: 0 } }
      if ((await this.#counts.insert(row)) !== null) return
    }
  }

  #exhausted({ used, limit, endsAt }: { readonly used: number; readonly limit: number; readonly endsAt: number }) {
    const retryAfterMs = Math.max(1, endsAt - this.#parts.now())
    return new ServiceError('memory_ops_quota_exceeded', {
      retryAfterS: Math.ceil(retryAfterMs / 1000),
      extra: { upgradeUrl: this.#parts.upgradeUrl, used, limit, retryAfterMs },
    })
  }
}

const dayOf = (now: number) => {
  const day = Math.floor(now / dayMs)
  return { name: `day ${day}`, endsAt: (day + 1) * dayMs }
}

const monthOf = (now: number) => {
  const at = new Date(now)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  return { name: `month ${year}-${month}`, endsAt: Date.UTC(year, month + 1, 1) }
}
