import type { Services } from '#actors/capability/services.ts'
import type { Row } from '#records/schema.ts'
import { pause } from '#runtime/index.ts'
import { backoffMs, idAt } from '#runtime/internal.ts'
import type { RecordStore } from '#storage/index.ts'
import type { CallLedger, GatewayCall } from '../call/accounting/call-ledger.ts'
import type { LoggedText } from '../call/accounting/logged-text.ts'
import type { Redaction } from '../call/redaction.ts'
import { BodyAllowance, cut, marginChars, maxBodyChars } from './body-allowance.ts'
import {
  callSegments,
  type RequestLogSettingsData,
  type SegmentData,
  type SegmentLog,
  segmentOwner,
  segmentPrefix,
  segmentSpanMs,
} from './kinds.ts'
import type { LogSettings } from './log-settings.ts'
import { SegmentWriter } from './segment-writer.ts'

/** Batching window for calls in ms; the write has the rest of the 100 ms. */
const gatherMs = 80
/** Maximum number of calls of a segment. */
const maxCalls = 1_000
/** Maximum number of calls that wait while the store is unavailable; further calls are counted as dropped and lost. */
const maxWaiting = 100_000
/**
 * Maximum number of waiting calls whose requests and answers are kept until they are written: these live long enough to
 * burden the garbage collector.
 */
const maxBodies = 64
/** Interval in ms at which a write waits for the disk, where that blocks the process. */
const syncEveryMs = 1_000
const dayMs = 24 * 60 * 60 * 1000

export interface GathererParts extends Pick<Services, 'clock' | 'log'> {
  readonly records: Pick<RecordStore, 'insert' | 'project'>
  /**
   * Whether waiting for the disk blocks the process, as with an embedded store: then only one write per second waits,
   * and the others become durable with the next one that does.
   */
  readonly syncBlocks: boolean
  readonly settings: Pick<LogSettings, 'of'>
  readonly redaction: Pick<Redaction, 'forLog'>
  /** Runs before each write, so that budgets count a call before its usage row is durable. */
  readonly beforeWrite: () => Promise<void> | undefined
  /** Receives each segment after its write. */
  readonly written: (segment: Row<SegmentData>) => void
}

/** The request and the answer of a call that waits to be written. `busy`: there was no time to log them. */
type TakenBodies = GatewayCall['bodies'] | 'busy'

/** The calls of a batching window, and their texts in the same order. */
class Batch {
  readonly writer = new SegmentWriter()
  readonly bodies: TakenBodies[] = []
}

/**
 * Collects calls that have ended, and writes them in batches. Recording a call only appends its compact form to an
 * array; the rest is done after the batching window. A killed process loses only the calls of that window.
 */
export class CallGatherer implements CallLedger {
  readonly #parts: GathererParts
  readonly #bodies = new BodyAllowance()
  #batch = new Batch()
  #withBodies = 0
  #cancel: (() => void) | undefined
  /** Resolves when all batches so far are written; never rejects. */
  #writing: Promise<void> = Promise.resolve()
  #waiting = 0
  #lastAt = 0
  /** Time of the last write that waited for the disk, in ms since the epoch. */
  #syncedAt = 0

  /** Number of calls that were lost because the store was unavailable for too long. */
  dropped = 0
  /** Number of calls that were recorded. */
  taken = 0

  constructor(parts: GathererParts) {
    this.#parts = parts
  }

  record(call: GatewayCall): void {
    if (this.#waiting >= maxWaiting) {
      this.#drop()
      return
    }
    this.#waiting++
    this.taken++
    const { writer, bodies } = this.#batch
    writer.add(call)
    bodies.push(this.#allowed(call))
    if (bodies.length >= maxCalls) this.#gather()
    else this.#cancel ??= this.#parts.clock.after(gatherMs, () => this.#gather())
  }

  flush(): Promise<void> {
    this.#gather()
    return this.#writing
  }

  /** Time of the newest call in ms since the epoch, accurate to the batching window. */
  get lastAt(): number {
    return this.#batch.bodies.length > 0 ? this.#parts.clock.now() : this.#lastAt
  }

  /** Drops the texts of a call early when there will be no time to process them. */
  #allowed({ bodies }: GatewayCall): TakenBodies {
    if (bodies === null) return null
    if (this.#withBodies >= maxBodies || !this.#bodies.isOpen(performance.now())) return 'busy'
    this.#withBodies++
    return bodies
  }

  #gather(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const batch = this.#batch
    if (batch.bodies.length === 0) return
    this.#batch = new Batch()
    const now = this.#parts.clock.now()
    this.#lastAt = now
    const id = idAt(segmentPrefix, now)
    this.#writing = this.#writing.then(() => this.#write(id, now, batch))
  }

  async #write(id: string, now: number, batch: Batch): Promise<void> {
    const { beforeWrite } = this.#parts
    const calls = batch.bodies.length
    let segment: Row<SegmentData> | undefined
    for (let attempt = 0; ; attempt++) {
      try {
        await beforeWrite()
        segment ??= await this.#segment(id, now, batch)
        await this.#store(segment)
        break
      } catch (error) {
        this.#parts.log.warn({ calls, attempt, err: error }, 'calls not written, trying again')
        await pause(this.#parts.clock, backoffMs(attempt, 50, 2000))
      }
    }
    this.#waiting -= calls
    this.#parts.written(segment)
  }

  /**
   * A write that does not wait for the disk survives a kill immediately, and a power loss after the next write that
   * waits.
   */
  async #store(segment: Row<SegmentData>): Promise<void> {
    const { records, syncBlocks, clock } = this.#parts
    const isDue = !syncBlocks || Math.abs(clock.now() - this.#syncedAt) >= syncEveryMs
    if (!isDue) return records.project([{ kind: callSegments, record: segment }])
    await records.insert(callSegments, segment)
    this.#syncedAt = clock.now()
  }

  async #segment(id: string, now: number, { writer, bodies }: Batch): Promise<Row<SegmentData>> {
    const settings = new Map<string, RequestLogSettingsData>()
    for (const [place, call] of writer.calls.entries()) {
      const project = writer.projectOf(call)
      let wanted = settings.get(project)
      if (wanted === undefined) {
        const read = this.#parts.settings.of(project)
        wanted = read instanceof Promise ? await read : read
        settings.set(project, wanted)
      }
      call.at = Math.min(now, Math.max(now - segmentSpanMs, call.at))
      call.log = this.#logOf(bodies[place] ?? null, call.at, wanted)
    }
    this.#withBodies -= bodies.filter((each) => typeof each === 'function').length
    bodies.fill(null)
    return {
      id,
      project: segmentOwner,
      tenant: null,
      user: null,
      version: 1,
      created_at: now,
      updated_at: now,
      expires_at: null,
      data: writer.data,
    }
  }

  #logOf(bodies: TakenBodies, at: number, { mode, retention_days }: RequestLogSettingsData): SegmentLog | null {
    if (mode === 'off') return null
    const until = at + retention_days * dayMs
    if (mode === 'metadata') return { until, bodies: 'off' }
    if (bodies === null) return { until, bodies: 'none' }
    const began = performance.now()
    if (bodies === 'busy' || !this.#bodies.isOpen(began)) return { until, bodies: 'busy' }
    const { request, response } = bodies()
    const kept = { until, bodies: 'kept', request: this.#clean(request), response: this.#clean(response) } as const
    this.#bodies.spend(performance.now() - began)
    return kept
  }

  #clean(logged: LoggedText): string {
    const [text, length] = typeof logged === 'string' ? [logged, logged.length] : [logged.beginning, null]
    return cut(this.#parts.redaction.forLog(text.slice(0, maxBodyChars + marginChars)), length)
  }

  #drop(): void {
    this.dropped++
    if (this.dropped % 1000 === 1)
      this.#parts.log.error({ dropped: this.dropped }, 'calls not recorded: the store is away')
  }
}
