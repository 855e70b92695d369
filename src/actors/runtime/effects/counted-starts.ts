import type { Commit, InFlight } from '#storage/ports.ts'
import { mostStarts } from '../step/actor-state.ts'
import { isUncertain } from './effects.ts'

/**
 * The newest commit of an actor whose process ended without a word, with that counted for each effect that will be begun
 * again: one of them may have taken the process with it. One that was begun alone did, as far as can be seen: it parks
 * its actor. It costs no write, since the count goes into the fence (specs/decisions/0091-stuck-work.md).
 */
export const startsCounted = (commit: Commit): Commit => {
  const flights = Object.entries(commit.in_flight)
  // a parked actor has begun nothing
  if (flights.length === 0 || commit.snapshot?.parked !== undefined) return commit
  const in_flight = Object.fromEntries(flights.map(([id, flight]) => [id, counted(flight)]))
  const culprit = flights.find(([, flight]) => flight.alone === true && isRepeated(flight))
  if (culprit === undefined) return { ...commit, in_flight }
  const [effect, { name }] = culprit
  const reason = `The process ended ${mostStarts} times while the effect ${name} ran.`
  return { ...commit, in_flight, snapshot: { ...commit.snapshot, parked: { kind: 'parked_actor', effect, reason } } }
}

const counted = (flight: InFlight): InFlight => {
  if (!isRepeated(flight)) return flight
  const { alone, failures = 0, ...rest } = flight
  return { ...rest, failures: alone === true ? mostStarts : Math.min(failures + 1, mostStarts - 1) }
}

/** It was begun, and will be again. */
const isRepeated = (flight: InFlight): boolean => flight.policy !== 'at_most_once' && !isUncertain(flight)
