import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Certificates, makeCertificates } from '#scripts/services/certificates.ts'
import { modernRedis, startRedis } from '#scripts/services/redis.ts'
import type { Service } from '#scripts/services/service.ts'
import { readConfig } from '#src/config.ts'
import { openRedis } from '#storage/redis/open-redis.ts'
import { redisContracts } from './contracts.ts'
import { openOn, type RedisAt, silent } from './opening.ts'

/** The rule of docs/operating.md, as it is written there. */
const rule = (): readonly string[] => {
  const page = readFileSync(new URL('../../../docs/operating.md', import.meta.url), 'utf8')
  const written = /ACL SETUSER troupe on >PASSWORD ([^\n]+)/.exec(page)?.[1]
  if (written === undefined) throw new Error('docs/operating.md states no rule')
  return written.split(' ')
}

let server: Service
let certificates: Certificates
let operator: Redis
const password = 'p@ss/w:rd'

beforeAll(async () => {
  certificates = makeCertificates()
  const { ca, server: own } = certificates
  const files = ['--tls-ca-cert-file', ca, '--tls-cert-file', own.cert, '--tls-key-file', own.key]
  const tls = (port: number) => ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'yes', ...files]
  server = await startRedis({ binary: modernRedis(), args: tls })
  const [cert, key] = [certificates.client.cert, certificates.client.key].map((path) => readFileSync(path, 'utf8'))
  const authority = readFileSync(ca, 'utf8')
  operator = new Redis(server.port, '127.0.0.1', {
    tls: {
      ca: authority,
      servername: own.name,
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    },
  })
  await operator.call('ACL', 'SETUSER', 'troupe', 'on', `>${password}`, ...rule())
}, 120_000)
afterAll(async () => {
  operator?.disconnect()
  await server?.stop()
  certificates?.remove()
})

/** As a server reads its environment. */
const at = (more: Readonly<Record<string, string>> = {}): Exclude<RedisAt, string> => {
  const { redisUrl, redisAccess } = readConfig({
    MONGODB_URL: 'mongodb://db',
    REDIS_URL: `rediss://troupe:${encodeURIComponent(password)}@127.0.0.1:${server.port}`,
    REDIS_TLS_CA_PATH: certificates.ca,
    REDIS_TLS_CERT_PATH: certificates.client.cert,
    REDIS_TLS_KEY_PATH: certificates.client.key,
    REDIS_TLS_SERVER_NAME: certificates.server.name,
    ...more,
  })
  return { url: redisUrl ?? '', access: redisAccess }
}

redisContracts('redis over TLS with the rights of the documentation', () => at())

describe('a Redis with TLS and a user of few rights', () => {
  it('has refused no command of the product', async () => {
    const opened = await openOn(at(), 'rights')
    await opened.close()
    expect(await operator.call('ACL', 'LOG')).toEqual([])
  })

  it('may use no other keys, channels or commands', async () => {
    const dryRun = (...words: readonly string[]) => operator.call('ACL', 'DRYRUN', 'troupe', ...words)
    expect(await dryRun('hgetall', 'troupe:a')).toBe('OK')
    for (const words of [
      ['hgetall', 'other'],
      ['flushall'],
      ['config', 'get', '*'],
      ['keys', '*'],
      ['publish', 'x', 'y'],
    ])
      expect(String(await dryRun(...words))).toContain('no permissions')
  })

  it.each([
    ['the authority is unknown', { REDIS_TLS_CA_PATH: '' }, /self.signed|unable to (get|verify)/],
    ['the name in the certificate is another one', { REDIS_TLS_SERVER_NAME: 'other.test' }, /other\.test/],
  ])('is not used when %s, and the log contains the reason', async (_, more, reason) => {
    const warned: object[] = []
    const log = { ...silent, warn: (data: object) => warned.push(data) }
    const opened = await openRedis({ ...at(more), installation: 'wrong', log })
    expect(await opened.ping()).toBe(false)
    expect(warned[0]).toEqual({ reason: expect.stringMatching(reason) })
    expect(JSON.stringify(warned)).not.toContain(password)
    await opened.close()
  })
})
