import type { MachineDefinition } from '#machines/definition.ts'
import type { Commit, CommitStore } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import { readSkip } from '../step/actor-state.ts'
import { maxAhead } from '../stream/shown-text.ts'
import { newNonce } from './commit-document.ts'
import { writeCommit } from './commit-writer.ts'
import { Superseded } from './superseded.ts'

/** How this process came to run an actor, as recorded in the fence. */
interface Takeover {
  /** Display name of the node; absent when it has none. */
  readonly node?: string
  /** Whether the previous owner ended without giving the actor back. */
  readonly crashed: boolean
}

/** How a fence is written. `skip`: what `skipAfter` returns. */
export interface Fencing {
  readonly epoch: number
  readonly clock: Clock
  readonly takeover: Takeover
  readonly skip: number
}

/**
 * Takes an actor over from an earlier process by a commit that changes nothing: any write of that process which is
 * still in flight, or is sent later, finds its sequence number taken (specs/decisions/0061-fence.md). Only then may the
 * newest commit be carried out.
 *
 * @returns the fence; null when something was written in between, and the newest commit has to be read again.
 * @throws {Superseded} when a later process wrote the newest commit.
 * @throws {StoreUnavailable}
 */
export const fence = async (
  store: CommitStore,
  newest: Commit,
  { epoch, clock, takeover, skip }: Fencing,
): Promise<Commit | null> => {
  checkEpoch(newest, epoch)
  if (newest.epoch === epoch) return newest
  const { moved: _moved, changed: _changed, replaces: _replaces, ...standing } = newest
  const commit: Commit = {
    ...standing,
    seq: newest.seq + 1,
    epoch,
    // nothing of the actor has changed, so it keeps its time in lists
    at: newest.at,
    // the sequence is included because an imported actor has fences of another store, with that store's epochs
    cause: `fence:${epoch}:${newest.seq + 1}`,
    nonce: newNonce(),
    // the commit has the time of the one that it repeats; this is when it was written
    event: { type: '$fenced', at: clock.now(), ...takeover },
    ...(skip > 0 && { snapshot: { ...newest.snapshot, skip } }),
    events: [],
    effects: [],
    messages: [],
    open: true,
  }
  return (await writeCommit(store, commit, { clock })) === 'done' ? commit : null
}

/** @throws {Superseded} when a later process wrote `commit`. */
export const checkEpoch = (commit: Commit, epoch: number): void => {
  if (commit.epoch > epoch) throw new Superseded('a later process has taken the actor over')
}

/**
 * Number of sequences that a new owner leaves out before the next event: all that the owner before may have shown of a
 * stream without committing it, so that no id names two events.
 */
export const skipAfter = ({ text }: Pick<MachineDefinition, 'text'>, commit: Commit): number => {
  const skip = readSkip(commit)
  if (text === undefined) return skip
  for (const id in commit.in_flight) if (commit.in_flight[id]?.policy === 'stream') return skip + maxAhead
  return skip
}
