import { type AppendOutcome, type Commit, type CommitStore, StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock, pause } from '../clock.ts'
import { Superseded } from './superseded.ts'

/** How long an unknown outcome is investigated, in ms; the caller gets `store_unavailable` within a second in all. */
const patienceMs = 400

/** How a commit is written. */
interface Writing {
  readonly clock: Clock
  /** Called when the store does not say whether it was written: it may be, and others may have read it. */
  readonly unsure?: () => void
}

/** Outcome of a write, once it is certain. */
export type Written = Exclude<AppendOutcome, 'unknown'>

/**
 * Writes one commit and determines the outcome. When the acknowledgement is lost, the commit is read back by (actor,
 * seq): it is ours if the nonce is ours. If nothing is there it is written again under the same key, so that at most
 * one of the writes succeeds.
 *
 * @param options `doubted` is called when the acknowledgement is lost: another copy of the write may still arrive.
 * @throws {Superseded} when this process may not write it (any more).
 * @throws {StoreUnavailable} when the outcome stays unknown; the actor has to be reloaded before its next step.
 */
export const writeCommit = async (store: CommitStore, commit: Commit, { clock, unsure }: Writing): Promise<Written> => {
  const [outcome] = await store.append([commit])
  if (outcome !== 'unknown' && outcome !== undefined) return outcome
  unsure?.()
  return followUp(store, commit, clock)
}

const followUp = async (store: CommitStore, commit: Commit, clock: Clock): Promise<Written> => {
  const deadline = clock.steady() + patienceMs
  for (let attempt = 0; clock.steady() < deadline; attempt++) {
    const known = await readBack(store, commit)
    if (known !== 'unknown') return known
    await pause(clock, backoffMs(attempt, 20, 500))
  }
  throw new StoreUnavailable('the outcome of a commit is unknown')
}

const readBack = async (store: CommitStore, commit: Commit): Promise<AppendOutcome> => {
  try {
    const there = await ownership(store, commit)
    if (there !== null) return there
    const [again] = await store.append([commit])
    if (again === 'done' || again === 'unknown' || again === undefined) return again ?? 'unknown'
    // our first write may have succeeded in between, and then looks like that of another process
    return (await ownership(store, commit)) ?? again
  } catch (error) {
    if (error instanceof StoreUnavailable && !(error instanceof Superseded)) return 'unknown'
    throw error
  }
}

const ownership = async (store: CommitStore, commit: Commit): Promise<'done' | 'overtaken' | null> => {
  const there = await store.at(commit.actor, commit.seq)
  if (there === null) return null
  return there.nonce === commit.nonce ? 'done' : 'overtaken'
}
