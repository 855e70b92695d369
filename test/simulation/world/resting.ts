import { definitions } from '#actors/capabilities.ts'
import { sessionRows } from '#actors/sessions/kinds.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { readActor } from '#runtime/activation.ts'
import { commitOf } from '#runtime/commit/commit-document.ts'
import { idWithTail, isId, tailOf } from '#runtime/ids.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'
import { rowRecord } from '#runtime/rows/actor-row.ts'
import { firstStep } from '#runtime/step/step.ts'
import type { Commit } from '#storage/ports.ts'
import { covers, type Scope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import type { Ledger } from '../ledger.ts'
import { type Identity, identities } from './identities.ts'
import { RestingCommits, RestingRecords } from './resting-store.ts'

/** Time between two sessions that become inactive for too long, in ms: how many do so follows from how many were made then. */
const everyMs = 5000

interface RestingParts {
  readonly now: () => number
  readonly ledger: () => Ledger
  /** Time after which the first falls due, in ms. */
  readonly fromMs: number
}

/**
 * The sessions that an installation has had for long, however many: each follows from its number, the oldest first, and is
 * written when an index of the store finds it. Those made within the time that a session may be inactive are idle and have a
 * reminder that falls due one after the other; all before have expired. Identities have equal numbers of them.
 */
export class RestingSessions {
  readonly commits: RestingCommits
  readonly records: RestingRecords
  readonly count: number
  readonly #ledger: () => Ledger
  readonly #start: number
  /** How long a session may be inactive, in ms. */
  readonly #lifeMs: number
  readonly #firstIdle: number
  #nextDue: number
  readonly #written = new Map<number, Promise<void>>()
  readonly #writtenOf = new Map<Identity, number>()
  readonly #taken = new Set<number>()

  constructor(count: number, { now, ledger, fromMs }: RestingParts) {
    this.count = count
    this.#ledger = ledger
    this.#start = now() + fromMs
    this.#lifeMs = (firstCommit(idOf(0, this.#start), identityOf(0), this.#start).due ?? 0) - this.#start
    this.#firstIdle = Math.max(0, count - Math.floor(this.#lifeMs / everyMs))
    this.#nextDue = this.#firstIdle
    this.commits = new RestingCommits(this)
    this.records = new RestingRecords(this, now)
  }

  /** Number of those that are written. */
  get written(): number {
    return this.#written.size
  }

  /** Returns the id of an idle one of this identity that no client has had. @param draw draws a whole number. */
  take({ name }: Identity, draw: (min: number, max: number) => number): string {
    for (;;) {
      const number = draw(this.#firstIdle, this.count - 1)
      if (identityOf(number).name !== name || this.#taken.has(number)) continue
      this.#taken.add(number)
      return this.#idOf(number)
    }
  }

  /** Resolves when the session with this id is written, if it is one of these. */
  async write(id: string): Promise<void> {
    const number = isId(id, 'ses') && /^\d+$/.test(tailOf(id)) ? Number(tailOf(id)) : this.count
    if (number < this.count && this.#idOf(number) === id) await this.#ensure(number)
  }

  /** Writes those whose reminders are due. */
  async writeDue(now: number): Promise<void> {
    while (this.#nextDue < this.count && this.#at(this.#nextDue) + this.#lifeMs <= now) {
      await this.#ensure(this.#nextDue++)
    }
  }

  /** Writes as many as a scope covers, the newest first, until there are this many. */
  async writeNewest(scope: Scope, wanted: number): Promise<void> {
    for (let number = this.count - 1, found = 0; number >= 0 && found < wanted; number--) {
      if (!covers(scope, ownerOf(identityOf(number)))) continue
      found++
      await this.#ensure(number)
    }
  }

  /** Number of those in a scope that are not written. */
  unwritten(scope: Scope): number {
    return identities.reduce((sum, identity, place) => {
      const all = Math.ceil((this.count - place) / identities.length)
      return covers(scope, ownerOf(identity)) ? sum + all - (this.#writtenOf.get(identity) ?? 0) : sum
    }, 0)
  }

  #ensure(number: number): Promise<void> {
    const written = this.#written.get(number) ?? this.#write(number)
    this.#written.set(number, written)
    return written
  }

  async #write(number: number): Promise<void> {
    const identity = identityOf(number)
    this.#writtenOf.set(identity, (this.#writtenOf.get(identity) ?? 0) + 1)
    const first = firstCommit(this.#idOf(number), identity, this.#at(number))
    const commit = number < this.#firstIdle ? expired(first) : first
    await this.commits.append([commit])
    this.#ledger().wrote(commit)
    // the row is made of a store of its own, since reading the session in this one waits for this
    const storage = openMemoryStorage()
    await storage.commits.append([commit])
    const resident = await readActor({ storage, definitions }, commit.actor)
    if (resident !== null) await this.records.writeRows([{ kind: sessionRows, record: rowRecord(resident) }])
  }

  #idOf(number: number): string {
    return idOf(number, this.#at(number))
  }

  /** When it was last used. */
  #at(number: number): number {
    return this.#start - this.#lifeMs + (number - this.#firstIdle + 1) * everyMs
  }
}

const idOf = (number: number, at: number): string => idWithTail('ses', at, String(number).padStart(16, '0'))

const identityOf = (number: number): Identity => {
  const identity = identities[number % identities.length]
  if (identity === undefined) throw new Error('no identities')
  return identity
}

const ownerOf = ({ scope: { project, tenant, user } }: Identity) => ({ project, tenant, user })

/** The commit that has created a session; what it requested was done long ago. */
const firstCommit = (actor: string, identity: Identity, at: number): Commit => {
  const event = { type: 'create' }
  const step = firstStep(sessionDefinition, { session_id: actor, agent_id: null, metadata: {} }, { actor, event, at })
  if (step.kind !== 'next') throw new Error('a session refuses to start')
  const owner = { ...ownerOf(identity), createdAt: at }
  const facts = { actor, shard: shardsOf({}).of(actor), epoch: 0, at, cause: `rests:${actor}`, event, owner }
  return { ...commitOf(sessionDefinition, step.draft, facts), effects: [], messages: [], open: false }
}

const expired = (commit: Commit): Commit => ({
  ...commit,
  snapshot: { ...commit.snapshot, value: 'expired' },
  reminders: {},
  due: null,
})
