import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { GatewayCall } from '#gateway/call/accounting/call-ledger.ts'
import { type Admission, type AdmissionRequest, openAdmission } from '#gateway/call/admission.ts'
import type { CallPolicy } from '#gateway/call/call-policy.ts'
import type { Caller } from '#gateway/call/caller.ts'
import type { KeyLimits } from '#gateway/call/pools/key-limits.ts'
import type { RedactionPolicy } from '#gateway/call/redaction.ts'
import type { PoolPolicy, Route } from '#gateway/call/routes.ts'
import type { EmbeddingCall } from '#gateway/embeddings/embedding-calls.ts'
import { openEmbeddings } from '#gateway/embeddings/open-embeddings.ts'
import { KeyWindows } from '#gateway/limits/key-windows.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { LocalLimits } from '#storage/local-limits.ts'
import { projectScope } from '#storage/scope.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { type Answer, openUpstream, type Upstream } from '../call/scripted-upstream.ts'

const caller: Caller = {
  principal: { kind: 'secret_key', project: 'prj_1', keyId: 'key_1' },
  scope: projectScope('prj_1'),
  requestId: 'req_1',
  project: 'prj_1',
  tenant: null,
  externalUserId: null,
  keyId: 'key_1',
  agentId: null,
  models: null,
}

const quick: Partial<CallPolicy> = { retries: 2, backoffMs: 1, maxBackoffMs: 2, firstByteTimeoutMs: 20_000 }

/** Embeddings over one scripted server: `model@format` names a route, `a+b` two routes of one model. */
export function openHarness(
  options: { policy?: Partial<CallPolicy>; redaction?: RedactionPolicy; keyLimits?: KeyLimits } = {},
) {
  const { keyLimits } = options
  const pool: PoolPolicy = { strategy: 'priority', sticky: false }
  const limited = keyLimits === undefined ? null : { pool, keyLimits }
  const clock = new VirtualClock()
  const keys = new KeyWindows(new LocalLimits(clock), clock)
  let upstream: Upstream
  let opened: ReturnType<typeof openEmbeddings>
  const recorded: GatewayCall[] = []
  const admissions: AdmissionRequest[] = []
  const settled: (string | null)[] = []
  const routes = new Map<string, Route>()
  const routeFor = (name: string): Route => {
    const [model = '', format] = name.split('@')
    const known = routes.get(name)
    const google = format === 'google'
    const route: Route = known ?? {
      model,
      provider: google ? 'google' : 'openai',
      format: google ? 'google' : 'openai',
      baseUrl: `${upstream.url}/v1`,
      apiKey: 'key-1',
      source: 'managed',
      connectionId: null,
      ...(limited !== null && { connectionId: `pvc_${name}`, ...limited }),
    }
    routes.set(name, route)
    return route
  }
  const admission: Admission = {
    admitKey: (request) => keys.admit(request),
    admit: (request) => {
      admissions.push(request)
      const free = openAdmission.admit(request)
      if (free instanceof Promise) throw new Error('waits')
      return { headers: [['x-ratelimit-limit', '9']], settle: (usd) => void settled.push(usd) }
    },
  }
  beforeAll(async () => {
    upstream = await openUpstream()
    opened = openEmbeddings({
      routes: { resolve: (_, model) => model.split('+').map(routeFor) },
      admission,
      redaction: { policyOf: () => options.redaction ?? null },
      ledger: { record: (call) => void recorded.push(call) },
      guard: {
        get dispatcher(): never {
          throw new Error('no guard here')
        },
        check: (url) => new URL(url),
      },
      now: () => 1_700_000_000_000,
      policy: { ...quick, ...options.policy },
    })
  })
  beforeEach(() => {
    recorded.length = 0
    admissions.length = 0
    settled.length = 0
    routes.clear()
  })
  afterAll(async () => {
    await opened.close()
    await upstream.close()
  })
  const request = (body: WireObject, more: Partial<EmbeddingCall> = {}): EmbeddingCall => ({
    ...{ caller, operation: 'embeddings.create', body, signal: new AbortController().signal },
    ...{ bytes: Buffer.from(JSON.stringify(body)), ...more },
  })
  return {
    recorded,
    admissions,
    settled,
    received: () => upstream.received,
    script: (...answers: Answer[]) => upstream.script(...answers),
    create: (body: WireObject, more: Partial<EmbeddingCall> = {}) => opened.calls.create(request(body, more)),
  }
}

/** Answers 200 with JSON. */
export const json =
  (value: unknown): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }

/** An embedding list in the format of OpenAI. */
export const listOf = (...vectors: readonly (readonly number[] | string)[]) => ({
  object: 'list',
  data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  model: 'text-embedding-3-small',
  usage: { prompt_tokens: 8, total_tokens: 8 },
})
