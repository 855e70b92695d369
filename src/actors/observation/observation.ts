import { observation as observationOperations } from '#specs/resources/console/observation.ts'
import { capability } from '../capability/capability.ts'
import { actorSteps } from './actor-steps.ts'
import { attention } from './attention.ts'
import { failureLedger, failureRows } from './failures.ts'
import { findAnything } from './find.ts'
import { fleet } from './fleet.ts'
import { Headlines } from './headlines.ts'
import { listActors } from './list-actors.ts'
import { namesOf } from './names.ts'
import { series } from './series.ts'
import { SeriesBuckets } from './series-buckets.ts'
import { StateDurations } from './state-durations.ts'
import { takeoverRows } from './takeovers.ts'
import { toolCallLedger, toolCallRows } from './tool-calls.ts'

/** Capability `observation`: the current state of a project's actors, and how they got there. */
export const observation = capability({
  name: 'observation',
  operations: observationOperations,
  kinds: [failureRows, toolCallRows, takeoverRows],
  ledger: (commit, owner) => [failureLedger, toolCallLedger].flatMap((rows) => rows(commit, owner)),
  open: (services) => {
    const { commits, records } = services.storage
    const headlines = new Headlines(services.storage)
    const parts = { ...services, headlines }
    const dwells = new StateDurations({ commits, records }, services.now)
    const buckets = new SeriesBuckets(records, services.now)
    return {
      useCases: {
        'observation.actors': (call) => listActors(parts, call),
        'observation.steps': (call) => actorSteps({ ...services, commits: services.storage.commits }, call),
        'observation.attention': async ({ scope }) => ({ data: await attention({ ...parts, dwells }, scope) }),
        'observation.fleet': async ({ scope }) => ({ data: await fleet({ ...parts, commits }, scope) }),
        'observation.series': async ({ scope, query }) => {
          await services.host.rows.shown()
          return series({ records, buckets, now: services.now }, scope, query)
        },
        'observation.names': async (call) => {
          await services.host.rows.shown()
          return { data: await namesOf(parts, call, call.query.ids.split(',')) }
        },
        'observation.find': async ({ scope, query }) => ({ data: await findAnything(parts, scope, query.q) }),
      },
    }
  },
})
