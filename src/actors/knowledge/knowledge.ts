import { sourceDefinition } from '#machines/knowledge-source/knowledge-source-definition.ts'
import { Rounds } from '#runtime/internal.ts'
import { files as fileOperations } from '#specs/resources/knowledge/files.ts'
import { knowledgeBases as baseOperations } from '#specs/resources/knowledge/knowledge-bases.ts'
import { knowledgeGrants as grantOperations } from '#specs/resources/knowledge/knowledge-grants.ts'
import { knowledgeRecallSets as recallOperations } from '#specs/resources/knowledge/knowledge-recall-sets.ts'
import { knowledgeSearch } from '#specs/resources/knowledge/knowledge-search.ts'
import { knowledgeSources } from '#specs/resources/knowledge/knowledge-sources.ts'
import { vectorStoreFileBatches, vectorStoreFiles } from '#specs/resources/knowledge/vector-store-files.ts'
import { vectorStores } from '#specs/resources/knowledge/vector-stores.ts'
import { agentResources } from '../capability/agent-resources.ts'
import { capability } from '../capability/capability.ts'
import { fileService } from '../capability/file-service.ts'
import { knowledgeService } from '../capability/knowledge-service.ts'
import { tenantDirectory } from '../tenants/tenants.ts'
import { BaseAccess } from './access/base-access.ts'
import { grantUseCases } from './access/grant-use-cases.ts'
import { agentKnowledge } from './agents/agent-knowledge.ts'
import { baseUseCases } from './base-use-cases.ts'
import { deletionSink, removeContents } from './deletions.ts'
import { FileStore, fileDeletionSink } from './files/file-store.ts'
import { fileUseCases } from './files/file-use-cases.ts'
import { fileBatches, knowledgeGrants, knowledgeKinds, knowledgeRecallSets, sourceRows } from './kinds.ts'
import { openKnowledge } from './open-knowledge.ts'
import { recallUseCases } from './recall/recall-use-cases.ts'
import { knowledgeReading } from './search/knowledge-reading.ts'
import { sourceUseCases } from './sources/source-use-cases.ts'
import { additionSink, storeAdditions } from './stores/store-additions.ts'
import { storeFileUseCases } from './stores/store-file-use-cases.ts'
import { StoreFiles } from './stores/store-files.ts'
import { storeUseCases } from './stores/store-use-cases.ts'

/** Knowledge: documents that are searched with citations. Comprises bases, grants and sources. */
export const knowledge = capability({
  name: 'knowledge',
  operations: {
    ...{ ...baseOperations, ...grantOperations, ...knowledgeSources, ...knowledgeSearch, ...recallOperations },
    ...{ ...fileOperations, ...vectorStores, ...vectorStoreFiles, ...vectorStoreFileBatches },
  },
  kinds: knowledgeKinds,
  machines: [{ definition: sourceDefinition, rows: sourceRows }],
  open: (services) => {
    const directory = tenantDirectory.of(services)
    const access = new BaseAccess(services.records, services.now)
    const checkTenant = (project: string, tenant: string, param = 'tenant_id') =>
      directory.admit(project, tenant, param)
    const opened = openKnowledge(services, (project, tenant) => directory.rests(project, tenant))
    opened.rounds.start()
    agentResources.give(services, agentKnowledge({ ...services, ...opened, access }))
    knowledgeService.give(services, knowledgeReading({ ...services, ...opened, access }))
    const files = new FileStore({ records: services.records, blobs: services.storage.blobs, now: services.now })
    fileService.give(services, files.service)
    const { clock, log } = services
    const warn = (err: unknown): void => log.warn({ err }, 'expired files not deleted, trying again')
    const expiry = new Rounds({ clock, everyMs: 60 * 60_000, round: () => files.removeExpired().catch(warn) })
    expiry.start()
    const parts = { ...services, ...opened, access, files }
    const storeFiles = new StoreFiles(parts)
    const baseParts = { ...parts, checkTenant }
    const bases = baseUseCases(baseParts)
    return {
      useCases: {
        ...recallUseCases(parts),
        ...bases,
        ...grantUseCases({ access, checkTenant }),
        ...sourceUseCases(parts),
        ...fileUseCases({ files, storeFiles }),
        ...storeUseCases({ ...baseParts, storeFiles, bases }),
        ...storeFileUseCases({ ...parts, storeFiles }),
      },
      effects: opened.effects,
      sinks: {
        [deletionSink]: removeContents({ ...services, ...opened }, [knowledgeGrants, knowledgeRecallSets, fileBatches]),
        [fileDeletionSink]: files.deletions,
        [additionSink]: storeAdditions(storeFiles),
      },
      close: async () => {
        await expiry.stop()
        await opened.close()
      },
    }
  },
})
