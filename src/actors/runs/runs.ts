import { queueSink } from '#machines/run/run-actions.ts'
import { runDefinition } from '#machines/run/run-definition.ts'
import { runQueueDefinition } from '#machines/run-queue/run-queue-definition.ts'
import { a2a } from '#specs/resources/protocols/a2a.ts'
import { runs as operations } from '#specs/resources/runs.ts'
import type { RunCeilings } from '#specs/run-limits.ts'
import { serverUrlPort } from '../accounts/accounts.ts'
import { capability } from '../capability/capability.ts'
import { Port } from '../capability/port.ts'
import { actionUseCases } from '../sessions/action-use-cases.ts'
import { Conversations } from '../sessions/conversations.ts'
import { sessionAgents, turnServicesPort } from '../sessions/sessions.ts'
import { receiverSources } from '../webhooks/receivers.ts'
import { pushConfigs } from './a2a/a2a-push-config.ts'
import { A2aPushes } from './a2a/a2a-pushes.ts'
import { a2aTasks } from './a2a/a2a-tasks.ts'
import { a2aUseCases } from './a2a/a2a-use-cases.ts'
import { joinQueue } from './join-queue.ts'
import { runKinds, runRows } from './kinds.ts'
import type { RunConcurrency } from './pick-runs.ts'
import { readAsTurn } from './run-conversation.ts'
import { runEffects } from './run-effects.ts'
import { runUseCases } from './run-use-cases.ts'

/** Port for the limits of runs: how many are in progress at a time, and the ceilings of each run. */
export const runBoundsPort = new Port<RunConcurrency & { readonly ceilings?: RunCeilings }>('the bounds of runs')

/** Capability `runs`: agents that work in the background, with a queue per project, and their delegations. */
export const runs = capability({
  name: 'runs',
  operations: { ...operations, ...a2a },
  kinds: [...runKinds, a2aTasks, pushConfigs],
  machines: [{ definition: runDefinition, rows: runRows }, { definition: runQueueDefinition }],
  open: (services) => {
    const bounds = runBoundsPort.of(services)
    const making = turnServicesPort.of(services)
    const parts = {
      ...services,
      ...making,
      resolveAgent: sessionAgents.of(services).resolve,
      ceilings: bounds.ceilings,
    }
    const conversations = new Conversations(services.storage, readAsTurn(making.readLog), services.now)
    const useCases = { ...runUseCases(parts), ...actionUseCases(parts) }
    const serverUrl = serverUrlPort.of(services)
    const pushes = new A2aPushes(services)
    receiverSources.give(services, pushes)
    return {
      useCases: { ...runUseCases(parts), ...a2aUseCases({ ...services, serverUrl, pushes, useCases }) },
      effects: runEffects({ ...parts, conversations, concurrency: bounds }),
      sinks: { [queueSink]: joinQueue(services) },
    }
  },
})
