import { batchDefinition } from '#machines/batch/batch-definition.ts'
import { responseDefinition } from '#machines/response/response-definition.ts'
import { aiChat } from '#specs/resources/gateway/ai-chat.ts'
import { batches as batchOperations } from '#specs/resources/gateway/batches.ts'
import { cachePolicy } from '#specs/resources/gateway/cache-policy.ts'
import { catalogue } from '#specs/resources/gateway/catalogue.ts'
import { chatCompletions } from '#specs/resources/gateway/chat-completions.ts'
import { conversationItems, conversations } from '#specs/resources/gateway/conversations.ts'
import { customProviders } from '#specs/resources/gateway/custom-providers.ts'
import { embeddings } from '#specs/resources/gateway/embeddings.ts'
import { gemini } from '#specs/resources/gateway/gemini.ts'
import { images } from '#specs/resources/gateway/images.ts'
import { credits, limits } from '#specs/resources/gateway/limits.ts'
import { messageBatches } from '#specs/resources/gateway/message-batches.ts'
import { messages } from '#specs/resources/gateway/messages.ts'
import { models as modelOperations } from '#specs/resources/gateway/models.ts'
import { completions, moderations, rerank } from '#specs/resources/gateway/passed-on.ts'
import {
  modelSyncs,
  providerConnections,
  providerConnectionTests,
} from '#specs/resources/gateway/provider-connections.ts'
import { redactionPolicy } from '#specs/resources/gateway/redaction.ts'
import { requestLog, requestLogSettings } from '#specs/resources/gateway/request-log.ts'
import { responses } from '#specs/resources/gateway/responses.ts'
import { routingPolicy } from '#specs/resources/gateway/routing-policy.ts'
import { vision } from '#specs/resources/gateway/vision.ts'
import { speech, transcriptions } from '#specs/resources/gateway/voice.ts'
import { authPort } from '../actors/accounts/accounts.ts'
import { capability } from '../actors/capability/capability.ts'
import { localEmbedderPort } from '../actors/capability/embedder-port.ts'
import { fileService } from '../actors/capability/file-service.ts'
import { imageReadersPort } from '../actors/capability/image-reader.ts'
import { knowledgeService } from '../actors/capability/knowledge-service.ts'
import { memoryService } from '../actors/capability/memory-service.ts'
import { Port } from '../actors/capability/port.ts'
import { promptService } from '../actors/capability/prompt-service.ts'
import { remoteTools } from '../actors/capability/remote-tools.ts'
import { webService } from '../actors/capability/web-service.ts'
import { limitSubjects } from '../actors/tenants/limit-subjects.ts'
import { responseEffects } from './apis/responses/background/response-effects.ts'
import { backgroundRows, formKinds } from './apis/responses/kinds.ts'
import { batchRows } from './batches/kinds.ts'
import { openBatches } from './batches/open-batches.ts'
import { cachePolicyReader, cachePolicyUseCases, cacheSwitch } from './caching/cache-policies.ts'
import { cachingKinds } from './caching/kinds.ts'
import { questionJudge } from './caching/question-judge.ts'
import { ResponseCache } from './caching/response-cache.ts'
import type { ModelTimeouts } from './call/call-policy.ts'
import { openGuardrails } from './guardrails/open-guardrails.ts'
import { ledgerKinds } from './ledger/kinds.ts'
import type { RequestLedger } from './ledger/request-ledger.ts'
import { limitKinds } from './limits/kinds.ts'
import { type OpenCore, openCore } from './open-core.ts'
import { type Gateway, openGateway } from './open-gateway.ts'
import { redactionKinds } from './redaction/kinds.ts'
import { RedactionPolicies } from './redaction/redaction-policies.ts'
import { connectionKinds } from './routing/kinds.ts'
import type { ManagedProviders } from './routing/managed-providers.ts'
import { openRouting, type Routing } from './routing/open-routing.ts'
import { projectModelUseCases } from './routing/project-model-use-cases.ts'
import type { TurnModels } from './turns/turn-models.ts'

/** Routing of models, and model calls of turns and runs. */
export interface Models {
  readonly routing: Routing
  readonly turns: TurnModels
}

/** Models, for other capabilities of this server. */
export const modelsPort = new Port<Models>('models')

/** Timeouts for silence of models; null: those of `defaultCallPolicy`. */
export const modelWaitsPort = new Port<ModelTimeouts | null>('the waits for models')

/** The opened gateway. */
export const gatewayPort = new Port<Gateway>('the gateway')

/** The operator's own provider keys. */
export const managedProvidersPort = new Port<ManagedProviders>('managed providers')

/** The ledger that collects calls before they become rows; readers access the store through it. */
export const requestLedgerPort = new Port<RequestLedger>('the ledger of requests')

/** Public address of the server, such as `https://agents.example`; null when none is configured. */
export const publicOriginPort = new Port<string | null>('the public origin')

/** The models of every provider behind one HTTP API, with access control, limits and budgets. */
export const gateway = capability({
  name: 'gateway',
  operations: {
    ...modelOperations,
    ...providerConnections,
    ...providerConnectionTests,
    ...modelSyncs,
    ...customProviders,
    ...catalogue,
    ...aiChat,
    ...responses,
    ...conversations,
    ...conversationItems,
    ...messages,
    ...gemini,
    ...speech,
    ...transcriptions,
    ...chatCompletions,
    ...embeddings,
    ...moderations,
    ...completions,
    ...rerank,
    ...images,
    ...vision,
    ...requestLog,
    ...requestLogSettings,
    ...limits,
    ...credits,
    ...redactionPolicy,
    ...routingPolicy,
    ...cachePolicy,
    ...batchOperations,
    ...messageBatches,
  },
  machines: [
    { definition: responseDefinition, rows: backgroundRows },
    { definition: batchDefinition, rows: batchRows },
  ],
  kinds: [
    ...ledgerKinds,
    ...limitKinds,
    ...connectionKinds,
    ...redactionKinds,
    ...cachingKinds,
    ...formKinds,
    batchRows,
  ],
  open: (services) => {
    const fanOut = services.cluster?.fanOut
    const publicOrigin = publicOriginPort.of(services)
    const routing = openRouting({ ...services, managed: managedProvidersPort.of(services), fanOut })
    const { projects } = authPort.of(services)
    const redaction = new RedactionPolicies({ ...services, projects, cachePolicyOf: cachePolicyReader(services) })
    const answers = cacheSwitch({ ...services, changed: (project) => redaction.changed(project) })
    const policy = modelWaitsPort.of(services) ?? {}
    const shared = {
      ...{ routes: routing.routes, redaction, answers, fanOut, projects, policy },
      cache: new ResponseCache({
        policies: redaction,
        store: services.answers,
        embedder: localEmbedderPort.of(services),
        isSame: questionJudge((call) => core.chats.complete(call)),
        now: services.now,
      }),
      ledger: requestLedgerPort.of(services),
    }
    const guardrails = openGuardrails(services, { projects, complete: (call) => core.chats.complete(call) })
    const core: OpenCore = openCore({ ...services, ...shared, guardrails, subjects: limitSubjects(services.records) })
    modelsPort.give(services, { routing, turns: core.turns })
    const opened = openGateway({
      ...services,
      core,
      policy,
      rows: services.host.rows,
      redaction,
      publicOrigin,
      memory: () => memoryService.of(services),
      knowledge: () => knowledgeService.of(services),
      remote: () => remoteTools.of(services),
      prompts: () => promptService.of(services),
      search: { search: (project, query, options) => webService.of(services).search(project, query, options) },
    })
    gatewayPort.give(services, opened)
    const files = () => fileService.of(services)
    const batches = openBatches(services, { files, publicOrigin, served: opened.useCases })
    imageReadersPort.give(services, async (project) => {
      const model = (await projects.settings(project))?.visionModel ?? null
      return model === null ? null : opened.imageReader(model)
    })
    return {
      useCases: {
        ...opened.useCases,
        ...projectModelUseCases(routing, services, publicOrigin),
        ...cachePolicyUseCases({ ...services, answers }),
        ...batches.useCases,
      },
      effects: {
        ...responseEffects({ ...services, make: opened.makeResponse }),
        ...batches.effects,
      },
      close: async () => {
        await opened.close()
        await routing.close()
      },
    }
  },
})
