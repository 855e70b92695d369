import { limitsOf } from '#actors/call/reach.ts'
import type { Services } from '#actors/capability/services.ts'
import { RecheckCache } from '#records/caches/recheck-cache.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { runInSlices } from '#src/concurrency/run-in-slices.ts'
import { projectScope } from '#storage/index.ts'
import { type ActorCaller, type Caller, isRequest } from '../call/caller.ts'
import { guardrailNames, headerNames } from '../call/guarding/guardrail-names.ts'
import { GuardCall } from './guard-call.ts'
import { type GuardSet, guardSet, type PreparedGuardrail, prepared } from './guard-set.ts'
import { type GuardrailData, guardrailKind } from './kinds.ts'
import type { RemoteChecks } from './remote-checks.ts'

/** Opens the guardrails of calls. */
export interface Guardrails {
  /**
   * Returns the guardrails of a call; null for none. Synchronous for a project in steady use.
   *
   * @throws {ServiceError} `invalid_header`, `insufficient_scope` or `agent_not_runnable` for one that does not exist.
   */
  open(caller: Caller | ActorCaller): GuardCall | null | Promise<GuardCall | null>
}

/** How long, in ms, another node may still use a guardrail after it was changed. */
const recheckMs = 1_000
const maxCached = 10_000
/** Most combinations of guardrails of a project that are kept prepared. */
const maxSets = 100

/** The guardrails of a project, and the combinations that calls used. */
interface ProjectGuardrails {
  readonly all: readonly PreparedGuardrail[]
  /** Ids and versions of the rows. */
  readonly signature: string
  readonly sets: Map<string, GuardSet | null>
}

const none: ProjectGuardrails = { all: [], signature: '', sets: new Map([['', null]]) }

/** Guardrails of projects, cached and prepared. */
export class StoredGuardrails implements Guardrails {
  readonly #table: Table<GuardrailData>
  readonly #cache: RecheckCache<ProjectGuardrails>
  /** The last result of each project, so that an unchanged one is not prepared again. */
  readonly #last = new Map<string, ProjectGuardrails>()
  readonly #remote: RemoteChecks

  constructor({ records, now }: Pick<Services, 'records' | 'now'>, remote: RemoteChecks) {
    this.#table = new Table(records, guardrailKind, now)
    this.#remote = remote
    this.#cache = new RecheckCache({
      load: (project) => this.#load(project),
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
      now,
    })
  }

  open(caller: Caller | ActorCaller): GuardCall | null | Promise<GuardCall | null> {
    const known = this.#cache.peek(caller.project)
    if (known !== undefined) {
      if (guardrailNames(caller).every((name) => find(known.all, name) !== undefined)) return this.#of(known, caller)
      // one that was created a moment ago, on this node or another
      this.#cache.forget(caller.project)
    }
    return this.#cache.load(caller.project).then((loaded) => this.#of(loaded ?? none, caller))
  }

  /** Returns the first of these names or ids that no guardrail of the project has; null for none. */
  async missing(project: string, names: readonly string[]): Promise<string | null> {
    const { all } = (await this.#cache.load(project)) ?? none
    return names.find((name) => find(all, name) === undefined) ?? null
  }

  #of({ all, sets }: ProjectGuardrails, caller: Caller | ActorCaller): GuardCall | null {
    const names = guardrailNames(caller)
    const key = names.join()
    let set = sets.get(key)
    if (set === undefined) {
      set = this.#set(all, names, caller)
      if (sets.size >= maxSets) sets.clear()
      sets.set(key, set)
    }
    return set === null ? null : new GuardCall(set, this.#remote, caller)
  }

  #set(all: readonly PreparedGuardrail[], names: readonly string[], caller: Caller | ActorCaller): GuardSet | null {
    const named = names.map((name) => find(all, name) ?? refuse(name, caller))
    const chosen = all.filter((each) => each.isDefault || named.includes(each))
    return chosen.length === 0 ? null : guardSet(chosen)
  }

  async #load(project: string): Promise<ProjectGuardrails> {
    const rows = await this.#table.every(projectScope(project), { ascending: true })
    const signature = rows.map(({ id, version }) => `${id}.${version}`).join()
    const last = this.#last.get(project)
    if (last?.signature === signature) return last
    const known = new Map(last?.all.map((each) => [`${each.id}.${each.version}`, each]))
    const all: PreparedGuardrail[] = []
    for (const row of rows) all.push(known.get(`${row.id}.${row.version}`) ?? (await preparedRow(row)))
    const made = rows.length === 0 ? { ...none, sets: new Map() } : { all, signature, sets: new Map() }
    if (this.#last.size >= maxCached) this.#last.clear()
    this.#last.set(project, made)
    return made
  }
}

const preparedRow = async ({ id, version, data }: Row<GuardrailData>): Promise<PreparedGuardrail> => ({
  ...{ id, version, name: data.name, isDefault: data.is_default },
  checks: await runInSlices(prepared(data.name, data.checks)),
})

const find = (all: readonly PreparedGuardrail[], name: string): PreparedGuardrail | undefined =>
  all.find((each) => each.id === name || each.name === name)

const refuse = (name: string, caller: Caller | ActorCaller): never => {
  const message = `There is no guardrail '${name.slice(0, 64)}'.`
  if (isRequest(caller) && headerNames(caller).includes(name))
    throw new ServiceError('invalid_header', { param: 'X-Guardrails', message })
  if (isRequest(caller) && limitsOf(caller.principal)?.guardrails?.includes(name))
    throw new ServiceError('insufficient_scope', { param: 'guardrails', message })
  throw new ServiceError('agent_not_runnable', { param: 'config.guardrails', message })
}
