import { observation as observationOperations } from '#specs/resources/console/observation.ts'
import { capability } from '../capability/capability.ts'
import { actorSteps } from './actor-steps.ts'
import { attention } from './attention.ts'
import { failureLedger, failureRows } from './failures.ts'
import { findAnything } from './find.ts'
import { fleet } from './fleet.ts'
import { listActors } from './list-actors.ts'
import { StateDurations } from './state-durations.ts'

/** Capability `observation`: the current state of a project's actors, and how they got there. */
export const observation = capability({
  name: 'observation',
  operations: observationOperations,
  kinds: [failureRows],
  ledger: failureLedger,
  open: (services) => {
    const { commits, records } = services.storage
    const dwells = new StateDurations({ commits, records }, services.now)
    return {
      useCases: {
        'observation.actors': (call) => listActors(services, call),
        'observation.steps': (call) => actorSteps({ ...services, commits: services.storage.commits }, call),
        'observation.attention': async ({ scope }) => ({ data: await attention({ ...services, dwells }, scope) }),
        'observation.fleet': async ({ scope }) => ({ data: await fleet(services, scope) }),
        'observation.find': async ({ scope, query }) => ({ data: await findAnything(services, scope, query.q) }),
      },
    }
  },
})
