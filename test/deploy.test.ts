import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { stuckKinds } from '#runtime/stuck/stuck.ts'
import { configVariables, readConfig } from '../src/config.ts'
import { ProductMetrics } from '../src/telemetry/product-metrics.ts'
import { configuredNames } from './support/configured-names.ts'

const product = new ProductMetrics()

/** Names of all metrics: those of the product, and those that src/transport names. */
const known = new Set([
  ...product.counters.map(({ name }) => name),
  ...product.durations.flatMap(({ name }) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]),
  ...[
    'src/transport/product-gauges.ts',
    'src/transport/open-transport.ts',
    'src/transport/metrics.ts',
    'src/transport/request-stats.ts',
  ]
    .flatMap((file) => readFileSync(file, 'utf8').match(/troupe_[a-z_]+/g) ?? [])
    .flatMap((name) => [name, `${name}_bucket`]),
])

it.for(['deploy/grafana/troupe.json', 'deploy/prometheus/troupe-alerts.yml'])(
  '%s uses only metrics that the server exports',
  (file) => {
    const named = new Set(readFileSync(file, 'utf8').match(/troupe_[a-z_]+/g) ?? [])
    expect(named.size).toBeGreaterThan(8)
    expect([...named].filter((name) => !known.has(name))).toEqual([])
  },
)

it('alerts cover every kind of stuck work', () => {
  const rules = readFileSync('deploy/prometheus/troupe-alerts.yml', 'utf8')
  const [, named = '-'] = /__name__=~"([^"]+)"/.exec(rules) ?? []
  const isCovered = (kind: string): boolean => new RegExp(`^(?:${named})$`).test(`troupe_stuck_${kind}`)
  expect(stuckKinds.filter((kind) => !isCovered(kind))).toEqual(['parked_actor'])
  expect(rules).toContain('sum(troupe_parked_actors) > 0')
})

it('nginx does not expose the metrics', () => {
  const [, location] = /location = \/metrics \{([^}]*)\}/.exec(readFileSync('deploy/nginx.conf', 'utf8')) ?? []
  expect(location?.trim()).toBe('return 404;')
})

it('nginx refuses exactly the ids with bytes that the native server would cut off', () => {
  const conf = readFileSync('deploy/nginx.conf', 'utf8')
  const [, pattern = '-'] =
    /map "\$http_x_tenant_id\$http_x_external_user_id" \$id_is_refused \{[^}]*"~([^"]+)"/.exec(conf) ?? []
  const refused = new RegExp(pattern)
  const bytes = (text: string, encoding: BufferEncoding): string => Buffer.from(text, encoding).toString('latin1')
  for (const id of [bytes('josé', 'utf8'), bytes('josé', 'latin1'), 'jos\u0001', 'a\tb']) expect(id).toMatch(refused)
  for (const id of ['', 'jos', 'Acme Corp. (1) ~!']) expect(id).not.toMatch(refused)
  expect(conf).toContain('if ($id_is_refused)')
})

interface Service {
  readonly image?: string
  readonly build?: string
  readonly ports?: readonly string[]
  readonly environment?: Readonly<Record<string, string | null>>
  readonly secrets?: readonly string[]
  readonly volumes?: readonly string[]
  readonly command?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[]; readonly interval: string; readonly retries: number }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly restart?: string
  readonly stop_grace_period?: string
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
  readonly volumes: Readonly<Record<string, unknown>>
}

describe('docker-compose.yml', () => {
  const { services, secrets, volumes }: Compose = parse(readFileSync('docker-compose.yml', 'utf8'))
  const { nginx, server, mongo, redis } = services
  const all = Object.entries(services)
  const dockerfile = readFileSync('Dockerfile', 'utf8')

  it('has a proxy, the server, MongoDB and Redis, and restarts each of them', () => {
    expect(Object.keys(services).sort()).toEqual(['mongo', 'nginx', 'redis', 'server'])
    expect(all.filter(([, { restart }]) => restart !== 'unless-stopped').map(([name]) => name)).toEqual([])
  })

  it('pins each image to a full version, including the base image of the server', () => {
    expect(server).toMatchObject({ build: '.' })
    const images = all.flatMap(([, { image }]) => image ?? [])
    const base = /^FROM (\S+)/m.exec(dockerfile)?.[1] ?? ''
    expect(images).toHaveLength(3)
    expect([...images, base].filter((image) => !/^[a-z]+:\d+\.\d+\.\d+(-[a-z-]+)?$/.test(image))).toEqual([])
  })

  it('starts a service when its dependencies are healthy, and every service has a health check', () => {
    const healthy = (name: string): boolean =>
      services[name]?.healthcheck !== undefined || (services[name]?.build === '.' && /^HEALTHCHECK /m.test(dockerfile))
    expect(all.filter(([name]) => !healthy(name)).map(([name]) => name)).toEqual([])
    expect(Object.keys(nginx?.depends_on ?? {})).toEqual(['server'])
    expect(Object.keys(server?.depends_on ?? {}).sort()).toEqual(['mongo', 'redis'])
    const conditions = all.flatMap(([, { depends_on = {} }]) => Object.entries(depends_on))
    for (const [name, { condition }] of conditions) expect([name, condition]).toEqual([name, 'service_healthy'])
  })

  it('runs MongoDB as a replica set of one member, which the health check begins', () => {
    const started = mongo?.command?.join(' ') ?? ''
    expect(started).toContain('sha512sum < /run/secrets/mongodb_password | cut -c 1-128 > /tmp/member-key')
    expect(started).toContain('exec docker-entrypoint.sh mongod --replSet rs0 --keyFile /tmp/member-key')
    const checked = mongo?.healthcheck?.test.join(' ') ?? ''
    expect(checked).toContain("rs.initiate({ _id: 'rs0', members: [{ _id: 0, host: 'mongo:27017' }] })")
    expect(checked).toContain('quit(db.hello().isWritablePrimary ? 0 : 1)')
  })

  it('publishes only the proxy, on loopback', () => {
    expect(all.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]))).toEqual([
      ['nginx', '127.0.0.1:8080:80'],
    ])
    const proxied = /set \$node (\w+);\s+proxy_pass http:\/\/\$node:(\d+);/.exec(
      readFileSync('deploy/nginx.conf', 'utf8'),
    )
    expect(proxied?.slice(1)).toEqual(['server', /^ENV .*PORT=(\d+)/m.exec(dockerfile)?.[1]])
  })

  it('passes the server every variable that its configuration reads, except those that the image or a node sets', () => {
    const known = new Set(configuredNames())
    const names = Object.keys(server?.environment ?? {})
    expect(names.filter((name) => !known.has(name))).toEqual([])
    const ofNode = ['PORT', 'HOST', 'DATA_DIR', 'NODE_ID', 'PEER_HOST', 'PEER_PORT', 'PEER_ADDRESS', 'CHROMIUM_PATH']
    const passed = new Set([...names, ...names.map((name) => name.replace(/_FILE$/, '')), ...ofNode])
    expect(configVariables().filter((name) => !passed.has(name))).toEqual([])
    const set = Object.entries(server?.environment ?? {}).filter(([, value]) => value !== null && value !== '')
    expect(set.map(([name]) => name)).toEqual(['MONGODB_URL_FILE', 'REDIS_URL_FILE', 'TRUSTED_PROXIES'])
  })

  it('gives the server longer to stop than its own shutdown limit', () => {
    const seconds = Number(/^(\d+)s$/.exec(server?.stop_grace_period ?? '')?.[1])
    expect(seconds * 1000).toBeGreaterThan(readConfig({}).shutdownGraceMs)
  })

  it('mounts exactly the volumes and secrets that it declares', () => {
    const mounted = all.flatMap(([, { volumes: used = [] }]) => used.map((volume) => volume.split(':')[0] ?? ''))
    expect(mounted.filter((source) => !source.startsWith('./')).sort()).toEqual(Object.keys(volumes).sort())
    const used = new Set(all.flatMap(([, { secrets: named = [] }]) => named))
    expect([...used].sort()).toEqual(Object.keys(secrets).sort())
  })

  it('keeps passwords in files that make-secrets.sh creates once and that the server can read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'troupe-secrets-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'deploy'))
    cpSync('deploy/make-secrets.sh', join(folder, 'deploy/make-secrets.sh'))
    const made = (): Readonly<Record<string, string>> => {
      execFileSync('sh', [join(folder, 'deploy/make-secrets.sh')])
      const names = readdirSync(join(folder, 'deploy/secrets')).sort()
      return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, 'deploy/secrets', name), 'utf8')]))
    }
    const first = made()
    expect(Object.keys(first)).toEqual(
      Object.values(secrets)
        .map(({ file }) => basename(file))
        .sort(),
    )
    expect(made(), 'a second time changes none').toEqual(first)
    const fileOf = (name: string): string => join(folder, 'deploy/secrets', name)
    const config = readConfig({ MONGODB_URL_FILE: fileOf('mongodb_url'), REDIS_URL_FILE: fileOf('redis_url') })
    const { mongodb_password: ofMongo = '', redis_password: ofRedis = '' } = first
    expect(new URL(config.mongodbUrl ?? '')).toMatchObject({ hostname: 'mongo', username: 'troupe', password: ofMongo })
    expect(new URL(config.redisUrl ?? '')).toMatchObject({ hostname: 'redis', password: ofRedis })
    for (const password of [ofMongo, ofRedis]) expect(password.length).toBeGreaterThanOrEqual(24)
    expect(ofMongo).not.toBe(ofRedis)
    expect(mongo?.environment).toMatchObject({
      MONGO_INITDB_ROOT_USERNAME: 'troupe',
      MONGO_INITDB_ROOT_PASSWORD_FILE: '/run/secrets/mongodb_password',
    })
    expect(redis?.command?.join(' ')).toContain('requirepass %s')
    expect(redis?.command?.join(' ')).toContain('$$(cat /run/secrets/redis_password)')
    expect(readFileSync('.gitignore', 'utf8')).toMatch(/^\/?deploy\/secrets\/?$/m)
    expect(readFileSync('.dockerignore', 'utf8')).toMatch(/^\/?(deploy|deploy\/secrets)\/?$/m)
  })
})
