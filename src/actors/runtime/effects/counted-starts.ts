import type { Commit, InFlight } from '#storage/ports.ts'
import { mostStarts } from '../step/actor-state.ts'
import { isUncertain } from './effects.ts'

/**
 * The newest commit of an actor whose process ended without a word, with that counted for each effect that will be begun
 * again: one of them may have taken the process with it. An end from outside hits an effect that has done
 * nothing, in quick succession again and again: so an effect parks its actor only when the process ended while it ran among
 * few, and once more, after a quiet time, while it ran alone (specs/decisions/0159-killed-again-and-again.md). It costs no
 * write, since the count goes into the fence (specs/decisions/0091-stuck-work.md).
 */
export const startsCounted = (commit: Commit): Commit => {
  const flights = Object.entries(commit.in_flight)
  // a parked actor has begun nothing
  if (flights.length === 0 || commit.snapshot?.parked !== undefined) return commit
  const in_flight = Object.fromEntries(flights.map(([id, flight]) => [id, counted(flight)]))
  const culprit = flights.find(([, flight]) => flight.alone === true && runsAlone(flight) && isRepeated(flight))
  if (culprit === undefined) return { ...commit, in_flight }
  const [effect, { name }] = culprit
  const reason = `The process ended ${in_flight[effect]?.failures} times while the effect ${name} ran.`
  return { ...commit, in_flight, snapshot: { ...commit.snapshot, parked: { kind: 'parked_actor', effect, reason } } }
}

/** Whether an effect may have ended processes so often that it is begun apart from the others. */
export const isSuspect = ({ failures = 0 }: InFlight): boolean => failures >= mostStarts - 1

/** Whether the process has ended while the suspect ran among few: it is begun alone, after a quiet time. */
export const runsAlone = ({ failures = 0 }: InFlight): boolean => failures >= mostStarts

/** What waits for its turn has not begun, and counts no further. */
const counted = (flight: InFlight): InFlight => {
  if (!isRepeated(flight)) return flight
  const { alone, failures = 0, ...rest } = flight
  const joint = Math.max(failures, Math.min(failures + 1, mostStarts - 1))
  return { ...rest, failures: alone === true ? failures + 1 : joint }
}

/** It was begun, and will be again. */
const isRepeated = (flight: InFlight): boolean => flight.policy !== 'at_most_once' && !isUncertain(flight)
