import type { Logger } from 'pino'
import type { FanOut, RateLimits } from '../../storage/cluster-ports.ts'
import type { RecordStore } from '../../storage/ports.ts'
import type { ProjectDirectory, SecretBox } from '../auth/project-directory.ts'
import type { Clock } from '../runtime/clock.ts'
import type { RowWriter } from '../runtime/row-writer.ts'
import type { SsrfGuard } from '../tools/ssrf-guard.ts'
import { chatCompletionsUseCases } from '../use-cases/chat-completions.ts'
import { redactionPolicyUseCases } from '../use-cases/redaction-policy.ts'
import type { Admission } from './calls/admission.ts'
import type { CallLedger } from './calls/call-ledger.ts'
import type { Redaction } from './calls/redaction.ts'
import type { Routes } from './calls/routes.ts'
import { catalogueUseCases } from './catalogue/catalogue-use-cases.ts'
import { openChats } from './chat/open-chats.ts'
import { openEmbeddings } from './embeddings/open-embeddings.ts'
import { formUseCases } from './forms/form-use-cases.ts'
import type { RequestLedger } from './ledger/request-ledger.ts'
import { type Metering, openMetering } from './open-metering.ts'
import { prices } from './prices.ts'
import type { RedactionPolicies } from './redaction/redaction-policies.ts'
import type { Routing } from './routing/open-routing.ts'
import { visionUseCases } from './vision/vision-use-cases.ts'
import { openVoice, type Voice } from './voice/open-voice.ts'

/** What the gateway stands on. */
export interface GatewayParts {
  readonly records: RecordStore
  readonly box: SecretBox
  readonly guard: SsrfGuard
  readonly routing: Routing
  readonly redaction: RedactionPolicies
  readonly ledger: RequestLedger
  /** What is written behind answers. */
  readonly rows: Pick<RowWriter, 'alongside' | 'shown'>
  readonly limits: RateLimits
  readonly auth: { readonly projects: Pick<ProjectDirectory, 'settings'> }
  /** Other nodes, which are told of changes; absent for one process. */
  readonly cluster?: { readonly fanOut: Pick<FanOut, 'announce' | 'subscribe'> }
  /** The server's address for people, e.g. `https://agents.example`; null or absent: none was given. */
  readonly publicOrigin?: string | null
  readonly clock: Clock
  readonly log: Logger
}

/** What every request of the gateway goes by, whatever its form. */
export interface GatewayCore {
  readonly routes: Routes
  readonly admission: Admission
  readonly ledger: CallLedger
  readonly redaction: Redaction
}

/** The gateway, put together. */
export interface Gateway extends GatewayCore {
  readonly ledger: RequestLedger
  readonly useCases: ReturnType<typeof chatCompletionsUseCases> &
    ReturnType<typeof openEmbeddings>['useCases'] &
    ReturnType<typeof formUseCases> &
    Voice['useCases'] &
    Metering['useCases'] &
    ReturnType<typeof visionUseCases> &
    ReturnType<typeof redactionPolicyUseCases> &
    ReturnType<typeof catalogueUseCases>
  /** What was taken is durable, connections are ended. */
  close(): Promise<void>
}

/** Puts the gateway's parts together: whoever adds a part adds its line here. */
export const openGateway = (parts: GatewayParts): Gateway => {
  const { records, guard, routing, redaction, ledger, limits, clock, log, publicOrigin = null } = parts
  const metering = openMetering({
    ...parts,
    projects: parts.auth.projects,
    fanOut: parts.cluster?.fanOut,
  })
  const core: GatewayCore = {
    routes: routing.routes,
    admission: metering.admission,
    ledger,
    redaction,
  }
  const { chats, keepAlive } = openChats({ ...core, guard, now: clock.now })
  const embeddings = openEmbeddings({ ...core, guard, now: clock.now })
  const voice = openVoice({ ...core, guard, limits, now: clock.now })
  return {
    ...core,
    ledger,
    useCases: {
      ...metering.useCases,
      ...voice.useCases,
      ...embeddings.useCases,
      ...chatCompletionsUseCases({ chats, keepAlive }),
      ...formUseCases({ chat: chats, routes: core.routes, records, search: null, now: clock.now, log }),
      ...visionUseCases({ chat: chats, routes: core.routes, guard }),
      ...redactionPolicyUseCases(redaction),
      ...catalogueUseCases({ table: prices, origin: publicOrigin, now: clock.now }),
    },
    close: async () => {
      await chats.close()
      await embeddings.close()
      await voice.close()
      await ledger.stop()
    },
  }
}
