import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { RunCeilings } from '../specs/run-limits.ts'
import { type SearchEngineSettings, searchEnginesOf, searchEnginesTake } from '../specs/search-engines.ts'
import { type Environment, EnvironmentReader, httpUrlOf, matching } from './environment-reader.ts'
import { type ProviderSettings, providersOf } from './provider-config.ts'
import { type RedisSettings, redisOf } from './redis-config.ts'

/** The whole configuration of a process. It holds secrets: it is never logged. */
export interface Config extends RedisSettings {
  /** 0 picks a free port. */
  readonly port: number
  readonly host: string
  readonly dataDir: string
  /** null: SQLite in `dataDir`. */
  readonly mongodbUrl: string | null
  /** Time in ms that a start waits for a MongoDB that does not respond. */
  readonly storeWaitMs: number
  /** Number of chunks from which MongoDB searches the vectors of a knowledge base, if it can; 0: never. */
  readonly vectorSearchMinChunks: number
  /** Where LanceDB has the vectors of large bases, and from how many chunks on; null: it is not used. */
  readonly lancedb: { readonly uri: string; readonly min: number } | null
  readonly nodeId: string | null
  /** Host at which other nodes reach this one; null: detected. */
  readonly peerHost: string | null
  /** 0 picks a free port. */
  readonly peerPort: number
  /**
   * `host:port` at which other nodes reach this one, if it differs from where it listens, such as behind port
   * translation.
   */
  readonly peerAddress: string | null
  /** Maximum number of concurrent runs, and limits of a single run that no agent can exceed. */
  readonly runs: { readonly perProject: number; readonly perTenant: number; readonly ceilings: RunCeilings }
  /** Maximum size of a chat request's body. */
  readonly chatBodyBytes: number
  readonly bootstrap: {
    readonly secretKey: string | null
    readonly ownerEmail: string | null
    readonly ownerPassword: string | null
  }
  /** 32 bytes; null: read from a file in `dataDir`. */
  readonly masterKey: Buffer | null
  /** Keys that only decrypt what they have encrypted, during a key rotation. */
  readonly previousMasterKeys: readonly Buffer[]
  /** Time in ms that a shutdown waits for running work. */
  readonly shutdownGraceMs: number
  /** Longest time in ms for which the text of a turn is shown without being durable. */
  readonly streamCommitMs: number
  /** Timeouts of model calls, in ms: silence before the first byte of an answer, silence within it, and the total. */
  readonly modelWaits: {
    readonly firstByteTimeoutMs: number
    readonly idleTimeoutMs: number
    readonly totalTimeoutMs: number
  }
  /** Providers with managed keys, by id (specs/data/providers.ts). */
  readonly providers: Readonly<Record<string, ProviderSettings>>
  readonly simulatedProvider: 'auto' | 'on' | 'off'
  /** Lower-case `host` or `host:port`. */
  readonly allowedPrivateHosts: readonly string[]
  readonly allowedContentHosts: readonly string[]
  /** Without a trailing slash. */
  readonly publicUrl: string | null
  /** Proxies whose `X-Forwarded-For` is trusted; null: none. */
  readonly trustedProxies: TrustedProxies | null
  readonly chromiumPath: string | null
  /** Maximum number of concurrent browsers; null: one per processor. */
  readonly browserJobs: number | null
  /** Maximum memory of the browser of one job. */
  readonly browserJobMemoryBytes: number
  /** Memory of all indexes of the process. */
  readonly indexMemoryBytes: number
  /** Embedder of projects that name none: `local`, the model of this machine; `none`; or a model of `/v1/embeddings`. */
  readonly embedder: string
  /** Folder of a sentence model to use instead of the packaged one; null: the packaged one. */
  readonly embedderPath: string | null
  /** Project whose crawled pages are visible to every project; null: none. */
  readonly sharedCorpus: string | null
  /** How crawls treat hosts: requests at a time, ms between two, and a contact for the hosts' owners. */
  readonly crawler: { readonly contact: string | null; readonly atOnce: number; readonly delayMs: number }
  /** Third-party search engines that requests may name. */
  readonly searchEngines: readonly SearchEngineSettings[]
  /** Maximum size of a request line with its headers; null: 16 KB. The native server itself reads the variable too. */
  readonly maxHeadBytes: number | null
  readonly logLevel: LogLevel
  readonly otelEndpoint: string | null
}

/** Trusted proxies: a number of hops, or networks (CIDR) that their addresses belong to. */
export type TrustedProxies = { readonly hops: number } | { readonly networks: readonly string[] }

type LogLevel = (typeof logLevels)[number]

/** Some variables have invalid values; `message` names each and its valid values, and contains no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]
  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(`The configuration is invalid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`, options)
    this.problems = problems
  }
}

const encoded = 'with characters such as @ : / ? # in the user and password percent-encoded (@ is %40)'

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const simulatedModes = ['auto', 'on', 'off'] as const

/**
 * Reads the configuration from `env`, frozen. A variable set to '' counts as unset, as compose files write it. A secret
 * may be in a file named by `<name>_FILE`, as container secrets are.
 *
 * @throws {ConfigError} that lists every invalid variable.
 */
export function readConfig(env: Environment): Config {
  const read = new EnvironmentReader(env)
  const config = configOf(read)
  if (config.redisUrl !== null && config.mongodbUrl === null)
    read.problems.push('REDIS_URL requires MONGODB_URL: several nodes share both')
  if (read.problems.length > 0) throw new ConfigError(read.problems)
  return Object.freeze(config)
}

/** Names of the variables that `readConfig` reads, set or not. */
export const configVariables = (): readonly string[] => {
  const read = new EnvironmentReader({})
  configOf(read)
  return read.names
}

const vectorSearchOf = (read: EnvironmentReader): Pick<Config, 'vectorSearchMinChunks' | 'lancedb'> => {
  const chunksFrom = (name: string, min: number) =>
    read.value(name, countFrom(min, 1_000_000), `a number of chunks from ${min} to 1000000`) ?? 20_000
  const uri = read.value('LANCEDB_URI', asIs, 'a folder, or the address of a bucket')
  const min = chunksFrom('LANCEDB_MIN_CHUNKS', 1)
  return {
    vectorSearchMinChunks: chunksFrom('MONGODB_VECTOR_SEARCH_MIN_CHUNKS', 0),
    lancedb: uri === undefined ? null : { uri, min },
  }
}

function configOf(read: EnvironmentReader): Config {
  return {
    port: read.value('PORT', portOf, 'a port number from 0 to 65535') ?? 8080,
    host: read.value('HOST', matching(/^[A-Za-z0-9.:_-]+$/), 'a host name or an IP address') ?? '127.0.0.1',
    dataDir: read.value('DATA_DIR', asIs, 'a folder') ?? './data',
    mongodbUrl:
      read.value('MONGODB_URL', storeUrlOf(['mongodb', 'mongodb+srv']), `a mongodb:// URL, ${encoded}`) ?? null,
    ...vectorSearchOf(read),
    ...redisOf(read),
    nodeId: read.value('NODE_ID', matching(/^[A-Za-z0-9._-]{1,64}$/), '1–64 of A–Z a–z 0–9 . _ -') ?? null,
    peerHost:
      read.value('PEER_HOST', reachableHostOf, 'a host name or an IP address that other nodes can reach') ?? null,
    peerPort: read.value('PEER_PORT', portOf, 'a port number from 0 to 65535') ?? 0,
    peerAddress: read.value('PEER_ADDRESS', peerAddressOf, 'host:port') ?? null,
    runs: {
      perProject: read.value('RUNS_PER_PROJECT', countUpTo(500), 'a number from 1 to 500') ?? 100,
      perTenant: read.value('RUNS_PER_TENANT', countUpTo(500), 'a number from 1 to 500') ?? 20,
      ceilings: ceilingsOf(read),
    },
    shutdownGraceMs: 1000 * (read.value('SHUTDOWN_GRACE_S', countUpTo(3600), 'seconds from 1 to 3600') ?? 130),
    modelWaits: modelWaitsOf(read),
    ...{ storeWaitMs: storeWaitOf(read), streamCommitMs: streamCommitOf(read) },
    chatBodyBytes: 1024 * 1024 * (read.value('MAX_CHAT_BODY_MB', countUpTo(64), 'megabytes from 1 to 64') ?? 8),
    bootstrap: bootstrapOf(read),
    masterKey: read.value('MASTER_KEY', keyOf, '32 bytes in base64 (openssl rand -base64 32)') ?? null,
    previousMasterKeys:
      read.value('MASTER_KEY_PREVIOUS', keysOf, 'comma-separated 32 bytes in base64') ?? Object.freeze([]),
    providers: providersOf(read),
    simulatedProvider:
      read.value('SIMULATED_PROVIDER', oneOf(simulatedModes), `one of ${simulatedModes.join(', ')}`) ?? 'auto',
    allowedPrivateHosts: read.value('ALLOWED_PRIVATE_HOSTS', hostsOf, 'comma-separated host or host:port') ?? [],
    allowedContentHosts:
      read.value('ALLOWED_PRIVATE_CONTENT_HOSTS', hostsOf, 'comma-separated host or host:port') ?? [],
    publicUrl: read.value('PUBLIC_URL', publicUrlOf, 'an http:// or https:// URL without a user') ?? null,
    trustedProxies:
      read.value('TRUSTED_PROXIES', proxiesOf, 'a number from 1 to 20, or comma-separated IP addresses and networks') ??
      null,
    embedder: read.value('EMBEDDER', matching(/^[^\s/]+(\/\S+)?$/), 'local, none or the id of a model') ?? 'local',
    embedderPath: read.value('EMBEDDER_PATH', asIs, 'the folder of a sentence model') ?? null,
    sharedCorpus: read.value('WEB_SHARED_PROJECT', matching(/^prj_\w{1,60}$/), 'the id of a project (prj_…)') ?? null,
    crawler: crawlerOf(read),
    searchEngines: read.value('WEB_SEARCH_ENGINES', searchEnginesOf, searchEnginesTake) ?? Object.freeze([]),
    chromiumPath: read.value('CHROMIUM_PATH', asIs, 'the path of a browser') ?? null,
    browserJobs: read.value('BROWSER_JOBS', countUpTo(100), 'a number from 1 to 100') ?? null,
    browserJobMemoryBytes:
      1024 * 1024 * (read.value('BROWSER_JOB_MEMORY_MB', countUpTo(65_536), 'MiB from 1 to 65536') ?? 1024),
    indexMemoryBytes:
      1024 * 1024 * (read.value('INDEX_MEMORY_MB', countFrom(16, 65_536), 'MiB from 16 to 65536') ?? 384),
    maxHeadBytes:
      read.value('UWS_HTTP_MAX_HEADERS_SIZE', countFrom(1024, 1_048_576), 'bytes from 1024 to 1048576') ?? null,
    logLevel: read.value('LOG_LEVEL', oneOf(logLevels), `one of ${logLevels.join(', ')}`) ?? 'info',
    otelEndpoint: read.value('OTEL_EXPORTER_OTLP_ENDPOINT', httpUrlOf, 'an http:// or https:// URL') ?? null,
  }
}

const streamCommitOf = (read: EnvironmentReader): number =>
  read.value('STREAM_COMMIT_MS', countFrom(25, 60_000), 'ms from 25 to 60000') ?? 1000

/** Without a limit, unless one is set. */
const storeWaitOf = (read: EnvironmentReader): number =>
  1000 *
  (read.value('MONGODB_START_WAIT_S', countFrom(0, 604_800), 'seconds from 0 to 604800') ?? Number.POSITIVE_INFINITY)

const modelWaitsOf = (read: EnvironmentReader): Config['modelWaits'] => ({
  firstByteTimeoutMs:
    1000 * (read.value('MODEL_FIRST_BYTE_TIMEOUT_S', countUpTo(3600), 'seconds from 1 to 3600') ?? 600),
  idleTimeoutMs: 1000 * (read.value('MODEL_IDLE_TIMEOUT_S', countUpTo(3600), 'seconds from 1 to 3600') ?? 120),
  totalTimeoutMs: 1000 * (read.value('MODEL_TOTAL_TIMEOUT_S', countUpTo(86_400), 'seconds from 1 to 86400') ?? 3600),
})

const ceilingsOf = (read: EnvironmentReader): RunCeilings => ({
  maxSteps: read.value('RUN_MAX_STEPS', countUpTo(200), 'a number from 1 to 200') ?? null,
  maxTokens: read.value('RUN_MAX_TOKENS', countUpTo(999_999_999), 'a number from 1 to 999999999') ?? null,
  maxCostUsd: read.value('RUN_MAX_COST_USD', matching(/^\d{1,9}(\.\d{1,9})?$/), 'USD, such as 2.50') ?? null,
  maxDurationS: read.value('RUN_MAX_DURATION_S', countUpTo(604_800), 'seconds from 1 to 604800') ?? null,
})

const crawlerOf = (read: EnvironmentReader): Config['crawler'] =>
  Object.freeze({
    contact:
      read.value(
        'WEB_CONTACT',
        matching(/^[!-'*-~]{3,200}$/),
        'a URL or an e-mail address without spaces or brackets',
      ) ?? null,
    atOnce: read.value('WEB_HOST_REQUESTS', countUpTo(20), 'a number from 1 to 20') ?? 2,
    delayMs: read.value('WEB_HOST_DELAY_MS', countFrom(0, 60_000), 'ms from 0 to 60000') ?? 200,
  })

const bootstrapOf = (read: EnvironmentReader): Config['bootstrap'] =>
  Object.freeze({
    secretKey:
      read.value(
        'BOOTSTRAP_SECRET_KEY',
        matching(/^csk_[A-Za-z0-9_-]{32,200}$/),
        'csk_ followed by 32 to 200 characters of A–Z a–z 0–9 _ -',
      ) ?? null,
    ownerEmail: read.value('BOOTSTRAP_OWNER_EMAIL', emailOf, 'an e-mail address') ?? null,
    ownerPassword: read.value('BOOTSTRAP_OWNER_PASSWORD', matching(/^.{8,200}$/s), '8 to 200 characters') ?? null,
  })

const asIs = (text: string): string => text

/**
 * Parses the URL of a store. A password with an unescaped URL delimiter is refused, since parts of it would be read,
 * and logged, as a host.
 */
const storeUrlOf =
  (schemes: readonly string[]) =>
  (text: string): string | undefined => {
    const [, scheme = '', authority = '', path = ''] = /^([a-z+]+):\/\/([^/?#\s]+)([^?\s]*)(?:\?\S*)?$/.exec(text) ?? []
    const [hosts = '', ...credentials] = authority.split('@').reverse()
    const areHosts = hosts.split(',').every((host) => /^(\[[\da-fA-F:.]+\]|[\w.%-]+)(:\d{1,5})?$/.test(host))
    return schemes.includes(scheme) && areHosts && credentials.length <= 1 && !/[@#]/.test(path) ? text : undefined
  }

const oneOf =
  <Value extends string>(values: readonly Value[]) =>
  (text: string): Value | undefined =>
    values.find((value) => value === text)

const portOf = (text: string): number | undefined => {
  const port = Number(text)
  return /^\d{1,5}$/.test(text) && port <= 65_535 ? port : undefined
}

const countUpTo = (max: number) => countFrom(1, max)

const countFrom =
  (min: number, max: number) =>
  (text: string): number | undefined => {
    const count = Number(text)
    return /^\d{1,9}$/.test(text) && count >= min && count <= max ? count : undefined
  }

const peerAddressOf = (text: string): string | undefined => {
  const [, port] = /^[A-Za-z0-9._-]+:(\d{1,5})$/.exec(text) ?? []
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535 ? text : undefined
}

/** Parses a host, except the wildcard addresses, which no client can connect to. */
const reachableHostOf = (text: string): string | undefined =>
  /^[A-Za-z0-9.:_-]+$/.test(text) && !['0.0.0.0', '::'].includes(text) ? text : undefined

const emailOf = (text: string): string | undefined =>
  /^[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@(?:[a-z0-9-]+\.)+[a-z0-9-]+$/i.test(text) ? text.toLowerCase() : undefined

const keyOf = (text: string): Buffer | undefined => {
  const key = Buffer.from(text, 'base64')
  const unpadded = text.replace(/(?<!=)=+$/, '')
  return key.length === 32 && key.toString('base64').replace(/(?<!=)=+$/, '') === unpadded ? key : undefined
}

const keysOf = (text: string): readonly Buffer[] | undefined => {
  const keys = text.split(',').map((each) => keyOf(each.trim()))
  const known = keys.filter((key) => key !== undefined)
  return known.length === keys.length ? Object.freeze(known) : undefined
}

/**
 * Normalises the URL as browsers do: `HTTPS://Troupe.Example:443` is an https origin, which decides about secure
 * cookies.
 */
const publicUrlOf = (text: string): string | undefined => {
  const url = httpUrlOf(text)
  if (url === undefined) return undefined
  const { origin, pathname, username, password } = new URL(url)
  return username === '' && password === '' ? `${origin}${pathname === '/' ? '' : pathname}` : undefined
}

const hostsOf = (text: string): readonly string[] | undefined => {
  const hosts = text
    .split(',')
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== '')
  return hosts.every(isHost) ? Object.freeze(hosts) : undefined
}

/** Parses a number of proxies, or their addresses and networks. */
const proxiesOf = (text: string): TrustedProxies | undefined => {
  const hops = countUpTo(20)(text)
  if (hops !== undefined) return Object.freeze({ hops })
  const networks = text.split(',').map((network) => networkOf(network.trim()))
  const known = networks.filter((network) => network !== undefined)
  return known.length === networks.length ? Object.freeze({ networks: Object.freeze(known) }) : undefined
}

/** Converts to CIDR form; a single address becomes a network of one. */
const networkOf = (text: string): string | undefined => {
  const family = isIP(text)
  if (family !== 0) return `${text}/${family === 4 ? 32 : 128}`
  return isIP(text.replace(/\/.*$/, '')) !== 0 && ipaddr.isValidCIDR(text) ? text : undefined
}

/** `name`, `name:port`, an IPv4 address likewise, a bare IPv6 address or `[v6]:port`. */
const isHost = (text: string): boolean => {
  if (isIP(text) === 6) return true
  const parts = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/.exec(text)
  if (parts === null || Number(parts[3] ?? '0') > 65_535) return false
  return parts[1] === undefined || isIP(parts[1]) === 6
}
