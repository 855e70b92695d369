import type { Logger } from 'pino'
import type { KnowledgeService } from '../actors/capability/knowledge-service.ts'
import type { MemoryService } from '../actors/capability/memory-service.ts'
import type { PromptService } from '../actors/capability/prompt-service.ts'
import type { RemoteTools } from '../actors/capability/remote-tools.ts'
import type { Clock } from '../actors/runtime/index.ts'
import type { RowWriter } from '../actors/runtime/internal.ts'
import type { SsrfGuard } from '../outgoing/ssrf-guard.ts'
import type { FanOut, RateLimits, RecordStore } from '../storage/index.ts'
import { openChatApis } from './apis/chat-apis.ts'
import { chatCompletionsUseCases } from './apis/chat-completions/chat-completion-use-cases.ts'
import { embeddingUseCases } from './apis/embeddings/embedding-use-cases.ts'
import { imageUseCases } from './apis/passed-on/image-use-cases.ts'
import { passthroughUseCases } from './apis/passed-on/passed-on-use-cases.ts'
import type { ResponseHost } from './apis/responses/background/background-responses.ts'
import type { ResponseEffectParts } from './apis/responses/background/response-effects.ts'
import type { WebSearch } from './apis/responses/searches/web-search.ts'
import { imageReaders } from './apis/vision/image-readers.ts'
import { visionUseCases } from './apis/vision/vision-use-cases.ts'
import { type VoiceUseCases, voiceUseCases } from './apis/voice/voice-use-cases.ts'
import type { ModelTimeouts } from './call/call-policy.ts'
import type { ChatCalls } from './call/chat-calls.ts'
import type { GatewayCore } from './call/gateway-core.ts'
import { catalogueUseCases } from './catalogue/catalogue-use-cases.ts'
import { openDocuments } from './documents/open-documents.ts'
import type { EmbeddingCalls } from './embeddings/embedding-calls.ts'
import { openEmbeddings } from './embeddings/open-embeddings.ts'
import type { RequestLedger } from './ledger/request-ledger.ts'
import type { OpenCore } from './open-core.ts'
import type { Metering } from './open-metering.ts'
import { prices } from './prices/prices.ts'
import { openRealtime, type Realtime } from './realtime/open-realtime.ts'
import { redactionPolicyUseCases } from './redaction/policy-use-cases.ts'
import type { RedactionPolicies } from './redaction/redaction-policies.ts'
import { ChatMemory } from './remembering/chat-memory.ts'
import { openVoice } from './voice/open-voice.ts'

export interface GatewayParts {
  readonly core: OpenCore
  readonly records: RecordStore
  readonly guard: SsrfGuard
  readonly redaction: RedactionPolicies
  /** Writer of the rows that are derived after answers. */
  readonly rows: Pick<RowWriter, 'alongside' | 'shown'>
  readonly limits: RateLimits
  /** Distributes measured latencies of speech models to other nodes; absent for a single process. */
  readonly cluster?: { readonly fanOut: Pick<FanOut, 'announce' | 'subscribe'> }
  /** Public address of the server, such as `https://agents.example`; null or absent when none is configured. */
  readonly publicOrigin?: string | null
  /** Overrides of `defaultCallPolicy`. */
  readonly policy?: Partial<ModelTimeouts>
  /** Memory for chat; called once per request, since memory is opened after the gateway. */
  readonly memory: () => MemoryService
  /** Web search engine for models that cannot search themselves; null or absent: none. */
  readonly search?: WebSearch | null
  /** Knowledge for `file_search`; called once per request. */
  readonly knowledge: () => KnowledgeService
  /** Remote (MCP) servers for responses; called once per request. */
  readonly remote: () => RemoteTools
  /** Stored prompts; called once per request. */
  readonly prompts: () => PromptService
  /** Runs background responses. */
  readonly host: ResponseHost
  readonly clock: Clock
  readonly log: Logger
}

export interface Gateway extends GatewayCore {
  readonly ledger: RequestLedger
  readonly embeddings: EmbeddingCalls
  /** Returns the reader of images that uses this model. */
  readonly imageReader: ReturnType<typeof imageReaders>
  readonly chats: ChatCalls
  readonly realtime: Realtime
  /** Makes a background response. */
  readonly makeResponse: ResponseEffectParts['make']
  readonly useCases: ReturnType<typeof chatCompletionsUseCases> &
    ReturnType<typeof embeddingUseCases> &
    ReturnType<typeof passthroughUseCases> &
    ReturnType<typeof imageUseCases> &
    ReturnType<typeof openChatApis>['useCases'] &
    VoiceUseCases &
    ReturnType<Metering['useCases']> &
    ReturnType<typeof visionUseCases> &
    ReturnType<typeof redactionPolicyUseCases> &
    ReturnType<typeof catalogueUseCases>
  /** Waits until everything recorded is durable, and closes connections. */
  close(): Promise<void>
}

/** Assembles the gateway from its parts; a new part is added here. */
export const openGateway = (parts: GatewayParts): Gateway => {
  const { core: opened, records, guard, redaction, rows, limits, clock, log, publicOrigin = null, policy = {} } = parts
  const { chats, keepAlive, ledger, metering, routes, admission, cache, guardrails, telemetry } = opened
  const memory = new ChatMemory({ service: parts.memory, now: clock.now })
  const core: GatewayCore = { routes, admission, ledger, redaction, telemetry }
  const checked = { ...core, cache, guardrails, guard, policy, now: clock.now }
  const embeddings = openEmbeddings(checked)
  const documents = openDocuments(checked)
  const heard = { limits, fanOut: parts.cluster?.fanOut, waits: policy }
  const voice = openVoice({ ...core, ...heard, guardrails, guard, now: clock.now })
  const realtime = openRealtime({ ...core, guardrails, chats, voice, guard, records, policy, now: clock.now })
  const { knowledge, remote, prompts, host, search = null } = parts
  const forms = openChatApis({
    ...{ memory, chat: chats, routes, embeddings: embeddings.calls, documents: documents.calls, records, search },
    ...{ knowledge, remote, prompts, host, now: clock.now, log },
  })
  const vision = { chat: chats, routes: core.routes, guard: guard.content }
  return {
    ...core,
    ledger,
    imageReader: imageReaders(vision),
    makeResponse: forms.makeResponse,
    embeddings: embeddings.calls,
    chats,
    realtime,
    useCases: {
      ...metering.useCases(rows),
      ...voiceUseCases(voice),
      ...embeddingUseCases(embeddings.calls),
      ...passthroughUseCases({ documents: documents.calls }),
      ...imageUseCases({ documents: documents.calls, remote: vision }),
      ...chatCompletionsUseCases({ chats, keepAlive, memory, prompts }),
      ...forms.useCases,
      ...visionUseCases(vision),
      ...redactionPolicyUseCases(redaction),
      ...catalogueUseCases({ table: prices, origin: publicOrigin, now: clock.now }),
    },
    close: async () => {
      await chats.close()
      await embeddings.close()
      await documents.close()
      await voice.close()
      await realtime.close()
      await ledger.stop()
    },
  }
}
