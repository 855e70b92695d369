import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { nodeOptions } from '#scripts/services/server.ts'
import { readConfig } from '../src/config.ts'
import { configuredNames } from './support/configured-names.ts'
import { environmentOf, manifestsOf, podOf } from './support/rendered-pod.ts'

const key = Buffer.alloc(32, 1).toString('base64')
const given = {
  ...{ MONGODB_URL: 'mongodb://mongo.example/troupe', REDIS_URL: 'redis://redis.example', MASTER_KEY: key },
  ...{ 'status.podIP': '10.1.2.3', 'metadata.name': 'troupe-1' },
}

describe.each(['cluster', 'single'])('the pod of the example %s', (example) => {
  const { deployment, container } = podOf(example)
  const env = environmentOf(container, given)

  it('has a configuration that the server accepts, and no variable that it does not know', () => {
    const known = new Set(configuredNames())
    expect(Object.keys(env).filter((name) => !known.has(name))).toEqual([])
    const config = readConfig(env)
    expect(config).toMatchObject({ mongodbUrl: given.MONGODB_URL, port: 8080, host: '0.0.0.0' })
    expect(config.redisUrl ?? null).toBe(example === 'cluster' ? given.REDIS_URL : null)
  })

  it('runs the command of the image, whose options are those of every start', () => {
    expect([container.command, container.args]).toEqual([undefined, undefined])
    const [, command = '[]'] = /^CMD (\[.*\])$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? []
    expect(JSON.parse(command)).toEqual(['node', ...nodeOptions, 'src/start.js'])
  })

  it('listens where its probes, its service and its peers expect it', () => {
    const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]))
    expect(ports).toEqual({ http: Number(env.PORT), peers: Number(env.PEER_PORT) })
    const { startupProbe, livenessProbe, readinessProbe } = container
    expect([startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet)).toEqual([
      { path: '/healthz', port: 'http' },
      { path: '/healthz', port: 'http' },
      { path: '/readyz', port: 'http' },
    ])
  })

  it('is given longer to stop than the server needs after it is notified', () => {
    const before = Number(container.lifecycle.preStop.exec.command[1])
    // what has not ended 30 seconds after the limit is aborted
    const needed = before + readConfig(env).shutdownGraceMs / 1000 + 30
    expect(deployment.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(needed)
  })

  it('runs without root, without a writable image and with no secret in the manifest', () => {
    expect(deployment.spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true })
    expect(deployment.spec.template.spec.automountServiceAccountToken).toBe(false)
    expect(Object(container).securityContext).toEqual({
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    })
    const plain = container.env.filter(({ value }) => value !== undefined).map(({ name }) => name)
    expect(plain.filter((name) => /KEY|PASSWORD|SECRET|_URL$/.test(name) && name !== 'PUBLIC_URL')).toEqual([])
  })
})

it('several nodes are replaced new before old, and a single one old before new', () => {
  expect(podOf('cluster').deployment.spec.strategy).toEqual({
    type: 'RollingUpdate',
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
  })
  expect(podOf('single').deployment.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
})

it('the ingress leads to the server, except for its metrics', () => {
  const all = manifestsOf('cluster')
  const ingress = all.find(({ kind }) => kind === 'Ingress')
  const [metrics, rest] = ingress?.spec.rules[0].http.paths ?? []
  expect(metrics).toMatchObject({ path: '/metrics', pathType: 'Exact' })
  const service = (name: string) => all.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name)
  expect(service(metrics.backend.service.name)?.spec).not.toHaveProperty('selector')
  const { selector } = service(rest.backend.service.name)?.spec ?? {}
  expect(podOf('cluster').deployment.spec.template.metadata.labels).toMatchObject(selector)
})

it('the autoscaler counts metrics that the server exports', () => {
  const scaler = manifestsOf('cluster').find(({ kind }) => kind === 'HorizontalPodAutoscaler')
  const names = Object(scaler).spec.metrics.flatMap(
    (metric: { readonly pods?: { readonly metric: { readonly name: string } } }) =>
      metric.pods === undefined ? [] : [metric.pods.metric.name],
  )
  expect(names.length).toBeGreaterThan(0)
  const exported = readFileSync('src/transport/open-transport.ts', 'utf8')
  for (const name of names) expect(exported.includes(name), name).toBe(true)
})
