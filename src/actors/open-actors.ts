import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { Resealing } from '#records/sealing/resealing.ts'
import type { KeyedBox } from '#records/sealing/sealed-anew.ts'
import type { ServerKeys } from '#records/sealing/server-keys.ts'
import type { RunCeilings } from '#specs/run-limits.ts'
import type { SearchEngineSettings } from '#specs/search-engines.ts'
import { forEachInSlices, nextSlice } from '../concurrency/run-in-slices.ts'
import type { ModelTimeouts } from '../gateway/call/call-policy.ts'
import {
  gatewayPort,
  managedProvidersPort,
  modelWaitsPort,
  publicOriginPort,
  requestLedgerPort,
} from '../gateway/gateway.ts'
import { RequestLedger } from '../gateway/ledger/request-ledger.ts'
import type { Gateway } from '../gateway/open-gateway.ts'
import type { ManagedProviders } from '../gateway/routing/managed-providers.ts'
import type { SsrfGuard } from '../outgoing/ssrf-guard.ts'
import { type Embedder, IndexBound } from '../retrieval/index.ts'
import {
  type AnswerStore,
  LocalAnswers,
  LocalLimits,
  LocalTurns,
  type RateLimits,
  type RecordStore,
  type SharedTurns,
  type Storage,
  sealedAnswers,
} from '../storage/index.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { authPort, browserOriginPort, oauthClientsPort, secureCookiesPort, serverUrlPort } from './accounts/accounts.ts'
import type { OAuthClients } from './accounts/oauth/oauth-clients.ts'
import type { Auth } from './accounts/open-auth.ts'
import { type BrowserSettings, browserSettingsPort, defaultJobMemoryBytes } from './browser/browser.ts'
import { serviceRefusal } from './call/service-refusal.ts'
import type { AnyUseCases } from './call/use-cases.ts'
import { actorRows, capabilities, definitions, kinds, ledger } from './capabilities.ts'
import { defaultEmbedderPort, localEmbedderPort, pageEmbedderPort } from './capability/embedder-port.ts'
import { ErasedCopies, erasedCopiesPort } from './capability/erased-copies.ts'
import { indexBoundPort } from './capability/index-bound.ts'
import { type OpenCapabilities, openCapabilities } from './capability/open-capabilities.ts'
import type { Services } from './capability/services.ts'
import { takeoverCounts } from './observation/takeovers.ts'
import { upkeepPort } from './operators/operators.ts'
import type { Upkeep } from './operators/upkeep-use-cases.ts'
import { CredentialChanges } from './records/caches/credential-changes.ts'
import { IdempotentRequests } from './records/idempotent.ts'
import { NoticeDelivery } from './records/notice-delivery.ts'
import type { RunConcurrency } from './runs/pick-runs.ts'
import { runBoundsPort } from './runs/runs.ts'
import type { Clock } from './runtime/index.ts'
import {
  type ClusterParts,
  Compaction,
  type Host,
  RecordSweeper,
  type Runtime,
  startRuntime,
  UpkeepSwitch,
} from './runtime/internal.ts'
import { admittedRecords } from './tenants/admitted-records.ts'
import type { TenantDirectory } from './tenants/tenant-directory.ts'
import { tenantDirectory } from './tenants/tenants.ts'
import { type CrawlerSettings, crawlerPort, defaultCrawler } from './web/crawler-settings.ts'
import { foreignEnginesPort } from './web/engines/foreign-engines.ts'
import { sharedCorpusPort } from './web/shared-corpus.ts'

/** Dependencies and settings of `openActors`, supplied by main.ts. */
export interface ActorsParts {
  readonly storage: Storage
  readonly managed: ManagedProviders
  readonly guard: SsrfGuard
  readonly keys: ServerKeys
  readonly box: KeyedBox
  readonly secureCookies: boolean
  /** Public URL of the server for people; null or absent when none is configured. */
  readonly publicOrigin?: string | null
  /** URL at which browsers reach the server: the public one, or else the address that it listens on. */
  readonly serverUrl?: string
  /** Timeouts for silent models; absent: as in `defaultCallPolicy`. */
  readonly modelWaits?: ModelTimeouts
  /** Computes embedding vectors on this machine; null or absent when there is none. */
  readonly embedder?: Embedder | null
  /** Computes those of web pages; null or absent when they are found by their words. */
  readonly pageEmbedder?: Embedder | null
  /** Model of `/v1/embeddings` for projects that name no embedder; null or absent: the one of this machine. */
  readonly defaultEmbedder?: string | null
  /** Settings of browsers on this machine; absent: one per processor, of a browser found on the system. */
  readonly browser?: BrowserSettings
  /** Project whose crawled pages are searchable by all projects; null or absent for none. */
  readonly sharedCorpus?: string | null
  /** How crawls treat foreign hosts; absent: `defaultCrawler`. */
  readonly crawler?: CrawlerSettings
  /** Memory of all indexes, in bytes; 384 MB when absent. */
  readonly indexBytes?: number
  /** Third-party search engines that requests may select; absent for none. */
  readonly searchEngines?: readonly SearchEngineSettings[]
  /** Maximum number of concurrent runs, and ceilings of each run. */
  readonly runs: RunConcurrency & { readonly ceilings?: RunCeilings }
  /** Longest time in ms for which the text of a turn is shown without being durable; a second when absent. */
  readonly streamCommitMs?: number
  /** Joins this process to a cluster; it runs alone without it. */
  readonly cluster?: ClusterParts
  /** Rate limits shared by all nodes; limits of this process alone when absent. */
  readonly limits?: RateLimits
  /** Turns at crawled hosts, shared by all nodes; turns of this process alone when absent. */
  readonly turns?: SharedTurns
  /** Answers of models, shared by all nodes; in the memory of this process when absent. */
  readonly answers?: AnswerStore
  /** Metrics and traces; not recorded when absent. */
  readonly telemetry?: Telemetry
  /** Resolves when requests are served. Unfinished work of earlier processes is recovered then; at once when absent. */
  readonly serving?: Promise<void>
  readonly clock: Clock
  readonly log: Logger
}

/** The services that the transport layer uses. */
export interface Actors {
  /** One use-case per operation of src/actors/capabilities.ts. */
  readonly useCases: AnyUseCases
  readonly auth: Auth
  readonly credentialChanges: CredentialChanges
  readonly oauthClients: OAuthClients
  readonly runtime: Runtime
  readonly idempotent: IdempotentRequests
  readonly tenants: TenantDirectory
  readonly gateway: Gateway
  /** Stops the background maintenance of records; requests may still arrive. */
  stop(): Promise<void>
  /** Closes the capabilities; call it after the last request. */
  close(): Promise<void>
}

/** Prepares the store, opens every capability and starts the runtime. @throws {StoreUnavailable} */
export const openActors = async (parts: ActorsParts): Promise<Actors> => {
  const { clock, log, box } = parts
  const requests = new RequestLedger({
    ...parts,
    records: parts.storage.records,
    syncBlocks: parts.storage.name === 'sqlite',
  })
  const notices = new NoticeDelivery(requests.records, { kinds, definitions, clock, log })
  const { records } = notices
  await records.prepare(kinds)
  const { upkeep, compaction } = upkeepOf(parts, records)
  const credentialChanges = new CredentialChanges({ clock, fanOut: parts.cluster?.fanOut })
  const started = Promise.withResolvers<Runtime>()
  // a failed start is reported by this function itself
  started.promise.catch(() => {})
  let opened: OpenCapabilities | undefined
  const open = (host: Host): OpenCapabilities => {
    const ground = { notices, requests, host, upkeep, credentialChanges, runtime: started.promise }
    opened ??= openCapabilities(capabilities, servicesOf(parts, ground))
    return opened
  }
  const runtime = startRuntime({
    ...givenOf(parts),
    storage: { ...parts.storage, records },
    definitions,
    rows: actorRows,
    admits: ({ project, tenant }) => (tenant === null ? undefined : tenantsOf(opened).admit(project, tenant)),
    ...{ clock, log, ledger, takenOver: takeoverCounts() },
    streamEnded: (ended) => compaction.note(ended),
    effects: (host) => open(host).effects,
    sinks: (host) => open(host).sinks,
  })
  started.resolve(runtime)
  const { host, processes } = await runtime
  const { services, useCases, sinks, close } = open(host)
  notices.start({ host, sinks, processes: processes.count })
  const sweeper = new RecordSweeper({ records, kinds, clock, log })
  sweeper.start()
  compaction.start(host.ownership)
  const resealing = resealingOf(parts, records)
  return {
    useCases,
    credentialChanges,
    ...{ auth: authPort.of(services), oauthClients: oauthClientsPort.of(services) },
    runtime: await runtime,
    idempotent: new IdempotentRequests({ records, box, clock, log, processes }),
    tenants: tenantDirectory.of(services),
    gateway: gatewayPort.of(services),
    stop: async () => {
      sweeper.stop()
      await resealing.stop()
      await compaction.stop()
      await notices.stop()
    },
    close,
  }
}

/** Settings of the runtime: those of this server, and optional ones. */
const givenOf = ({ cluster, serving, telemetry, streamCommitMs }: ActorsParts) => ({
  refuse: serviceRefusal,
  slices: { next: nextSlice, forEach: forEachInSlices },
  nodeName: cluster?.self.node ?? hostname(),
  ...(cluster !== undefined && { cluster }),
  ...(serving !== undefined && { serving }),
  ...(telemetry !== undefined && { telemetry }),
  ...(streamCommitMs !== undefined && { streamCommitMs }),
})

/** Reseals in the background while the master key is being changed, and does nothing otherwise. */
const resealingOf = ({ keys, box, clock, log, serving = Promise.resolve() }: ActorsParts, records: RecordStore) => {
  const resealing = new Resealing({ records, kinds, box, clock, log })
  if (keys.rotates) void serving.then(() => resealing.start())
  return resealing
}

const upkeepOf = ({ storage: { commits }, clock, log }: ActorsParts, records: RecordStore) => {
  const upkeep = new UpkeepSwitch({ records, clock })
  const compaction = new Compaction({ records, commits, upkeep, clock, log })
  const own: Upkeep = { upkeep, tasks: new Map([['compaction', () => compaction.state()]]) }
  return { upkeep: own, compaction }
}

interface Ground {
  readonly notices: NoticeDelivery
  readonly requests: RequestLedger
  readonly host: Host
  readonly runtime: Promise<Runtime>
  readonly upkeep: Upkeep
  readonly credentialChanges: CredentialChanges
}

/** Builds the services for the capabilities, with the settings from main.ts. */
const servicesOf = (parts: ActorsParts, ground: Ground): Services => {
  const { notices, requests, host, runtime, upkeep, credentialChanges } = ground
  const { now } = parts.clock
  const records = admittedRecords(notices.records, (scope, record) =>
    tenantDirectory.of(services).admitWork(scope, record),
  )
  const services: Services = {
    ...parts,
    storage: { ...parts.storage, records },
    ...{ records, notices, host, runtime, credentialChanges, kinds, definitions, now },
    actorRows: Object.values(actorRows),
    rowsOfMachine: actorRows,
    limits: parts.limits ?? new LocalLimits(parts.clock),
    turns: parts.turns ?? new LocalTurns(parts.clock),
    answers: parts.answers === undefined ? new LocalAnswers(parts.clock) : sealedAnswers(parts.answers, parts.box),
  }
  secureCookiesPort.give(services, parts.secureCookies)
  browserOriginPort.give(services, parts.publicOrigin ?? null)
  publicOriginPort.give(services, parts.publicOrigin ?? null)
  serverUrlPort.give(services, parts.serverUrl ?? parts.publicOrigin ?? 'http://127.0.0.1:8080')
  managedProvidersPort.give(services, parts.managed)
  modelWaitsPort.give(services, parts.modelWaits ?? null)
  requestLedgerPort.give(services, requests)
  runBoundsPort.give(services, parts.runs)
  upkeepPort.give(services, upkeep)
  localEmbedderPort.give(services, parts.embedder ?? null)
  pageEmbedderPort.give(services, parts.pageEmbedder ?? null)
  defaultEmbedderPort.give(services, parts.defaultEmbedder ?? null)
  browserSettingsPort.give(
    services,
    parts.browser ?? { path: null, atOnce: null, maxMemoryBytes: defaultJobMemoryBytes },
  )
  sharedCorpusPort.give(services, parts.sharedCorpus ?? null)
  foreignEnginesPort.give(services, parts.searchEngines ?? [])
  crawlerPort.give(services, parts.crawler ?? defaultCrawler)
  erasedCopiesPort.give(services, new ErasedCopies(host.placed))
  indexBoundPort.give(services, new IndexBound(parts.indexBytes))
  return services
}

/** Returns the tenants; the host starts work, and so calls this, only after the capabilities are open. */
const tenantsOf = (opened: OpenCapabilities | undefined): TenantDirectory => {
  if (opened === undefined) throw new Error('the capabilities are not open yet')
  return tenantDirectory.of(opened.services)
}
