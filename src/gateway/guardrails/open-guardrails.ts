import { randomUUID } from 'node:crypto'
import type { ProjectDirectory } from '#actors/accounts/project-directory.ts'
import { agentResources } from '#actors/capability/agent-resources.ts'
import type { Services } from '#actors/capability/services.ts'
import { agentGuardrails } from './guardrails.ts'
import { RemoteChecks, type RemoteParts } from './remote-checks.ts'
import { StoredGuardrails } from './stored-guardrails.ts'

interface OpenParts extends Pick<RemoteParts, 'complete'> {
  readonly projects: Pick<ProjectDirectory, 'signingSecrets'>
}

/** Opens the guardrails of projects, and those of their agents. */
export const openGuardrails = (services: Services, { projects, complete }: OpenParts): StoredGuardrails => {
  const remote = new RemoteChecks({
    ...{ guard: services.guard, now: services.now, complete, newId: () => `msg_${randomUUID()}` },
    signingSecrets: (project) => projects.signingSecrets(project),
  })
  const stored = new StoredGuardrails(services, remote)
  agentResources.give(services, agentGuardrails(stored))
  return stored
}
