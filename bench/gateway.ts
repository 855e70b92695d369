import { randomBytes } from 'node:crypto'
import { sourcesBundled, startServer } from '../scripts/services/server.ts'
import type { Service } from '../scripts/services/service.ts'
import { sized } from './extent.ts'
import { longestHoldMs } from './gateway/loop-hold.ts'
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
  startFloor,
  startUpstream,
} from './gateway/tools.ts'
import { benchVoiceSession } from './gateway/voice-session.ts'
import { median, type Row } from './row.ts'

const rounds = sized(3, 1)
/** Rounds with and without redaction. The results of two equal servers differ by a tenth from round to round. */
const redactedRounds = sized(8, 1)
/** Warm-up time until V8 has compiled the code of each server; Troupe's takes longest. */
const warmUpSeconds = sized(6, 0.1)
/**
 * Warm-up chats until V8 has compiled the redaction code. They are counted, since elapsed time says little on a busy
 * machine.
 */
const warmUpChats = sized(30_000, 50)
const maxWarmUpRounds = 30
const dropped = 10

/** Servers that are measured under the same load. */
interface Targets {
  readonly ours: Target
  readonly node: Target
  readonly uws: Target
  readonly direct: Target
}

type Target = Pick<LoadOrder, 'service' | 'headers'>
type Name = keyof Targets
type Phase = Pick<LoadOrder, 'callers' | 'stream' | 'body'>
/** For how long each round measures, times the number of rounds. */
type Measuring = { readonly seconds: number }

/** Measures beside the gateway, two bare proxies and the provider itself. */
const besideAll = (
  measure: (targets: Targets, started: { readonly coldMs: number }) => Promise<readonly Row[]>,
): Promise<readonly Row[]> =>
  besideServices(async (keep) => {
    const upstream = await keep(startUpstream())
    await sourcesBundled()
    const started = performance.now()
    const ours = await gateway(keep, upstream)
    const coldMs = performance.now() - started
    await pin(ours.service)
    const { headers } = ours
    const targets: Targets = {
      ours,
      node: { service: await keep(startFloor('node-floor', upstream)), headers },
      uws: { service: await keep(startFloor('uws-floor', upstream)), headers },
      direct: { service: upstream, headers },
    }
    return measure(targets, { coldMs })
  })

/** Starts a gateway before the provider. */
const gateway = async (keep: (starting: Promise<Service>) => Promise<Service>, upstream: Service): Promise<Target> => {
  const key = newKey()
  const service = await keep(startServer({ BOOTSTRAP_SECRET_KEY: key, ...providerOf(upstream) }))
  return { service, headers: bearer(key) }
}

const newKey = (): string => `csk_${randomBytes(32).toString('base64url')}`

const providerOf = ({ url }: Pick<Service, 'url'>) => ({ OPENAI_API_KEY: 'bench', OPENAI_BASE_URL: `${url}/v1` })

const node = 'bare node:http'
const uws = 'bare uws + undici'

/**
 * Compares chat completions through the gateway, with key, limits, metering, log and redaction on, with two bare proxies
 * (node:http, and uWebSockets.js with undici), 64 at once. Servers run on one core, the load on the other. The order
 * changes every round, and medians are reported. The sections after it measure the rest, so that each ends within minutes.
 */
export const benchGateway = ({ seconds }: Measuring): Promise<readonly Row[]> =>
  besideAll(async (targets, { coldMs }) => {
    for (const stream of [false, true]) await side(targets, { callers: 64, stream }, warmUpSeconds, 1)
    await warmUp(targets.ours, { callers: 64, stream: false })
    const many = await side(targets, { callers: 64, stream: false }, seconds / rounds)
    const streams = await side(targets, { callers: 64, stream: true }, seconds / rounds)
    const eventUs = (name: Name) => streams[name].cpuUs / streams[name].eventsAStream
    const memoryMb = memoryOf(targets.ours.service)
    return [
      {
        ...{ measure: 'chat, 64 callers', unit: '1/s', ours: many.ours.rps },
        ...{ against: { name: node, value: many.node.rps }, bound: { of: 'ratio', atLeast: 1.5 } },
      },
      {
        ...{ measure: 'chat, 64 callers', unit: '1/s', ours: many.ours.rps },
        ...{ against: { name: uws, value: many.uws.rps }, bound: { of: 'ratio', atLeast: 0.6 } },
      },
      {
        ...against('chat p99, 64 callers', 'ms', many.ours.p99, uws, many.uws.p99),
        bound: { of: 'ratio', atMost: 1.5 },
      },
      against('CPU a chat', 'µs', many.ours.cpuUs, uws, many.uws.cpuUs),
      {
        ...against('CPU an event, 64 streams', 'µs', eventUs('ours'), node, eventUs('node')),
        bound: { of: 'ratio', atMost: 1 },
      },
      { measure: 'memory under load', unit: 'MB', ours: memoryMb, bound: { of: 'ours', atMost: 180 } },
      {
        ...{ measure: `of ${dropped} left streams cancelled in 0.1 s`, unit: '', ours: await cancelled(targets) },
        bound: { of: 'ours', atLeast: dropped },
      },
      { measure: 'cold start', unit: 'ms', ours: coldMs, bound: { of: 'ours', atMost: 700 } },
    ]
  })

/** Compares what the gateway adds to a chat and to the first event of a stream, for a caller alone. */
export const benchGatewayAlone = ({ seconds }: Measuring): Promise<readonly Row[]> =>
  besideAll(async (targets) => {
    for (const stream of [false, true]) await side(targets, { callers: 64, stream }, warmUpSeconds, 1)
    const one = await side(targets, { callers: 1, stream: false }, seconds / rounds)
    const stream = await side(targets, { callers: 1, stream: true }, seconds / rounds)
    const added = (of: Record<Name, Measured>, name: Name, field: 'p50' | 'firstEvent50') =>
      of[name][field] - of.direct[field]
    return [
      {
        ...against('added to a chat p50, 1 caller', 'ms', added(one, 'ours', 'p50'), node, added(one, 'node', 'p50')),
        bound: { of: 'ratio', atMost: 1 },
      },
      {
        ...{
          measure: 'added to the first event p50, 1 caller',
          unit: 'ms',
          ours: added(stream, 'ours', 'firstEvent50'),
        },
        bound: { of: 'ours', atMost: 0.5 },
      },
    ]
  })

/** Compares chats whose texts are redacted, guarded or answered from the cache with those that are not. */
export const benchGatewayChecks = ({ seconds }: Measuring): Promise<readonly Row[]> =>
  besideServices(async (keep) => {
    const upstream = await keep(startUpstream())
    await sourcesBundled()
    const [ours, unredacted] = [await gateway(keep, upstream), await gateway(keep, upstream)]
    await changed(unredacted, 'redaction-policy', { enabled: false })
    for (const { service } of [ours, unredacted]) await pin(service)
    const short = { callers: 64, stream: false }
    for (const target of [ours, unredacted]) await warmUp(target, short)
    const chat = await loads({ ...unredacted, ...short, seconds: seconds / rounds })
    const long = { ...short, body: kilobyteChat }
    const kilobyte = await besidePlain({ checked: ours, plain: unredacted }, long, seconds / rounds)
    const guarded = await besidePlain(await guardedBeside(unredacted), long, seconds / rounds)
    const hits = await reused(unredacted, seconds / rounds)
    return [
      {
        ...against('CPU a chat of 1 KB, redacted', 'µs', kilobyte.checked, 'unredacted', kilobyte.plain),
        bound: { of: 'ratio', atMost: 1.05 },
      },
      {
        ...{ measure: 'CPU that the built-in guardrails add to a chat of 1 KB', unit: 'µs' },
        ...{ ours: guarded.checked - guarded.plain, against: { name: 'a chat', value: guarded.plain } },
        bound: { of: 'ours', atMost: 1_000 },
      },
      {
        ...against('CPU a cache hit', 'µs', hits.cpuUs, 'a chat', chat.cpuUs),
        bound: { of: 'ratio', atMost: 1 },
      },
      { measure: 'cache hits, 64 callers', unit: '1/s', ours: hits.rps },
    ]
  })

/** Measures sessions of voice, and for how long one long body holds the loop. */
export const benchGatewayVoice = (): Promise<readonly Row[]> =>
  besideServices(async (keep) => {
    const env = providerOf(await keep(startUpstream()))
    const key = newKey()
    await sourcesBundled()
    const holdMs = await longestHoldMs({ BOOTSTRAP_SECRET_KEY: key, ...env }, key)
    return [
      ...(await benchVoiceSession(key)),
      {
        ...{ measure: 'longest hold of the loop by a body of 7 MB', unit: 'ms', ours: holdMs },
        bound: { of: 'ours', atMost: 50 },
      },
    ]
  })

const against = (measure: string, unit: string, ours: number, name: string, value: number): Row => ({
  ...{ measure, unit, ours },
  against: { name, value },
})

const names: readonly Name[] = ['ours', 'node', 'uws', 'direct']

/** Measures chats that get a stored answer. */
async function reused(target: Target, seconds: number): Promise<Measured> {
  await changed(target, 'cache-policy', { mode: 'exact', any_temperature: true })
  const phase = { callers: 64, stream: false }
  await warmUp(target, phase)
  const hits = await loads({ ...target, ...phase, seconds })
  await changed(target, 'cache-policy', { mode: 'off' })
  return hits
}

/** Applies a load to one target, several times. Returns the medians. */
async function loads(order: LoadOrder): Promise<Measured> {
  const all: Measured[] = []
  for (let round = 0; round < rounds; round++) all.push(await load(order))
  return middle(all)
}

/** Applies the same load to every target, one after the other, in alternating order. Returns the medians. */
async function side(targets: Targets, phase: Phase, seconds: number, times = rounds): Promise<Record<Name, Measured>> {
  const all: Record<Name, Measured[]> = { ours: [], node: [], uws: [], direct: [] }
  for (let round = 0; round < times; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed())
      all[name].push(await load({ ...targets[name], ...phase, seconds }))
  }
  const { ours, node, uws, direct } = all
  return { ours: middle(ours), node: middle(node), uws: middle(uws), direct: middle(direct) }
}

/** A target whose texts are checked, and the same without. */
type Beside = Readonly<Record<'checked' | 'plain', Target>>

/** Creates a guardrail of each built-in check, which finds nothing in the chats, and names it in the calls of one target. */
async function guardedBeside(plain: Target): Promise<Beside> {
  const words = Array.from({ length: 1_000 }, (_, at) => `forbidden${at}`)
  const checks = [
    { type: 'words', words, action: 'block' },
    { type: 'regex', patterns: ['\\bACME-\\d{6}\\b', '(?i)project (?:falcon|heron)'], action: 'redact' },
    { type: 'pii', types: ['payment_card', 'iban', 'us_ssn'], action: 'redact' },
    { type: 'injection', action: 'flag' },
  ]
  const headers = { ...plain.headers, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'bench', checks })
  const made = await fetch(`${plain.service.url}/v1/guardrails`, { method: 'POST', headers, body })
  if (made.status !== 201) throw new Error(`no guardrail: ${await made.text()}`)
  return { plain, checked: { ...plain, headers: { ...plain.headers, 'x-guardrails': 'bench' } } }
}

/**
 * Returns the CPU time per chat with and without a check of its texts, in µs. The two targets alternate over many rounds.
 * Before each round the pending rows of earlier chats are written, so that their cost is not measured.
 */
async function besidePlain(targets: Beside, phase: Phase, seconds: number) {
  const all: Record<keyof Beside, number[]> = { checked: [], plain: [] }
  const both = ['checked', 'plain'] as const
  for (const name of both) await warmUp(targets[name], phase)
  for (let round = 0; round < redactedRounds; round++) {
    for (const name of round % 2 === 0 ? both : both.toReversed()) {
      await rowsMade(targets[name])
      all[name].push((await load({ ...targets[name], ...phase, seconds })).cpuUs)
    }
  }
  return { checked: median(all.checked), plain: median(all.plain) }
}

/** Warms up with chats of this phase: those of earlier phases have other bodies and do not run its code. */
async function warmUp(target: Target, phase: Phase): Promise<void> {
  const seconds = sized(1, 0.1)
  for (let chats = 0, round = 0; chats < warmUpChats && round < maxWarmUpRounds; round++)
    chats += (await load({ ...target, ...phase, seconds })).rps * seconds
}

/**
 * Makes the server write the pending rows of all earlier calls, which costs as much as the calls themselves. Reading
 * any entry of the request log has this effect.
 */
async function rowsMade({ service, headers }: Target): Promise<void> {
  const none = `req_${'0'.repeat(26)}`
  const answer = await fetch(`${service.url}/v1/request-log/${none}`, { headers })
  await answer.text()
}

/** Opens slow streams, aborts all of them, and returns how many the provider saw end within 0.1 s. */
async function cancelled({ ours, direct }: Targets): Promise<number> {
  const aborters = Array.from({ length: dropped }, () => new AbortController())
  const body = JSON.stringify({ model: 'mock-delay20', stream: true, messages: [{ role: 'user', content: 'hi' }] })
  const headers = { ...ours.headers, 'content-type': 'application/json' }
  const before = await abortedAt(direct.service)
  const url = `${ours.service.url}/v1/chat/completions`
  const answers = await Promise.all(aborters.map(({ signal }) => fetch(url, { method: 'POST', headers, body, signal })))
  await Promise.all(answers.map((answer) => answer.body?.getReader().read()))
  for (const aborter of aborters) aborter.abort()
  await new Promise((resolve) => setTimeout(resolve, 100))
  return (await abortedAt(direct.service)) - before
}

async function abortedAt({ url }: Service): Promise<number> {
  const { aborted }: { readonly aborted: number } = JSON.parse(await (await fetch(`${url}/__count`)).text())
  return aborted
}
