import { ServiceError } from '#specs/errors/errors.ts'
import { type JsonObject, projectScope, type RecordKind } from '#storage/index.ts'
import type { Services } from '../capability/services.ts'
import { pause } from '../runtime/index.ts'
import { type Host, type Ownership, Rounds, type UpkeepSwitch } from '../runtime/internal.ts'
import type { RetentionData, RetentionSettings } from './retention-settings.ts'

const everyMs = 10 * 60 * 1000
const dayMs = 24 * 60 * 60 * 1000
const pageSize = 100
/** Most rows per project and kind that a round examines; the next round continues there. */
const maxPerRound = 5000
/**
 * After each deletion the loop pauses for as long as the deletion took, at most this many ms, so that other work gets a
 * turn.
 */
const maxRestMs = 50

/** Dependencies of `RetentionRounds`. */
export interface RetentionRoundsParts extends Pick<Services, 'clock' | 'log' | 'records'> {
  readonly host: Pick<Host, 'deliver'> & { readonly ownership: Pick<Ownership, 'heldUnder' | 'space'> }
  readonly settings: RetentionSettings
  readonly upkeep: Pick<UpkeepSwitch, 'isPaused'>
  /** The kind of list rows to which each setting applies. */
  readonly kinds: Readonly<Record<'sessions_days' | 'runs_days' | 'actions_days', RecordKind>>
}

/**
 * Periodically deletes items whose retention has expired (specs/decisions/0152-compaction.md). Each project is handled
 * by one process: the one that runs the shard of the project's id.
 */
export class RetentionRounds {
  readonly #parts: RetentionRoundsParts
  readonly #places = new Map<string, string>()
  readonly #rounds: Rounds
  #deleted = 0

  constructor(parts: RetentionRoundsParts) {
    this.#parts = parts
    this.#rounds = new Rounds({ clock: parts.clock, everyMs, round: () => this.round() })
  }

  /** Number of sessions, runs and actions that this process has deleted. */
  get deleted(): number {
    return this.#deleted
  }

  start(): void {
    this.#rounds.start()
  }

  /** Stops after the deletion in progress. */
  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  /** Examines all projects with settings. After a failure the rest is left to the next round. */
  async round(): Promise<void> {
    try {
      for (let after: string | undefined; !this.#rounds.stopped; ) {
        const page = await this.#parts.settings.page(after, pageSize)
        for (const { data } of page) await this.#apply(data)
        after = page.at(-1)?.id
        if (page.length < pageSize) return
      }
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'retention not applied, trying again')
    }
  }

  async #goesOn(project: string): Promise<boolean> {
    const { host, upkeep } = this.#parts
    if (this.#rounds.stopped || host.ownership.heldUnder(host.ownership.space.of(project)) === undefined) return false
    return !(await upkeep.isPaused('retention'))
  }

  async #apply(data: RetentionData): Promise<void> {
    const { kinds, settings, clock, log } = this.#parts
    const changed: string[] = []
    for (const name of ['sessions_days', 'runs_days', 'actions_days'] as const) {
      const days = data[name]
      if (days === null) continue
      const deleted = await this.#deleteBefore(data.project, kinds[name], clock.now() - days * dayMs)
      if (deleted === 0) continue
      changed.push(kinds[name].name)
      log.info({ project: data.project, kind: kinds[name].name, deleted }, 'retention applied')
    }
    if (changed.length > 0) await settings.applied(data.project, clock.now(), changed)
  }

  /**
   * Deletes items last changed before a time. Ids sort by creation, and an item is never changed before its creation,
   * so the search ends at the first page whose last item was created later.
   */
  async #deleteBefore(project: string, kind: RecordKind, before: number): Promise<number> {
    const { records } = this.#parts
    const place = `${project}/${kind.name}`
    let deleted = 0
    for (let scanned = 0; scanned < maxPerRound; ) {
      const after = this.#places.get(place)
      const query = { limit: pageSize, ascending: true, ...(after !== undefined && { after }) }
      const page = await records.list(kind, projectScope(project), query)
      for (const { id, updated_at: at, data } of page) {
        if (at > before || isPartOfAnother(kind, data)) continue
        if (!(await this.#goesOn(project))) return deleted
        if (await this.#delete(id)) deleted++
      }
      scanned += page.length
      const last = page.at(-1)
      if (last === undefined || page.length < pageSize || last.created_at > before) {
        this.#places.delete(place)
        return deleted
      }
      this.#places.set(place, last.id)
    }
    return deleted
  }

  /** Deletes an actor. Returns false when the actor refuses deletion in its current state. */
  async #delete(id: string): Promise<boolean> {
    const { host, clock, log } = this.#parts
    const begunAt = clock.steady()
    try {
      await host.deliver(id, { event: { type: 'delete' }, cause: `retention:${id}` })
      this.#deleted++
      return true
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      log.debug({ actorId: id, err: error }, 'not deleted by retention')
      return false
    } finally {
      const tookMs = clock.steady() - begunAt
      if (tookMs >= 1) await pause(clock, Math.min(tookMs, maxRestMs))
    }
  }
}

/** Whether the row is an action of a session or run: it is kept as long as its parent, and deleted with it. */
const isPartOfAnother = ({ name }: RecordKind, { session_id, run_id }: JsonObject): boolean =>
  name === 'actions' && (typeof session_id === 'string' || typeof run_id === 'string')
