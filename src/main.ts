import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { type Logger, pino } from 'pino'
import { bootstrap, type Installation } from './actors/accounts/bootstrap.ts'
import { show } from './actors/accounts/first-secrets.ts'
import { openServerKeys } from './actors/accounts/lasting-keys.ts'
import type { BrowserSettings } from './actors/browser/browser.ts'
import { kinds } from './actors/capabilities.ts'
import { openActors } from './actors/open-actors.ts'
import { systemClock } from './actors/runtime/index.ts'
import type { CrawlerSettings } from './actors/web/crawler-settings.ts'
import { awaitStore } from './await-store.ts'
import { type Config, readConfig } from './config.ts'
import { ManagedProviders, simulatedWanted } from './gateway/routing/managed-providers.ts'
import { startSimulatedProvider } from './gateway/simulated/server.ts'
import { masterKeysOf } from './master-keys.ts'
import { misspeltIn } from './misspelt-variables.ts'
import { nodeIdOf, openCluster } from './open-cluster.ts'
import { type Embedders, openEmbedders } from './open-embedders.ts'
import { loadDrivers } from './open-storage.ts'
import type { OutgoingWatch } from './outgoing/outgoing-watch.ts'
import { openSsrfGuard, type SsrfGuard } from './outgoing/ssrf-guard.ts'
import { undici } from './outgoing/undici.ts'
import { closingMs, shutdown } from './shutdown.ts'
import { startFailure } from './start-failure.ts'
import { openDataFolder, openSecretBox, readinessOf } from './storage/index.ts'
import { LogOutput } from './telemetry/log-output.ts'
import { openTraces, type Traces } from './telemetry/open-traces.ts'
import { Telemetry } from './telemetry/telemetry.ts'
import { EarlyListener } from './transport/early-listener.ts'
import { openServer } from './transport/http/open-server.ts'
import { openTransport } from './transport/open-transport.ts'
import { readStaticFiles } from './transport/static-files.ts'

/**
 * Makes V8 collect the old generation when it has grown to 1.7 times its live size, not to about four times. The
 * garbage of a server is mostly short-lived, so this saves a third of its memory for 3 % more CPU. It is set after the
 * start, whose objects are long-lived.
 */
const collectEarly = (): void => setFlagsFromString('--heap-growing-percent=70')

const closeMs = 2_000
/** Time in ms after the start at which optional modules are loaded, so that no request waits for them later. */
const settledMs = 5_000

/** Why a server is not ready yet, for probes: no address or error of the store. */
const storeAway = 'the store does not respond'

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
  { installation: { project }, managed }: { readonly installation: Installation; readonly managed: ManagedProviders },
  log: Logger,
): void => {
  log.info({ url, project }, 'server started')
  collectEarly()
  setTimeout(() => loadEarly(log), settledMs).unref()
  if (managed.onlySimulated)
    log.warn({ model: managed.defaultModel }, 'no provider has a key: using the simulated model')
}

/** Loads what the first call to a customer's host needs. That call loads it again if too many files are open now. */
const loadEarly = (log: Logger): void => {
  try {
    undici()
  } catch (error) {
    log.warn({ err: error }, "the client for customers' hosts is not loaded yet")
  }
}

/** Listens before anything is written, so that a start that cannot listen changes nothing. */
const listen = async ({ host, port, publicUrl }: Config, log: Logger) => {
  const early = new EarlyListener()
  const server = openServer(early, log)
  const taken = await server.listen(host, port)
  return { early, server, url: publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${taken}` }
}

const start = async (config: Config, log: Logger): Promise<() => Promise<void>> => {
  if (config.mongodbUrl === null || config.masterKey === null) await openDataFolder(config.dataDir)
  const { early, server, url } = await listen(config, log)
  const storage = await awaitStore({ config, kinds, waiting: () => early.wait(storeAway), log })
  const masterKeys = masterKeysOf(config)
  const box = openSecretBox(masterKeys)
  const keys = await openServerKeys({ records: storage.records, ...masterKeys, box })
  const traces = openTraces(config, log)
  const cluster = await openCluster(config, { storage, keys, traces, log })
  const { managed, embedders, close: closeModels } = await openModels(config, log)
  const telemetry = new Telemetry(log, traces?.tracer)
  const serving = Promise.withResolvers<void>()
  const actors = await openActors({
    storage,
    ...{ managed, ...embedders, sharedCorpus: config.sharedCorpus, searchEngines: config.searchEngines },
    guard: guardOf(config, traces, telemetry.outgoing),
    ...{ keys, box },
    secureCookies: config.publicUrl?.startsWith('https:') ?? false,
    ...{ publicOrigin: originOf(config), serverUrl: url },
    ...{ runs: config.runs, browser: browserOf(config), crawler: crawlerOf(config) },
    ...{ modelWaits: config.modelWaits, streamCommitMs: config.streamCommitMs },
    ...(cluster !== null && { cluster: cluster.parts, limits: cluster.limits, turns: cluster.turns }),
    ...{ telemetry, log },
    serving: serving.promise,
    clock: systemClock,
  })
  const { auth, runtime } = actors
  const given = config.bootstrap
  const { apiKeys, projects } = auth
  const installed = await bootstrap({ records: storage.records, apiKeys, projects, given, show, now: Date.now })
  const transport = openTransport({
    ...{ actors, telemetry, log },
    ping: readinessOf(storage, Date.now),
    console: await readStaticFiles(consoleFolder, documents),
    docsFolder,
    ...{ publicOrigin: originOf(config), trustedProxies: config.trustedProxies },
    ...{ records: storage.records, chatBodyBytes: config.chatBodyBytes, connections: server.connections },
  })
  // another process has taken over, so this one can no longer write; a process supervisor restarts it if needed
  void runtime.replaced.then(() => process.kill(process.pid, 'SIGTERM'))
  early.serve(transport.handler)
  serving.resolve()
  announce(url, { installation: installed, managed }, log)
  return async () => {
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
}

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

const main = async (config: Config): Promise<void> => {
  const isNamed = config.nodeId !== null || config.redisUrl !== null
  const base = isNamed ? { node: nodeIdOf(config) } : null
  const log = pino({ level: config.logLevel, base }, new LogOutput())
  // requests, streams and sockets handle their own errors; a rejection that gets past them has left no state half
  // changed
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'))
  // until the start is complete, there is nothing to stop: the next start recovers from an interrupted one
  let stop = async (): Promise<void> => {}
  let _stopping: Promise<void> | undefined
  // SIGHUP (a closed terminal) shuts down as gracefully as the other signals
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      log.info({ signal }, 'shutting down')
      const limitMs = config.shutdownGraceMs + closingMs
      _stopping ??= shutdown({ stop, limitMs, log, exit: process.exit })
    })
  }
  for (const misspelt of misspeltIn(process.env)) log.warn(misspelt, 'unknown environment variable, possibly misspelt')
  stop = await start(config, log)
}

/** Reads the configuration and starts the server; if it cannot, prints one sentence and exits with code 1. */
const run = async (): Promise<void> => {
  let config: Config | undefined
  try {
    config = readConfig(process.env)
    await main(config)
  } catch (error) {
    const reason = startFailure(error, config ?? { mongodbUrl: null, dataDir: '' })
    process.stderr.write(`${reason ?? inspect(error)}\n`)
    process.exit(1)
  }
}

/** Settles when the server serves. The module itself does not await it, because a bundle cannot (src/start.js). */
export const started = run()

export { loadDrivers }
