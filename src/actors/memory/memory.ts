import { modelsPort } from '#gateway/gateway.ts'
import { RedactionPolicies } from '#gateway/redaction/redaction-policies.ts'
import { memoryWriteDefinition } from '#machines/memory-write/memory-write-definition.ts'
import { memory as operations } from '#specs/resources/memory.ts'
import { authPort } from '../accounts/accounts.ts'
import { agentResources } from '../capability/agent-resources.ts'
import { capability } from '../capability/capability.ts'
import { embeddedProjectsPort, localEmbedderPort, projectEmbeddersPort } from '../capability/embedder-port.ts'
import { erasedCopiesPort } from '../capability/erased-copies.ts'
import { indexBoundPort } from '../capability/index-bound.ts'
import { memoryService } from '../capability/memory-service.ts'
import type { Services } from '../capability/services.ts'
import { projectEmbedders } from './embedding/project-embedders.ts'
import { extractByRules } from './extract-by-rules.ts'
import { fetchedMemory } from './fetched-memory.ts'
import { importUseCase } from './import/import-use-case.ts'
import { judgeContents } from './judge-contents.ts'
import { memoryKinds, memoryWriteRows } from './kinds.ts'
import { settingsOf } from './memory-settings.ts'
import { memoryUseCases } from './memory-use-cases.ts'
import { openMemory } from './open-memory.ts'
import { memoryServiceOf } from './recalling.ts'
import { redactedContents } from './redacted-contents.ts'
import { rememberUseCases } from './remember-use-cases.ts'
import { upkeepUseCases } from './upkeep-use-cases.ts'
import { memoryEffects } from './writes/memory-effects.ts'
import { MemoryWrites } from './writes/memory-writes.ts'

/** Memory of end users. */
export const memory = capability({
  name: 'memory',
  operations,
  kinds: memoryKinds,
  machines: [{ definition: memoryWriteDefinition, rows: memoryWriteRows }],
  open: (services) => {
    const { turns, routing } = modelsPort.of(services)
    const opened = opening(services)
    const writes = new MemoryWrites(services)
    agentResources.give(services, fetchedMemory(services))
    memoryService.give(services, memoryServiceOf(opened, writes))
    const { defaultModel, onlySimulated } = routing.managed
    embeddedProjectsPort.give(services, opened.projects)
    erasedCopiesPort.of(services).keptBy((erased) => opened.indexes.dropErased(erased))
    opened.rounds.start()
    const byRules = extractByRules(localEmbedderPort.of(services))
    const newWriteId = (prefix: string) => services.host.newActorId(prefix)
    return {
      useCases: {
        ...memoryUseCases(opened),
        ...upkeepUseCases(opened),
        ...importUseCase(opened),
        ...rememberUseCases({ memory: opened, writes, newWriteId, byRules }),
      },
      effects: memoryEffects({
        ...services,
        ...{
          models: turns,
          writer: opened.writer,
          limits: opened.limits,
          byRules,
          defaultModel: () => (onlySimulated ? null : defaultModel),
        },
      }),
      close: opened.close,
    }
  },
})

const opening = (services: Services) => {
  const { projects } = authPort.of(services)
  const settings = async (project: string) => settingsOf((await projects.settings(project))?.memory)
  const embedderOf = projectEmbedders(services, settings)
  projectEmbeddersPort.give(services, embedderOf)
  return openMemory({
    ...services,
    bound: indexBoundPort.of(services),
    settings,
    embedderOf,
    judge: judgeContents(localEmbedderPort.of(services)),
    redact: redactedContents(new RedactionPolicies({ ...services, projects })),
    upgradeUrl: '/#settings',
    isOurs: (project) => services.host.ownership.heldUnder(services.host.ownership.space.of(project)) !== undefined,
  })
}
