import { Decimal } from 'decimal.js'
import type { Row } from '#records/schema.ts'
import type { Table } from '#records/table.ts'
import { type Clock, pause } from '#runtime/index.ts'
import { type Scope, StoreUnavailable } from '#storage/index.ts'
import { type Amount, textOf, zero } from '../prices/money.ts'
import {
  type BudgetSpan,
  type Budgets,
  currentCounter,
  freshCounter,
  type Headroom,
  heldByOthers,
  holding,
  minHeadroom,
  spentMore,
} from './counter.ts'
import type { CounterData } from './kinds.ts'

/** Batching window in ms for writing what was spent. */
const gatherMs = 50
/** Time in ms until a failed write is retried. */
const againMs = 1_000
/** Maximum number of attempts at an optimistic write against other processes before a call fails. */
const maxTries = 200
const patientTries = 4
const longestPauseMs = 20

export interface CounterOwner {
  readonly id: string
  readonly project: string
  readonly tenant: string | null
  /** Scope in which the counter's row is read. */
  readonly scope: Scope
}

export interface BudgetAccountParts {
  readonly table: Table<CounterData>
  readonly clock: Clock
  /** Unique id of this process. */
  readonly process: string
  /** Time in ms after which the holds of a process that does not renew them expire. */
  readonly holdMs: number
}

/** Price of a call. */
export interface Price {
  /** Maximum cost. */
  readonly usd: Amount
  /** Minimum cost, if the call can be made cheaper; absent: the maximum. */
  readonly min?: Amount | undefined
}

/** The amount held for a call, or the budget that does not suffice. */
export type Granted = { readonly usd: Amount } | { readonly lacks: BudgetSpan }

/** A call that waits for its hold. */
interface Waiting extends Price {
  readonly budgets: Budgets
  readonly answer: (granted: Granted) => void
  readonly fail: (error: unknown) => void
}

/**
 * Spends from one counter on behalf of this process. The maximum cost of a call is held in the counter's row before the
 * call, and its actual cost is counted afterwards, so that all processes together never hold and spend more than the
 * budget. There is one write at a time, which serves all waiting calls.
 */
export class BudgetAccount {
  readonly #parts: BudgetAccountParts
  readonly #owner: CounterOwner
  /** The row as this process last wrote or read it; null when unknown. */
  #row: Row<CounterData> | null = null
  #underWay: Amount = zero
  /** Spent, but not yet counted in the row. */
  #unsaved: Amount = zero
  /** Number of settled calls, and how many of them are counted in a durable row. */
  #settled = 0
  #saved = 0
  #writes = 0
  /** A write whose acknowledgement was lost, with the amount that it counted. */
  #doubtful: { readonly write: number; readonly usd: Amount } | null = null
  #waiting: Waiting[] = []
  #saving: Promise<void> | null = null
  #cancel: (() => void) | undefined
  #cancelRenewal: (() => void) | undefined

  constructor(parts: BudgetAccountParts, owner: CounterOwner) {
    this.#parts = parts
    this.#owner = owner
  }

  /** Whether no call is in progress and everything is written. */
  get isIdle(): boolean {
    return this.isSaved && this.#saving === null && this.#waiting.length === 0 && this.#underWay.isZero()
  }

  /** Whether everything settled is counted in the row. */
  get isSaved(): boolean {
    return this.#saved === this.#settled
  }

  /**
   * Holds the price of a call. When the budget does not cover it, half of the remainder is held, but at least the
   * minimum cost; the other half is left for concurrent calls.
   * @throws {StoreUnavailable}
   */
  hold(price: Price, budgets: Budgets): Promise<Granted> {
    return new Promise((answer, fail) => {
      this.#waiting.push({ ...price, budgets, answer, fail })
      void this.#start()
    })
  }

  /** Ends a call for which `held` was held and which cost `spent`. */
  settle(held: Amount, spent: Amount): void {
    this.#underWay = this.#underWay.minus(held)
    this.#unsaved = this.#unsaved.plus(spent)
    this.#settled++
    this.#later(gatherMs)
  }

  /** Releases a part of what is held for a call. */
  release(usd: Amount): void {
    if (usd.isZero()) return
    this.#underWay = this.#underWay.minus(usd)
    this.#settled++
    this.#later(gatherMs)
  }

  /** Resolves when everything settled so far is counted. @throws {StoreUnavailable} */
  async flush(): Promise<void> {
    const target = this.#settled
    while (this.#saved < target) await this.#start()
  }

  /** Schedules a write, unless one is scheduled already. */
  #later(ms: number): void {
    this.#cancel ??= this.#parts.clock.after(ms, () => {
      this.#cancel = undefined
      if (!this.isSaved) void this.#start().catch(() => undefined)
    })
  }

  /** Starts a write, or joins the one in progress; calls that arrive during a write are served by the next one. */
  #start(): Promise<void> {
    if (this.#saving === null) {
      const saving = this.#save()
      saving.catch(() => undefined)
      this.#saving = saving
    }
    return this.#saving
  }

  async #save(): Promise<void> {
    // all calls that arrive in the same turn of the event loop are served together
    await Promise.resolve()
    const waiting = this.#waiting
    this.#waiting = []
    try {
      await this.#write(waiting)
    } catch (error) {
      this.#row = null
      for (const { fail } of waiting) fail(error)
      this.#later(againMs)
      throw error
    } finally {
      this.#saving = null
      if (this.#waiting.length > 0) void this.#start()
      this.#renew()
    }
  }

  async #write(waiting: readonly Waiting[]): Promise<void> {
    for (let tried = 0; tried < maxTries; tried++) {
      if (this.#row === null) await this.#read()
      const [settled, usd, write] = [this.#settled, this.#unsaved, ++this.#writes]
      const { data, granted, answers } = this.#decide(waiting, usd, write)
      this.#doubtful = { write, usd }
      const isStored = await this.#store(data, waiting.length > 0)
      this.#doubtful = null
      if (isStored) {
        this.#unsaved = this.#unsaved.minus(usd)
        this.#saved = settled
        this.#underWay = this.#underWay.plus(granted)
        for (const answer of answers) answer()
        return
      }
      await this.#giveWay(tried)
    }
    throw new StoreUnavailable('others are always faster at the counter')
  }

  /** Waits after another process was faster: briefly at first, longer after repeated conflicts. */
  #giveWay(tried: number): Promise<void> {
    const { clock } = this.#parts
    if (tried < patientTries) return new Promise((resolve) => clock.soon(resolve))
    return pause(clock, Math.random() * Math.min(longestPauseMs, tried))
  }

  /**
   * Reads the row. If it has the number of a write whose acknowledgement was lost, that write succeeded and its amount
   * is already counted.
   */
  async #read(): Promise<void> {
    this.#row = await this.#parts.table.get(this.#owner.scope, this.#owner.id)
    const doubtful = this.#doubtful
    this.#doubtful = null
    if (doubtful !== null && this.#row?.data.held[this.#parts.process]?.write === doubtful.write) {
      this.#unsaved = this.#unsaved.minus(doubtful.usd)
    }
  }

  #decide(waiting: readonly Waiting[], unsaved: Amount, write: number) {
    const { clock, process, holdMs } = this.#parts
    const now = clock.now()
    const counter = spentMore(currentCounter(this.#row?.data ?? freshCounter(now), now), unsaved)
    const others = heldByOthers(counter, process)
    let granted = zero
    const answers: (() => void)[] = []
    for (const { budgets, answer, ...price } of waiting) {
      const held = others.plus(this.#underWay).plus(granted)
      const grant = grantOf(minHeadroom(counter, held, budgets), price)
      if ('usd' in grant) granted = granted.plus(grant.usd)
      answers.push(() => answer(grant))
    }
    const usd = textOf(this.#underWay.plus(granted))
    return { data: holding(counter, process, { usd, until: now + holdMs, write }), granted, answers }
  }

  /** Stores the counter. A counter that was removed in the meantime is created again only for a new call. */
  async #store(data: CounterData, isWanted: boolean): Promise<boolean> {
    const { table } = this.#parts
    const { id, project, tenant } = this.#owner
    if (this.#row === null && !isWanted) return true
    this.#row =
      this.#row === null ? await table.insert({ id, project, tenant, data }) : await table.replace(this.#row, data)
    return this.#row !== null
  }

  /** Renews the hold of calls in progress before it expires. */
  #renew(): void {
    this.#cancelRenewal?.()
    this.#cancelRenewal = undefined
    if (this.#underWay.isZero()) return
    this.#cancelRenewal = this.#parts.clock.after(this.#parts.holdMs / 3, () => {
      this.#cancelRenewal = undefined
      void this.#start().catch(() => undefined)
    })
  }
}

/** Decimal places of held amounts, the same as for prices. */
const digits = 18

const grantOf = (headroom: Headroom | null, { usd, min }: Price): Granted => {
  if (headroom === null || usd.lessThanOrEqualTo(headroom.usd)) return { usd }
  if (min === undefined || min.greaterThan(headroom.usd)) return { lacks: headroom.span }
  const half = headroom.usd.times('0.5').toDecimalPlaces(digits, Decimal.ROUND_DOWN)
  return { usd: half.lessThan(min) ? min : half }
}
