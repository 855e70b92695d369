import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { EnvironmentReader } from './environment-reader.ts'
import { type RedisAccess, redisAddressOf } from './storage/index.ts'

/** How Redis is reached. */
export interface RedisSettings {
  /** Null: a single process. */
  readonly redisUrl: string | null
  readonly redisAccess: RedisAccess
}

/** Reads the variables of Redis; those that have no effect on the URL are reported. */
export const redisOf = (read: EnvironmentReader): RedisSettings => {
  const redisUrl = read.value('REDIS_URL', (text) => text, 'a URL')
  const address = redisUrl === undefined ? undefined : redisAddressOf(redisUrl)
  if (typeof address === 'string') read.problems.push(`REDIS_URL must be ${address}`)
  const username = read.value('REDIS_SENTINEL_USERNAME', (text) => text, 'a name')
  const password = read.value('REDIS_SENTINEL_PASSWORD', (text) => text, 'a password')
  const tls = tlsOf(read)
  if (typeof address === 'object') {
    if (address.kind !== 'sentinel' && (username ?? password) !== undefined)
      read.problems.push('REDIS_SENTINEL_PASSWORD has an effect only if REDIS_URL begins with redis+sentinel://')
    if (!address.isTls && Object.keys(tls).length > 0)
      read.problems.push(
        'REDIS_TLS_… have an effect only if REDIS_URL begins with rediss (rediss://, rediss+cluster://)',
      )
  }
  const sentinel = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) }
  return {
    redisUrl: typeof address === 'object' ? (redisUrl ?? null) : null,
    redisAccess: Object.freeze({ sentinel, tls }),
  }
}

const tlsOf = (read: EnvironmentReader): NonNullable<RedisAccess['tls']> => {
  const certificates = 'the path of a file of certificates in PEM that this user may read'
  const ca = read.value('REDIS_TLS_CA_PATH', certificatesIn, certificates)
  const cert = read.value('REDIS_TLS_CERT_PATH', certificatesIn, certificates)
  const key = read.value(
    'REDIS_TLS_KEY_PATH',
    keyIn,
    'the path of a file of a private key in PEM that this user may read',
  )
  const servername = read.value(
    'REDIS_TLS_SERVER_NAME',
    (text) => (/^[A-Za-z0-9._-]+$/.test(text) ? text : undefined),
    'the host name in the certificates of the servers',
  )
  if ((cert === undefined) !== (key === undefined))
    read.problems.push('REDIS_TLS_CERT_PATH and REDIS_TLS_KEY_PATH must be set together')
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(servername !== undefined && { servername }),
  }
}

const textIn = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

const certificatesIn = (path: string): string | undefined => {
  const pem = textIn(path)
  try {
    return pem === undefined || new X509Certificate(pem).subject === '' ? undefined : pem
  } catch {
    return undefined
  }
}

const keyIn = (path: string): string | undefined => {
  const pem = textIn(path)
  return pem !== undefined && /-----BEGIN (?:\w+ )?PRIVATE KEY-----/.test(pem) ? pem : undefined
}
