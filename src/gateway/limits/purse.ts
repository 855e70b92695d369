import { Decimal } from 'decimal.js'
import type { Row } from '#records/schema.ts'
import type { Table } from '#records/table.ts'
import { type Clock, pause } from '#runtime/clock.ts'
import type { Scope } from '#specs/scope.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { type Amount, textOf, zero } from '../prices/money.ts'
import {
  type BudgetSpan,
  type Budgets,
  currentCounter,
  freshCounter,
  heldByOthers,
  holding,
  leastRoom,
  type Room,
  spentMore,
} from './counter.ts'
import type { CounterData } from './kinds.ts'

/** How long what was spent gathers before it is written, in ms. */
const gatherMs = 50
/** When a write that failed is made again, in ms. */
const againMs = 1_000
/** Tries against other processes before a call is given up. */
const maxTries = 200
const patientTries = 4
const longestPauseMs = 20

/** Whose counter it is. */
export interface CounterOwner {
  readonly id: string
  readonly project: string
  readonly tenant: string | null
  /** Under which the counter's row is read. */
  readonly scope: Scope
}

export interface PurseParts {
  readonly table: Table<CounterData>
  readonly clock: Clock
  /** Names this very process. */
  readonly process: string
  /** After so many ms without a word what the process holds is free again. */
  readonly holdMs: number
}

/** What a call costs. */
export interface Price {
  /** At most. */
  readonly usd: Amount
  /** It can be made for so much; absent: for no less than the most. */
  readonly least?: Amount | undefined
}

/** What is held for a call, or the budget that lacks it. */
export type Granted = { readonly usd: Amount } | { readonly lacks: BudgetSpan }

/** One call that wants money. */
interface Waiting extends Price {
  readonly budgets: Budgets
  readonly answer: (granted: Granted) => void
  readonly fail: (error: unknown) => void
}

/**
 * What this process spends of one counter. The most that a call can cost is held in the counter's row before the call
 * begins, and what it did cost is counted after it: all processes together never hold and spend more than there is. One
 * write at a time serves all who wait.
 */
export class Purse {
  readonly #parts: PurseParts
  readonly #owner: CounterOwner
  /** As this process wrote or read it last; null: not known. */
  #row: Row<CounterData> | null = null
  #underWay: Amount = zero
  /** Spent, and not counted in the row. */
  #unsaved: Amount = zero
  /** Calls settled, and those of them that a durable row knows. */
  #settled = 0
  #saved = 0
  #writes = 0
  /** A write whose answer was lost, and what it counted. */
  #doubtful: { readonly write: number; readonly usd: Amount } | null = null
  #waiting: Waiting[] = []
  #saving: Promise<void> | null = null
  #cancel: (() => void) | undefined
  #cancelRenewal: (() => void) | undefined

  constructor(parts: PurseParts, owner: CounterOwner) {
    this.#parts = parts
    this.#owner = owner
  }

  /** Nothing is under way, and all is written. */
  get isIdle(): boolean {
    return this.isSaved && this.#saving === null && this.#waiting.length === 0 && this.#underWay.isZero()
  }

  /** Everything that was settled is in the row. */
  get isSaved(): boolean {
    return this.#saved === this.#settled
  }

  /**
   * Holds the price of a call; where that is not left, half of what is, so that calls beside it find something too, but no
   * less than the least. @throws {StoreUnavailable}
   */
  hold(price: Price, budgets: Budgets): Promise<Granted> {
    return new Promise((answer, fail) => {
      this.#waiting.push({ ...price, budgets, answer, fail })
      void this.#start()
    })
  }

  /** The call that `held` was for has ended and cost `spent`. */
  settle(held: Amount, spent: Amount): void {
    this.#underWay = this.#underWay.minus(held)
    this.#unsaved = this.#unsaved.plus(spent)
    this.#settled++
    this.#later(gatherMs)
  }

  /** So much of what is held is not needed. */
  release(usd: Amount): void {
    if (usd.isZero()) return
    this.#underWay = this.#underWay.minus(usd)
    this.#settled++
    this.#later(gatherMs)
  }

  /** All that was settled so far is counted. @throws {StoreUnavailable} */
  async flush(): Promise<void> {
    const target = this.#settled
    while (this.#saved < target) await this.#start()
  }

  /** Writes once more when nothing else does. */
  #later(ms: number): void {
    this.#cancel ??= this.#parts.clock.after(ms, () => {
      this.#cancel = undefined
      if (!this.isSaved) void this.#start().catch(() => undefined)
    })
  }

  /** One write at a time; a call that comes while one is under way goes with the next. */
  #start(): Promise<void> {
    if (this.#saving === null) {
      const saving = this.#save()
      saving.catch(() => undefined)
      this.#saving = saving
    }
    return this.#saving
  }

  async #save(): Promise<void> {
    // all who come in the same turn of the loop go together
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

  /** To a process that was faster: for a moment, longer when it happens again and again. */
  #giveWay(tried: number): Promise<void> {
    const { clock } = this.#parts
    if (tried < patientTries) return new Promise((resolve) => clock.soon(resolve))
    return pause(clock, Math.random() * Math.min(longestPauseMs, tried))
  }

  /** A write whose answer was lost has counted what it was to count, if its number is there. */
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
      const grant = grantOf(leastRoom(counter, held, budgets), price)
      if ('usd' in grant) granted = granted.plus(grant.usd)
      answers.push(() => answer(grant))
    }
    const usd = textOf(this.#underWay.plus(granted))
    return { data: holding(counter, process, { usd, until: now + holdMs, write }), granted, answers }
  }

  /** A counter that was removed meanwhile is made again for a new call only. */
  async #store(data: CounterData, isWanted: boolean): Promise<boolean> {
    const { table } = this.#parts
    const { id, project, tenant } = this.#owner
    if (this.#row === null && !isWanted) return true
    this.#row =
      this.#row === null ? await table.insert({ id, project, tenant, data }) : await table.replace(this.#row, data)
    return this.#row !== null
  }

  /** A long call keeps what is held for it. */
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

/** Digits behind the point of what is held: as many as prices have. */
const digits = 18

const grantOf = (room: Room | null, { usd, least }: Price): Granted => {
  if (room === null || usd.lessThanOrEqualTo(room.usd)) return { usd }
  if (least === undefined || least.greaterThan(room.usd)) return { lacks: room.span }
  const half = room.usd.times('0.5').toDecimalPlaces(digits, Decimal.ROUND_DOWN)
  return { usd: half.lessThan(least) ? least : half }
}
