import type { Services } from '#actors/capability/services.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { organizationScope, projectScope } from '#storage/index.ts'
import type { Admission, AdmissionRequest, KeyGrant, KeyRequest, Ticket, TokenNeed } from '../call/admission.ts'
import type { Route } from '../call/routes.ts'
import { type Amount, amountOf, textOf, zero } from '../prices/money.ts'
import { BudgetAccount, type CounterOwner, type Price } from './budget-account.ts'
import type { BudgetSpan, Budgets } from './counter.ts'
import { KeyWindows } from './key-windows.ts'
import { budgetCounters, type CounterData, type CreditData, type LimitData } from './kinds.ts'
import type { LimitCache } from './limit-cache.ts'
import { type Admitted, limitsOfBatches, RateWindows } from './rate-windows.ts'

/** Time in ms after which the holds of a process that does not renew them expire. */
const holdMs = 60_000
/** Number of accounts up to which idle ones stay in memory. */
const keptAccounts = 5_000

export interface LimitAdmissionParts extends Pick<Services, 'clock' | 'limits' | 'records'> {
  readonly book: LimitCache
  /** Default: 60,000; for tests. */
  readonly holdMs?: number
}

/** A budget that applies to a call. */
interface Due {
  readonly owner: CounterOwner
  readonly budgets: Budgets
  readonly refusal: (lacks: BudgetSpan) => ServiceError
}

/** An amount held in a budget account. */
interface Held {
  readonly account: BudgetAccount
  readonly usd: Amount
}

const free: Ticket = { headers: [], settle: () => {} }

/** Checks limits, budgets and credits of projects, tenants and keys (specs/decisions/0086-metering-and-limits.md). */
export class LimitAdmission implements Admission {
  readonly #parts: LimitAdmissionParts
  readonly #windows: RateWindows
  readonly #keys: KeyWindows
  readonly #table: Table<CounterData>
  readonly #process = newId('prc')
  readonly #accounts = new Map<string, BudgetAccount>()

  constructor(parts: LimitAdmissionParts) {
    this.#parts = parts
    this.#windows = new RateWindows(parts.limits, parts.clock)
    this.#keys = new KeyWindows(parts.limits, parts.clock)
    this.#table = new Table(parts.records, budgetCounters, parts.clock.now)
  }

  admit(request: AdmissionRequest): Ticket | Promise<Ticket> {
    const known = this.#parts.book.peek(request.caller.project)
    if (known?.bySubject?.size === 0 && known.credits === null) return free
    return this.#admit(request)
  }

  readonly admitKey = (request: KeyRequest): Promise<KeyGrant> => this.#keys.admit(request)

  readonly spendKey = (route: Route, tokens: number): void => this.#keys.spend(route, tokens)

  /**
   * Resolves when everything settled so far is counted in the store; undefined when it already is.
   * @throws {StoreUnavailable}
   */
  flush(): Promise<void> | undefined {
    return counted([...this.#accounts.values()])
  }

  async #admit(request: AdmissionRequest): Promise<Ticket> {
    const [rows, { credits }] = await Promise.all([
      this.#parts.book.forCaller(request.caller),
      this.#parts.book.of(request.caller.project),
    ])
    const rates = request.caller.line === undefined ? rows : limitsOfBatches(rows)
    const admitted = await this.#windows.admit(rates, request.tokens ?? noTokens)
    const due = [
      ...rows.flatMap(budgetOf),
      ...(credits !== null && request.source === 'managed' ? [creditOf(credits)] : []),
    ]
    try {
      return await this.#within(admitted, due, request)
    } catch (error) {
      await admitted.tokens?.settle(0)
      throw error
    }
  }

  /** Holds the price of a call that the rates admit. */
  async #within(admitted: Admitted, due: readonly Due[], request: AdmissionRequest): Promise<Ticket> {
    const price = due.length === 0 ? null : priceOf(request)
    if (price === null) return ticketOf(admitted, [])
    const held = await this.#hold(due, price)
    const ticket = ticketOf(admitted, held)
    const usd = held[0]?.usd ?? price.usd
    return usd.lessThan(price.usd) ? { ...ticket, limitedToUsd: textOf(usd) } : ticket
  }

  /** Holds the same amount in all budgets, or in none. */
  async #hold(due: readonly Due[], { usd: max, min }: Price): Promise<readonly Held[]> {
    const held: Held[] = []
    let usd = max
    try {
      for (const { owner, budgets, refusal } of due) {
        const account = this.#accountOf(owner)
        const granted = await account.hold({ usd, min }, budgets)
        if ('lacks' in granted) throw refusal(granted.lacks)
        usd = granted.usd
        held.push({ account, usd })
      }
    } catch (error) {
      for (const each of held) each.account.settle(each.usd, zero)
      throw error
    }
    for (const each of held) each.account.release(each.usd.minus(usd))
    return held.map(({ account }) => ({ account, usd }))
  }

  #accountOf(owner: CounterOwner): BudgetAccount {
    const known = this.#accounts.get(owner.id)
    if (known !== undefined) return known
    if (this.#accounts.size >= keptAccounts) {
      for (const [id, account] of this.#accounts) if (account.isIdle) this.#accounts.delete(id)
    }
    const { clock } = this.#parts
    const account = new BudgetAccount(
      { table: this.#table, clock, process: this.#process, holdMs: this.#parts.holdMs ?? holdMs },
      owner,
    )
    this.#accounts.set(owner.id, account)
    return account
  }
}

/** Returns a ticket that settles once; later calls have no effect. An unknown cost is settled as the amount held. */
const ticketOf = ({ headers, tokens }: Admitted, held: readonly Held[]): Ticket => {
  let isOpen = true
  const limitedToTokens = tokens?.limitedTo
  return {
    headers,
    ...(limitedToTokens !== undefined && { limitedToTokens }),
    settle: (spent, used) => {
      if (!isOpen) return
      isOpen = false
      void tokens?.settle(used)
      for (const { account, usd } of held) account.settle(usd, spent === null ? usd : amountOf(spent))
    },
    counted: () => counted(held.map(({ account }) => account)),
  }
}

const noTokens = (): TokenNeed => ({ max: 0 })

/** Resolves when these accounts are saved. @throws {StoreUnavailable} */
const counted = (accounts: readonly BudgetAccount[]): Promise<void> | undefined => {
  const open = accounts.filter(({ isSaved }) => !isSaved)
  return open.length === 0 ? undefined : Promise.all(open.map((account) => account.flush())).then(() => {})
}

/**
 * Returns the maximum cost of a call. When the price is unknown, returns null for a call with a key of the project or
 * without a key, which then counts towards no budget.
 *
 * @throws {ServiceError} `price_unknown` for a key of the installation, since a budget could not be enforced.
 */
const priceOf = ({ maxUsd, minUsd, source }: AdmissionRequest): Price | null => {
  const max = maxUsd()
  if (max !== null) {
    const min = minUsd?.() ?? null
    return { usd: amountOf(max), min: min === null ? undefined : amountOf(min) }
  }
  if (source === 'managed') throw new ServiceError('price_unknown', { param: 'model' })
  return null
}

const budgetOf = ({ id, project, tenant, data }: Row<LimitData>): readonly Due[] => {
  const { budget_day_usd: day, budget_month_usd: month, budget_total_usd: total, subject } = data
  if (day === null && month === null && total === null) return []
  const owner = { id: counterId(id), project, tenant, scope: projectScope(project) }
  const refusal = (lacks: BudgetSpan) =>
    new ServiceError('budget_exceeded', {
      message: `The call could cost more than the ${subject}'s ${words[lacks]} has left.`,
    })
  return [{ owner, budgets: { day, month, total }, refusal }]
}

const words: Readonly<Record<BudgetSpan, string>> = {
  day: 'budget of this day',
  month: 'budget of this month',
  total: 'budget',
}

const creditOf = ({ id, project, data }: Row<CreditData>): Due => ({
  owner: { id: counterId(id), project, tenant: null, scope: organizationScope(project) },
  budgets: { total: data.granted_usd },
  refusal: () => new ServiceError('credit_balance_exhausted'),
})

/** Returns the id of the counter of a limit or of credits. */
export const counterId = (id: string): string => `bud_${id.slice(id.indexOf('_') + 1)}`
