import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { type Logger, pino } from 'pino'
import { apiPepperName } from './actors/accounts/api-keys.ts'
import { bootstrap, checkMasterKey, type Installation, WrongMasterKey } from './actors/accounts/bootstrap.ts'
import { openActors } from './actors/open-actors.ts'
import { systemClock } from './actors/runtime/clock.ts'
import { ClusterRuns } from './actors/runtime/start-number.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { ManagedProviders, simulatedWanted } from './gateway/routing/managed-providers.ts'
import { type SimulatedProvider, startSimulatedProvider } from './gateway/simulated/server.ts'
import { nodeIdOf, openCluster } from './open-cluster.ts'
import { openStorage } from './open-storage.ts'
import { openSsrfGuard } from './outgoing/ssrf-guard.ts'
import { loadMasterKey, openSecretBox } from './storage/secrets.ts'
import { openTransport } from './transport/open-transport.ts'
import { readStaticFiles } from './transport/static-files.ts'

/**
 * V8 lets the old generation grow to about four times what lives in it before it collects. A server whose turns are
 * mostly short-lived garbage pays a third of its memory for that; collecting at 1.7 times costs it 3 % more CPU.
 */
setFlagsFromString('--heap-growing-percent=70')

/** What a shutdown waits for at most: turns that run get this long to end. */
const drainMs = 20_000
const closeMs = 2_000

const consoleFolder = fileURLToPath(new URL('../console', import.meta.url))

interface Models {
  readonly managed: ManagedProviders
  readonly simulated: SimulatedProvider | null
}

/** Without a key of any provider, models are simulated by a small server of our own, on a loopback port. */
const openModels = async (config: Config): Promise<Models> => {
  const wanted = { keys: config.providers, simulated: config.simulatedProvider }
  const simulated = simulatedWanted(wanted) ? await startSimulatedProvider() : null
  const managed = new ManagedProviders({ ...wanted, simulatedUrl: simulated?.url })
  return { managed, simulated }
}

const originOf = ({ publicUrl }: Config): string | null => (publicUrl === null ? null : new URL(publicUrl).origin)

const announce = (url: string, installed: Installation, managed: ManagedProviders, log: Logger): void => {
  log.info({ url, project: installed.project }, 'server started')
  if (managed.onlySimulated) log.warn({ model: managed.defaultModel }, 'no provider has a key: models are simulated')
  const { generated } = installed
  if (generated === null) return
  const lines = [
    'This is the first start. These secrets are shown once:',
    ...(generated.secretKey === null ? [] : [`  secret key       ${generated.secretKey}`]),
    `  dashboard owner  ${installed.ownerEmail}`,
    ...(generated.ownerPassword === null ? [] : [`  owner password   ${generated.ownerPassword}`]),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

const start = async (config: Config, log: Logger): Promise<() => Promise<void>> => {
  const storage = await openStorage(config)
  const masterKey = config.masterKey ?? loadMasterKey(join(config.dataDir, 'master.key'))
  await checkMasterKey(storage.records, apiPepperName(masterKey))
  const cluster = await openCluster(config, storage, masterKey, log)
  const { managed, simulated } = await openModels(config)
  const actors = await openActors({
    storage,
    managed,
    guard: openSsrfGuard({ allowedPrivateHosts: config.allowedPrivateHosts }),
    masterKey,
    box: openSecretBox({ masterKey }),
    secureCookies: config.publicUrl?.startsWith('https:') ?? false,
    publicOrigin: originOf(config),
    runs: config.runs,
    ...(cluster !== null && { cluster: cluster.parts, limits: cluster.limits }),
    clock: systemClock,
    log,
  })
  const { auth, runtime } = actors
  const given = config.bootstrap
  const { apiKeys, projects } = auth
  const installed = await bootstrap({ records: storage.records, apiKeys, projects, given, now: Date.now })
  const transport = openTransport({
    actors,
    ping: () => storage.ping(),
    console: await readStaticFiles(consoleFolder),
    publicOrigin: originOf(config),
    trustedProxies: config.trustedProxies,
    log,
  })
  // it can write nothing any more: whoever looks after processes starts it anew, if it is still wanted
  void runtime.replaced.then(() => process.kill(process.pid, 'SIGTERM'))
  const port = await transport.server.listen(config.host, config.port)
  announce(config.publicUrl ?? `http://${config.host}:${port}`, installed, managed, log)
  return async () => {
    transport.beginDrain()
    actors.sweeper.stop()
    await actors.notices.stop()
    await runtime.drain(drainMs)
    await transport.server.close(closeMs)
    await actors.gateway.close()
    await actors.routing.close()
    await simulated?.close()
    await cluster?.close()
    await storage.close()
  }
}

const main = async (): Promise<void> => {
  const config = readConfig(process.env)
  const isNamed = config.nodeId !== null || config.redisUrl !== null
  const log = pino({ level: config.logLevel, base: isNamed ? { node: nodeIdOf(config) } : null })
  const stop = await start(config, log)
  let _stopping: Promise<void> | undefined
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      log.info({ signal }, 'shutting down')
      _stopping ??= stop().then(() => process.exit(0))
    })
  }
}

/** What whoever starts the server can put right: its message says how. */
const isForPeople = (error: unknown): boolean =>
  error instanceof ConfigError || error instanceof WrongMasterKey || error instanceof ClusterRuns

try {
  await main()
} catch (error) {
  const shown = error instanceof Error && isForPeople(error) ? error.message : inspect(error)
  process.stderr.write(`${shown}\n`)
  process.exit(1)
}
