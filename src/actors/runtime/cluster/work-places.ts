import type { Member } from '#storage/cluster-ports.ts'
import type { WorkPlace } from '../messages/placed-work.ts'
import { drawnFor } from './draw.ts'
import type { Router } from './router.ts'

/** What a process knows of those that may do work. */
export interface Workers {
  /** The other processes that seem to run. */
  readonly peers: readonly Member[]
  readonly self: Member
  readonly router: Pick<Router, 'request'>
}

/** Returns the processes that may do work of a key, first the one that should. None is shutting down. */
export const workPlaces = (key: string, { peers, self, router }: Workers): readonly WorkPlace[] => {
  const staying = [...peers, self].filter(({ draining }) => !draining)
  return drawnFor(key, staying).map((each) => ({
    process: each.process,
    request: each === self ? null : (request, signal) => router.request(each, request, signal),
  }))
}
