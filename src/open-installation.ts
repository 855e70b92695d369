import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { type Installation as Bootstrapped, bootstrap } from './actors/accounts/bootstrap.ts'
import { show } from './actors/accounts/first-secrets.ts'
import { openServerKeys } from './actors/accounts/lasting-keys.ts'
import type { BrowserSettings } from './actors/browser/browser.ts'
import { kinds } from './actors/capabilities.ts'
import { openActors } from './actors/open-actors.ts'
import { systemClock } from './actors/runtime/index.ts'
import type { CrawlerSettings } from './actors/web/crawler-settings.ts'
import { awaitStore } from './await-store.ts'
import type { Config } from './config.ts'
import { ManagedProviders, simulatedWanted } from './gateway/routing/managed-providers.ts'
import { startSimulatedProvider } from './gateway/simulated/server.ts'
import { masterKeysOf } from './master-keys.ts'
import { type OpenedCluster, openCluster } from './open-cluster.ts'
import { type Embedders, openEmbedders } from './open-embedders.ts'
import type { OutgoingWatch } from './outgoing/outgoing-watch.ts'
import { openSsrfGuard, type SsrfGuard } from './outgoing/ssrf-guard.ts'
import { consoleStripper } from './start/sources.js'
import { openDataFolder, openSecretBox, readinessOf } from './storage/index.ts'
import { openTraces, type Traces } from './telemetry/open-traces.ts'
import { Telemetry } from './telemetry/telemetry.ts'
import { EarlyListener } from './transport/early-listener.ts'
import { openServer } from './transport/http/open-server.ts'
import { openTransport } from './transport/open-transport.ts'
import { readStaticFiles } from './transport/static-files.ts'

const closeMs = 2_000

/** Why a server is not ready yet, for probes: no address or error of the store. */
const storeAway = 'the store does not respond'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const consoleFolder = fileURLToPath(new URL('../console', import.meta.url))
const docsFolder = fileURLToPath(new URL('../docs', import.meta.url))

/** API descriptions, for code generators and API explorers. */
const documents = Object.fromEntries(
  ['openapi.json', 'asyncapi.json'].map((name) => [
    `/${name}`,
    fileURLToPath(new URL(`../specs/${name}`, import.meta.url)),
  ]),
)

interface Models {
  readonly managed: ManagedProviders
  readonly embedders: Embedders
  close(): Promise<void>
}

/** Opens the models. Without any provider key, a small local server on a loopback port simulates them. */
const openModels = async (config: Config, log: Logger): Promise<Models> => {
  const wanted = { keys: config.providers, simulated: config.simulatedProvider }
  const simulated = simulatedWanted(wanted) ? await startSimulatedProvider() : null
  const managed = new ManagedProviders({ ...wanted, simulatedUrl: simulated?.url })
  const embedders = await openEmbedders(config, log)
  const close = async (): Promise<void> => {
    await simulated?.close()
    await embedders.embedder?.close()
  }
  return { managed, embedders, close }
}

const originOf = ({ publicUrl }: Config): string | null => (publicUrl === null ? null : new URL(publicUrl).origin)

const announce = (
  url: string,
  { installation: { project }, managed }: { readonly installation: Bootstrapped; readonly managed: ManagedProviders },
  log: Logger,
): void => {
  log.info({ url, project }, 'server started')
  if (managed.onlySimulated)
    log.warn({ model: managed.defaultModel }, 'no provider has a key: using the simulated model')
}

/** Listens before anything is written, so that a start that cannot listen changes nothing. */
const listen = async ({ host, port, publicUrl }: Config, log: Logger) => {
  const early = new EarlyListener()
  const server = openServer(early, log)
  const taken = await server.listen(host, port)
  return { early, server, url: publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${taken}` }
}

/** A running server. */
export interface Installation {
  /** Resolves when another process has taken over the store, so that this one can no longer write. */
  readonly replaced: Promise<void>
  /** Ends it in order: streams, turns, then the store. */
  stop(): Promise<void>
}

/**
 * Opens the server of a configuration: port, store, actors, transport. Nothing in it belongs to the process, which may
 * open several (test/e2e/hosted).
 */
export const openInstallation = async (config: Config, log: Logger): Promise<Installation> => {
  if (config.mongodbUrl === null || config.masterKey === null) await openDataFolder(config.dataDir)
  const { early, server, url } = await listen(config, log)
  const serving = Promise.withResolvers<void>()
  const waits = { waiting: () => early.wait(storeAway), serving: serving.promise }
  const storage = await awaitStore({ config, kinds, ...waits, log })
  const masterKeys = masterKeysOf(config)
  const box = openSecretBox(masterKeys)
  const keys = await openServerKeys({ records: storage.records, ...masterKeys, box })
  const traces = openTraces(config, log)
  const cluster = await openCluster(config, { storage, keys, traces, log })
  const { managed, embedders, close: closeModels } = await openModels(config, log)
  const telemetry = new Telemetry(log, traces?.tracer)
  const actors = await openActors({
    storage,
    ...{ managed, ...embedders, sharedCorpus: config.sharedCorpus, searchEngines: config.searchEngines },
    guard: guardOf(config, traces, telemetry.outgoing),
    ...{ keys, box },
    secureCookies: config.publicUrl?.startsWith('https:') ?? false,
    ...{ publicOrigin: originOf(config), serverUrl: url },
    ...{ runs: config.runs, browser: browserOf(config), crawler: crawlerOf(config) },
    indexBytes: config.indexMemoryBytes,
    ...{ modelWaits: config.modelWaits, streamCommitMs: config.streamCommitMs },
    ...(cluster !== null && sharedBy(cluster)),
    ...{ telemetry, log },
    serving: serving.promise,
    clock: systemClock,
  })
  const { auth, runtime } = actors
  const given = config.bootstrap
  const installed = await bootstrap({ records: storage.records, ...auth, given, show, now: Date.now })
  const transport = openTransport({
    ...{ actors, telemetry, log },
    ...{ ping: readinessOf(storage, Date.now), redis: cluster?.redis },
    console: await readStaticFiles(consoleFolder, { open: documents, strip: consoleStripper(root) }),
    docsFolder,
    ...{ publicOrigin: originOf(config), trustedProxies: config.trustedProxies },
    ...{ records: storage.records, chatBodyBytes: config.chatBodyBytes, connections: server.connections },
  })
  early.serve(transport.handler)
  serving.resolve()
  announce(url, { installation: installed, managed }, log)
  const stop = async (): Promise<void> => {
    transport.beginDrain()
    await actors.stop()
    await runtime.drain(config.shutdownGraceMs)
    await server.close(closeMs)
    await actors.close()
    await closeModels()
    await cluster?.close()
    await traces?.close()
    await storage.close()
  }
  return { replaced: runtime.replaced, stop }
}

/** What the nodes of a cluster share. */
const sharedBy = ({ parts, limits, turns, answers }: OpenedCluster) => ({ cluster: parts, limits, turns, answers })

const browserOf = ({ chromiumPath, browserJobs, browserJobMemoryBytes }: Config): BrowserSettings => ({
  path: chromiumPath,
  atOnce: browserJobs,
  maxMemoryBytes: browserJobMemoryBytes,
})

/** The contact is the public URL unless another one is configured. */
const crawlerOf = (config: Config): CrawlerSettings => ({
  ...config.crawler,
  contact: config.crawler.contact ?? config.publicUrl,
})

const guardOf = (config: Config, traces: Traces | null, watch: OutgoingWatch): SsrfGuard => {
  const { allowedPrivateHosts, allowedContentHosts } = config
  const ownHeaders = traces === null ? {} : { ownHeaders: traces.headers }
  return openSsrfGuard({ allowedPrivateHosts, allowedContentHosts, watch, ...ownHeaders })
}
