import type { Logger } from 'pino'
import type { KnowledgeService } from '../actors/capability/knowledge-service.ts'
import type { MemoryService } from '../actors/capability/memory-service.ts'
import type { RemoteTools } from '../actors/capability/remote-tools.ts'
import type { Clock } from '../actors/runtime/clock.ts'
import type { RowWriter } from '../actors/runtime/rows/row-writer.ts'
import type { SsrfGuard } from '../outgoing/ssrf-guard.ts'
import type { FanOut, RateLimits } from '../storage/cluster-ports.ts'
import type { RecordStore } from '../storage/ports.ts'
import { chatCompletionsUseCases } from './apis/chat-completions/chat-completion-use-cases.ts'
import { embeddingUseCases } from './apis/embeddings/embedding-use-cases.ts'
import { openForms } from './apis/form-use-cases.ts'
import { passedOnUseCases } from './apis/passed-on/passed-on-use-cases.ts'
import type { ResponseHost } from './apis/responses/background/background-responses.ts'
import type { ResponseEffectParts } from './apis/responses/background/response-effects.ts'
import type { WebSearch } from './apis/responses/searches/web-search.ts'
import { visionUseCases } from './apis/vision/vision-use-cases.ts'
import { type VoiceUseCases, voiceUseCases } from './apis/voice/voice-use-cases.ts'
import type { ModelWaits } from './call/call-policy.ts'
import type { GatewayCore } from './call/gateway-core.ts'
import { catalogueUseCases } from './catalogue/catalogue-use-cases.ts'
import { openDocuments } from './documents/open-documents.ts'
import type { EmbeddingCalls } from './embeddings/embedding-calls.ts'
import { openEmbeddings } from './embeddings/open-embeddings.ts'
import type { RequestLedger } from './ledger/request-ledger.ts'
import type { OpenCore } from './open-core.ts'
import type { Metering } from './open-metering.ts'
import { prices } from './prices/prices.ts'
import { redactionPolicyUseCases } from './redaction/policy-use-cases.ts'
import type { RedactionPolicies } from './redaction/redaction-policies.ts'
import { ChatMemory } from './remembering/chat-memory.ts'
import { openVoice } from './voice/open-voice.ts'

export interface GatewayParts {
  readonly core: OpenCore
  readonly records: RecordStore
  readonly guard: SsrfGuard
  readonly redaction: RedactionPolicies
  /** What is written behind answers. */
  readonly rows: Pick<RowWriter, 'alongside' | 'shown'>
  readonly limits: RateLimits
  /** How other nodes learn how fast voices were; none for one process. */
  readonly cluster?: { readonly fanOut: Pick<FanOut, 'announce' | 'subscribe'> }
  /** The server's address for people, e.g. `https://agents.example`; null or absent: none was given. */
  readonly publicOrigin?: string | null
  /** What differs from `defaultCallPolicy`. */
  readonly policy?: Partial<ModelWaits>
  /** Memory as chat uses it; called when a request comes, since it opens after the gateway. */
  readonly memory: () => MemoryService
  /** The index of pages that models without a search of their own search; null or absent: none. */
  readonly search?: WebSearch | null
  /** Knowledge as `file_search` uses it; called when a request comes. */
  readonly knowledge: () => KnowledgeService
  /** Servers of tools as responses use them; called when a request comes. */
  readonly remote: () => RemoteTools
  /** Runs responses that go on without their caller. */
  readonly host: ResponseHost
  readonly clock: Clock
  readonly log: Logger
}

/** The gateway, put together. */
export interface Gateway extends GatewayCore {
  readonly ledger: RequestLedger
  readonly embeddings: EmbeddingCalls
  /** How responses in the background are made. */
  readonly makeResponse: ResponseEffectParts['make']
  readonly useCases: ReturnType<typeof chatCompletionsUseCases> &
    ReturnType<typeof embeddingUseCases> &
    ReturnType<typeof passedOnUseCases> &
    ReturnType<typeof openForms>['useCases'] &
    VoiceUseCases &
    ReturnType<Metering['useCases']> &
    ReturnType<typeof visionUseCases> &
    ReturnType<typeof redactionPolicyUseCases> &
    ReturnType<typeof catalogueUseCases>
  /** What was taken is durable, connections are ended. */
  close(): Promise<void>
}

/** Puts the gateway's parts together: a new part adds its line here. */
export const openGateway = (parts: GatewayParts): Gateway => {
  const { core: opened, records, guard, redaction, rows, limits, clock, log, publicOrigin = null, policy = {} } = parts
  const { chats, keepAlive, ledger, metering, routes, admission, telemetry } = opened
  const memory = new ChatMemory({ service: parts.memory, now: clock.now })
  const core: GatewayCore = { routes, admission, ledger, redaction, telemetry }
  const embeddings = openEmbeddings({ ...core, guard, policy, now: clock.now })
  const documents = openDocuments({ ...core, guard, policy, now: clock.now })
  const voice = openVoice({ ...core, guard, limits, fanOut: parts.cluster?.fanOut, waits: policy, now: clock.now })
  const forms = openForms({
    ...{ memory, chat: chats, routes, documents: documents.calls, records, search: parts.search ?? null },
    ...{ knowledge: parts.knowledge, remote: parts.remote, host: parts.host, now: clock.now, log },
  })
  return {
    ...core,
    ledger,
    makeResponse: forms.makeResponse,
    embeddings: embeddings.calls,
    useCases: {
      ...metering.useCases(rows),
      ...voiceUseCases(voice),
      ...embeddingUseCases(embeddings.calls),
      ...passedOnUseCases(documents.calls),
      ...chatCompletionsUseCases({ chats, keepAlive, memory }),
      ...forms.useCases,
      ...visionUseCases({ chat: chats, routes: core.routes, guard: guard.content }),
      ...redactionPolicyUseCases(redaction),
      ...catalogueUseCases({ table: prices, origin: publicOrigin, now: clock.now }),
    },
    close: async () => {
      await chats.close()
      await embeddings.close()
      await documents.close()
      await voice.close()
      await ledger.stop()
    },
  }
}
