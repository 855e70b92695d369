import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { providers } from '../specs/data/providers.ts'
import { type OwnPrices, ownPriceNames } from '../specs/own-prices.ts'
import type { RunCeilings } from '../specs/run-limits.ts'
import { type SearchEngineSettings, searchEnginesOf, searchEnginesTake } from '../specs/search-engines.ts'

/** A model provider as the environment names it. */
export interface ProviderSettings {
  /** '' for a self-hosted server that takes no key. */
  readonly apiKey: string
  /** Without a slash at its end; absent for the provider's own. */
  readonly baseUrl?: string
  /** Instead of the list of prices. */
  readonly prices?: OwnPrices
}

/** The whole configuration of a process. It holds secrets: it is never logged. */
export interface Config {
  /** 0 takes a free one. */
  readonly port: number
  readonly host: string
  readonly dataDir: string
  /** null: SQLite in `dataDir`. */
  readonly mongodbUrl: string | null
  /** null: one process. Otherwise `mongodbUrl` is there too, and processes share both. */
  readonly redisUrl: string | null
  readonly nodeId: string | null
  /** Where other nodes reach this one; null: found out. */
  readonly peerHost: string | null
  /** 0 takes a free one. */
  readonly peerPort: number
  /** `host:port` at which other nodes reach this one, where that is not where it listens; behind a translated port, say. */
  readonly peerAddress: string | null
  /** How many runs work at a time, and how far each may go whatever its agent says. */
  readonly runs: { readonly perProject: number; readonly perTenant: number; readonly ceilings: RunCeilings }
  /** How large the body of a chat may be. */
  readonly chatBodyBytes: number
  readonly bootstrap: {
    readonly secretKey: string | null
    readonly ownerEmail: string | null
    readonly ownerPassword: string | null
  }
  /** 32 bytes; null: from a file in `dataDir`. */
  readonly masterKey: Buffer | null
  /** They only open what they sealed, while the key is changed. */
  readonly previousMasterKeys: readonly Buffer[]
  /** How long a shutdown waits for what runs, in ms. */
  readonly shutdownGraceMs: number
  /** How long a model may be silent, in ms: before the first byte of its answer, and inside it; and how long a call may take in all. */
  readonly modelWaits: {
    readonly firstByteTimeoutMs: number
    readonly idleTimeoutMs: number
    readonly totalTimeoutMs: number
  }
  /** The managed keys, by id of specs/data/providers.ts. */
  readonly providers: Readonly<Record<string, ProviderSettings>>
  readonly simulatedProvider: 'auto' | 'on' | 'off'
  /** Lower-case `host` or `host:port`. */
  readonly allowedPrivateHosts: readonly string[]
  readonly allowedContentHosts: readonly string[]
  /** Without a slash at its end. */
  readonly publicUrl: string | null
  /** Whose `X-Forwarded-For` is believed; null: no proxy's. */
  readonly trustedProxies: TrustedProxies | null
  readonly chromiumPath: string | null
  /** Browsers at a time; null: one for each processor. */
  readonly browserJobs: number | null
  /** That the browser of one job may take. */
  readonly browserJobMemoryBytes: number
  /** Folder of a sentence model; null: texts are found by their words, or by a provider's embeddings. */
  readonly embedderPath: string | null
  /** Project whose crawled pages every project finds; null: none. */
  readonly sharedCorpus: string | null
  /** Search engines of third parties that requests may name. */
  readonly searchEngines: readonly SearchEngineSettings[]
  /** Of a request line with its headers; null: 16 KB. The native server takes it from the environment by itself. */
  readonly mostHeadBytes: number | null
  readonly logLevel: LogLevel
  readonly otelEndpoint: string | null
}

/** Which proxies stand in front: so many, or those with an address in one of these networks (CIDR). */
export type TrustedProxies = { readonly hops: number } | { readonly networks: readonly string[] }

export type LogLevel = (typeof logLevels)[number]

/** Some variables have values that cannot be used; `message` names each and what it takes, and repeats no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]
  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(`The configuration is invalid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`, options)
    this.problems = problems
  }
}

const encoded = 'with characters such as @ : / ? # in the user and password percent-encoded (@ is %40)'

type Environment = Readonly<Record<string, string | undefined>>

/** Variables that hold a secret. */
const isSecret =
  /_API_KEY$|^(MASTER_KEY|MASTER_KEY_PREVIOUS|MONGODB_URL|REDIS_URL|BOOTSTRAP_SECRET_KEY|BOOTSTRAP_OWNER_PASSWORD|WEB_SEARCH_ENGINES)$/

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const simulatedModes = ['auto', 'on', 'off'] as const

/**
 * The configuration that `env` says, frozen. A variable set to '' counts as not set, as compose files write it. What holds
 * a secret may stand in a file that `<name>_FILE` names, as secrets of containers do.
 *
 * @throws {ConfigError} with every bad variable at once.
 */
export function readConfig(env: Environment): Config {
  const read = new EnvironmentReader(env)
  const config = configOf(read)
  if (config.redisUrl !== null && config.mongodbUrl === null)
    read.problems.push('REDIS_URL requires MONGODB_URL: several nodes share both')
  if (read.problems.length > 0) throw new ConfigError(read.problems)
  return Object.freeze(config)
}

/** Names of the variables that `readConfig` looks at, also where nothing is set. */
export const configVariables = (): readonly string[] => {
  const read = new EnvironmentReader({})
  configOf(read)
  return read.names
}

function configOf(read: EnvironmentReader): Config {
  return {
    port: read.value('PORT', portOf, 'a port number from 0 to 65535') ?? 8080,
    host: read.value('HOST', matching(/^[A-Za-z0-9.:_-]+$/), 'a host name or an IP address') ?? '127.0.0.1',
    dataDir: read.value('DATA_DIR', asIs, 'a folder') ?? './data',
    mongodbUrl:
      read.value('MONGODB_URL', storeUrlOf(['mongodb', 'mongodb+srv']), `a mongodb:// URL, ${encoded}`) ?? null,
    redisUrl: read.value('REDIS_URL', storeUrlOf(['redis', 'rediss']), `a redis:// URL, ${encoded}`) ?? null,
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
    modelWaits: {
      firstByteTimeoutMs:
        1000 * (read.value('MODEL_FIRST_BYTE_TIMEOUT_S', countUpTo(3600), 'seconds from 1 to 3600') ?? 600),
      idleTimeoutMs: 1000 * (read.value('MODEL_IDLE_TIMEOUT_S', countUpTo(3600), 'seconds from 1 to 3600') ?? 120),
      totalTimeoutMs:
        1000 * (read.value('MODEL_TOTAL_TIMEOUT_S', countUpTo(86_400), 'seconds from 1 to 86400') ?? 3600),
    },
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
    embedderPath: read.value('EMBEDDER_PATH', asIs, 'the folder of a sentence model') ?? null,
    sharedCorpus: read.value('WEB_SHARED_PROJECT', matching(/^prj_\w{1,60}$/), 'the id of a project (prj_…)') ?? null,
    searchEngines: read.value('WEB_SEARCH_ENGINES', searchEnginesOf, searchEnginesTake) ?? Object.freeze([]),
    chromiumPath: read.value('CHROMIUM_PATH', asIs, 'the path of a browser') ?? null,
    browserJobs: read.value('BROWSER_JOBS', countUpTo(100), 'a number from 1 to 100') ?? null,
    browserJobMemoryBytes:
      1024 * 1024 * (read.value('BROWSER_JOB_MEMORY_MB', countUpTo(65_536), 'MiB from 1 to 65536') ?? 1024),
    mostHeadBytes:
      read.value('UWS_HTTP_MAX_HEADERS_SIZE', countFrom(1024, 1_048_576), 'bytes from 1024 to 1048576') ?? null,
    logLevel: read.value('LOG_LEVEL', oneOf(logLevels), `one of ${logLevels.join(', ')}`) ?? 'info',
    otelEndpoint: read.value('OTEL_EXPORTER_OTLP_ENDPOINT', httpUrlOf, 'an http:// or https:// URL') ?? null,
  }
}

const ceilingsOf = (read: EnvironmentReader): RunCeilings => ({
  maxSteps: read.value('RUN_MAX_STEPS', countUpTo(200), 'a number from 1 to 200') ?? null,
  maxTokens: read.value('RUN_MAX_TOKENS', countUpTo(999_999_999), 'a number from 1 to 999999999') ?? null,
  maxCostUsd: read.value('RUN_MAX_COST_USD', matching(/^\d{1,9}(\.\d{1,9})?$/), 'USD, such as 2.50') ?? null,
  maxDurationS: read.value('RUN_MAX_DURATION_S', countUpTo(604_800), 'seconds from 1 to 604800') ?? null,
})

class EnvironmentReader {
  readonly problems: string[] = []
  readonly names: string[] = []
  readonly #env: Environment

  constructor(env: Environment) {
    this.#env = env
  }

  /** The parsed value; undefined when the variable is not set, and when it is bad, which is then noted. */
  value<T>(name: string, parse: (text: string) => T | undefined, takes: string): T | undefined {
    this.names.push(name)
    const text = this.#textOf(name)
    if (text === undefined || text === '') return undefined
    const value = parse(text)
    if (value === undefined) this.problems.push(`${name} must be ${takes}`)
    return value
  }

  /** Undefined also for a file that cannot be read, which is then noted. */
  #textOf(name: string): string | undefined {
    const text = this.#env[name]?.trim()
    const file = isSecret.test(name) ? this.#env[`${name}_FILE`]?.trim() : undefined
    if (file === undefined || file === '') return text
    if (text !== undefined && text !== '') {
      this.problems.push(`${name} and ${name}_FILE are both set: unset one of them`)
      return undefined
    }
    try {
      const secret = readFileSync(file, 'utf8').trim()
      // taken as not set, data would go to another store, or under another key
      if (secret === '') this.problems.push(`${name}_FILE names a file that is empty`)
      return secret
    } catch {
      this.problems.push(`${name}_FILE must be the path of a file that this user may read`)
      return undefined
    }
  }
}

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

/** A provider is there when it has a key; OpenAI's form is also spoken by servers that take none. */
const providersOf = (read: EnvironmentReader): Config['providers'] => {
  const found: Record<string, ProviderSettings> = {}
  for (const { id, env } of providers) {
    if (id === 'simulated') continue
    const apiKey = read.value(`${env}_API_KEY`, matching(/^[\x21-\x7e]+$/), 'a key without spaces')
    const baseUrl = read.value(`${env}_BASE_URL`, httpUrlOf, 'an http:// or https:// URL')
    const keyless = id === 'openai' && baseUrl !== undefined
    if (apiKey === undefined && !keyless) continue
    const prices = read.value(`${env}_PRICES`, pricesOf, 'prices such as input_per_million_usd=0.2,call_usd=0.01')
    found[id] = Object.freeze({
      apiKey: apiKey ?? '',
      ...(baseUrl !== undefined && { baseUrl }),
      ...(prices !== undefined && { prices }),
    })
  }
  return Object.freeze(found)
}

/** Names of prices and their values, where the list of prices has none. */
const pricesOf = (text: string): OwnPrices | undefined => {
  const pairs = text.split(',').map((pair) => pair.trim().split('='))
  const fits = pairs.every(([name = '', usd = '']) => ownPriceNames.has(name) && /^\d{1,9}(\.\d{1,12})?$/.test(usd))
  return fits ? Object.fromEntries(pairs) : undefined
}

const asIs = (text: string): string => text

const matching =
  (pattern: RegExp) =>
  (text: string): string | undefined =>
    pattern.test(text) ? text : undefined

/** The URL of a store. A password with a character that divides a URL would be read, and logged, as a host: it is refused. */
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

const countUpTo = (most: number) => countFrom(1, most)

const countFrom =
  (least: number, most: number) =>
  (text: string): number | undefined => {
    const count = Number(text)
    return /^\d{1,9}$/.test(text) && count >= least && count <= most ? count : undefined
  }

const peerAddressOf = (text: string): string | undefined => {
  const [, port] = /^[A-Za-z0-9._-]+:(\d{1,5})$/.exec(text) ?? []
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535 ? text : undefined
}

/** A host, but not "all addresses", which no client can connect to. */
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

/** As browsers write it: `HTTPS://Troupe.Example:443` is an https origin, and its cookies are held to that. */
const publicUrlOf = (text: string): string | undefined => {
  const url = httpUrlOf(text)
  if (url === undefined) return undefined
  const { origin, pathname, username, password } = new URL(url)
  return username === '' && password === '' ? `${origin}${pathname === '/' ? '' : pathname}` : undefined
}

/** A line end or a tab inside of a URL is passed over by the parser, and would stand in headers and logs. */
const httpUrlOf = (text: string): string | undefined => {
  const url = URL.canParse(text) && !/[\s\p{Cc}]/u.test(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  return url.search === '' && url.hash === '' ? text.replace(/(?<!\/)\/+$/, '') : undefined
}

const hostsOf = (text: string): readonly string[] | undefined => {
  const hosts = text
    .split(',')
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== '')
  return hosts.every(isHost) ? Object.freeze(hosts) : undefined
}

/** How many proxies stand in front, or their addresses and networks. */
const proxiesOf = (text: string): TrustedProxies | undefined => {
  const hops = countUpTo(20)(text)
  if (hops !== undefined) return Object.freeze({ hops })
  const networks = text.split(',').map((network) => networkOf(network.trim()))
  const known = networks.filter((network) => network !== undefined)
  return known.length === networks.length ? Object.freeze({ networks: Object.freeze(known) }) : undefined
}

/** In CIDR form; an address alone is a network of one. */
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
