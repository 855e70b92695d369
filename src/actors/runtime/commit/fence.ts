import type { Commit, CommitStore } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import { newNonce } from './commit-document.ts'
import { writeCommit } from './commit-writer.ts'
import { Superseded } from './superseded.ts'

/** How an actor came to this process, as its fence says it. */
export interface Takeover {
  /** Name of the node, for people; absent: the process has none. */
  readonly node?: string
  /** Whether the process that ran the actor before ended without giving it back. */
  readonly crashed: boolean
}

/**
 * Takes an actor over from an earlier process by a commit that changes nothing: whatever that process has sent and is
 * not written yet, or will send, meets a taken sequence number (specs/decisions/0061-fence.md). Only then may what the newest commit
 * says be acted on.
 *
 * @returns the fence; null when something was written in between, and the newest commit has to be read again.
 * @throws {Superseded} when the newest commit is a later process's.
 * @throws {StoreUnavailable}
 */
export const fence = async (
  store: CommitStore,
  newest: Commit,
  { epoch, clock, takeover }: { readonly epoch: number; readonly clock: Clock; readonly takeover: Takeover },
): Promise<Commit | null> => {
  checkEpoch(newest, epoch)
  if (newest.epoch === epoch) return newest
  const { moved: _moved, changed: _changed, ...standing } = newest
  const commit: Commit = {
    ...standing,
    seq: newest.seq + 1,
    epoch,
    // nothing of the actor has changed: for lists it is as old as it was
    at: newest.at,
    // an imported actor has fences of another store, whose epochs were counted there
    cause: `fence:${epoch}:${newest.seq + 1}`,
    nonce: newNonce(),
    // the commit is as old as what it stands for: this is when it was written
    event: { type: '$fenced', at: clock.now(), ...takeover },
    events: [],
    effects: [],
    messages: [],
    open: true,
  }
  return (await writeCommit(store, commit, clock)) === 'done' ? commit : null
}

/** @throws {Superseded} when `commit` is a later process's. */
export const checkEpoch = (commit: Commit, epoch: number): void => {
  if (commit.epoch > epoch) throw new Superseded('a later process has taken the actor over')
}
