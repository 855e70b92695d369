import { matchesState } from 'xstate'
import { usageRows } from '#gateway/ledger/usage-rows.ts'
import type { RunCall } from '#machines/run/run-data.ts'
import { runDefinition } from '#machines/run/run-definition.ts'
import { runQueueDefinition } from '#machines/run-queue/run-queue-definition.ts'
import { statusOf } from '#machines/status.ts'
import { derivedId } from '#runtime/ids.ts'
import { contextOf } from '#runtime/schema.ts'
import { readStoredState } from '#runtime/step/actor-state.ts'
import type { Commit, Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import type { KnownActor, Ledger } from '../ledger.ts'
import { notifiedProject, webhookId } from './run-agents.ts'
import { RunRules } from './run-rules.ts'

const newestOf = (ledger: Ledger, id: string): Commit | undefined => ledger.actors.get(id)?.commits.at(-1)

const statusIn = (ledger: Ledger, id: string): string | null => {
  const commit = newestOf(ledger, id)
  return commit === undefined ? null : statusOf(runDefinition, readStoredState(commit))
}

const isOpen = (status: string | null): boolean =>
  status === 'queued' || status === 'running' || status === 'requires_action'

/**
 * What has to hold for runs once the system is idle: an open run waits for a person or a child, and none for a slot.
 */
export const checkRuns = (ledger: Ledger): void => {
  for (const [id, known] of ledger.actors) {
    const commit = known.commits.at(-1)
    if (commit === undefined) continue
    if (id.startsWith('run_')) checkRun(id, known, commit, ledger)
    if (id.startsWith('rqu_')) checkQueue(id, commit, ledger)
  }
}

const checkRun = (id: string, { log, events }: KnownActor, commit: Commit, ledger: Ledger): void => {
  if (!(log instanceof RunRules)) return
  const state = readStoredState(commit)
  const { calls, slot, parent } = contextOf(runDefinition, state)
  const open = isOpen(statusOf(runDefinition, state))
  ledger.expect(statusOf(runDefinition, state) !== null, () => `${id} is deleted, and its log stays`)
  ledger.expect(
    open === log.open,
    () => `${id} is ${statusOf(runDefinition, state)}, and its log ends with ${events.at(-1)?.event_type}`,
  )
  ledger.expect(!slot, () => `${id} is ${JSON.stringify(state.value)} and keeps its slot`)
  if (open) checkWaits(id, commit, ledger)
  for (const [child, { ended }] of log.children) {
    const over = !isOpen(statusIn(ledger, child))
    ledger.expect(over || open, () => `${id} is over, and its child ${child} is ${statusIn(ledger, child)}`)
    ledger.expect(!over || ended || !open, () => `${id} does not hear of the end of ${child}`)
  }
  if (parent !== null) checkChild(id, parent.run_id, calls, ledger)
}

const checkWaits = (id: string, commit: Commit, ledger: Ledger): void => {
  const { value, context } = readStoredState(commit)
  const { calls } = contextOf(runDefinition, { context })
  const working = matchesState('open.started.running', value) && !matchesState('open.started.running.waiting', value)
  ledger.expect(!working && !matchesState('open.queued', value), () => `${id} stays ${JSON.stringify(value)}`)
  for (const { action_id, child, status } of calls) {
    if (status === 'resolved') continue
    const action = newestOf(ledger, action_id)
    const pending = action !== undefined && readStoredState(action).value === 'pending_approval'
    const waits = child === null ? pending : isOpen(statusIn(ledger, child))
    ledger.expect(waits, () => `${id} waits for ${child ?? action_id}, which does nothing`)
  }
}

const checkChild = (id: string, parent: string, _: readonly RunCall[], ledger: Ledger): void => {
  const log = ledger.actors.get(parent)?.log
  const known = ledger.isDeleted(parent) || (log instanceof RunRules && log.children.has(id))
  ledger.expect(known, () => `${id} is a child that ${parent} does not know`)
  const orphan = isOpen(statusIn(ledger, id)) && !isOpen(statusIn(ledger, parent))
  ledger.expect(!orphan, () => `${id} goes on, and ${parent} is over`)
}

/** Slots of deleted runs are recovered by upkeep. */
const checkQueue = (id: string, commit: Commit, ledger: Ledger): void => {
  const { holders } = contextOf(runQueueDefinition, readStoredState(commit))
  const kept = Object.values(holders)
    .flat()
    .filter((run) => !ledger.isDeleted(run))
  ledger.expect(kept.length === 0, () => `${id} keeps the slots of ${kept.join()}`)
}

/** Checks that every answered model call has one usage row. */
export const checkUsage = async (ledger: Ledger, inner: Storage): Promise<void> => {
  for (const project of ['prj_a', 'prj_b']) {
    const rows = await inner.records.list(usageRows, projectScope(project), { limit: 10_000 })
    for (const [id, { log, commits }] of ledger.actors) {
      if (!(log instanceof RunRules) || commits[0]?.project !== project) continue
      const count = rows.filter(({ data }) => data.run_id === id).length
      ledger.expect(count === log.answers, () => `${id} has ${count} rows of usage for ${log.answers} answers`)
    }
  }
}

/** Long afterwards, no run is in progress or waits. */
export const checkRunsExpired = (ledger: Ledger): void => {
  for (const id of ledger.actors.keys()) {
    if (!id.startsWith('run_')) continue
    ledger.expect(!isOpen(statusIn(ledger, id)), () => `${id} has not expired`)
  }
}

/** Checks on every commit: a child has a parent that claimed it, a run has an expiry, a webhook is notified once. */
export class RunWatch {
  /** Deliveries that commits requested. */
  readonly #notified = new Set<string>()
  readonly #ledger: Ledger
  readonly #parents = new Map<string, string>()

  constructor(ledger: Ledger) {
    this.#ledger = ledger
    ledger.watching.push((commit) => {
      if (commit.actor.startsWith('run_')) this.#run(commit)
      if (commit.project === notifiedProject) this.#notices(commit)
    })
  }

  #run(commit: Commit): void {
    const state = readStoredState(commit)
    const expires = Object.keys(commit.reminders).some((name) => name.includes('expiry'))
    const open = isOpen(statusOf(runDefinition, state))
    this.#ledger.expect(!open || expires, () => `${commit.actor}:${commit.seq} will never expire`)
    for (const { event_type, payload } of commit.events) {
      if (event_type !== 'run.delegated') continue
      const child = String(payload.child_run_id)
      const other = this.#parents.get(child)
      this.#ledger.expect(other === undefined, () => `${child} is the child of ${other} and ${commit.actor}`)
      this.#parents.set(child, commit.actor)
    }
    const { parent } = contextOf(runDefinition, state)
    const claimed = parent === null || this.#parents.get(commit.actor) === parent.run_id
    this.#ledger.expect(claimed, () => `${commit.actor} is a child that nobody claimed`)
  }

  #notices({ messages }: Commit): void {
    for (const { id, to, event } of messages) {
      if (to === 'webhooks') this.#notified.add(derivedId('dlv', Number(event.at), `${id} ${webhookId}`))
    }
  }

  /** Each event has one delivery, and each delivery has an event. */
  checkDeliveries(): void {
    for (const id of this.#notified) this.#ledger.expect(this.#ledger.actors.has(id), () => `nobody is told of ${id}`)
    for (const [id, { commits }] of this.#ledger.actors) {
      if (!id.startsWith('dlv_')) continue
      const first = commits[0]
      this.#ledger.expect(this.#notified.has(id), () => `${id} is told, and nothing asked for it: ${first?.cause}`)
      const state = commits.at(-1)?.snapshot?.value
      this.#ledger.expect(state === 'delivered', () => `${id} is ${JSON.stringify(state)}`)
    }
  }
}
