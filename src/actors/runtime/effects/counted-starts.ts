import type { Commit, InFlight } from '#storage/ports.ts'
import { maxStarts } from '../step/actor-state.ts'
import { isUncertain } from './effects.ts'

/**
 * Returns the newest commit of an actor whose process crashed, with the crash counted for each effect that will be
 * started again: one of them may have caused it. A process that is killed from outside repeatedly and in quick
 * succession hits effects that are not to blame. So an effect parks its actor only when the process ended while the
 * effect ran among few others, and ended once more, after a quiet period, while it ran alone
 * (specs/decisions/0091-stuck-work.md). Counting costs no write, since the count goes into the fence
 * (specs/decisions/0091-stuck-work.md).
 */
export const startsCounted = (commit: Commit): Commit => {
  const flights = Object.entries(commit.in_flight)
  // a parked actor has started nothing
  if (flights.length === 0 || commit.snapshot?.parked !== undefined) return commit
  const in_flight = Object.fromEntries(flights.map(([id, flight]) => [id, counted(flight)]))
  const culprit = flights.find(([, flight]) => flight.alone === true && runsAlone(flight) && isRepeated(flight))
  if (culprit === undefined) return { ...commit, in_flight }
  const [effect, { name }] = culprit
  const reason = `The process ended ${in_flight[effect]?.failures} times while the effect ${name} ran.`
  return { ...commit, in_flight, snapshot: { ...commit.snapshot, parked: { kind: 'parked_actor', effect, reason } } }
}

/** Whether an effect may have crashed so many processes that it is started separately. */
export const isSuspect = ({ failures = 0 }: InFlight): boolean => failures >= maxStarts - 1

/** Whether the process has ended while the suspect ran among few: it is started alone, after a quiet period. */
export const runsAlone = ({ failures = 0 }: InFlight): boolean => failures >= maxStarts

/** Counts a crash for an effect. A suspect that was still waiting for its turn had not started, and is not counted. */
const counted = (flight: InFlight): InFlight => {
  if (!isRepeated(flight)) return flight
  const { alone, failures = 0, ...rest } = flight
  const joint = Math.max(failures, Math.min(failures + 1, maxStarts - 1))
  return { ...rest, failures: alone === true ? failures + 1 : joint }
}

/** Whether the effect will be started again. */
const isRepeated = (flight: InFlight): boolean => flight.policy !== 'at_most_once' && !isUncertain(flight)
