import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sourcesBundled, startServer } from '#scripts/services/server.ts'
import { sized } from '../extent.ts'
import { median, type Row } from '../row.ts'
import { type FailingProvider, keysOfPool, startFailingProvider } from './failing-keys.ts'
import { liteLlmCache, liteLlmHeaders, liteLlmRedaction, startLiteLlm } from './peers/litellm.ts'
import { portkeyHeaders, portkeyPool, portkeyRedaction, startPortkey } from './peers/portkey.ts'
import {
  bearer,
  besideServices,
  changed,
  kilobyteChat,
  type LoadOrder,
  load,
  type Measured,
  memoryOf,
  middle,
  pin,
  startUpstream,
} from './tools.ts'

type Target = Pick<LoadOrder, 'service' | 'headers' | 'model'>
type Phase = Pick<LoadOrder, 'callers' | 'stream' | 'body'>
type Sides = Readonly<Record<string, Target>>

const rounds = sized(3, 1)
/** Calls of a pool in a shortened day, and in how many hours; another four of its ten keys fail in each. */
const pool = { calls: sized(10_000, 40), phases: sized(25, 5), callers: 8, phaseMs: sized(12_000, 50) }

/**
 * Compares chats through Troupe with the same ones through Portkey's open gateway and LiteLLM's proxy, on the same
 * core, with the same provider and load. Troupe has keys, limits, metering, its log and redaction on throughout, as a
 * first start does; the others have what the measure names.
 *
 * With `long`, 10,000 calls go to a pool of ten keys of which four fail at a time, in all gateways at once.
 */
export async function benchGateways({
  seconds,
  long,
}: {
  readonly seconds: number
  readonly long: boolean
}): Promise<readonly Row[]> {
  return besideServices(async (keep) => {
    const { url } = await keep(startUpstream())
    await sourcesBundled()
    const key = `csk_${randomBytes(32).toString('base64url')}`
    const env = { BOOTSTRAP_SECRET_KEY: key, OPENAI_API_KEY: 'bench', OPENAI_BASE_URL: `${url}/v1` }
    const troupe = { service: await keep(startServer(env)), headers: bearer(key) }
    await pin(troupe.service)
    const portkey = await keep(startPortkey())
    const provider = [{ url, key: 'bench' }]
    const litellm = { service: await keep(startLiteLlm(provider)), headers: liteLlmHeaders }
    const plain = { troupe, Portkey: { service: portkey, headers: portkeyHeaders(url) }, LiteLLM: litellm }
    const redacting = {
      troupe,
      Portkey: { service: portkey, headers: portkeyHeaders(url, portkeyRedaction(url)) },
      LiteLLM: { service: await keep(startLiteLlm(provider, liteLlmRedaction)), headers: liteLlmHeaders },
    }
    const caching = {
      troupe,
      LiteLLM: { service: await keep(startLiteLlm(provider, liteLlmCache)), headers: liteLlmHeaders },
    }
    return [
      ...(await calls(plain, seconds / rounds)),
      ...of(await side(redacting, { callers: 64, stream: false, body: kilobyteChat }, seconds / rounds), [
        ['chat of 1 KB with an address redacted, 64 callers', '1/s', 'rps', 10],
        ['CPU a chat of 1 KB with an address redacted', 'µs', 'cpuUs', 0.1],
      ]),
      ...(await hits(caching, seconds / rounds)),
      ...(long ? await poolOfKeys() : []),
    ]
  })
}

async function calls(sides: Sides, seconds: number): Promise<readonly Row[]> {
  const many = await side(sides, { callers: 64, stream: false }, seconds)
  const streams = await side(sides, { callers: 64, stream: true }, seconds)
  const memory = Object.entries(sides).map(([name, { service }]): [string, Measured] => [
    name,
    { ...empty, rps: memoryOf(service) },
  ])
  const one = await side(sides, { callers: 1, stream: true }, seconds)
  const perEvent = Object.fromEntries(
    Object.entries(streams).map(([name, each]) => [name, { ...each, cpuUs: each.cpuUs / each.eventsAStream }]),
  )
  return [
    ...of(many, [
      ['chat, 64 callers', '1/s', 'rps', 5],
      ['chat p99, 64 callers', 'ms', 'p99', 1],
      ['CPU a chat', 'µs', 'cpuUs', 0.2],
    ]),
    ...of(streams, [['streamed chat, 64 callers', '1/s', 'rps', 1]]),
    ...of(perEvent, [['CPU an event, 64 streams', 'µs', 'cpuUs', 1]]),
    ...of(one, [['first event p50, 1 caller', 'ms', 'firstEvent50', 1]]),
    ...of(Object.fromEntries(memory), [['memory after 64 callers', 'MB', 'rps']]),
  ]
}

async function hits(sides: Sides, seconds: number): Promise<readonly Row[]> {
  const { troupe } = sides
  if (troupe === undefined) return []
  await changed(troupe, 'cache-policy', { mode: 'exact', any_temperature: true })
  const all = await side(sides, { callers: 64, stream: false }, seconds)
  await changed(troupe, 'cache-policy', { mode: 'off' })
  return of(all, [
    ['chat from the cache, 64 callers', '1/s', 'rps', 5],
    ['CPU a chat from the cache', 'µs', 'cpuUs', 0.2],
  ])
}

const empty: Measured = { rps: 0, p50: 0, p99: 0, firstEvent50: 0, eventsAStream: 0, cpuUs: 0 }

/** A measure, its unit and field, and the bound of its ratio: rates at least, everything else at most. */
type Measure = readonly [measure: string, unit: string, field: keyof Measured, bound?: number]

/** Rows of Troupe against each other gateway. */
const of = (sides: Readonly<Record<string, Measured>>, measures: readonly Measure[]): readonly Row[] => {
  const { troupe = empty, ...others } = sides
  return measures.flatMap(([measure, unit, field, bound]) =>
    Object.entries(others).map(([name, other]) => ({
      ...{ measure, unit, ours: troupe[field], against: { name, value: other[field] } },
      ...(bound !== undefined && { bound: { of: 'ratio', [unit === '1/s' ? 'atLeast' : 'atMost']: bound } as const }),
    })),
  )
}

interface Measuring {
  readonly name: string
  readonly target: Target
  readonly measured: Measured[]
}

/**
 * Applies the same load to every gateway, in alternating order, after a round that only warms up. Another gateway that
 * fails in that round is left out: Portkey 1.15.2, as npm installs it, answers no stream on Node 20 and 22.
 */
async function side(sides: Sides, phase: Phase, seconds: number): Promise<Readonly<Record<string, Measured>>> {
  const all: Measuring[] = []
  for (const [name, target] of Object.entries(sides)) {
    const failure = await load({ ...target, ...phase, seconds: sized(3, 0.1) }).then(() => null, String)
    if (failure !== null && name === 'troupe') throw new Error(failure)
    if (failure === null) all.push({ name, target, measured: [] })
    else console.error(`${name} is left out: ${failure}`)
  }
  for (let round = 0; round < rounds; round++) {
    for (const { target, measured } of round % 2 === 0 ? all : all.toReversed())
      measured.push(await load({ ...target, ...phase, seconds }))
  }
  return Object.fromEntries(all.map(({ name, measured }) => [name, middle(measured)]))
}

/** A gateway with the ten keys of the provider. */
type Pool = (url: string) => Promise<Target>

const pools: Readonly<Record<string, Pool>> = {
  troupe: async (url) => {
    const key = `csk_${randomBytes(32).toString('base64url')}`
    const headers = bearer(key)
    const service = await startServer({ BOOTSTRAP_SECRET_KEY: key, ALLOWED_PRIVATE_HOSTS: new URL(url).host })
    for (const api_key of keysOfPool) {
      const connection = { provider: 'ours', name: api_key, base_url: `${url}/v1`, api_key }
      await posted({ service, headers }, '/v1/provider-connections', connection)
    }
    await changed({ service, headers }, 'routing-policy', { strategy: 'weighted' })
    return { service, headers, model: 'ours/mock' }
  },
  Portkey: async (url) => ({
    service: await startPortkey(),
    headers: { 'x-portkey-config': JSON.stringify(portkeyPool(url, keysOfPool)) },
  }),
  LiteLLM: async (url) => ({
    service: await startLiteLlm(
      keysOfPool.map((key) => ({ url, key })),
      { router_settings: { num_retries: 3 } },
    ),
    headers: liteLlmHeaders,
  }),
}

async function poolOfKeys(): Promise<readonly Row[]> {
  const measured = Object.entries(pools).map(async ([name, open]): Promise<readonly [string, PoolResult]> => {
    const provider = await startFailingProvider()
    try {
      const target = await open(provider.url)
      return [name, await poolOf(target, provider).finally(() => target.service.stop())]
    } finally {
      provider.close()
    }
  })
  const { troupe, ...others } = Object.fromEntries(await Promise.all(measured))
  const row = (measure: string, unit: string, field: keyof PoolResult, bound?: number): readonly Row[] =>
    Object.entries(others).map(([name, other]) => ({
      ...{ measure, unit, ours: troupe?.[field] ?? Number.NaN, against: { name, value: other[field] } },
      ...(bound !== undefined && { bound: { of: 'ours', atMost: bound } as const }),
    }))
  return [
    ...row(`of ${pool.calls} calls of ten keys, failed`, '', 'failed', 0),
    ...row(`of ${pool.calls} calls of ten keys, tried thrice`, '', 'thrice', pool.calls / 100),
    ...row('tries a call of ten keys', '', 'tries'),
    ...row('call of ten keys p99', 'ms', 'p99'),
  ]
}

interface PoolResult {
  readonly failed: number
  readonly thrice: number
  readonly tries: number
  readonly p99: number
}

async function poolOf(target: Target, provider: FailingProvider): Promise<PoolResult> {
  const times: number[] = []
  let failed = 0
  const each = pool.calls / pool.phases / pool.callers
  const caller = async (phase: number, n: number): Promise<void> => {
    const begun = performance.now()
    for (let call = 0; call < each; call++) {
      const due = begun + (call / each) * pool.phaseMs
      if (due > performance.now()) await sleep(due - performance.now())
      const at = performance.now()
      const body = { model: target.model ?? 'mock', messages: [{ role: 'user', content: `${phase}-${n}-${call}` }] }
      const ok = await posted(target, '/v1/chat/completions', body).then(
        () => true,
        () => false,
      )
      if (!ok) failed++
      times.push(performance.now() - at)
    }
  }
  for (let phase = 0; phase < pool.phases; phase++) {
    await Promise.all(Array.from({ length: pool.callers }, (_, n) => caller(phase, n)))
    provider.turn()
  }
  const tries = [...provider.requests.values()]
  const sorted = times.toSorted((a, b) => a - b)
  return {
    failed,
    thrice: tries.filter((count) => count > 2).length,
    tries: tries.reduce((sum, count) => sum + count, 0) / tries.length,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? median(sorted),
  }
}

async function posted({ service: { url }, headers }: Target, path: string, body: object): Promise<void> {
  const answer = await fetch(`${url}${path}`, {
    ...{ method: 'POST', body: JSON.stringify(body) },
    headers: { ...headers, 'content-type': 'application/json' },
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}
