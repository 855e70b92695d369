import { sourceDefinition } from '#machines/knowledge-source/knowledge-source-definition.ts'
import { knowledgeBases as baseOperations } from '#specs/resources/knowledge/knowledge-bases.ts'
import { knowledgeGrants as grantOperations } from '#specs/resources/knowledge/knowledge-grants.ts'
import { knowledgeRecallSets as recallOperations } from '#specs/resources/knowledge/knowledge-recall-sets.ts'
import { knowledgeSearch } from '#specs/resources/knowledge/knowledge-search.ts'
import { knowledgeSources } from '#specs/resources/knowledge/knowledge-sources.ts'
import { agentResources } from '../capability/agent-resources.ts'
import { capability } from '../capability/capability.ts'
import { knowledgeService } from '../capability/knowledge-service.ts'
import { tenantDirectory } from '../tenants/tenants.ts'
import { BaseAccess } from './access/base-access.ts'
import { grantUseCases } from './access/grant-use-cases.ts'
import { agentKnowledge } from './agents/agent-knowledge.ts'
import { baseUseCases } from './base-use-cases.ts'
import { deletionSink, removeContents } from './deletions.ts'
import { knowledgeGrants, knowledgeKinds, knowledgeRecallSets, sourceRows } from './kinds.ts'
import { openKnowledge } from './open-knowledge.ts'
import { recallUseCases } from './recall/recall-use-cases.ts'
import { knowledgeReading } from './search/knowledge-reading.ts'
import { sourceUseCases } from './sources/source-use-cases.ts'

/** Knowledge: documents that are searched with citations. Comprises bases, grants and sources. */
export const knowledge = capability({
  name: 'knowledge',
  operations: { ...baseOperations, ...grantOperations, ...knowledgeSources, ...knowledgeSearch, ...recallOperations },
  kinds: knowledgeKinds,
  machines: [{ definition: sourceDefinition, rows: sourceRows }],
  open: (services) => {
    const access = new BaseAccess(services.records, services.now)
    const directory = tenantDirectory.of(services)
    const checkTenant = (project: string, tenant: string, param = 'tenant_id') =>
      directory.check(project, tenant, param)
    const opened = openKnowledge(services)
    opened.rounds.start()
    agentResources.give(services, agentKnowledge({ ...opened, access, now: services.now, log: services.log }))
    knowledgeService.give(services, knowledgeReading({ ...opened, access, now: services.now, log: services.log }))
    return {
      useCases: {
        ...recallUseCases({ ...services, ...opened, access }),
        ...baseUseCases({ ...services, ...opened, access, checkTenant }),
        ...grantUseCases({ access, checkTenant }),
        ...sourceUseCases({ ...services, ...opened, access }),
      },
      effects: opened.effects,
      sinks: { [deletionSink]: removeContents(services, [knowledgeGrants, knowledgeRecallSets]) },
      close: opened.close,
    }
  },
})
