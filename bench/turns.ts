import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { startMongod } from '../scripts/services/mongod.ts'
import { startServer } from '../scripts/services/server.ts'
import { type Service, startService } from '../scripts/services/service.ts'
import { sized } from './extent.ts'
import { median, type Row } from './row.ts'
import { startPeers } from './sessions/stream-peers.ts'
import type { LoadOrder, Measured } from './turns/load.ts'

const run = promisify(execFile)
const rounds = sized(3, 1)
const warmUpSeconds = sized(2, 0.1)

/** Server that a load is sent to. */
export type Target = Pick<LoadOrder, 'target' | 'nodes' | 'behind' | 'route' | 'key'>

/**
 * Compares complete durable turns of Troupe (HTTP, auth, machine, two commits, model, SSE) with the floor in
 * bench/floor, on one MongoDB and one model, with 64 sessions and with 1. With 64 also with the same turns on Restate,
 * where npm installs it. The order changes every round, and medians are reported.
 */
export async function benchTurns({ seconds }: { readonly seconds: number }): Promise<readonly Row[]> {
  const services: Service[] = []
  const keep = async (starting: Promise<Service>) => {
    const service = await starting
    services.unshift(service)
    return service
  }
  try {
    const mongod = await keep(startMongod())
    const model = await keep(startScript('floor/model'))
    const floor = await keep(startScript('floor/server', [mongod.url, model.url]))
    const key = `csk_${randomBytes(32).toString('base64url')}`
    const ours = await keep(
      startServer({ MONGODB_URL: `${mongod.url}troupe`, BOOTSTRAP_SECRET_KEY: key, ...modelEnv(model) }),
    )
    const targets: readonly Target[] = [
      { target: 'floor', nodes: [floor], key: '' },
      { target: 'ours', nodes: [ours], key },
    ]
    const restate = await startPeers(['restate'], { model, atOnce: 64 }, (service) => services.unshift(service))
    const many = [...targets, ...restate.map(({ arm }): Target => ({ ...arm, target: 'restate' }))]
    for (const target of many) await load(target, 64, warmUpSeconds)
    return [
      ...(await compare(many, 64, seconds)),
      ...(await compare(targets, 1, seconds)),
      await repeatedCalls(model.url),
    ]
  } finally {
    for (const service of services) await service.stop()
  }
}

/** Starts a script of bench as a service; its first argument is the port. */
export function startScript(name: string, args: readonly string[] = []): Promise<Service> {
  return startService({
    name: `bench-${basename(name)}`,
    command: process.execPath,
    env: () => process.env,
    args: (port) => [join(import.meta.dirname, `${name}.ts`), String(port), ...args],
    url: (port) => `http://127.0.0.1:${port}`,
  })
}

/** Environment of a server whose models are served by a script of bench. */
export const modelEnv = (model: Pick<Service, 'url'>) => ({
  OPENAI_API_KEY: 'bench',
  OPENAI_BASE_URL: `${model.url}/v1`,
  ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
})

/** Counts turns that called their model more than once: these would be fast, but wrong. */
export async function repeatedCalls(modelUrl: string): Promise<Row> {
  const answer = await fetch(`${modelUrl}/calls`)
  const { twice }: { readonly twice: number } = JSON.parse(await answer.text())
  return { measure: 'model calls made twice', unit: '', ours: twice, bound: { of: 'ours', atMost: 0 } }
}

async function compare(targets: readonly Target[], sessions: number, seconds: number): Promise<readonly Row[]> {
  const all: Readonly<Record<Target['target'], Measured[]>> = { floor: [], ours: [], restate: [] }
  for (let round = 0; round < rounds; round++) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed())
      all[target.target].push(await load(target, sessions, seconds))
  }
  return [...rowsOf(all.floor, all.ours, sessions), ...(all.restate.length > 0 ? besideRestate(all) : [])]
}

/** Drives turns from a separate process. @throws {Error} when one failed. */
export async function load(target: Target, workers: number, seconds: number): Promise<Measured> {
  const nodes = target.nodes.map(({ url, pid }) => ({ url, pid }))
  const order: LoadOrder = { ...target, nodes, workers, seconds }
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'turns/load.ts'), JSON.stringify(order)])
  const measured: Measured = JSON.parse(stdout)
  if (measured.errors > 0)
    throw new Error(`${measured.errors} turns of ${target.target} failed: ${measured.firstError}`)
  return measured
}

function rowsOf(floor: readonly Measured[], ours: readonly Measured[], sessions: number): readonly Row[] {
  const many = sessions > 1
  const row = (what: string, unit: string, field: keyof Measured, bound?: Row['bound']): Row => ({
    measure: `${what}, ${sessions} session${many ? 's' : ''}`,
    unit,
    ours: middle(ours, field),
    against: { name: 'floor', value: middle(floor, field) },
    ...(bound === undefined ? {} : { bound }),
  })
  return [
    row('durable turns', '1/s', 'turnsPerSecond', many ? { of: 'ratio', atLeast: 0.5 } : undefined),
    row('turn p50', 'ms', 'p50', { of: 'ours', atMost: many ? 40 : 3 }),
    row('turn p99', 'ms', 'p99'),
    row('server CPU a turn', 'ms', 'cpuPerTurn', many ? { of: 'ours', atMost: 0.4 } : undefined),
    row('server memory', 'MB', 'rssMb', many ? { of: 'ours', atMost: 250 } : undefined),
  ]
}

function besideRestate({ ours, restate }: Readonly<Record<'ours' | 'restate', Measured[]>>): readonly Row[] {
  const row = (measure: string, unit: string, field: keyof Measured): Row => ({
    ...{ measure: `${measure}, 64 sessions`, unit, ours: middle(ours, field) },
    against: { name: 'Restate', value: middle(restate, field) },
  })
  return [
    { ...row('durable turns', '1/s', 'turnsPerSecond'), bound: { of: 'ratio', atLeast: 4 } },
    row('turn p50', 'ms', 'p50'),
    row('server CPU a turn', 'ms', 'cpuPerTurn'),
  ]
}

/** Median of a field over the rounds. */
export const middle = (all: readonly Measured[], field: keyof Measured) =>
  median(all.map((measured) => Number(measured[field])))
